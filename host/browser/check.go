package browser

import (
	"context"
	"reflect"
	"slices"
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
	Target    string // e12, aria-ref=e12, CSS, text=…, role=button[name="Save"], label=…; for Press "" is what has the focus
	Nth       int    // which of several matches, from 1; 0: there may be one only
	For       Purpose
	Button    Button        // for Click; "" is the left one
	Modifiers []string      // for Click
	Key       string        // for Press
	Submit    bool          // for Type: Enter follows
	Timeout   time.Duration // how long a late control is waited for; 0: 3 s
	// Readable tells which origins' frames may be searched; nil: all.
	Readable func(origin string) bool
	// May says why a frame must not be acted in; nil: each may. Asked about what an act turns to on its way.
	May func(frame string) error

	going bool // an act is under way: what its delta is told against stands
}

// A Point is a place in the main frame's viewport, in CSS pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

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
	Focused  bool   // there was no target: it is what has the focus
	Would    Would
	Options  CheckOptions

	rect    rect
	inFrame Point  // the point in the target's own frame
	inner   string // the target is the frame element of this frame
}

// A rect is in CSS pixels of its frame's viewport.
type rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Would is what an act would set off, as far as the page tells.
type Would struct {
	Kind   string   `json:"kind"` // none, follow, submit, download
	Method string   `json:"method"`
	URL    string   `json:"url"`
	Fields []string `json:"fields"` // names only
	NewTab bool     `json:"new_tab"`
	Target string   `json:"target"` // as written: "", _top, _parent, _blank, a name
	Form   string   `json:"form"`
	// Invalid names fields for which the browser would not send the form.
	Invalid []string `json:"invalid"`
	Frame   string   `json:"-"` // the frame that would send it
}

// patience is how long a late control is waited for.
const patience = 3 * time.Second

// curable names what time may cure.
var curable = []protocol.Code{protocol.NotFound, protocol.Hidden, protocol.Disabled, protocol.Covered, protocol.Moving, protocol.Outside}

type checkArgs struct {
	Target    string   `json:"target"`
	Nth       int      `json:"nth,omitzero"`
	For       Purpose  `json:"for"`
	Button    Button   `json:"button,omitzero"`
	Modifiers []string `json:"modifiers,omitzero"`
	Key       string   `json:"key,omitzero"`
	Submit    bool     `json:"submit,omitzero"`
	TimeoutMS int64    `json:"timeout_ms"`
	Quick     bool     `json:"quick,omitzero"`
	Begin     bool     `json:"begin,omitzero"`
}

type checkAnswer struct {
	Found
	Point    *Point `json:"point"`
	Rect     rect   `json:"rect"`
	Editable string `json:"editable"`
	Secret   bool   `json:"secret"`
	Keys     bool   `json:"keys_needed"`
	Frame    string `json:"frame"` // the target is a frame element: its key
	Would    Would  `json:"would"`
	Begun    bool   `json:"begun"`
}

// Check finds the target and waits until it can be acted on: in view, visible, enabled, still, and itself receiving the
// point. It changes nothing but the scroll position.
func (t *Tab) Check(ctx context.Context, o CheckOptions) (*Checked, error) {
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	if o.For == Press && o.Target == "" {
		return t.checkFocus(ctx, o)
	}
	until := time.Now().Add(o.Timeout)
	_, _, isRef := parseRef(o.Target)
	for {
		at, target, nth, err := t.locate(ctx, o.Target, o.Nth, o.Readable, max(time.Until(until), time.Millisecond))
		if err != nil {
			return nil, err
		}
		c, err := t.checkUntil(ctx, at, target, nth, o, until, isRef)
		if time.Now().Before(until) && (err == errDocumentGone && !isRef || err == errNewFrame || slices.Contains(curable, protocol.CodeOf(err))) {
			continue // nothing was done; look again, if need be in the page that came
		}
		if err == errDocumentGone && isRef {
			err = protocol.Errorf(protocol.StaleRef, "the page the ref belongs to is gone")
		}
		return c, err
	}
}

// errNewFrame: a frame came in which the target may be.
var errNewFrame = protocol.Errorf(protocol.NotFound, "nothing in the page matches the target")

// checkUntil checks the target in a document. What is not a ref may also come to stand in a frame that is not there yet.
func (t *Tab) checkUntil(ctx context.Context, at place, target string, nth int, o CheckOptions, until time.Time, isRef bool) (*Checked, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if all, _ := t.places(o.Readable); !isRef && len(all) == 1 {
		t.watch(ctx, func() bool { return t.changedPlaces(all, o.Readable) }, func() { cancel(errNewFrame) })
	}
	return t.checkAt(ctx, at, target, nth, o, max(time.Until(until), 0), false)
}

// Recheck looks again, without waiting or scrolling, whether c still holds: same document, same element, still receiving
// the point, and setting off the same. It answers a fresh Checked, or [protocol.TabChanged] when the document is another,
// [protocol.AllowedRepeatNeeded] when the act would set off something else, or the reason why the target cannot be
// acted on any more.
func (t *Tab) Recheck(ctx context.Context, c *Checked) (*Checked, error) {
	at, err := t.still(c)
	if err != nil {
		return nil, err
	}
	target := c.Ref
	if c.Focused {
		target = ""
	}
	fresh, err := t.checkAt(ctx, at, target, 0, c.Options, 0, true)
	switch {
	case protocol.CodeOf(err) == protocol.StaleRef:
		return nil, protocol.Errorf(protocol.TabChanged, "%s is no longer in the page", c.Describe)
	case err != nil:
		return nil, err
	case fresh.Ref != c.Ref || fresh.Role != c.Role || fresh.Name != c.Name || !reflect.DeepEqual(fresh.Would, c.Would):
		return nil, protocol.Errorf(protocol.AllowedRepeatNeeded, "%s is not what it was when it was looked at", c.Describe)
	}
	return fresh, nil
}

// still gives the place of c if its frame shows the same document.
func (t *Tab) still(c *Checked) (place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.frames.nodes[c.Frame]
	if n == nil || n.doc == nil || n.doc.Seq != c.Document.Seq {
		return place{}, errDocumentGone
	}
	return place{n.id, n.doc}, nil
}

// checkAt has the engine of one document check the target, and follows the point up to the main frame.
func (t *Tab) checkAt(ctx context.Context, at place, target string, nth int, o CheckOptions, wait time.Duration, quick bool) (*Checked, error) {
	limit := min(wait, t.opt.CallTimeout*4/5)
	a, err := ask[checkAnswer](ctx, t, at.doc, "check", checkArgs{
		Target: target, Nth: nth, For: o.For, Button: o.Button, Modifiers: o.Modifiers, Key: o.Key, Submit: o.Submit,
		TimeoutMS: limit.Milliseconds(), Quick: quick, Begin: !quick && o.For != Aim && !o.going,
	})
	if err != nil {
		return nil, err
	}
	c := &Checked{
		Ref: a.Ref, Role: a.Role, Name: a.Name, Describe: a.Describe, Frame: at.frame, Editable: a.Editable, Secret: a.Secret,
		Keys: a.Keys, Focused: target == "", Would: a.Would, Options: o, rect: a.Rect, inner: a.Frame,
	}
	c.Would.Frame = at.frame
	t.mu.Lock()
	c.Document = at.doc.Document
	c.Origin = at.doc.Origin
	t.begun = nil
	if a.Begun {
		t.begun = c
	}
	t.mu.Unlock()
	if a.Point != nil {
		c.inFrame = *a.Point
		if c.Point, err = t.surface(ctx, at.frame, *a.Point, !quick, true); err != nil {
			return nil, err
		}
	}
	return c, nil
}

type mapArgs struct {
	Key string  `json:"key"`
	X   float64 `json:"x"`
	Y   float64 `json:"y"`
}

type mapAnswer struct {
	Point
	Hit bool   `json:"hit"`
	By  string `json:"by"`
}

// surface maps a point of a frame's viewport to the main frame's, through every frame in between. With hit each frame
// element must receive the point, else it is covered; with reveal one that does not is scrolled into view first.
func (t *Tab) surface(ctx context.Context, frame string, p Point, reveal, hit bool) (Point, error) {
	for {
		t.mu.Lock()
		var parent *document
		n := t.frames.nodes[frame]
		if n != nil && n.id != t.frames.main {
			if up := t.frames.nodes[n.parent]; up != nil {
				parent = up.doc
			}
		}
		top := n != nil && n.id == t.frames.main
		t.mu.Unlock()
		if top {
			return p, nil
		}
		if parent == nil {
			return p, errDocumentGone
		}
		m, err := t.mapPoint(ctx, parent, mapArgs{frame, p.X, p.Y}, reveal && hit)
		if err != nil {
			return p, err
		}
		if hit && !m.Hit {
			return p, protocol.Errorf(protocol.Covered, "the frame is covered by %s", m.By).With("by", m.By)
		}
		frame, p = parent.Frame, m.Point
	}
}

func (t *Tab) mapPoint(ctx context.Context, parent *document, args mapArgs, reveal bool) (mapAnswer, error) {
	if err := t.bind(ctx, parent, args.Key); err != nil {
		return mapAnswer{}, err
	}
	m, err := ask[mapAnswer](ctx, t, parent, "mapPoint", args)
	if err != nil || m.Hit || !reveal {
		return m, err
	}
	if _, err := ask[struct{}](ctx, t, parent, "reveal", args); err != nil {
		return m, err
	}
	return ask[mapAnswer](ctx, t, parent, "mapPoint", args)
}

// checkFocus checks what has the focus, for a key without a target: it may be in a child frame.
func (t *Tab) checkFocus(ctx context.Context, o CheckOptions) (*Checked, error) {
	doc, err := t.main()
	if err != nil {
		return nil, err
	}
	at := place{doc.Frame, doc}
	for range 16 {
		a, err := t.checkAt(ctx, at, "", 0, o, 0, true)
		if err != nil || a.inner == "" {
			return a, err
		}
		t.mu.Lock()
		n := t.frames.nodes[a.inner]
		if n == nil || n.doc == nil || o.Readable != nil && !o.Readable(t.frames.readOrigin(n)) {
			t.mu.Unlock()
			return nil, protocol.Errorf(protocol.NotSharedSite, "the focus is in a frame of a site that is not shared")
		}
		at = place{n.id, n.doc}
		t.mu.Unlock()
	}
	return nil, protocol.Errorf(protocol.NotFound, "the focus cannot be found")
}
