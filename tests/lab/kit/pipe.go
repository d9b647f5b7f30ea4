package kit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errPipeClosed ends every call when the browser goes.
var errPipeClosed = errors.New("the browser's debugging pipe is closed")

// A pipe speaks CDP over the two descriptors of --remote-debugging-pipe: JSON messages that end with a NUL byte.
type pipe struct {
	mu      sync.Mutex // guards all below, and writes
	out     io.WriteCloser
	next    int64
	waiting map[int64]chan reply
	subs    map[*subscription]bool
	err     error // set once, when reading has ended
}

type message struct {
	ID        int64          `json:"id,omitzero"`
	SessionID string         `json:"sessionId,omitzero"`
	Method    string         `json:"method,omitzero"`
	Params    jsontext.Value `json:"params,omitzero"`
	Result    jsontext.Value `json:"result,omitzero"`
	Error     *cdpError      `json:"error,omitzero"`
}

type cdpError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    string `json:"data,omitzero"`
}

func (e *cdpError) Error() string { return e.Message }

type reply struct {
	result jsontext.Value
	err    error
}

type subscription struct {
	session, method string
	events          chan jsontext.Value
}

func newPipe(out io.WriteCloser, in io.Reader) *pipe {
	p := &pipe{out: out, waiting: map[int64]chan reply{}, subs: map[*subscription]bool{}}
	go p.read(in)
	return p
}

func (p *pipe) read(in io.Reader) {
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		frame, err := r.ReadBytes(0)
		if err != nil {
			p.close()
			return
		}
		var m message
		if err := json.Unmarshal(frame[:len(frame)-1], &m); err != nil {
			continue // an event with a lone surrogate in a title, say; nobody here waits for it
		}
		p.mu.Lock()
		if m.ID != 0 {
			if c := p.waiting[m.ID]; c != nil {
				delete(p.waiting, m.ID)
				if m.Error != nil {
					c <- reply{err: m.Error}
				} else {
					c <- reply{result: m.Result}
				}
			}
		} else {
			for s := range p.subs {
				if s.session == m.SessionID && s.method == m.Method {
					select {
					case s.events <- m.Params:
					default: // a subscriber that does not read loses events, never the browser
					}
				}
			}
		}
		p.mu.Unlock()
	}
}

func (p *pipe) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return
	}
	p.err = errPipeClosed
	p.out.Close()
	for id, c := range p.waiting {
		delete(p.waiting, id)
		c <- reply{err: errPipeClosed}
	}
	for s := range p.subs {
		close(s.events)
	}
	clear(p.subs)
}

// A Session is one attached target, or the browser itself when its id is empty. It is a cdp.Session, so typed commands
// run by cdp.Call(ctx, s, page.Navigate, …).
type Session struct {
	p  *pipe
	id string
}

// Call implements cdp.Session.
func (s *Session) Call(ctx context.Context, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	p := s.p
	c := make(chan reply, 1)
	p.mu.Lock()
	if p.err != nil {
		p.mu.Unlock()
		return p.err
	}
	p.next++
	id := p.next
	p.waiting[id] = c
	frame, err := json.Marshal(message{ID: id, SessionID: s.id, Method: method, Params: raw})
	if err == nil {
		_, err = p.out.Write(append(frame, 0))
	}
	if err != nil {
		delete(p.waiting, id)
		p.mu.Unlock()
		return fmt.Errorf("sending %s: %w", method, err)
	}
	p.mu.Unlock()
	select {
	case r := <-c:
		if r.err != nil {
			return fmt.Errorf("%s: %w", method, r.err)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.result, result)
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// Subscribe implements cdp.Session; it buffers 256 events.
func (s *Session) Subscribe(method string) (<-chan jsontext.Value, func()) {
	sub := &subscription{session: s.id, method: method, events: make(chan jsontext.Value, 256)}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if s.p.err != nil {
		close(sub.events)
		return sub.events, func() {}
	}
	s.p.subs[sub] = true
	return sub.events, func() {
		s.p.mu.Lock()
		defer s.p.mu.Unlock()
		if s.p.subs[sub] {
			delete(s.p.subs, sub)
			close(sub.events)
		}
	}
}
