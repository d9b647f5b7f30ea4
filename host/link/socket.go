package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tabvalet/tabvalet/protocol"
)

const (
	writeTimeout = 5 * time.Second
	closeGrace   = 500 * time.Millisecond // for the peer's half of the closing handshake
)

// A socket is a WebSocket that carries whole texts.
type socket struct {
	ws    *websocket.Conn
	raw   *guest
	trace *trace
}

// read takes one frame of at most limit bytes off the wire.
func (s *socket) read(ctx context.Context, limit int64) ([]byte, error) {
	s.ws.SetReadLimit(-1) // the limit is ours, so that the close frame is too
	kind, r, err := s.ws.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, protocol.Errorf(protocol.BadMessage, "a binary frame")
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, protocol.Errorf(protocol.TooLarge, "a frame of more than %d bytes", limit)
	}
	s.trace.frame("extension", data)
	return data, nil
}

func (s *socket) write(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	s.trace.frame("host", data)
	return s.ws.Write(ctx, websocket.MessageText, data)
}

// send writes a message past the lanes, which do not run before the connection is proved.
func (s *socket) send(ctx context.Context, m protocol.Message) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return s.write(ctx, data)
}

// close ends the socket, with a close frame unless code is 0, within [closeGrace].
func (s *socket) close(code protocol.CloseCode) {
	if code == 0 {
		s.ws.CloseNow()
		return
	}
	cut := time.AfterFunc(closeGrace, func() { s.raw.Close() })
	defer cut.Stop()
	s.ws.Close(websocket.StatusCode(code), string(protocol.CloseCodes[code]))
}

// closeCode is how a connection ends after an error: with the close code of the error's code if there is one.
func closeCode(err error) protocol.CloseCode {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return 0
	}
	for code, name := range protocol.CloseCodes {
		if name == e.Code {
			return code
		}
	}
	return protocol.CloseBadMessage
}

// A trace writes frames as a transcript. A nil trace writes nothing.
type trace struct {
	mu sync.Mutex
	w  io.Writer
	n  int // frames of all connections
}

func newTrace(w io.Writer) *trace {
	if w == nil {
		return nil
	}
	return &trace{w: w}
}

func (t *trace) frame(from string, data []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	fmt.Fprintf(t.w, "-- %s %d --\n%s\n", from, t.n, data)
}
