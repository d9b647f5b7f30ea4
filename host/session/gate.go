package session

import (
	"context"
	"sync"
)

// A gate lets calls through while it is open. The zero gate is shut.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while the gate is open, or has failed
	err  error
	turn int
}

// close shuts the gate and returns what opens it again, or makes it fail for all who wait. Only the newest opener does.
func (g *gate) close() (opened func(error)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn++
	turn := g.turn
	if g.open == nil || isClosed(g.open) {
		g.open = make(chan struct{})
	}
	g.err = nil
	return func(err error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.turn == turn && !isClosed(g.open) {
			g.err = err
			close(g.open)
		}
	}
}

// pass waits until the gate is open.
func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
