package browser

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// A ref names an element of one document: the prefix names the document.
var refPattern = regexp.MustCompile(`^(?:aria-ref=)?((f\d+)?e\d+)$`)

// parseRef splits a target that is a ref into the ref and its document's prefix.
func parseRef(target string) (ref, prefix string, ok bool) {
	m := refPattern.FindStringSubmatch(strings.TrimSpace(target))
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// A place is a frame with the document it shows.
type place struct {
	frame string
	doc   *document
}

// places gives the frames that may be read, the main frame first. Readable nil means all; inline content is judged as
// its parent.
func (t *Tab) places(readable func(origin string) bool) (all []place, withheld int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.frames.list() {
		switch {
		case n.doc == nil || n.doc.unreachable && n.id != t.frames.main:
		case readable != nil && !readable(t.frames.readOrigin(n)):
			withheld++
		default:
			all = append(all, place{n.id, n.doc})
		}
	}
	return all, withheld
}

// framesLimit is how long a frame on its way to another process is waited for before reading.
const framesLimit = 500 * time.Millisecond

// awaitFrames waits, not for long, until every frame that is known shows a document; after a lost link none is known.
func (t *Tab) awaitFrames(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, framesLimit)
	defer cancel()
	t.await(ctx, func() bool {
		if t.dialogs.open != nil {
			return true
		}
		if t.frames.top() == nil {
			return false
		}
		for _, n := range t.frames.list() {
			if n.doc == nil {
				return false
			}
		}
		return len(t.opening) == 0
	})
}

// main gives the main frame's document.
func (t *Tab) main() (*document, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.frames.top(); n != nil && n.doc != nil {
		return n.doc, nil
	}
	return nil, protocol.Errorf(protocol.Unavailable, "the tab shows no document yet")
}

// byPrefix gives the document whose refs have the prefix, if it may be read.
func (t *Tab) byPrefix(prefix string, readable func(string) bool) (place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.frames.list() {
		if n.doc == nil || n.doc.engine == nil || n.doc.engine.prefix != prefix {
			continue
		}
		if readable != nil && !readable(t.frames.readOrigin(n)) {
			return place{}, protocol.Errorf(protocol.NotSharedSite, "the ref is in a frame of a site that is not shared")
		}
		return place{n.id, n.doc}, nil
	}
	return place{}, protocol.Errorf(protocol.StaleRef, "the page the ref belongs to is gone")
}

// locate finds the one document that holds the target, and the match's number in it. A ref names it by its prefix; all
// else is looked for in every readable frame, and waited for.
func (t *Tab) locate(ctx context.Context, target string, nth int, readable func(string) bool, patience time.Duration) (place, string, int, error) {
	if target == "" {
		return place{}, "", 0, protocol.Errorf(protocol.BadArgument, "no target was given")
	}
	if ref, prefix, ok := parseRef(target); ok {
		at, err := t.byPrefix(prefix, readable)
		return at, ref, 0, err
	}
	t.awaitFrames(ctx)
	all, _ := t.places(readable)
	if len(all) == 0 {
		return place{}, "", 0, protocol.Errorf(protocol.Unavailable, "the tab shows no document that may be read")
	}
	if len(all) == 1 {
		return all[0], target, nth, nil // the engine finds, waits and says what is ambiguous
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		at, n, err := pick(t.resolveAll(ctx, target, all), nth)
		if protocol.CodeOf(err) != protocol.NotFound {
			return at, target, n, err
		}
		if !t.appears(ctx, target, all, readable) {
			return place{}, "", 0, err
		}
		all, _ = t.places(readable)
	}
}

// A resolution is how many matches of a target one frame has.
type resolution struct {
	place
	count int
	first []Found // some of them
	err   error   // why the frame could not be searched at all
}

// resolveAll searches the frames in parallel.
func (t *Tab) resolveAll(ctx context.Context, target string, all []place) []resolution {
	out := make([]resolution, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			found, err := ask[Found](ctx, t, p.doc, "resolve", struct {
				Target string `json:"target"`
			}{target})
			out[i] = resolutionOf(p, found, err)
		})
	}
	wg.Wait()
	return out
}

func resolutionOf(p place, found Found, err error) resolution {
	r := resolution{place: p}
	switch protocol.CodeOf(err) {
	case "":
		r.count, r.first = 1, []Found{found}
	case protocol.NotFound:
	case protocol.Ambiguous:
		r.count, r.first = candidates(err)
	default:
		r.err = err
	}
	return r
}

// candidates reads what an ambiguous answer of the engine lists.
func candidates(err error) (int, []Found) {
	e, _ := errors.AsType[*protocol.Error](err)
	list, _ := e.Data["candidates"].([]any)
	var found []Found
	for _, c := range list {
		m, _ := c.(map[string]any)
		text := func(key string) string { s, _ := m[key].(string); return s }
		found = append(found, Found{Ref: text("ref"), Role: text("role"), Name: text("name"), Describe: text("describe")})
	}
	total, _ := e.Data["total"].(float64)
	return max(int(total), len(found), 2), found
}

// pick chooses the nth match over all frames, or the only one.
func pick(all []resolution, nth int) (place, int, error) {
	total := 0
	var some []Found
	var only place
	for _, r := range all {
		if r.count > 0 && nth > total && nth <= total+r.count {
			if r.count == 1 {
				return r.place, 0, nil
			}
			return r.place, nth - total, nil
		}
		if r.count > 0 {
			only = r.place
		}
		total += r.count
		some = append(some, r.first...)
	}
	switch {
	case total == 1 && nth <= 1:
		return only, 0, nil
	case total == 0:
		for _, r := range all {
			if code := protocol.CodeOf(r.err); code == protocol.BadArgument || code == protocol.DialogOpen {
				return place{}, 0, r.err
			}
		}
		return place{}, 0, protocol.Errorf(protocol.NotFound, "nothing in the page or its frames matches the target")
	case nth > total:
		return place{}, 0, protocol.Errorf(protocol.NotFound, "there are only %d matches", total)
	}
	return place{}, 0, protocol.Errorf(protocol.Ambiguous, "%d elements match the target", total).With("candidates", some).With("total", total)
}

// appears waits until one of the frames, or a frame that is new, holds the target. false: it did not in time.
func (t *Tab) appears(ctx context.Context, target string, all []place, readable func(string) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	met := make(chan struct{}, len(all)+1)
	deadline, _ := ctx.Deadline()
	for _, p := range all {
		wg.Go(func() {
			w, err := ask[waitAnswer](ctx, t, p.doc, "wait", waitArgs{Target: target, State: "attached", TimeoutMS: time.Until(deadline).Milliseconds()})
			if err == nil && w.Met {
				met <- struct{}{}
			}
		})
	}
	wg.Go(func() {
		if t.await(ctx, func() bool { return t.changedPlaces(all, readable) }) == nil {
			met <- struct{}{}
		}
	})
	select {
	case <-met:
		return true
	case <-ctx.Done():
		return false
	}
}

// changedPlaces tells whether a frame is there that was not, or shows another document. Callers hold mu.
func (t *Tab) changedPlaces(all []place, readable func(string) bool) bool {
	known := map[*document]bool{}
	for _, p := range all {
		known[p.doc] = true
	}
	for _, n := range t.frames.list() {
		if n.doc != nil && !known[n.doc] && !n.doc.unreachable && n.doc.Ready != Loading && (readable == nil || readable(t.frames.readOrigin(n))) {
			return true
		}
	}
	return false
}
