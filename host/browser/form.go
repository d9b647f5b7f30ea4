package browser

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tabvalet/tabvalet/protocol"
)

// A Field is one field of a form and what is to stand in it.
type Field struct {
	Target *CheckOptions // For is Type
	// Values: the text; "true" or "false" of what is ticked; of a list the options, by value or by what can be read.
	Values []string
}

// Filled is what became of a field.
type Filled struct {
	Outcome  Outcome
	Err      error
	Describe string // page text, "" when it was not found
	Kind     string // input, textarea, select, checkbox, …
	Length   int    // of what stands there
	Text     string // that stands there, page text; "" when secret or long
	Matches  bool   // it is what was meant
}

// formPatience is how long all late fields of a form are waited for, together.
const formPatience = 2 * patience

// FillForm fills the fields in turn, whatever becomes of one of them, and reads each back twice: at once, and when the
// page has had its say about all of them.
func (a *Act) FillForm(ctx context.Context, fields []Field) []Filled {
	out := make([]Filled, len(fields))
	ends := make([]func() bool, len(fields)) // that look again
	left := formPatience
	for i, f := range fields {
		start := time.Now()
		out[i], ends[i] = a.put(ctx, f, min(left, patience))
		if out[i].Err != nil && out[i].Outcome == NotDispatched {
			left = max(left-time.Since(start), 10*time.Millisecond)
		}
	}
	a.lookAgain(ctx, out, ends)
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	a.target, a.value, a.step = nil, nil, together(out)
	return out
}

// together is the outcome of all.
func together(out []Filled) Outcome {
	has := func(o Outcome) bool { return slices.ContainsFunc(out, func(f Filled) bool { return f.Outcome == o }) }
	switch {
	case has(Unknown):
		return Unknown
	case has(Dispatched):
		return Dispatched
	case has(Confirmed):
		return Confirmed
	}
	return NotDispatched
}

// put fills one field. The function looks whether what was meant still stands there.
func (a *Act) put(ctx context.Context, f Field, late time.Duration) (out Filled, again func() bool) {
	out.Outcome = NotDispatched
	if ctx.Err() != nil {
		out.Err = context.Cause(ctx)
		return out, nil
	}
	o := *f.Target
	o.For, o.Timeout = Type, late
	c, err := a.aim(ctx, o)
	if protocol.CodeOf(err) == protocol.NotEditable { // a switch that is no field of the browser's
		o.For = Click
		if c, err = a.aim(ctx, o); err == nil && !ticks(c) {
			err = protocol.Errorf(protocol.NotEditable, "it takes no value").With("hint", "Click it, or choose from what it opens.")
		}
	}
	if err != nil {
		out.Err = err
		return out, nil
	}
	out.Describe, out.Kind = c.Describe, c.Editable
	at, err := a.tab.still(c)
	if err != nil {
		out.Err = err
		return out, nil
	}
	a.reached(NotDispatched)
	switch {
	case ticks(c):
		out.Err = a.tick(ctx, at.doc, f.Values, &out)
	case c.Editable == "select":
		var s Selected
		if s, out.Err = a.choose(ctx, at.doc, SelectOptions{Values: f.Values}); out.Err == nil {
			s = a.readBackList(ctx, at.doc, s)
		}
		out.Matches, out.Text = s.Matches, strings.Join(s.Labels, ", ")
		out.Length = utf8.RuneCountInString(out.Text)
		again = func() bool {
			now, err := ask[Selected](ctx, a.tab, at.doc, "readback", refArgs{c.Ref})
			return err != nil || slices.Equal(now.Labels, s.Labels)
		}
	case c.Editable == "file":
		out.Err = protocol.Errorf(protocol.NotEditable, "it takes files, not text")
	case len(f.Values) != 1:
		out.Err = protocol.Errorf(protocol.BadArgument, "it takes one value")
	default:
		out.Err = a.write(ctx, at.doc, f.Values[0], &out)
		again = func() bool {
			now, err := ask[fillAnswer](ctx, a.tab, at.doc, "readback", textArgs{c.Ref, f.Values[0]})
			return err != nil || now.Matches
		}
	}
	if out.Outcome = a.Step(); out.Err == nil && out.Matches {
		out.Outcome = Confirmed
	}
	if out.Outcome != Confirmed {
		again = nil
	}
	return out, again
}

type textArgs struct {
	Ref  string `json:"ref"`
	Text string `json:"text"`
}

// write puts text into a field. What takes values of one form only is never typed into.
func (a *Act) write(ctx context.Context, doc *document, text string, out *Filled) (err error) {
	a.value = nil
	switch a.target.Editable {
	case "date", "color", "range":
		var f fillAnswer
		if f, err = a.fill(ctx, doc, TypeOptions{Text: text}); err == nil && !f.Matches {
			a.keep(f)
			err = protocol.Errorf(protocol.BadArgument, "it does not take that value as it is")
		}
	default:
		err = a.enter(ctx, doc, TypeOptions{Text: text})
	}
	if v := a.value; v != nil {
		out.Matches, out.Length, out.Text = v.Matches, v.Length, v.Text
	}
	return err
}

// ticks tells whether a field is on or off.
func ticks(c *Checked) bool {
	switch c.Role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		return true
	}
	return c.Editable == "checkbox" || c.Editable == "radio"
}

// tick clicks a checkbox, radio or switch unless it stands as it should.
func (a *Act) tick(ctx context.Context, doc *document, values []string, out *Filled) error {
	want, ok := map[string]bool{"true": true, "on": true, "checked": true, "1": true, "false": false, "off": false, "unchecked": false, "0": false}[strings.ToLower(strings.Join(values, ","))]
	if !ok {
		return protocol.Errorf(protocol.BadArgument, `it takes "true" or "false"`)
	}
	is, err := a.ticked(ctx, doc)
	switch {
	case err != nil:
		return err
	case is == want:
	case a.target.Role == "radio" && !want:
		return protocol.Errorf(protocol.BadArgument, "a radio button is given up by choosing another")
	case a.target.Would.Kind != "none" && a.target.Would.Kind != "":
		return protocol.Errorf(protocol.WouldSubmit, "to tick it would lead away").With("hint", "Click it by itself.")
	default:
		if err := a.input(ctx, clickEvents(a.target.Point, Left, 1, 0)); err != nil {
			return err
		}
		for range readBacks {
			if is, err = a.ticked(ctx, doc); err != nil || is == want {
				break
			}
			if _, err = ask[struct{}](ctx, a.tab, doc, "quiet", quietArgs); err != nil {
				break
			}
		}
		if err != nil {
			return nil // the page is gone: it was clicked, and nobody can tell more
		}
	}
	out.Matches, out.Text = is == want, map[bool]string{true: "on", false: "off"}[is]
	out.Length = len(out.Text)
	return nil
}

func (a *Act) ticked(ctx context.Context, doc *document) (bool, error) {
	r, err := ask[struct {
		Checked bool `json:"checked"`
	}](ctx, a.tab, doc, "readback", refArgs{a.target.Ref})
	return r.Checked, err
}

// lookAgain reads back once the page is quiet: a later field, or the page's own mind, may have changed an earlier one.
func (a *Act) lookAgain(ctx context.Context, out []Filled, ends []func() bool) {
	doc, err := a.tab.main()
	if err != nil || !slices.ContainsFunc(ends, func(f func() bool) bool { return f != nil }) {
		return
	}
	if _, err := ask[struct{}](ctx, a.tab, doc, "quiet", quietArgs); err != nil {
		return
	}
	var wg sync.WaitGroup
	for i, stands := range ends {
		if stands != nil {
			wg.Go(func() {
				if !stands() {
					out[i].Outcome, out[i].Matches, out[i].Text = Dispatched, false, ""
				}
			})
		}
	}
	wg.Wait()
}
