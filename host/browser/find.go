package browser

import (
	"context"
	"sync"

	"github.com/tabvalet/tabvalet/protocol"
)

// FindOptions say what is looked for: text, a regular expression, or a role and name.
type FindOptions struct {
	Text, Regex, Role, Name string
	Limit                   int // 0: 20
	Readable                func(origin string) bool
}

// Found is one element that was found.
type Found struct {
	Ref      string `json:"ref"`
	Role     string `json:"role"`
	Name     string `json:"name"`
	Describe string `json:"describe"`
	Line     string `json:"line,omitzero"` // the snapshot's line of it
}

// Find searches all readable frames. total counts what Limit left out.
func (t *Tab) Find(ctx context.Context, o FindOptions) (found []Found, total int, err error) {
	if o.Limit <= 0 {
		o.Limit = 20
	}
	type answer struct {
		Matches []Found `json:"matches"`
		Total   int     `json:"total"`
	}
	t.awaitFrames(ctx)
	all, _ := t.places(o.Readable)
	if len(all) == 0 {
		return nil, 0, protocol.Errorf(protocol.Unavailable, "the tab shows no document that may be read")
	}
	answers := make([]answer, len(all))
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			answers[i], errs[i] = ask[answer](ctx, t, p.doc, "find", struct {
				Text  string `json:"text,omitzero"`
				Regex string `json:"regex,omitzero"`
				Role  string `json:"role,omitzero"`
				Name  string `json:"name,omitzero"`
				Limit int    `json:"limit"`
			}{o.Text, o.Regex, o.Role, o.Name, o.Limit})
		})
	}
	wg.Wait()
	if errs[0] != nil {
		return nil, 0, errs[0]
	}
	for _, a := range answers {
		found = append(found, a.Matches[:min(len(a.Matches), o.Limit-len(found))]...)
		total += a.Total
	}
	return found, total, nil
}
