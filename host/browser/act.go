package browser

import "context"

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

// ScrollOptions say where to.
type ScrollOptions struct {
	To  string // top, bottom
	ByY float64
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
type Act struct{ tab *Tab }

// Begin starts an act: frames run at full speed and everything that happens is counted to it, until [Act.End]. c may be
// nil for what has no target.
func (t *Tab) Begin(ctx context.Context, c *Checked) (*Act, error) { return nil, errNotBuilt }

// Click clicks the checked target.
func (a *Act) Click(ctx context.Context, o ClickOptions) error { return errNotBuilt }

// Type types into the checked target.
func (a *Act) Type(ctx context.Context, o TypeOptions) error { return errNotBuilt }

// Press presses a key or a combination ("Control+a") in the checked target, or where the focus is.
func (a *Act) Press(ctx context.Context, key string) error { return errNotBuilt }

// Hover moves the mouse over the checked target.
func (a *Act) Hover(ctx context.Context) error { return errNotBuilt }

// Scroll scrolls the checked target's scroll area, or the page.
func (a *Act) Scroll(ctx context.Context, o ScrollOptions) error { return errNotBuilt }

// Navigate opens an http or https address as the owner's own navigation would, SameSite=Strict cookies included. Settle
// waits until the document has reached until ("" is DOMContentLoaded).
func (a *Act) Navigate(ctx context.Context, url string, until LoadState) error { return errNotBuilt }

// History goes back, forward, or loads again. [protocol.InvalidTransition] where there is nothing to go to.
func (a *Act) History(ctx context.Context, d Direction, until LoadState) error { return errNotBuilt }

// Step tells how far the last step of the act got, whatever its error was.
func (a *Act) Step() Outcome { return NotDispatched }

// Settle waits until what the act set off is over, and tells it. It answers an error only when ctx ends or the tab goes;
// the outcome is then that of [Act.Step].
func (a *Act) Settle(ctx context.Context) (*Settled, error) { return nil, errNotBuilt }

// Note tells what the guard decided about a document request of frame ("" is the main frame), so that Settle need not
// wait for what will not come. Committed and SameDocument are seen by the act itself and ignored here.
func (a *Act) Note(frame string, fate NavigationFate, url string) {}

// End ends the act. It never fails and may be called twice.
func (a *Act) End() {}
