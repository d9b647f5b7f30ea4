package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// Dragged is how a drag ended.
type Dragged struct {
	Native   bool   // the browser took it over: drag events, not mouse events
	Refused  bool   // … and nothing took what was dropped
	Describe string // the place: page text
}

// pull is how far the mouse goes before a drag is one.
const pull = 8

// dragSteps is how many moves lead from one end to the other.
const dragSteps = 6

// takeOver is how long the browser may take to hand a drag over that the page let begin.
const takeOver = 2 * time.Second

// Drag drags the checked target to another element: with the mouse, or, where the page lets the browser begin a drag of
// its own, with the events of such a drag. Where it goes is looked at before the button goes down, and again before it is
// let go there.
func (a *Act) Drag(ctx context.Context, to CheckOptions) (Dragged, error) {
	if a.target == nil {
		return Dragged{}, errNoTarget
	}
	from, end, err := a.ends(ctx, to)
	if err != nil {
		return Dragged{}, err
	}
	d := Dragged{Describe: end.Describe}
	at, err := a.tab.still(from)
	if err != nil {
		return d, err
	}
	if _, err := ask[dragAnswer](ctx, a.tab, at.doc, "drag", dragArgs{Watch: true}); err != nil {
		return d, err
	}
	if err := a.intercept(ctx, true); err != nil {
		return d, err
	}
	defer a.intercept(ctx, false)
	here, err := a.lift(ctx, from, end)
	if err != nil {
		a.letGo(ctx, here)
		return d, fmt.Errorf("lifting %s: %w", from.Role, err)
	}
	state, err := ask[dragAnswer](ctx, a.tab, at.doc, "drag", dragArgs{})
	if err == nil && state.Native {
		d.Native = true
		err = a.carry(ctx, at.doc, here, to, end, &d)
	} else if err == nil {
		err = a.pullTo(ctx, here, to, end)
	}
	if err != nil {
		a.letGo(ctx, here)
		return d, fmt.Errorf("dragging %s: %w", from.Role, err)
	}
	return d, nil
}

// letGo does not leave the button down, whatever became of the drag and whoever drives now.
func (a *Act) letGo(ctx context.Context, p Point) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.tab.opt.CallTimeout)
	defer cancel()
	a.tab.acting().all(ctx, []Command{releaseEvent(p)})
}

type dragArgs struct {
	Watch bool `json:"watch,omitzero"`
}

type dragAnswer struct {
	Native  bool   `json:"native"`
	Ended   bool   `json:"ended"`
	Effect  string `json:"effect"`
	Dropped bool   `json:"dropped"`
}

// ends looks at both ends before anything is done. To look at the second may have scrolled the first away.
func (a *Act) ends(ctx context.Context, to CheckOptions) (from, end *Checked, err error) {
	from = a.target
	if end, err = a.aim(ctx, to); err != nil {
		if e, ok := errors.AsType[*protocol.Error](err); ok {
			at := *e
			at.Message = "where it would be dragged to: " + e.Message
			err = &at
		}
		return nil, nil, err
	}
	o := from.Options
	o.Target, o.Nth = from.Ref, 0
	if from, err = a.aim(ctx, o); err != nil {
		return nil, nil, err
	}
	return from, end, nil
}

// intercept has drags of the browser's own handed to us; without, a headless browser loses them and a headed one would
// move the owner's pointer.
func (a *Act) intercept(ctx context.Context, on bool) error {
	c := command(input.SetInterceptDrags, input.SetInterceptDragsParams{Enabled: on})
	if on {
		return a.tab.acting().all(ctx, []Command{c})
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.tab.opt.CallTimeout)
	defer cancel()
	return a.tab.acting().all(ctx, []Command{c})
}

// lift presses the button and pulls a little, so that a drag begins. It gives where the mouse is then.
func (a *Act) lift(ctx context.Context, from, end *Checked) (Point, error) {
	p := from.Point
	near := toward(p, end.Point, pull)
	half := toward(p, end.Point, pull/2)
	events := []Command{moveEvent(p, 0), pressEvent(p), dragEvent(half), dragEvent(near)}
	return near, a.input(ctx, events)
}

// toward gives the point that lies so far on the way.
func toward(p, q Point, far float64) Point {
	dx, dy := q.X-p.X, q.Y-p.Y
	length := max(abs(dx)+abs(dy), 1)
	return Point{p.X + dx*far/length, p.Y + dy*far/length}
}

func abs(f float64) float64 { return max(f, -f) }

// way gives the points from p to q, q last.
func way(p, q Point) (points []Point) {
	for i := range dragSteps {
		f := float64(i+1) / dragSteps
		points = append(points, Point{p.X + (q.X-p.X)*f, p.Y + (q.Y-p.Y)*f})
	}
	return points
}

// over looks again where the second end is: the page may have moved when the first was lifted. What hides it now is most
// likely what is being dragged.
func (a *Act) over(ctx context.Context, to CheckOptions, end *Checked) Point {
	to.Target, to.Nth, to.Timeout, to.going = end.Ref, 0, time.Millisecond, true
	if c, err := a.tab.Check(ctx, to); err == nil {
		return c.Point
	}
	return end.Point
}

// pullTo goes on with the mouse and lets go.
func (a *Act) pullTo(ctx context.Context, here Point, to CheckOptions, end *Checked) error {
	q := a.over(ctx, to, end)
	for _, p := range append(way(here, q), q) {
		if err := a.input(ctx, []Command{dragEvent(p)}); err != nil { // one by one: what comes together, a page hears as one
			return err
		}
	}
	return a.input(ctx, []Command{releaseEvent(q)})
}

// carry goes on with what the browser took over, and drops it.
func (a *Act) carry(ctx context.Context, doc *document, here Point, to CheckOptions, end *Checked, d *Dragged) error {
	t := a.tab
	wait, cancel := context.WithTimeoutCause(ctx, takeOver, errSilent)
	defer cancel()
	if err := t.await(wait, func() bool { return a.dragged != nil }); err != nil {
		return protocol.Errorf(protocol.ChromeError, "Chrome did not hand the drag over")
	}
	t.mu.Lock()
	data := a.dragged
	t.mu.Unlock()
	q := a.over(ctx, to, end)
	events := []Command{carryEvent(input.DispatchDragEventTypeDragEnter, here, data)}
	for _, p := range way(here, q) {
		events = append(events, carryEvent(input.DispatchDragEventTypeDragOver, p, data))
	}
	// The answer to one dragover counts at the next.
	events = append(events, carryEvent(input.DispatchDragEventTypeDragOver, q, data))
	if err := a.input(ctx, events); err != nil {
		return err
	}
	if err := a.input(ctx, []Command{carryEvent(input.DispatchDragEventTypeDrop, q, data)}); err != nil {
		return err
	}
	if _, err := ask[struct{}](ctx, t, doc, "quiet", quietArgs); err != nil {
		return nil // the drop led to another page
	}
	s, err := ask[dragAnswer](ctx, t, doc, "drag", dragArgs{})
	if err != nil {
		return nil
	}
	d.Refused = s.Ended && s.Effect == "none"
	if s.Ended && !d.Refused {
		a.reached(Confirmed)
	}
	return nil
}

func mouseAt(kind input.DispatchMouseEventType, p Point) input.DispatchMouseEventParams {
	return input.DispatchMouseEventParams{Type: kind, X: p.X, Y: p.Y, Button: input.MouseButtonLeft, PointerType: input.DispatchMouseEventPointerTypeMouse}
}

func pressEvent(p Point) Command {
	m := mouseAt(input.DispatchMouseEventTypeMousePressed, p)
	m.Buttons, m.ClickCount = 1, 1
	return command(input.DispatchMouseEvent, m)
}

// dragEvent moves the mouse with the button down.
func dragEvent(p Point) Command {
	m := mouseAt(input.DispatchMouseEventTypeMouseMoved, p)
	m.Buttons = 1
	return command(input.DispatchMouseEvent, m)
}

func releaseEvent(p Point) Command {
	m := mouseAt(input.DispatchMouseEventTypeMouseReleased, p)
	m.ClickCount = 1
	return command(input.DispatchMouseEvent, m)
}

func carryEvent(kind input.DispatchDragEventType, p Point, data jsontext.Value) Command {
	return Command{input.DispatchDragEvent.Method, struct {
		Type input.DispatchDragEventType `json:"type"`
		X    float64                     `json:"x"`
		Y    float64                     `json:"y"`
		Data jsontext.Value              `json:"data"`
	}{kind, p.X, p.Y, data}}
}
