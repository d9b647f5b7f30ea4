package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tabvalet/tabvalet/protocol"
)

// fillAnswer is what stands in a field, read back.
type fillAnswer struct {
	Matches bool   `json:"matches"`
	Length  int    `json:"length"`
	Value   string `json:"value"`
	Delta   *told  `json:"delta"` // fill: where the page was asked for it
}

// Type types into the checked target.
//
// The engine puts the text in where that does (one input event, however long the text is); where the field wants keys,
// or did not take it, everything in it is selected and typed over. What stands there then is read back.
func (a *Act) Type(ctx context.Context, o TypeOptions) error {
	if a.target == nil {
		return errNoTarget
	}
	at, err := a.tab.still(a.target)
	if err != nil {
		return err
	}
	if err := a.enter(ctx, at.doc, o); err != nil {
		return fmt.Errorf("typing into %s: %w", a.target.Role, err)
	}
	if !o.Submit {
		return nil
	}
	if err := a.input(ctx, stroke(keys["Enter"], 0)); err != nil {
		return fmt.Errorf("pressing Enter: %w", err)
	}
	return nil
}

func (a *Act) enter(ctx context.Context, doc *document, o TypeOptions) error {
	if !o.Slowly && !a.target.Keys && !a.rich(o.Text) {
		f, err := a.fill(ctx, doc, o)
		if err != nil && protocol.CodeOf(err) != protocol.NotEditable || f.Matches {
			return err
		}
	}
	if err := a.keyIn(ctx, doc, o); err != nil {
		return err
	}
	return a.readBack(ctx, doc, o)
}

// richLines is how many lines are typed into a rich editor; more would take it seconds, and are filled in.
const richLines = 100

// rich tells whether the target is an editor with a model of its own, which takes in what a keyboard does and little else.
func (a *Act) rich(text string) bool {
	return a.target.Editable == "contenteditable" && strings.Count(text, "\n") < richLines
}

// fill has the engine set the text.
func (a *Act) fill(ctx context.Context, doc *document, o TypeOptions) (f fillAnswer, err error) {
	filled := make(chan fillAnswer, 1)
	var most *int
	if slices.Equal(a.watched, []*document{doc}) && !o.Submit {
		most = ptr(deltaMax)
	}
	err = a.send(ctx, func(ctx context.Context) error {
		f, err := ask[fillAnswer](ctx, a.tab, doc, "fill", struct {
			Ref    string `json:"ref"`
			Text   string `json:"text"`
			Append bool   `json:"append,omitzero"`
			Max    *int   `json:"max,omitzero"`
		}{a.target.Ref, o.Text, o.Append, most})
		filled <- f
		return err
	})
	select {
	case f = <-filled:
	default: // a dialog or a navigation came first
		f.Matches = err == nil
		return f, err
	}
	if err == nil && f.Matches {
		a.keep(f)
	}
	if protocol.CodeOf(err) == protocol.NotEditable || protocol.CodeOf(err) == protocol.BadArgument {
		a.reached(NotDispatched)
	}
	return f, err
}

// keep remembers what stands in the field, and that it is what was meant.
func (a *Act) keep(f fillAnswer) {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	a.value, a.told = &Value{Matches: f.Matches, Length: f.Length, Text: f.Value}, f.Delta
	if f.Matches {
		a.step = Confirmed
	}
}

// batch is how many input events are sent together: the owner's taking over is heard between two.
const batch = 48

// keyIn types with the keyboard, over what is there or behind it.
func (a *Act) keyIn(ctx context.Context, doc *document, o TypeOptions) error {
	where := "all"
	if o.Append {
		where = "end"
	}
	if err := a.focus(ctx, doc, where); err != nil {
		return err
	}
	text := o.Text
	if a.target.Editable == "input" {
		text = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text) // one line; Enter would send the form
	}
	var events []Command
	switch {
	case text == "" && !o.Append:
		events = stroke(keys["Backspace"], 0)
	case o.Slowly || a.target.Keys:
		events = strokes(text)
	default:
		events = inserts(text)
	}
	for len(events) > 0 {
		n := min(batch, len(events))
		if err := a.input(ctx, events[:n]); err != nil {
			return err
		}
		events = events[n:]
		if _, err := a.tab.still(a.target); err != nil {
			return err // the rest was not meant for the page that came
		}
	}
	return nil
}

func (a *Act) focus(ctx context.Context, doc *document, selection string) error {
	f, err := ask[struct {
		Focused bool `json:"focused"`
	}](ctx, a.tab, doc, "focus", struct {
		Ref    string `json:"ref"`
		Select string `json:"select,omitzero"`
	}{a.target.Ref, selection})
	if err == nil && !f.Focused {
		return protocol.Errorf(protocol.NotEditable, "the element does not take the focus")
	}
	return err
}

// readBack compares what stands in the field with what was typed. A page that is already gone is no failure.
func (a *Act) readBack(ctx context.Context, doc *document, o TypeOptions) error {
	args := struct {
		Ref  string  `json:"ref"`
		Text *string `json:"text,omitzero"`
	}{Ref: a.target.Ref}
	if !o.Append {
		args.Text = &o.Text
	}
	var f fillAnswer
	for range readBacks {
		var err error
		if f, err = ask[fillAnswer](ctx, a.tab, doc, "readback", args); err != nil {
			return nil
		}
		if o.Append {
			f.Matches = strings.HasSuffix(f.Value, o.Text)
		}
		if f.Matches {
			break
		}
		if _, err = ask[struct{}](ctx, a.tab, doc, "quiet", quietArgs); err != nil { // editors draw later what they took in
			break
		}
	}
	a.keep(f)
	return nil
}

// readBacks is how often a field is looked at until what was typed stands in it.
const readBacks = 4

// Press presses a key or a combination ("Control+a") in the checked target, or where the focus is.
func (a *Act) Press(ctx context.Context, name string) error {
	k, modifiers, err := parseKeys(name)
	if err != nil {
		return err
	}
	if a.target != nil && !a.target.Focused {
		at, err := a.tab.still(a.target)
		if err != nil {
			return err
		}
		if err := a.focus(ctx, at.doc, ""); err != nil {
			return err
		}
	}
	if err := a.input(ctx, stroke(k, modifiers)); err != nil {
		return fmt.Errorf("pressing %s: %w", k.code, err)
	}
	return nil
}
