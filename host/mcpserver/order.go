package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"strconv"
)

// orderHeader carries a call's number from the transport, which reads in order, to the handler, which starts in any.
const orderHeader = "Tabvalet-Order"

// An order is a turnstile: who took a number passes only after all who took smaller ones. A call passes once it stands
// in its tab's queue (or has ended), so that calls reach each tab in the order in which the client sent them.
type order struct {
	mu      sync.Mutex
	last    int64
	inside  map[int64]bool // taken and not passed
	changed chan struct{}  // closed and replaced by each pass
}

func newOrder() *order {
	return &order{inside: map[int64]bool{}, changed: make(chan struct{})}
}

func (o *order) take() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	o.inside[o.last] = true
	return o.last
}

// pass lets those behind n go on. It may be called again.
func (o *order) pass(n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inside[n] {
		delete(o.inside, n)
		close(o.changed)
		o.changed = make(chan struct{})
	}
}

// wait returns when it is n's turn, or with ctx.
func (o *order) wait(ctx context.Context, n int64) error {
	for {
		o.mu.Lock()
		turn, changed := true, o.changed
		for m := range o.inside {
			turn = turn && m >= n
		}
		o.mu.Unlock()
		if turn {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// number returns the number that the transport gave to a call; ok is false over another transport.
func number(req *mcp.CallToolRequest) (n int64, ok bool) {
	if req.Extra == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(req.Extra.Header.Get(orderHeader), 10, 64)
	return n, err == nil
}
