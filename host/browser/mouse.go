package browser

import (
	"github.com/chromedp/cdproto/input"
)

var mouseButtons = map[Button]struct {
	name input.MouseButton
	bit  int64
}{
	Left:   {input.MouseButtonLeft, 1},
	Right:  {input.MouseButtonRight, 2},
	Middle: {input.MouseButtonMiddle, 4},
}

// clickEvents gives the mouse events of a click at p, to be sent together.
func clickEvents(p Point, button Button, count int, modifiers int64) []Command {
	b := mouseButtons[button]
	at := func(kind input.DispatchMouseEventType) input.DispatchMouseEventParams {
		return input.DispatchMouseEventParams{Type: kind, X: p.X, Y: p.Y, Modifiers: modifiers, PointerType: input.DispatchMouseEventPointerTypeMouse}
	}
	events := []Command{moveEvent(p, modifiers)}
	for n := range count {
		down, up := at(input.DispatchMouseEventTypeMousePressed), at(input.DispatchMouseEventTypeMouseReleased)
		down.Button, down.Buttons, down.ClickCount = b.name, b.bit, int64(n+1)
		up.Button, up.ClickCount = b.name, int64(n+1)
		events = append(events, command(input.DispatchMouseEvent, down), command(input.DispatchMouseEvent, up))
	}
	return events
}

func moveEvent(p Point, modifiers int64) Command {
	return command(input.DispatchMouseEvent, input.DispatchMouseEventParams{
		Type: input.DispatchMouseEventTypeMouseMoved, X: p.X, Y: p.Y, Modifiers: modifiers, PointerType: input.DispatchMouseEventPointerTypeMouse,
	})
}
