package link

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// The second gate is the mutual proof. The host proves first, so that whoever listens on a port that was ours learns
// nothing from an extension. A profile that nobody paired is answered like any other, with a proof of no key, so that
// only who holds a key can tell the two apart.

// shake runs the handshake on a new socket, and the connection after it.
func (s *Server) shake(sock *socket) {
	// The clock of a step closes the socket from outside: a context would cut it without a close frame.
	step := time.AfterFunc(protocol.HandshakeTimeout, func() { sock.close(protocol.CloseTimeout) })
	defer step.Stop()
	c, proveID, err := s.prove(sock, step)
	if err != nil {
		step.Stop()
		s.failed.log(s.cfg.Logger, err)
		sock.close(closeCode(err))
		return
	}
	sock.raw.leave()
	if err := s.adopt(c); err != nil {
		s.cfg.Logger.Warn("connection refused", "profile", c.profile, "err", err)
		sock.close(closeCode(err))
		return
	}
	c.run(proveID)
}

// prove gives the connection that proved itself, and the id under which it waits for ready.
func (s *Server) prove(sock *socket, step *time.Timer) (*Conn, int64, error) {
	ctx := s.ctx
	var hello protocol.HelloParams
	helloID, err := expect(ctx, sock, protocol.MethodHello, &hello)
	if err != nil {
		return nil, 0, err
	}
	h := protocol.Handshake{Profile: hello.Profile, Origin: s.cfg.Origin, Addr: s.addr(), Instance: s.cfg.Instance,
		Offered: hello.Versions, NonceS: make([]byte, protocol.NonceSize)}
	var ok bool
	if h.NonceC, ok = protocol.DecodeBytes(hello.Nonce, protocol.NonceSize); !ok {
		return nil, 0, protocol.Errorf(protocol.BadMessage, "a nonce of another length")
	}
	if _, ok := protocol.DecodeBytes(hello.Profile, protocol.IDSize); !ok {
		return nil, 0, protocol.Errorf(protocol.BadMessage, "a profile id of another length")
	}
	if h.Chosen, ok = protocol.ChooseVersion(hello.Versions); !ok {
		err := protocol.Errorf(protocol.VersionUnsupported, "no common version").With("supported", []int{protocol.Version})
		sock.send(ctx, protocol.Message{ID: helloID, Error: err})
		return nil, 0, err
	}
	key, paired := s.cfg.Key(hello.Profile)
	if !paired {
		key = make([]byte, protocol.KeySize)
		rand.Read(key)
	}
	rand.Read(h.NonceS)
	proof := h.ServerProof(key)
	if err := answer(ctx, sock, helloID, protocol.HelloResult{Version: h.Chosen, Instance: h.Instance,
		Nonce: protocol.EncodeBytes(h.NonceS), Proof: protocol.EncodeBytes(proof)}); err != nil {
		return nil, 0, err
	}
	step.Reset(protocol.HandshakeTimeout)

	var prove protocol.ProveParams
	proveID, err := expect(ctx, sock, protocol.MethodProve, &prove)
	if err != nil {
		return nil, 0, err
	}
	given, ok := protocol.DecodeBytes(prove.Proof, protocol.ProofSize)
	if !ok {
		return nil, 0, protocol.Errorf(protocol.BadMessage, "a proof of another length")
	}
	if !protocol.SameProof(given, h.ClientProof(key, proof)) || !paired {
		return nil, 0, protocol.Errorf(protocol.AuthFailed, "a proof that does not verify")
	}
	if !step.Stop() {
		return nil, 0, protocol.Errorf(protocol.Timeout, "a proof that came too late")
	}
	return newConn(s, sock, hello.Profile, key), proveID, nil
}

// expect reads the one call that may come next.
func expect(ctx context.Context, sock *socket, method string, params any) (int64, error) {
	data, err := sock.read(ctx, protocol.MaxHandshakeFrame)
	if err != nil {
		return 0, err
	}
	m, err := protocol.Decode(data)
	if err != nil {
		return 0, err
	}
	if m.Kind() != protocol.Call || m.Method != method {
		return 0, protocol.Errorf(protocol.BadMessage, "not the call of %s", method)
	}
	if err := protocol.Unmarshal(m.Params, params); err != nil {
		return 0, protocol.Errorf(protocol.BadMessage, "%v", err)
	}
	return m.ID, nil
}

func answer(ctx context.Context, sock *socket, id int64, result any) error {
	data, err := protocol.Marshal(result)
	if err != nil {
		return err
	}
	return sock.send(ctx, protocol.Message{ID: id, Result: data})
}

// failures keeps strangers from filling the log: one row a second at most, with a count.
type failures struct {
	mu    sync.Mutex
	last  time.Time
	count int
}

func (f *failures) log(logger *slog.Logger, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if now := time.Now(); now.Sub(f.last) >= time.Second {
		logger.Warn("handshake failed", "err", err, "count", f.count)
		f.last, f.count = now, 0
	}
}
