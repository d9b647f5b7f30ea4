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

// A Finding is what was found; Total counts what Limit left out too.
type Finding struct {
	Found    []Found
	Total    int
	Withheld int // frames that may not be read
	Origin   string
	Document Document
}

// Find searches all readable frames.
func (t *Tab) Find(ctx context.Context, o FindOptions) (*Finding, error) {
	if o.Limit <= 0 {
		o.Limit = 20
	}
	return retried(func() (*Finding, error) { return t.find(ctx, o) })
}

func (t *Tab) find(ctx context.Context, o FindOptions) (*Finding, error) {
	type answer struct {
		Matches []Found `json:"matches"`
		Total   int     `json:"total"`
	}
	f := &Finding{}
	all, err := t.readableNow(ctx, o.Readable, &f.Withheld)
	if err != nil {
		return nil, err
	}
	answers, err := askAll[answer](ctx, t, all, "find", struct {
		Text  string `json:"text,omitzero"`
		Regex string `json:"regex,omitzero"`
		Role  string `json:"role,omitzero"`
		Name  string `json:"name,omitzero"`
		Limit int    `json:"limit"`
	}{o.Text, o.Regex, o.Role, o.Name, o.Limit})
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		f.Found = append(f.Found, a.Matches[:min(len(a.Matches), o.Limit-len(f.Found))]...)
		f.Total += a.Total
	}
	f.Document, f.Origin = t.documentOf(all[0].doc)
	return f, nil
}

// readableNow gives the frames that may be read, at least one, once those on their way have arrived.
func (t *Tab) readableNow(ctx context.Context, readable func(string) bool, withheld *int) ([]place, error) {
	t.awaitFrames(ctx)
	all, n := t.places(readable)
	if *withheld = n; len(all) > 0 {
		return all, nil
	}
	if n > 0 {
		return nil, protocol.Errorf(protocol.NotSharedSite, "the tab shows a site that is not shared")
	}
	return nil, protocol.Errorf(protocol.Unavailable, "the tab shows no document yet")
}

// askAll asks the engines of all places at once. A frame that does not answer counts as empty, the first must.
func askAll[R any](ctx context.Context, t *Tab, all []place, method string, args any) ([]R, error) {
	answers := make([]R, len(all))
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			t.readopt(ctx, p.doc)
			answers[i], errs[i] = ask[R](ctx, t, p.doc, method, args)
		})
	}
	wg.Wait()
	return answers, errs[0]
}

func (t *Tab) documentOf(doc *document) (Document, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return doc.Document, doc.Origin
}

// A FormReading is what a form, or all forms of the page, ask for.
type FormReading struct {
	Text     string
	Fields   int
	Hidden   int // hidden inputs
	More     int // fields left out
	Withheld int // frames that may not be read
	Origin   string
	Document Document
}

// ReadForm reads the fields of the target's form, or of whatever the target holds; "": of all forms in all readable frames.
func (t *Tab) ReadForm(ctx context.Context, target string, readable func(origin string) bool) (*FormReading, error) {
	return retried(func() (*FormReading, error) { return t.readForm(ctx, target, readable) })
}

func (t *Tab) readForm(ctx context.Context, target string, readable func(origin string) bool) (*FormReading, error) {
	type answer struct {
		Lines  []string `json:"lines"`
		Fields int      `json:"fields"`
		Hidden int      `json:"hidden_inputs"`
		More   int      `json:"more"`
	}
	f := &FormReading{}
	all, err := t.readableNow(ctx, readable, &f.Withheld)
	if err != nil {
		return nil, err
	}
	args := struct {
		Target string `json:"target,omitzero"`
	}{}
	if target != "" {
		at, found, nth, err := t.locate(ctx, target, 0, readable, patience)
		if err != nil {
			return nil, err
		}
		if nth != 0 {
			return nil, protocol.Errorf(protocol.Ambiguous, "more than one element matches the target")
		}
		args.Target, all = found, []place{at}
	}
	answers, err := askAll[answer](ctx, t, all, "readForm", args)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		for _, l := range a.Lines {
			f.Text += l + "\n"
		}
		f.Fields += a.Fields
		f.Hidden += a.Hidden
		f.More += a.More
	}
	f.Document, f.Origin = t.documentOf(all[0].doc)
	return f, nil
}
