package browser

import (
	"context"
	"fmt"
)

// ScrollOptions say where to. Without any, a target is brought into view, and the page goes on by a screen.
type ScrollOptions struct {
	To  string // top, bottom
	ByY float64
}

// Scrolled is what a scroll moved.
type Scrolled struct {
	Moved    float64 `json:"moved"` // pixels down
	AtTop    bool    `json:"at_top"`
	AtBottom bool    `json:"at_bottom"`
	Area     string  `json:"area"` // "page", or how the area is called: page text
}

// Scroll scrolls the area around the checked target, or the page.
func (a *Act) Scroll(ctx context.Context, o ScrollOptions) (Scrolled, error) {
	doc, ref, err := a.where()
	if err != nil {
		return Scrolled{}, err
	}
	args := struct {
		Target string   `json:"target,omitzero"`
		To     string   `json:"to,omitzero"`
		ByY    *float64 `json:"by_y,omitzero"`
	}{Target: ref, To: o.To}
	if o.ByY != 0 {
		args.ByY = &o.ByY
	}
	s, err := sendAsk[Scrolled](ctx, a, doc, "scroll", args)
	if err != nil {
		return s, fmt.Errorf("scrolling: %w", err)
	}
	a.reached(Confirmed)
	return s, nil
}

// where gives the document and the ref of the target, or the main document.
func (a *Act) where() (*document, string, error) {
	if a.target == nil {
		doc, err := a.tab.main()
		return doc, "", err
	}
	at, err := a.tab.still(a.target)
	return at.doc, a.target.Ref, err
}

// sendAsk has the engine do something, as send does: an answer that a dialog or a navigation came before is the zero
// value.
func sendAsk[R any](ctx context.Context, a *Act, doc *document, method string, args any) (R, error) {
	answered := make(chan R, 1)
	err := a.send(ctx, func(ctx context.Context) error {
		r, err := ask[R](ctx, a.tab, doc, method, args)
		answered <- r
		return err
	})
	var r R
	select {
	case r = <-answered:
	default:
	}
	return r, err
}
