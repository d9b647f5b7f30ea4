package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// watchEvery is how often a live connection is looked after: its key, its silence.
const watchEvery = 2 * time.Second

// A Conn is one proved connection. Its methods may be called by any goroutine, also after it ended.
type Conn struct {
	s       *Server
	sock    *socket
	profile string
	key     []byte

	ctx    context.Context // governs the calls of the extension; ends with the connection
	cancel context.CancelFunc
	done   chan struct{} // closed when nothing of the connection runs
	out    *queue
	slots  chan struct{} // one for each call of ours that is waited for
	heard  atomic.Int64  // when the last frame came, in ns since start
	start  time.Time
	calls  sync.WaitGroup // calls of the extension that are being answered

	// Of the goroutine that reads.
	joiner protocol.Joiner
	state  protocol.State

	mu      sync.Mutex
	err     error // why it ended, nil: it lives
	code    protocol.CloseCode
	lastID  int64
	chunkID int64
	waiting map[int64]chan<- answered // calls of ours
	serving map[int64]bool            // calls of the extension
}

type answered struct {
	result jsontext.Value
	err    error
}

func newConn(s *Server, sock *socket, profile string, key []byte) *Conn {
	c := &Conn{s: s, sock: sock, profile: profile, key: key, state: protocol.Proved, done: make(chan struct{}), out: newQueue(), start: time.Now(),
		slots: make(chan struct{}, protocol.MaxInFlight), waiting: make(map[int64]chan<- answered),
		serving: make(map[int64]bool)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Profile is the id of the profile at the other end.
func (c *Conn) Profile() string { return c.profile }

// Call sends a call and waits for its answer. The error is the peer's *protocol.Error, a transport_lost if the connection
// ends first (the peer may have done what was asked), or ctx's. A call whose context ends before it has left never leaves.
// At most [protocol.MaxInFlight] calls wait at once, others for their turn. result may be nil; for cdp.send it is decoded as
// Chrome's, for all else strictly.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := c.takeSlot(ctx, method); err != nil {
		return err
	}
	defer func() { <-c.slots }()
	return c.call(ctx, method, params, result)
}

// CallAll sends calls of one method in their order, none waiting for the one before, and returns when all are answered. The
// error is that of the first call that failed; the calls after one that could not be sent are not sent.
func (c *Conn) CallAll(ctx context.Context, method string, params []any) error {
	errs := make([]error, len(params))
	var wg sync.WaitGroup
	for i, p := range params {
		if errs[i] = c.takeSlot(ctx, method); errs[i] != nil {
			break
		}
		id, reply, err := c.send(method, p)
		if err != nil {
			<-c.slots
			errs[i] = err
			break
		}
		wg.Go(func() {
			defer func() { <-c.slots }()
			errs[i] = c.await(ctx, method, id, reply, nil)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// takeSlot waits for the turn to have a call in flight.
func (c *Conn) takeSlot(ctx context.Context, method string) error {
	if ctx.Err() != nil { // select would toss a coin
		return fmt.Errorf("waiting to call %s: %w", method, ctx.Err())
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to call %s: %w", method, ctx.Err())
	case <-c.ctx.Done():
		return c.lost()
	}
}

func (c *Conn) call(ctx context.Context, method string, params, result any) error {
	id, reply, err := c.send(method, params)
	if err != nil {
		return err
	}
	return c.await(ctx, method, id, reply, result)
}

// send puts a call on its way.
func (c *Conn) send(method string, params any) (int64, <-chan answered, error) {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return 0, nil, err
	}
	reply := make(chan answered, 1)
	id, err := c.expectAnswer(reply)
	if err != nil {
		return 0, nil, err
	}
	if err := c.enqueue(laneOf(method, params), protocol.Message{ID: id, Method: method, Params: raw}); err != nil {
		c.abandon(id)
		return 0, nil, err
	}
	return id, reply, nil
}

// await waits for the answer to a call that was sent.
func (c *Conn) await(ctx context.Context, method string, id int64, reply <-chan answered, result any) error {
	select {
	case a := <-reply:
		if a.err != nil || result == nil {
			return a.err
		}
		return decodeResult(method, a.result, result)
	case <-ctx.Done():
		c.abandon(id)
		return fmt.Errorf("calling %s: %w", method, ctx.Err())
	}
}

func decodeResult(method string, data jsontext.Value, result any) error {
	if raw, ok := result.(*jsontext.Value); ok {
		*raw = data
		return nil
	}
	if method == protocol.MethodSend {
		if err := json.Unmarshal(data, result); err != nil {
			return protocol.Errorf(protocol.BadMessage, "Chrome's answer is not a %T", result)
		}
		return nil
	}
	if err := protocol.Unmarshal(data, result); err != nil {
		return protocol.Errorf(protocol.BadMessage, "the answer to %s: %v", method, err)
	}
	return nil
}

// Note sends a note and never blocks.
func (c *Conn) Note(method string, params any) error {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	return c.enqueue(laneOf(method, params), protocol.Message{Method: method, Params: raw})
}

// Close ends the connection; it does not wait.
func (c *Conn) Close(code protocol.CloseCode) {
	c.end(code, protocol.Errorf(protocol.CloseCodes[code], "closed by the host"))
}

// run serves the connection until it ends.
func (c *Conn) run(readyID int64) {
	defer close(c.done)
	defer c.s.forget(c)
	info := protocol.ReadyResult{Host: c.s.cfg.Info(), HeartbeatMS: int(protocol.Heartbeat / time.Millisecond)}
	if err := answer(c.s.ctx, c.sock, readyID, info); err != nil {
		c.end(0, err)
		c.sock.close(0)
		return
	}
	c.s.cfg.Logger.Info("extension connected", "profile", c.profile)
	c.s.cfg.Handler.Connected(c)
	var wg sync.WaitGroup
	wg.Go(c.write)
	wg.Go(c.watch)
	wg.Go(func() { // closes from outside, so that the reader need not
		<-c.ctx.Done()
		c.sock.close(c.code)
	})
	c.end(0, c.read())
	wg.Wait()
	c.calls.Wait()
	c.s.cfg.Logger.Info("extension disconnected", "profile", c.profile, "err", c.err)
	c.s.cfg.Handler.Disconnected(c, c.err)
}

// end is the only way out: the first reason counts, every call of ours is answered with it.
func (c *Conn) end(code protocol.CloseCode, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err, c.code = err, code
	for id, reply := range c.waiting {
		reply <- answered{err: c.lostLocked()}
		delete(c.waiting, id)
	}
	c.cancel()
}

func (c *Conn) lost() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lostLocked()
}

func (c *Conn) lostLocked() error {
	return protocol.Errorf(protocol.TransportLost, "the connection ended: %v", c.err)
}

// expectAnswer gives the id of the next call of ours.
func (c *Conn) expectAnswer(reply chan<- answered) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.lostLocked()
	}
	c.lastID++
	c.waiting[c.lastID] = reply
	return c.lastID, nil
}

// abandon forgets a call: if it has left, its answer will be ignored.
func (c *Conn) abandon(id int64) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
	c.out.drop(id)
}

// enqueue puts a message into its lane, in pieces if it is large.
func (c *Conn) enqueue(l lane, m protocol.Message) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if c.ctx.Err() != nil {
		return c.lost()
	}
	call := int64(0)
	if m.Kind() == protocol.Call {
		call = m.ID
	}
	frames := []queued{{call, data}}
	if len(data) > protocol.MaxFrame {
		l = laneBulk
		if frames, err = c.pieces(data); err != nil {
			return err
		}
	}
	if err := c.out.put(l, frames...); err != nil {
		c.end(protocol.CloseTimeout, protocol.Errorf(protocol.Timeout, "%v", err))
		return c.lost()
	}
	return nil
}

// pieces frames a large message as chunks. They all leave, whatever becomes of the call: half a message cannot be undone.
func (c *Conn) pieces(data []byte) ([]queued, error) {
	c.mu.Lock()
	c.chunkID++
	id := c.chunkID
	c.mu.Unlock()
	var frames []queued
	for _, chunk := range protocol.Split(id, data) {
		params, err := protocol.Marshal(chunk)
		if err != nil {
			return nil, err
		}
		note := protocol.Message{Method: protocol.MethodChunk, Params: params}
		frame, err := note.Encode()
		if err != nil {
			return nil, err
		}
		frames = append(frames, queued{data: frame})
	}
	return frames, nil
}

// write is the goroutine that writes.
func (c *Conn) write() {
	for {
		data, err := c.out.take(c.ctx)
		if err != nil {
			return
		}
		// Not c.ctx: it would cut the socket in the middle of a frame, before a close frame.
		if err := c.sock.write(context.Background(), data); err != nil {
			c.end(0, protocol.Errorf(protocol.Timeout, "writing a frame: %v", err))
			return
		}
	}
}

// watch keeps the connection, and the extension's worker, alive, and ends it when the peer is silent or its key is gone.
func (c *Conn) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	pinged := time.Now()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		if time.Since(c.lastHeard()) >= protocol.DeadAfter-watchEvery {
			c.end(protocol.CloseTimeout, protocol.Errorf(protocol.Timeout, "the extension is silent"))
			return
		}
		if key, ok := c.s.cfg.Key(c.profile); !ok || !protocol.SameProof(key, c.key) {
			c.end(protocol.CloseRotated, protocol.Errorf(protocol.Rotated, "the pairing key was replaced"))
			return
		}
		if time.Since(pinged) >= protocol.Heartbeat-watchEvery {
			pinged = time.Now()
			c.ping()
		}
	}
}

// ping asks for any answer; [Conn.heard] is what it is for.
func (c *Conn) ping() {
	c.mu.Lock()
	c.lastID++
	id := c.lastID
	c.mu.Unlock()
	_ = c.enqueue(laneUrgent, protocol.Message{ID: id, Method: protocol.MethodPing, Params: jsontext.Value("{}")})
}

// probe reports whether the peer answers now.
func (c *Conn) probe() bool {
	ctx, cancel := context.WithTimeout(c.ctx, protocol.ProbeTimeout)
	defer cancel()
	return c.call(ctx, protocol.MethodPing, protocol.Empty{}, nil) == nil
}

func (c *Conn) lastHeard() time.Time { return c.start.Add(time.Duration(c.heard.Load())) }

// read is the goroutine that reads; its error says why it stopped.
func (c *Conn) read() error {
	for {
		data, err := c.sock.read(context.Background(), protocol.MaxFrame)
		if err == nil {
			c.heard.Store(int64(time.Since(c.start)))
			err = c.take(data)
		}
		if err == nil {
			continue
		}
		if closed, ok := errors.AsType[websocket.CloseError](err); ok {
			return protocol.Errorf(protocol.TransportLost, "the extension closed the connection").
				With("close", int(closed.Code))
		}
		if code := closeCode(err); code != 0 {
			c.end(code, err)
		}
		return err
	}
}
