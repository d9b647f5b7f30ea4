package link_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/link"
	"github.com/tabvalet/tabvalet/host/link/linktest"
	"github.com/tabvalet/tabvalet/protocol"
)

const (
	port     = 47811
	profile  = "QEFCQ0RFRkdISUpLTE1OTw"
	stranger = "AAAAAAAAAAAAAAAAAAAAAA"
	instance = "YGFiY2RlZmdoaWprbG1ubw"
)

func testKey() []byte {
	key := make([]byte, protocol.KeySize)
	for i := range key {
		key[i] = byte(i)
	}
	return key
}

// A host is a server over in-memory sockets, so that synctest owns the time, and what a test wants to know of it.
type host struct {
	*link.Server
	pipes   *pipes
	options linktest.Options
	log     *safeBuffer

	mu   sync.Mutex
	key  []byte
	gone []error

	connected chan *link.Conn
	call      func(ctx context.Context, c *link.Conn, method string, params jsontext.Value) (any, error)
	note      func(method string, params jsontext.Value)
}

func newHost(t *testing.T) *host {
	t.Helper()
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := &host{pipes: p, key: testKey(), connected: make(chan *link.Conn, 16), log: new(safeBuffer)}
	h.options = linktest.Options{Port: port, Profile: profile, Key: testKey(), Instance: instance, Dial: p.dial}
	h.Server = link.Serve(link.Config{
		Instance: instance,
		Key: func(id string) ([]byte, bool) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.key, id == profile && h.key != nil
		},
		Info:    func() protocol.HostInfo { return protocol.HostInfo{Name: "test", PID: 1, Version: "0"} },
		Handler: h,
		Logger:  slog.New(slog.NewTextHandler(h.log, nil)),
	}, p)
	t.Cleanup(func() { h.Close() })
	return h
}

func (h *host) setKey(key []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.key = key
}

func (h *host) Connected(c *link.Conn) { h.connected <- c }

func (h *host) Disconnected(_ *link.Conn, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = append(h.gone, err)
}

func (h *host) Call(ctx context.Context, c *link.Conn, method string, params jsontext.Value) (any, error) {
	if method == protocol.MethodReconcile {
		return protocol.ReconcileResult{Keep: []protocol.TabID{}}, nil
	}
	if h.call == nil {
		return nil, nil
	}
	return h.call(ctx, c, method, params)
}

func (h *host) Note(_ *link.Conn, method string, params jsontext.Value) {
	if h.note != nil {
		h.note(method, params)
	}
}

// link connects a scripted extension.
func (h *host) link(t *testing.T, change ...func(*linktest.Options)) (*linktest.Extension, *link.Conn) {
	t.Helper()
	opt := h.options
	for _, f := range change {
		f(&opt)
	}
	e, err := linktest.Connect(t.Context(), opt)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(e.Close)
	return e, <-h.connected
}

// proved connects without reconciling or reading, for a test that sends its own frames.
func (h *host) proved(t *testing.T) *linktest.Socket {
	t.Helper()
	s := h.dial(t)
	if _, err := s.Handshake(t.Context(), h.options); err != nil {
		t.Fatalf("Handshake: %v", err)
	}
	return s
}

func (h *host) dial(t *testing.T) *linktest.Socket {
	t.Helper()
	s, err := linktest.Dial(t.Context(), h.options)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(s.CloseNow)
	return s
}

// wantClose reads until the host closes, and checks how.
func wantClose(t *testing.T, s *linktest.Socket, want protocol.CloseCode) {
	t.Helper()
	for {
		_, err := s.Next(t.Context())
		if err == nil {
			continue
		}
		wantCloseError(t, err, want)
		return
	}
}

func wantCloseError(t *testing.T, err error, want protocol.CloseCode) {
	t.Helper()
	closed, ok := errors.AsType[websocket.CloseError](err)
	if !ok || protocol.CloseCode(closed.Code) != want || closed.Reason != string(protocol.CloseCodes[want]) {
		t.Errorf("connection ended with %v, want close code %d and reason %q", err, want, protocol.CloseCodes[want])
	}
}

func wantCode(t *testing.T, what string, err error, want protocol.Code) {
	t.Helper()
	if protocol.CodeOf(err) != want {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}

// pipes is a listener whose sockets are ends of net.Pipe.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func (b *safeBuffer) lines() int { return strings.Count(b.String(), "\n") }
