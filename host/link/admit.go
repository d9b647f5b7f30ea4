package link

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tabvalet/tabvalet/protocol"
)

// The first gate keeps browsers out that speak for a web page. It must be stricter than websocket.Accept, which takes a
// missing Origin, an Origin equal to a Host of the caller's choice, another case, and a second header. Any local program
// can still pass: the proof is what authenticates.

// A gate is a listener that admits only so many sockets that have not proved themselves.
type gate struct {
	net.Listener
	unproved atomic.Int32
}

// Accept answers 429 to one too many, without reading a byte of it.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g.unproved.Add(1) <= protocol.MaxUnproved {
			return &guest{Conn: c, leave: sync.OnceFunc(func() { g.unproved.Add(-1) })}, nil
		}
		g.unproved.Add(-1)
		c.SetDeadline(time.Now().Add(100 * time.Millisecond))
		io.WriteString(c, "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		c.Close()
	}
}

// A guest is a socket that counts until it has left or proved itself.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.RequestURI, protocol.ApprovePath) {
		s.serveApproval(w, r)
		return
	}
	if err := s.admit(r); err != nil {
		s.refuse(w, err)
		return
	}
	if !s.enter() {
		s.refuse(w, errors.New("shutting down"))
		return
	}
	// Our own check is the stricter one.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true,
		Subprotocols:       []string{protocol.Subprotocol},
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.conns.Done()
		s.cfg.Logger.Warn("upgrade failed", "err", err)
		return
	}
	sock := &socket{ws: ws, raw: r.Context().Value(connKey{}).(*guest), trace: s.trace}
	go func() { // net/http would swallow a panic
		defer s.conns.Done()
		s.shake(sock)
	}()
}

// refuse tells everybody the same; why stands in the log.
func (s *Server) refuse(w http.ResponseWriter, why error) {
	s.cfg.Logger.Debug("connection refused", "err", why)
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusForbidden)
	io.WriteString(w, "forbidden\n")
}

// admit says why a request may not upgrade. net/http has refused two Host headers and none already.
func (s *Server) admit(r *http.Request) error {
	h := r.Header
	key, keyErr := base64.StdEncoding.DecodeString(h.Get("Sec-WebSocket-Key"))
	switch {
	case r.Method != http.MethodGet:
		return errors.New("method")
	case r.RequestURI != protocol.LinkPath:
		return errors.New("path")
	case r.Host != s.addr():
		return errors.New("host")
	case !isOnly(h["Origin"], s.cfg.Origin):
		return errors.New("origin")
	case !isOnly(h["Sec-Websocket-Protocol"], protocol.Subprotocol):
		return errors.New("subprotocol")
	case !r.ProtoAtLeast(1, 1) || r.ContentLength != 0 || len(h["Upgrade"]) != 1 || len(h["Connection"]) != 1,
		!strings.EqualFold(h["Upgrade"][0], "websocket") || !strings.EqualFold(h["Connection"][0], "Upgrade"),
		!isOnly(h["Sec-Websocket-Version"], "13") || len(h["Sec-Websocket-Key"]) != 1 || keyErr != nil || len(key) != 16:
		return errors.New("upgrade")
	}
	return nil
}

func isOnly(values []string, want string) bool { return len(values) == 1 && values[0] == want }

// serveApproval answers an approval link for whoever has no extension. A page on a name that was pointed at us gets nothing.
func (s *Server) serveApproval(w http.ResponseWriter, r *http.Request) {
	if r.Host != s.addr() || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		s.refuse(w, errors.New("approval link"))
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if s.cfg.Approve == nil {
		http.NotFound(w, r)
		return
	}
	s.cfg.Approve.ServeHTTP(w, r)
}
