package link

import (
	"context"
	"errors"
	"sync"

	"github.com/tabvalet/tabvalet/protocol"
)

// A lane is how urgent a message of ours is.
type lane int

const (
	laneUrgent lane = iota // verdicts, ends, questions, answers, pings
	laneAct
	laneRead
	laneBulk
	laneCount
)

// maxQueued bounds what waits for a peer that does not read.
const maxQueued = 32 << 20

// laneOf says how urgent a message is.
func laneOf(method string, params any) lane {
	switch method {
	case protocol.MethodVerdict, protocol.MethodLeaseEnd, protocol.MethodPromptShow, protocol.MethodPromptWithdraw,
		protocol.MethodPing:
		return laneUrgent
	case protocol.MethodRows, protocol.MethodChunk:
		return laneBulk
	case protocol.MethodSend:
		switch p := params.(type) {
		case protocol.SendParams:
			if p.Act {
				return laneAct
			}
		case *protocol.SendParams:
			if p.Act {
				return laneAct
			}
		}
		return laneRead
	case protocol.MethodLeaseUpdate:
		return laneRead
	}
	return laneAct
}

// A queue holds what is to be written, by lanes. Any goroutine may put; one takes.
type queue struct {
	mu    sync.Mutex
	lanes [laneCount][]queued
	size  int
	ready chan struct{} // holds a token while something may wait
}

type queued struct {
	id   int64 // of a call, 0 otherwise
	data []byte
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

var errQueueFull = errors.New("the peer does not read")

// put adds frames that must stay in order.
func (q *queue) put(l lane, frames ...queued) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range frames {
		q.size += len(f.data)
	}
	if q.size > maxQueued {
		return errQueueFull
	}
	q.lanes[l] = append(q.lanes[l], frames...)
	select {
	case q.ready <- struct{}{}:
	default:
	}
	return nil
}

// drop takes back a call that nobody waits for any more, if it has not left.
func (q *queue) drop(id int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for l, lane := range q.lanes {
		for i, f := range lane {
			if f.id == id {
				q.size -= len(f.data)
				q.lanes[l] = append(lane[:i:i], lane[i+1:]...)
				return
			}
		}
	}
}

// take waits for the most urgent frame.
func (q *queue) take(ctx context.Context) ([]byte, error) {
	for {
		if data := q.next(); data != nil {
			return data, nil
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (q *queue) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for l, lane := range q.lanes {
		if len(lane) == 0 {
			continue
		}
		f := lane[0]
		lane[0] = queued{}
		q.lanes[l] = lane[1:]
		q.size -= len(f.data)
		return f.data
	}
	return nil
}
