package browser

import (
	"context"
	"slices"
)

// aim checks another target and turns the act to it. Its document is watched for the delta from here on.
func (a *Act) aim(ctx context.Context, o CheckOptions) (*Checked, error) {
	o.going = true
	c, err := a.tab.Check(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.May != nil {
		if err := o.May(c.Frame); err != nil {
			return nil, err
		}
	}
	at, err := a.tab.still(c)
	if err != nil {
		return nil, err
	}
	a.watch(ctx, at.doc)
	a.target = c
	return c, nil
}

// watch has a document, and the page itself, remembered as they are, unless they are already.
func (a *Act) watch(ctx context.Context, doc *document) {
	docs := []*document{doc}
	if main, err := a.tab.main(); err == nil && main != doc {
		docs = append(docs, main)
	}
	for _, d := range docs {
		if slices.Contains(a.watched, d) {
			continue
		}
		if _, err := ask[struct{}](ctx, a.tab, d, "begin", struct{}{}); err == nil {
			a.watched = append(a.watched, d)
		}
	}
}
