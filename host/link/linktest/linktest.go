// Package linktest is a scripted extension for tests: it connects, proves its key, answers calls.
package linktest

import (
	"context"
	"net"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// Options say who connects. Port, Profile, Key and Instance are needed.
type Options struct {
	Port     int
	Profile  string
	Key      []byte
	Instance string               // "": whatever the host says
	Tabs     []protocol.LeasedTab // for lease.reconcile
	// Answer answers a call of the host, on a goroutine of its own; nil answers {} to everything.
	Answer func(ctx context.Context, method string, params jsontext.Value) (any, error)
	// Note takes a note of the host, in order; nil drops them.
	Note func(method string, params jsontext.Value)
	Dial func(ctx context.Context) (net.Conn, error) // nil: TCP to 127.0.0.1:Port
}

// An Extension is the other end of a link.
type Extension struct {
	Ready protocol.ReadyResult
	Keep  []protocol.TabID // of the reconciliation
}

// Connect dials, proves, reconciles.
func Connect(ctx context.Context, opt Options) (*Extension, error) { panic("todo") }

// Call calls the host.
func (e *Extension) Call(ctx context.Context, method string, params, result any) error { panic("todo") }

// Note notes something to the host.
func (e *Extension) Note(ctx context.Context, method string, params any) error { panic("todo") }

// Done is closed when the connection ended; Err then says why.
func (e *Extension) Done() <-chan struct{} { panic("todo") }

// Err is what ended the connection: a websocket.CloseError if the host closed it.
func (e *Extension) Err() error { panic("todo") }

// Close ends the connection.
func (e *Extension) Close() { panic("todo") }
