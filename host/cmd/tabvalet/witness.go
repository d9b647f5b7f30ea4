package main

import (
	"context"
	"sync"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/protocol"
)

// lastWord is how long the end of a host waits for its last row to be mirrored.
const lastWord = 300 * time.Millisecond

// A witness stores what the extensions show of the record's heads, where `tabvalet audit verify` finds it.
type witness struct {
	dir string
	do  func(func() error) // runs it in the background

	mu      sync.Mutex
	pending map[string][]protocol.Head // by profile, to be stored
	heads   map[string]int64           // last row seen of each file
	saw     chan struct{}              // closed and replaced when heads grow
}

func newWitness(dir string, do func(func() error)) *witness {
	return &witness{dir: dir, do: do, pending: map[string][]protocol.Head{}, heads: map[string]int64{}, saw: make(chan struct{})}
}

// shown takes what an extension keeps. It is called on the link's reader: the disk is waited for elsewhere, and what
// comes meanwhile is stored together.
func (w *witness) shown(profile string, heads []protocol.Head) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending[profile]) == 0 {
		w.do(func() error { return w.store(profile) })
	}
	w.pending[profile] = append(w.pending[profile], heads...)
	for _, h := range heads {
		w.heads[h.File] = max(w.heads[h.File], h.Seq)
	}
	close(w.saw)
	w.saw = make(chan struct{})
}

func (w *witness) store(profile string) error {
	w.mu.Lock()
	heads := w.pending[profile]
	delete(w.pending, profile)
	w.mu.Unlock()
	return audit.SaveMirror(w.dir, profile, heads)
}

// await waits until a head was shown, or for [lastWord].
func (w *witness) await(ctx context.Context, h protocol.Head) {
	ctx, cancel := context.WithTimeout(ctx, lastWord)
	defer cancel()
	for {
		w.mu.Lock()
		seq, saw := w.heads[h.File], w.saw
		w.mu.Unlock()
		if seq >= h.Seq {
			return
		}
		select {
		case <-saw:
		case <-ctx.Done():
			return
		}
	}
}
