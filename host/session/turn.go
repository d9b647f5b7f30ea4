package session

import (
	"context"
	"sync"
)

// A queue lines up the calls of one tab in the order of their arrival: an act alone, reads together. Nobody stands in
// it while waiting for the owner.
type queue struct {
	mu    sync.Mutex
	turns []*turn // first come, first served
}

// A turn is one call's place in a queue.
type turn struct {
	queue *queue
	act   bool
	come  chan struct{} // closed when it is this call's turn
	began bool
}

// enter takes the last place. It never waits, so that a caller can order its calls by it.
func (q *queue) enter(act bool) *turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &turn{queue: q, act: act, come: make(chan struct{})}
	q.turns = append(q.turns, t)
	q.advance()
	return t
}

// wait returns when it is t's turn, or with ctx. The place is kept until leave either way.
func (t *turn) wait(ctx context.Context) error {
	select {
	case <-t.come:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave gives the place up. It may be called again.
func (t *turn) leave() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.turns {
		if q.turns[i] == t {
			q.turns = append(q.turns[:i], q.turns[i+1:]...)
			break
		}
	}
	q.advance()
}

// advance lets in the act at the head, or all reads before the first act.
func (q *queue) advance() {
	for i, t := range q.turns {
		if t.act && i > 0 {
			return
		}
		if !t.began {
			t.began = true
			close(t.come)
		}
		if t.act {
			return
		}
	}
}
