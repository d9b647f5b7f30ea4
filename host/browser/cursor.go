package browser

import (
	"context"
	"fmt"
	"sync"

	"github.com/tabvalet/tabvalet/protocol"
)

// captures are what was read and may be asked for again: the windows of snapshots that were left out, and texts. The last
// few of each are kept.
type captures struct {
	mu    sync.Mutex
	count int
	rests map[string]*rest
	texts map[string]*text
}

// kept is how many captures of a kind are kept; the engine keeps as many of its own.
const kept = 4

// A rest is what a cursor stands for: the captures that have not been shown to their end.
type rest struct {
	number int
	queue  []restWindow
}

type restWindow struct {
	place
	capture int
	from    int
}

// keep gives a cursor for the windows that were left out, "" when there are none.
func (c *captures) keep(left []window, parts map[string]*part) string {
	var queue []restWindow
	for _, w := range left {
		if p := parts[w.frame]; p != nil {
			queue = append(queue, restWindow{p.place, p.tree.Capture, w.from})
		}
	}
	return c.keepRest(queue)
}

func (c *captures) keepRest(queue []restWindow) string {
	if len(queue) == 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rests == nil {
		c.rests = map[string]*rest{}
	}
	c.count++
	name := fmt.Sprintf("c%d", c.count)
	c.rests[name] = &rest{c.count, queue}
	for n, r := range c.rests {
		if r.number <= c.count-8 {
			delete(c.rests, n)
		}
	}
	return name
}

func (c *captures) rest(cursor string) *rest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rests[cursor]
}

// nextSnapshot goes on where an earlier snapshot left out: whole lines of the same capture, in its order.
func (t *Tab) nextSnapshot(ctx context.Context, o SnapshotOptions) (*Snapshot, error) {
	r := t.captures.rest(o.Cursor)
	if r == nil {
		return nil, protocol.Errorf(protocol.StaleRef, "that cursor is no longer kept").With("hint", "Take a new snapshot.")
	}
	at := r.queue[0]
	if o.Readable != nil && !t.mayRead(at.frame, o.Readable) {
		return nil, protocol.Errorf(protocol.NotSharedSite, "the rest is of a site that is not shared")
	}
	w, err := ask[windowAnswer](ctx, t, at.doc, "window", struct {
		Capture  int `json:"capture"`
		From     int `json:"from"`
		MaxChars int `json:"max_chars"`
	}{at.capture, at.from, o.MaxChars})
	if err != nil {
		return nil, err
	}
	lines := make([]placed, len(w.Lines))
	for i, l := range w.Lines {
		lines[i] = placed{l, at.frame, at.from + i}
	}
	snap := &Snapshot{Text: render(lines), Chars: sizeOf(lines)}
	rest := r.queue[1:]
	if w.Next > 0 {
		at.from = w.Next
		rest = append([]restWindow{at}, rest...)
	}
	snap.Next = t.captures.keepRest(rest)
	t.describe(snap, at.doc)
	return snap, nil
}

// mayRead tells whether the frame is readable now.
func (t *Tab) mayRead(frame string, readable func(string) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.frames.nodes[frame]
	return n != nil && readable(t.frames.readOrigin(n))
}
