// Package link is one authenticated connection to the extension of one Chrome profile.
//
// [Listen] opens a port on 127.0.0.1. Whatever connects must pass three gates: admission, which looks at the HTTP request
// byte by byte and keeps web pages out; the mutual proof of the pairing, in which the host proves first; and the rule that
// one connection lives at a time. What has passed is a [Conn], and the [Handler] hears of it.
//
// A Conn has one goroutine that reads, and it never waits: notes are handed over on it in wire order, each call of the
// extension gets a goroutine of its own, answers go to who waits for them. One goroutine writes, and takes from four lanes,
// the most urgent first: verdicts and the end of a lease overtake acts, acts overtake reads, reads overtake bulk. Every call
// is answered once, by the peer, by its context, or by the end of the connection. Nothing is ever sent twice.
package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// Config says who we are and who serves the peer. Instance, Key, Info and Handler are needed.
type Config struct {
	Origin   string // of the extension; "": protocol.ExtensionOrigin
	Instance string // our instance id, as the registry has it
	// Key gives the current key of a paired profile. It is asked at each handshake and every two seconds while a profile is
	// linked: another key, or none, closes the link with 4410.
	Key     func(profile string) (key []byte, ok bool)
	Info    func() protocol.HostInfo
	Approve http.Handler // serves GET /approve/…, nil: 404
	Handler Handler
	Logger  *slog.Logger // nil: none
	Trace   io.Writer    // gets every frame, as a transcript in the form of protocol/testdata/sessions; nil: none
}

// A Handler serves the peer. Its methods must not block, except Call, which ends with its context.
type Handler interface {
	// Connected comes after the proof; lease.reconcile is the first call that follows.
	Connected(c *Conn)
	// Call answers one call of the extension, on a goroutine of its own. A nil result is an empty object. An error with a code
	// is answered with it; of any other only that it happened.
	Call(ctx context.Context, c *Conn, method string, params jsontext.Value) (any, error)
	// Note takes one note, in wire order, on the goroutine that reads.
	Note(c *Conn, method string, params jsontext.Value)
	// Disconnected is the last word about c; every call of it has been answered.
	Disconnected(c *Conn, err error)
}

// A Server listens for the extension.
type Server struct {
	cfg   Config
	port  int
	gate  *gate
	http  *http.Server
	trace *trace

	ctx    context.Context // governs handshakes
	cancel context.CancelFunc
	served chan struct{} // closed when the listener's goroutine ended

	adopting sync.Mutex // held while the live connection is probed and replaced

	mu      sync.Mutex
	closing bool
	live    *Conn
	conns   sync.WaitGroup // upgraded connections
	failed  failures
}

// Listen starts on a free port of 127.0.0.1: the literal, for nothing else is ours alone.
func Listen(cfg Config) (*Server, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the extension: %w", err)
	}
	return serve(cfg, ln), nil
}

// serve takes over a listener whose address is a TCP address.
func serve(cfg Config, ln net.Listener) *Server {
	if cfg.Origin == "" {
		cfg.Origin = protocol.ExtensionOrigin
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, port: ln.Addr().(*net.TCPAddr).Port, gate: &gate{Listener: ln},
		trace: newTrace(cfg.Trace), served: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadHeaderTimeout: protocol.HeaderTimeout,
		ReadTimeout:       protocol.HeaderTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    protocol.MaxHandshakeFrame,
		ErrorLog:          log.New(io.Discard, "", 0), // strangers' bytes
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	s.http.SetKeepAlivesEnabled(false)
	go func() {
		defer close(s.served)
		if err := s.http.Serve(s.gate); !errors.Is(err, http.ErrServerClosed) {
			s.cfg.Logger.Error("listener ended", "err", err)
		}
	}()
	return s
}

type connKey struct{}

// Port is where it listens.
func (s *Server) Port() int { return s.port }

func (s *Server) addr() string { return "127.0.0.1:" + strconv.Itoa(s.port) }

// Conn is the live connection, or nil.
func (s *Server) Conn() *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Drop closes the live connection if it is of that profile.
func (s *Server) Drop(profile string, code protocol.CloseCode) {
	if c := s.Conn(); c != nil && c.profile == profile {
		c.Close(code)
	}
}

// Close closes the listener, and the link with 4503, and waits until nothing of it runs.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing = true
	live := s.live
	s.mu.Unlock()
	err := s.http.Close()
	<-s.served
	if live != nil {
		live.Close(protocol.CloseShuttingDown)
		<-live.done
	}
	s.cancel()
	s.conns.Wait()
	return err
}

// enter counts an upgraded connection, unless the server is closing. Who entered calls s.conns.Done.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.conns.Add(1)
	}
	return !s.closing
}

// adopt makes c the live connection. While the one before answers a probe, c is refused.
func (s *Server) adopt(c *Conn) error {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	if old := s.Conn(); old != nil {
		if old.probe() {
			return protocol.Errorf(protocol.Superseded, "another connection is alive")
		}
		old.Close(protocol.CloseTimeout)
		<-old.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return protocol.Errorf(protocol.ShuttingDown, "the host is ending")
	}
	s.live = c
	return nil
}

// forget is the opposite of adopt.
func (s *Server) forget(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == c {
		s.live = nil
	}
}
