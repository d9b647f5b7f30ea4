package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// Button is a mouse button.
type Button string

// The values of Button.
const (
	Left   Button = "left"
	Right  Button = "right"
	Middle Button = "middle"
)

// ClickOptions shape a click.
type ClickOptions struct {
	Button    Button // "" is the left one
	Double    bool
	Modifiers []string // Alt, Control, ControlOrMeta, Meta, Shift
}

// TypeOptions shape typing. The text replaces what stands there unless Append.
type TypeOptions struct {
	Text   string
	Append bool
	Slowly bool // key by key; also chosen for fields that want it
	Submit bool // press Enter afterwards
}

// Direction is a step in the history.
type Direction string

// The values of Direction.
const (
	Back    Direction = "back"
	Forward Direction = "forward"
	Reload  Direction = "reload"
)

// NavigationFate is what became of a navigation.
type NavigationFate string

// The values of NavigationFate.
const (
	Committed    NavigationFate = "committed"
	Refused      NavigationFate = "refused"       // the guard let it not leave; the page stands
	Asked        NavigationFate = "asked"         // … and asks the owner
	Parked       NavigationFate = "parked"        // a redirect was stopped half way; the owner is asked
	SameDocument NavigationFate = "same_document" // only the address changed
	Abandoned    NavigationFate = "abandoned"     // it began and brought no page: 204, a download, stopped by a dialog
	FateUnknown  NavigationFate = "unknown"       // it began, and time ran out
)

// Navigation is the last navigation of an act.
type Navigation struct {
	Fate        NavigationFate
	Frame       string
	URL         string
	Status      int    // HTTP status, 0 if none came
	ContentType string // of the answer
	Error       string // Chrome's net:: error, ""
	Reached     LoadState
}

// Settled is what an act set off.
type Settled struct {
	Outcome    Outcome
	Navigation *Navigation // nil: none
	Dialog     *Dialog     // that opened during the act
	Document   Document    // what the tab shows now
	Delta      string      // lines that came (+) and went (−)
	DeltaMore  int         // lines that Delta leaves out
	Requests   int         // that the act started and that were still open
	Value      *Value      // typing: what stands in the field now
}

// Value is what a field holds after typing.
type Value struct {
	Matches bool
	Length  int
	Text    string // "" when secret or long
}

// An Act is one change the agent makes. It is used by one goroutine; only Note may be called from others.
type Act struct {
	tab     *Tab
	target  *Checked
	awake   func() // keeps frames at full speed from now on
	before  Document
	watched []*document // whose delta is told
	release []func()    // of what End lets go

	// Guarded by the tab's mu.
	settling  settling
	until     LoadState
	commanded bool // a navigation must come
	step      Outcome
	refused   error // what the last command failed with
	quiet     bool  // the page was quiet since the last request
	ear       *ear  // that was put to the page before a click
	clicks    int   // how often the button was let go
	told      *told // by the page, of all that the act changed
	dialogs   []*Dialog
	value     *Value
	dragged   jsontext.Value // what a drag carries that the browser took over
}

// Begin starts an act: frames run at full speed and everything that happens is counted to it, until [Act.End]. c may be
// nil for what has no target.
func (t *Tab) Begin(ctx context.Context, c *Checked) (*Act, error) {
	t.mu.Lock()
	a := &Act{tab: t, target: c, before: t.shown(), step: NotDispatched}
	frame := t.frames.main
	var docs []*document
	if n := t.frames.top(); n != nil && n.doc != nil && c != nil {
		docs = append(docs, n.doc)
	}
	var begun *document
	if c != nil {
		frame = c.Frame
		n := t.frames.nodes[c.Frame]
		if n == nil || n.doc == nil || n.doc.Seq != c.Document.Seq {
			t.mu.Unlock()
			return nil, errDocumentGone
		}
		if n.id != t.frames.main {
			docs = append(docs, n.doc)
		}
	}
	if c != nil && c == t.begun {
		begun = t.frames.nodes[c.Frame].doc
	}
	t.begun = nil
	a.settling = newSettling(t.frames.main, frame)
	t.act = a
	t.mu.Unlock()
	a.awake = sync.OnceFunc(func() { a.release = append(a.release, t.cast.hold()) })
	if c != nil && c.Options.For != Type { // a field is filled without a frame
		a.awake()
	}
	if err := a.baseline(ctx, docs, begun); err != nil {
		a.End()
		return nil, err
	}
	return a, nil
}

// baseline lets the engines remember the page as it is, for the delta. That of begun did so when it checked the target.
func (a *Act) baseline(ctx context.Context, docs []*document, begun *document) error {
	errs := make([]error, len(docs))
	var wg sync.WaitGroup
	for i, doc := range docs {
		if doc != begun {
			wg.Go(func() { _, errs[i] = ask[struct{}](ctx, a.tab, doc, "begin", struct{}{}) })
		}
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil && docs[i].Frame == a.settling.frame {
			return err
		}
		if err == nil {
			a.watched = append(a.watched, docs[i])
		}
	}
	return nil
}

// Step tells how far the last step of the act got, whatever its error was.
func (a *Act) Step() Outcome {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	return a.step
}

func (a *Act) reached(o Outcome) {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	a.step = o
}

// refusals are codes with which a command is turned back before it gets to Chrome.
var refusals = []protocol.Code{
	protocol.OwnerHasControl, protocol.OwnerIsActing, protocol.OwnerPrivate, protocol.AgentPaused, protocol.NotLeased,
	protocol.MethodNotAllowed, protocol.BadParams, protocol.NotConnected, protocol.Busy,
}

// send runs a command that changes something and returns when it is acknowledged, or when it has had a consequence after
// which no acknowledgement can be waited for: a dialog, a navigation, the guard's word. The answer is then still awaited
// in the background.
func (a *Act) send(ctx context.Context, run func(ctx context.Context) error) error {
	t := a.tab
	var acked bool
	var failure error
	t.mu.Lock()
	a.settling.counting, a.told = true, nil
	a.step = Unknown
	seen := a.settling.dialogs
	t.spawn(func(tab context.Context) {
		tab, cancel := context.WithTimeoutCause(tab, t.opt.NavTimeout+t.opt.DialogTimeout, errSilent)
		defer cancel()
		stop := context.AfterFunc(ctx, func() {
			if errors.Is(context.Cause(ctx), context.Canceled) {
				cancel()
			}
		})
		defer stop()
		err := run(tab)
		t.mu.Lock()
		defer t.mu.Unlock()
		acked, failure = true, cause(tab, err)
		if failure != nil {
			a.refused = failure
		}
		t.changed()
	})
	t.mu.Unlock()
	limit, cancel := context.WithTimeoutCause(ctx, t.opt.CallTimeout, errSilent)
	defer cancel()
	err := t.await(limit, func() bool {
		return acked || a.settling.dialogs > seen || a.settling.stage("", false) == moving || a.settling.stage("", false) == settled
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && acked {
		err = failure
	}
	switch {
	case err == nil:
		a.step = Dispatched
	case slices.Contains(refusals, protocol.CodeOf(err)):
		a.step = NotDispatched
	}
	return err
}

// input sends input events together.
func (a *Act) input(ctx context.Context, events []Command) error {
	a.awake()
	return a.send(ctx, func(ctx context.Context) error { return a.tab.acting().all(ctx, events) })
}

var errNoTarget = protocol.Errorf(protocol.BadArgument, "this needs a target")

// Click clicks the checked target.
func (a *Act) Click(ctx context.Context, o ClickOptions) error {
	if a.target == nil {
		return errNoTarget
	}
	modifiers, err := modifiersOf(o.Modifiers)
	if err != nil {
		return err
	}
	if o.Button == "" {
		o.Button = Left
	}
	if _, ok := mouseButtons[o.Button]; !ok {
		return protocol.Errorf(protocol.BadArgument, "there is no button %q", o.Button)
	}
	count := 1
	if o.Double {
		count = 2
	}
	a.listen(count)
	if err := a.input(ctx, clickEvents(a.target.Point, o.Button, count, modifiers)); err != nil {
		return fmt.Errorf("clicking %s: %w", a.target.Role, err)
	}
	return nil
}

// Note tells what the guard decided about a document request of frame ("" is the main frame), so that Settle need not
// wait for what will not come. Committed and SameDocument are seen by the act itself and ignored here.
func (a *Act) Note(frame string, fate NavigationFate, url string) {
	if fate == Committed || fate == SameDocument {
		return
	}
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	a.settling.note(frame, fate, url)
	a.tab.changed()
}

// End ends the act. It never fails and may be called twice.
func (a *Act) End() {
	a.tab.mu.Lock()
	if a.tab.act == a {
		a.tab.act = nil
		a.tab.dialogs.armed = nil
		if way := a.tab.arrival; way != nil && way.loader == "" && a.tab.dialogs.open == nil {
			a.tab.arrival = nil // what has not set out by now must not be taken for it later
			a.tab.changed()
		}
	}
	a.tab.mu.Unlock()
	for _, release := range a.release {
		release()
	}
}
