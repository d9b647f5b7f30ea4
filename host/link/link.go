// Package link is one authenticated connection to the extension of one Chrome profile.
package link

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// Config says who we are and who serves the peer. Key, Info and Handler are needed.
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
	Trace   io.Writer    // gets every frame as a transcript, nil: none
}

// A Handler serves the peer. Its methods must not block, Call excepted.
type Handler interface {
	// Connected comes after the proof; lease.reconcile is the first call that follows.
	Connected(c *Conn)
	// Call answers one call of the extension, on a goroutine of its own. ctx ends with the connection. An error that is not
	// a *protocol.Error is answered as internal, without its text.
	Call(ctx context.Context, c *Conn, method string, params jsontext.Value) (any, error)
	// Note takes one note, in wire order, on the goroutine that reads.
	Note(c *Conn, method string, params jsontext.Value)
	// Disconnected is the last word about c; every call of it has been answered.
	Disconnected(c *Conn, err error)
}

// A Server listens for the extension.
type Server struct{}

// Listen starts on a free port of 127.0.0.1.
func Listen(cfg Config) (*Server, error) { panic("todo") }

// Port is where it listens.
func (s *Server) Port() int { panic("todo") }

// Conn is the live connection, or nil.
func (s *Server) Conn() *Conn { panic("todo") }

// Drop closes the live connection of a profile.
func (s *Server) Drop(profile string, code protocol.CloseCode) { panic("todo") }

// Close closes the link with 4503 and the listener, and waits.
func (s *Server) Close() error { panic("todo") }

// A Conn is one proved connection.
type Conn struct{}

// Profile is the id of the profile at the other end.
func (c *Conn) Profile() string { panic("todo") }

// Call sends a call and waits for its answer. The error is the peer's *protocol.Error, a transport_lost when the connection
// ends first, or ctx's. result may be nil.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error { panic("todo") }

// Note sends a note and never blocks.
func (c *Conn) Note(method string, params any) error { panic("todo") }

// Close ends the connection; it does not wait.
func (c *Conn) Close(code protocol.CloseCode) { panic("todo") }
