package browser

import (
	"context"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// Purpose is what a target is checked for.
type Purpose string

// The values of Purpose.
const (
	Click  Purpose = "click"
	Type   Purpose = "type"
	Press  Purpose = "press"
	Hover  Purpose = "hover"
	Select Purpose = "select"
	Aim    Purpose = "none" // the element has to be there, nothing more
)

// CheckOptions say what is about to be done with a target.
type CheckOptions struct {
	Target  string // e12, aria-ref=e12, CSS, text=…, role=button[name="Save"], label=…
	Nth     int    // which of several matches, from 1; 0: there may be one only
	For     Purpose
	Button  Button        // for Click; "" is the left one
	Key     string        // for Press
	Submit  bool          // for Type: Enter follows
	Timeout time.Duration // how long a late control is waited for; 0: 3 s
	// Readable tells which origins' frames may be searched; nil: all.
	Readable func(origin string) bool
}

// A Point is a place in the main frame's viewport, in CSS pixels.
type Point struct{ X, Y float64 }

// Checked is a target that can be acted on, and what the act would set off.
type Checked struct {
	Ref      string
	Frame    string
	Document Document
	Origin   string // of the document
	Role     string
	Name     string
	Describe string // `button "Save"`
	Point    Point  // hit-tested in every frame on the way up
	Editable string // "", input, textarea, contenteditable, select, checkbox, …
	Secret   bool   // password, one-time code, card
	Keys     bool   // the field wants keys: type slowly
	Would    Would
	Options  CheckOptions
}

// Would is what an act would set off, as far as the page tells.
type Would struct {
	Kind   string   `json:"kind"` // none, follow, submit, download
	Method string   `json:"method"`
	URL    string   `json:"url"`
	Fields []string `json:"fields"` // names only
	NewTab bool     `json:"new_tab"`
	Form   string   `json:"form"`
	Frame  string   `json:"-"` // the frame that would send it
}

// Check finds the target and waits until it can be acted on: in view, visible, enabled, still, and itself receiving the
// point. It changes nothing but the scroll position.
func (t *Tab) Check(ctx context.Context, o CheckOptions) (*Checked, error) { return nil, errNotBuilt }

// Recheck looks again, without waiting or scrolling, whether c still holds: same document, same element, still receiving
// the point, and setting off the same. It answers a fresh Checked, or [protocol.TabChanged] when the document is another,
// [protocol.AllowedRepeatNeeded] when the act would set off something else, or the reason why the target cannot be
// acted on any more.
func (t *Tab) Recheck(ctx context.Context, c *Checked) (*Checked, error) { return nil, errNotBuilt }

var errNotBuilt = protocol.Errorf(protocol.Internal, "not built yet")
