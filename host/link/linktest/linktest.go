// Package linktest is a scripted extension for tests. It shares the codec of package protocol with the host and nothing
// else, so that each end checks the other.
//
// [Connect] dials, proves and reconciles; [Dial] stops before the handshake and leaves every frame to the test.
package linktest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// Options say who connects. Port, Profile and Key are needed.
type Options struct {
	Port     int
	Profile  string
	Key      []byte
	Instance string               // what the registry says; "": whatever the host says
	Tabs     []protocol.LeasedTab // for lease.reconcile
	// Answer answers a call of the host, on a goroutine of its own; nil answers {} to everything.
	Answer func(ctx context.Context, method string, params jsontext.Value) (any, error)
	// Note takes a note of the host, in order; nil drops them.
	Note func(method string, params jsontext.Value)
	Dial func(ctx context.Context) (net.Conn, error) // nil: TCP to 127.0.0.1:Port
	// Header is sent instead of the true one; nil: Origin as Chrome sends it.
	Header http.Header
}

// An Extension is the other end of a link.
type Extension struct {
	Ready protocol.ReadyResult
	Keep  []protocol.TabID // the host's answer to the reconciliation

	opt    Options
	sock   *Socket
	ctx    context.Context // governs reading and answering
	cancel context.CancelFunc
	done   chan struct{} // closed when the connection ended

	mu      sync.Mutex
	err     error
	lastID  int64
	chunkID int64
	waiting map[int64]chan protocol.Message
}

// Connect dials, proves and reconciles.
func Connect(ctx context.Context, opt Options) (*Extension, error) {
	sock, err := Dial(ctx, opt)
	if err != nil {
		return nil, err
	}
	ready, err := sock.Handshake(ctx, opt)
	if err != nil {
		sock.CloseNow()
		return nil, err
	}
	e := &Extension{Ready: ready, opt: opt, sock: sock, done: make(chan struct{}), lastID: 2,
		waiting: make(map[int64]chan protocol.Message)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	go e.read()
	if opt.Tabs == nil {
		opt.Tabs = []protocol.LeasedTab{}
	}
	var kept protocol.ReconcileResult
	if err := e.Call(ctx, protocol.MethodReconcile, protocol.ReconcileParams{Tabs: opt.Tabs}, &kept); err != nil {
		e.Close()
		return nil, fmt.Errorf("reconciling: %w", err)
	}
	e.Keep = kept.Keep
	return e, nil
}

// Call calls the host. The error is the host's *protocol.Error, or what ended the connection.
func (e *Extension) Call(ctx context.Context, method string, params, result any) error {
	reply := make(chan protocol.Message, 1)
	e.mu.Lock()
	e.lastID++
	id := e.lastID
	e.waiting[id] = reply
	e.mu.Unlock()
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	if err := e.send(ctx, protocol.Message{ID: id, Method: method, Params: raw}); err != nil {
		return err
	}
	select {
	case m := <-reply:
		if m.Error != nil {
			return m.Error
		}
		if result == nil {
			return nil
		}
		return protocol.Unmarshal(m.Result, result)
	case <-e.done:
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Note notes something to the host.
func (e *Extension) Note(ctx context.Context, method string, params any) error {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	return e.send(ctx, protocol.Message{Method: method, Params: raw})
}

// Event forwards one CDP event; params are JSON.
func (e *Extension) Event(ctx context.Context, tab protocol.TabID, session, method, params string) error {
	return e.Note(ctx, protocol.MethodEvent, protocol.Event{Tab: tab, Session: session, Method: method,
		Params: jsontext.Value(params)})
}

// Done is closed when the connection ended; Err then says why.
func (e *Extension) Done() <-chan struct{} { return e.done }

// Err waits for the end of the connection and says what it was: a websocket.CloseError if the host closed it.
func (e *Extension) Err() error {
	<-e.done
	return e.err
}

// Close ends the connection and waits.
func (e *Extension) Close() {
	e.sock.CloseNow()
	<-e.done
}

// Stop ends the connection as Chrome does when the worker closes its socket.
func (e *Extension) Stop() {
	e.sock.ws.Close(websocket.StatusNormalClosure, "")
	<-e.done
}

func (e *Extension) send(ctx context.Context, m protocol.Message) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if len(data) <= protocol.MaxFrame {
		return e.sock.Write(ctx, string(data))
	}
	e.mu.Lock()
	e.chunkID++
	id := e.chunkID
	e.mu.Unlock()
	for _, chunk := range protocol.Split(id, data) {
		if err := e.Note(ctx, protocol.MethodChunk, chunk); err != nil {
			return err
		}
	}
	return nil
}

func (e *Extension) read() {
	defer close(e.done)
	defer e.cancel()
	var joiner protocol.Joiner
	for {
		m, err := e.sock.Next(e.ctx)
		if err == nil && m.Method == protocol.MethodChunk {
			m, err = join(&joiner, m)
		}
		if err != nil {
			e.err = err
			e.sock.CloseNow()
			return
		}
		switch {
		case m == nil: // more pieces follow
		case m.Kind() == protocol.Answer:
			e.mu.Lock()
			reply := e.waiting[m.ID]
			delete(e.waiting, m.ID)
			e.mu.Unlock()
			if reply != nil {
				reply <- *m
			}
		case m.Kind() == protocol.Note:
			if e.opt.Note != nil {
				e.opt.Note(m.Method, m.Params)
			}
		default:
			go e.answer(*m)
		}
	}
}

func join(j *protocol.Joiner, m *protocol.Message) (*protocol.Message, error) {
	var chunk protocol.Chunk
	if err := protocol.Unmarshal(m.Params, &chunk); err != nil {
		return nil, err
	}
	text, err := j.Add(chunk)
	if err != nil || text == nil {
		return nil, err
	}
	whole, err := protocol.Decode(text)
	return &whole, err
}

func (e *Extension) answer(m protocol.Message) {
	var result any = protocol.Empty{}
	var err error
	if m.Method != protocol.MethodPing && e.opt.Answer != nil {
		result, err = e.opt.Answer(e.ctx, m.Method, m.Params)
	}
	if e.ctx.Err() != nil {
		return
	}
	reply := protocol.Message{ID: m.ID}
	if err == nil {
		reply.Result, err = protocol.Marshal(result)
	}
	if err != nil {
		var ok bool
		if reply.Error, ok = errors.AsType[*protocol.Error](err); !ok {
			reply.Error = protocol.Errorf(protocol.ChromeError, "%v", err)
		}
	}
	_ = e.send(e.ctx, reply) // the reader hears of a broken connection
}

// A Socket is an upgraded connection before or beside the handshake.
type Socket struct{ ws *websocket.Conn }

// Dial upgrades. The error of a refusal names its status.
func Dial(ctx context.Context, opt Options) (*Socket, error) {
	header := opt.Header
	if header == nil {
		header = http.Header{"Origin": {protocol.ExtensionOrigin}}
	}
	addr := "127.0.0.1:" + strconv.Itoa(opt.Port)
	transport := &http.Transport{DisableKeepAlives: true}
	if opt.Dial != nil {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return opt.Dial(ctx) }
	}
	ws, response, err := websocket.Dial(ctx, "ws://"+addr+protocol.LinkPath, &websocket.DialOptions{
		HTTPClient:   &http.Client{Transport: transport},
		HTTPHeader:   header,
		Host:         header.Get("Host"),
		Subprotocols: []string{protocol.Subprotocol},
	})
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("dialling the host: status %d", response.StatusCode)
		}
		return nil, fmt.Errorf("dialling the host: %w", err)
	}
	ws.SetReadLimit(protocol.MaxFrame)
	return &Socket{ws}, nil
}

// Write sends one text frame as it is.
func (s *Socket) Write(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return s.ws.Write(ctx, websocket.MessageText, []byte(text))
}

// WriteBinary sends one binary frame.
func (s *Socket) WriteBinary(ctx context.Context, data []byte) error {
	return s.ws.Write(ctx, websocket.MessageBinary, data)
}

// Next reads one message. After the host closed the connection the error holds a websocket.CloseError.
func (s *Socket) Next(ctx context.Context) (*protocol.Message, error) {
	_, data, err := s.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	m, err := protocol.Decode(data)
	return &m, err
}

// CloseNow cuts the connection.
func (s *Socket) CloseNow() { s.ws.CloseNow() }

// Hello says hello with a fresh nonce, checks the host's proof and gives what the extension's proof covers.
func (s *Socket) Hello(ctx context.Context, opt Options) (*protocol.Handshake, []byte, error) {
	h := &protocol.Handshake{Profile: opt.Profile, Origin: protocol.ExtensionOrigin,
		Addr: "127.0.0.1:" + strconv.Itoa(opt.Port), Offered: []int{protocol.Version}, NonceC: make([]byte, protocol.NonceSize)}
	rand.Read(h.NonceC)
	var result protocol.HelloResult
	err := s.ask(ctx, 1, protocol.MethodHello, protocol.HelloParams{Versions: h.Offered, Profile: h.Profile,
		Nonce: protocol.EncodeBytes(h.NonceC), Extension: "0.0.0"}, &result)
	if err != nil {
		return nil, nil, err
	}
	nonce, nonceOK := protocol.DecodeBytes(result.Nonce, protocol.NonceSize)
	proof, proofOK := protocol.DecodeBytes(result.Proof, protocol.ProofSize)
	if !nonceOK || !proofOK || (opt.Instance != "" && result.Instance != opt.Instance) {
		return nil, nil, protocol.Errorf(protocol.AuthFailed, "not the host that was asked for")
	}
	h.NonceS, h.Chosen, h.Instance = nonce, result.Version, result.Instance
	if !protocol.SameProof(proof, h.ServerProof(opt.Key)) {
		return h, proof, protocol.Errorf(protocol.AuthFailed, "the host's proof does not verify")
	}
	return h, proof, nil
}

// Prove sends a proof and waits to be let in.
func (s *Socket) Prove(ctx context.Context, proof []byte) (ready protocol.ReadyResult, err error) {
	err = s.ask(ctx, 2, protocol.MethodProve, protocol.ProveParams{Proof: protocol.EncodeBytes(proof)}, &ready)
	return ready, err
}

// Handshake is Hello and Prove.
func (s *Socket) Handshake(ctx context.Context, opt Options) (ready protocol.ReadyResult, err error) {
	h, proof, err := s.Hello(ctx, opt)
	if err != nil {
		return ready, err
	}
	return s.Prove(ctx, h.ClientProof(opt.Key, proof))
}

// ask calls before anything else can come.
func (s *Socket) ask(ctx context.Context, id int64, method string, params, result any) error {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return err
	}
	call := protocol.Message{ID: id, Method: method, Params: raw}
	data, err := call.Encode()
	if err != nil {
		return err
	}
	if err := s.Write(ctx, string(data)); err != nil {
		return err
	}
	m, err := s.Next(ctx)
	switch {
	case err != nil:
		return err
	case m.Error != nil:
		return m.Error
	case m.Kind() != protocol.Answer || m.ID != id:
		return errors.New("the host did not answer " + method)
	}
	return protocol.Unmarshal(m.Result, result)
}
