package browser

import (
	"context"
	"fmt"
	"slices"

	"github.com/tabvalet/tabvalet/protocol"
)

// SelectOptions name the options to choose. In a list that takes several, the others are given up.
type SelectOptions struct {
	Values  []string // a value, or what can be read
	Labels  []string // what can be read; "Group: text" where two read the same
	Indexes []int    // from 0
}

// Selected is what a list holds, read back.
type Selected struct {
	Labels  []string `json:"selected"` // page text
	Matches bool     `json:"-"`        // … and is what was chosen
}

// Select chooses options of the checked list.
func (a *Act) Select(ctx context.Context, o SelectOptions) (Selected, error) {
	if a.target == nil {
		return Selected{}, errNoTarget
	}
	at, err := a.tab.still(a.target)
	if err != nil {
		return Selected{}, err
	}
	chosen, err := a.choose(ctx, at.doc, o)
	if err != nil {
		return chosen, fmt.Errorf("choosing in %s: %w", a.target.Role, err)
	}
	// A page may draw its list anew, and choose otherwise.
	if _, err := ask[struct{}](ctx, a.tab, at.doc, "quiet", quietArgs); err != nil {
		return chosen, nil
	}
	return a.readBackList(ctx, at.doc, chosen), nil
}

func (a *Act) choose(ctx context.Context, doc *document, o SelectOptions) (Selected, error) {
	chosen, err := sendAsk[Selected](ctx, a, doc, "select", struct {
		Ref     string   `json:"ref"`
		Values  []string `json:"values,omitzero"`
		Labels  []string `json:"labels,omitzero"`
		Indexes []int    `json:"indexes,omitzero"`
	}{a.target.Ref, o.Values, o.Labels, o.Indexes})
	switch protocol.CodeOf(err) {
	case protocol.NotEditable, protocol.BadArgument, protocol.NotFound, protocol.Ambiguous, protocol.Disabled:
		a.reached(NotDispatched) // the engine looks before it chooses
	}
	if err != nil {
		return chosen, err
	}
	return chosen, nil
}

// readBackList compares what stands in the list with what was chosen. A page that is gone is no failure.
func (a *Act) readBackList(ctx context.Context, doc *document, chosen Selected) Selected {
	now, err := ask[Selected](ctx, a.tab, doc, "readback", refArgs{a.target.Ref})
	if err != nil {
		return chosen
	}
	if now.Matches = slices.Equal(now.Labels, chosen.Labels); now.Matches {
		a.reached(Confirmed)
	}
	return now
}

type refArgs struct {
	Ref string `json:"ref"`
}
