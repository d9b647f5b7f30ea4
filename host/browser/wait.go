package browser

import (
	"context"
	"errors"
	"path"
	"strings"
	"sync"
	"time"
)

// LoadState is how far a navigation is waited for.
type LoadState string

// The values of LoadState.
const (
	Commit           LoadState = "commit"
	DOMContentLoaded LoadState = "domcontentloaded"
	Load             LoadState = "load"
	NetworkIdle      LoadState = "networkidle"
)

// WaitOptions are conditions; all that are given have to hold, one after the other.
type WaitOptions struct {
	Time      time.Duration
	Text      string
	TextGone  string
	Target    string
	State     string // of Target: visible (default), hidden, attached, detached, enabled
	URL       string // substring, or glob with *
	LoadState LoadState
	Timeout   time.Duration // 0: 30 s
	Readable  func(origin string) bool
}

// Waited tells how waiting ended.
type Waited struct {
	Met      bool
	Missing  string // the condition that was not met
	LastSeen string
	Took     time.Duration
	Dialog   *Dialog // a dialog ended the wait
	Document Document
}

// waitLimit is how long WaitFor waits unless told otherwise; waitSlice is how long one call into a page waits at most;
// lastWords is the time for the answer of a wait that ran out.
const (
	waitLimit = 30 * time.Second
	waitSlice = 4 * time.Second
	lastWords = 100 * time.Millisecond
)

type waitArgs struct {
	Text      string `json:"text,omitzero"`
	TextGone  string `json:"text_gone,omitzero"`
	Target    string `json:"target,omitzero"`
	State     string `json:"state,omitzero"`
	TimeoutMS int64  `json:"timeout_ms"`
}

type waitAnswer struct {
	Met      bool   `json:"met"`
	LastSeen string `json:"last_seen"`
}

// A condition is one thing waited for.
type condition struct {
	name string
	met  func(ctx context.Context, w *Waited) (bool, error) // waits; false: not met when ctx ended
}

// WaitFor waits. Running out is an answer, not an error.
func (t *Tab) WaitFor(ctx context.Context, o WaitOptions) (*Waited, error) {
	if o.Timeout <= 0 {
		o.Timeout = max(waitLimit, o.Time)
	}
	began := time.Now()
	w := &Waited{Met: true}
	limit, cancel := context.WithTimeoutCause(ctx, o.Timeout, errSilent)
	defer cancel()
	for _, c := range t.conditions(o) {
		met, err := c.met(limit, w)
		if errors.Is(err, errDialog) {
			w.Dialog, met, err = t.Dialog(), false, nil
		}
		if err != nil && (ctx.Err() != nil || !errors.Is(err, errSilent)) {
			return nil, err
		}
		if !met {
			w.Met, w.Missing = false, c.name
			break
		}
	}
	w.Took = time.Since(began)
	w.Document = t.Document()
	return w, nil
}

func (t *Tab) conditions(o WaitOptions) (all []condition) {
	add := func(given bool, name string, met func(ctx context.Context, w *Waited) (bool, error)) {
		if given {
			all = append(all, condition{name, met})
		}
	}
	add(o.Time > 0, "time", func(ctx context.Context, _ *Waited) (bool, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, o.Time, errPassed)
		defer cancel()
		err := t.await(ctx, func() bool { return false })
		if errors.Is(err, errPassed) {
			return true, nil
		}
		return false, err
	})
	add(o.URL != "", "url", func(ctx context.Context, w *Waited) (bool, error) {
		err := t.awaitOpen(ctx, func() bool { return matchesURL(o.URL, t.shown().URL) })
		w.LastSeen = t.Document().URL
		return err == nil, err
	})
	add(o.LoadState != "", "load_state", func(ctx context.Context, w *Waited) (bool, error) {
		err := t.awaitOpen(ctx, func() bool { return t.has(o.LoadState) })
		w.LastSeen = string(t.Document().Ready)
		return err == nil, err
	})
	inPage := func(args waitArgs, every bool) func(ctx context.Context, w *Waited) (bool, error) {
		return func(ctx context.Context, w *Waited) (bool, error) {
			return t.waitInPages(ctx, args, every, o.Readable, w)
		}
	}
	add(o.Text != "", "text", inPage(waitArgs{Text: o.Text}, false))
	add(o.TextGone != "", "textGone", inPage(waitArgs{TextGone: o.TextGone}, true))
	state := o.State
	if state == "" {
		state = "visible"
	}
	add(o.Target != "", "target", inPage(waitArgs{Target: o.Target, State: state}, state == "hidden" || state == "detached"))
	return all
}

// errPassed: the time that was asked for has passed.
var errPassed = errors.New("time passed")

// awaitOpen is await, given up when a dialog is open.
func (t *Tab) awaitOpen(ctx context.Context, ready func() bool) error {
	dialog, met := false, false
	err := t.await(ctx, func() bool {
		met, dialog = ready(), t.dialogs.open != nil
		return met || dialog
	})
	if err == nil && !met {
		return errDialog
	}
	return err
}

// has tells whether the main document has come so far. Callers hold mu.
func (t *Tab) has(state LoadState) bool {
	n := t.frames.top()
	if n == nil || n.doc == nil {
		return false
	}
	switch state {
	case Commit:
		return true
	case DOMContentLoaded:
		return n.doc.Ready != Loading
	case NetworkIdle:
		return n.doc.idle
	}
	return n.doc.Ready == Complete
}

// matchesURL: a pattern with * is a glob over the whole address, else a part of it.
func matchesURL(pattern, address string) bool {
	if !strings.Contains(pattern, "*") {
		return strings.Contains(address, pattern)
	}
	flat := strings.NewReplacer("/", "\x00").Replace // path.Match stops at slashes
	for strings.Contains(pattern, "**") {
		pattern = strings.ReplaceAll(pattern, "**", "*")
	}
	quoted := strings.NewReplacer("[", `\[`, "?", `\?`).Replace(pattern)
	ok, _ := path.Match(flat(quoted), flat(address))
	return ok
}

// waitInPages waits in all readable frames: until one of them says so, or with every until all do. A document that goes
// is looked for anew.
func (t *Tab) waitInPages(ctx context.Context, args waitArgs, every bool, readable func(string) bool, w *Waited) (bool, error) {
	for asked := false; ; asked = true {
		deadline, _ := ctx.Deadline()
		left := time.Until(deadline)
		if left <= 0 || asked && left < lastWords {
			return false, nil
		}
		// The page runs out a little before ctx does, and says what it saw last.
		args.TimeoutMS = max(min(left-min(lastWords, left/2), waitSlice, t.opt.CallTimeout*4/5).Milliseconds(), 1)
		met, err := t.waitOnce(ctx, args, every, readable, w)
		switch {
		case met:
			return true, nil
		case errors.Is(err, errDocumentGone), err == nil:
		default:
			return false, err
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
}

func (t *Tab) waitOnce(ctx context.Context, args waitArgs, every bool, readable func(string) bool, w *Waited) (bool, error) {
	if err := t.awaitOpen(ctx, func() bool { n := t.frames.top(); return n != nil && n.doc != nil }); err != nil {
		return false, err
	}
	all, _ := t.places(readable)
	if ref, prefix, ok := parseRef(args.Target); ok {
		at, err := t.byPrefix(prefix, readable)
		if err != nil {
			gone := args.State == "hidden" || args.State == "detached"
			if gone {
				err = nil
			}
			return gone, err
		}
		all, args.Target = []place{at}, ref
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	var failure error
	count := 0
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() {
			a, err := ask[waitAnswer](ctx, t, p.doc, "wait", args)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && !every && p.doc != all[0].doc: // a frame that cannot be asked is no reason
			case err != nil:
				failure = err
			case a.Met:
				count++
				if !every {
					cancel()
				}
			case a.LastSeen != "" && ctx.Err() == nil:
				w.LastSeen = a.LastSeen
			}
		})
	}
	var watch sync.WaitGroup
	watch.Go(func() {
		if !every && t.await(ctx, func() bool { return t.changedPlaces(all, readable) }) == nil {
			cancel() // a frame that comes later counts too
		}
	})
	wg.Wait()
	cancel()
	watch.Wait()
	mu.Lock()
	defer mu.Unlock()
	if count > 0 && (!every || count == len(all)) {
		return true, nil
	}
	if errors.Is(failure, context.Canceled) {
		failure = nil
	}
	return false, failure
}
