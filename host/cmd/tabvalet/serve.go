package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/link"
	"github.com/tabvalet/tabvalet/host/mcpserver"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
	"github.com/tabvalet/tabvalet/setup"
)

// memoryLimit makes the collector work harder long before anyone would mind the size of the process. GOMEMLIMIT wins.
const memoryLimit = 192 << 20

// farewell is how long an orderly end may take.
const farewell = 1500 * time.Millisecond

// serve serves one MCP client until its input ends or a signal comes. Nothing slow is on the way to the first answer.
func serve(s *settings, in io.Reader, out io.Writer) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, err := newHost(s)
	if err != nil {
		return err
	}
	defer h.close()
	tools, err := mcpserver.Choose(s.tools)
	if err != nil {
		return err
	}
	err = mcpserver.Serve(ctx, in, out, mcpserver.Options{
		Session: h.session, Version: extension.Version(), Tools: tools, Shots: &mcpserver.Shots{Dir: h.captures, Keep: s.captureKeep},
		Logger: h.logger, Named: h.named,
	})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// A host is the parts of one process, put together.
type host struct {
	settings *settings
	logger   *slog.Logger
	store    *store.Store
	record   *audit.Log
	session  *session.Manager
	link     *link.Server // nil when it cannot listen
	trace    io.Closer
	witness  *witness
	captures string

	background sync.WaitGroup
	mu         sync.Mutex
	entry      *store.Registration // nil until it is written
	name       string              // the client's
}

func newHost(s *settings) (*host, error) {
	dirs, err := store.FindDirs()
	if err != nil {
		return nil, err
	}
	level, err := s.level()
	if err != nil {
		return nil, err
	}
	h := &host{settings: s, store: store.Open(dirs), captures: s.captureDir}
	if h.captures == "" {
		h.captures = filepath.Join(dirs.State, "captures")
	}
	var handler slog.Handler = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})
	if s.logJSON {
		handler = slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})
	}
	h.logger = slog.New(handler)
	instance := store.NewID()
	if h.record, err = audit.Open(setup.RecordDir(dirs.State), instance, ""); err != nil {
		return nil, err
	}
	h.witness = newWitness(setup.RecordDir(dirs.State), h.do)
	h.session = session.New(session.Options{
		Instance: instance, Consent: session.Consent(s.consent), Sealed: s.sealed,
		GrantTTL: s.grantTTL, ConsentTimeout: s.consentTimeout, Budget: s.budget, Idle: s.idle, ReleaseGrace: s.releaseGrace,
		Record: h.record, Logger: h.logger, Port: h.port, Own: h.own, Paired: h.paired,
		Mirrored: h.witness.shown,
	})
	h.record.OnRow = h.session.Row
	h.session.SetInfo(func(i *protocol.HostInfo) {
		*i = protocol.HostInfo{Name: h.shown(""), PID: os.Getpid(), Version: extension.Version(), Extension: extension.Version()}
	})
	h.session.Move(session.HostStarts, "")
	if err := h.listen(instance); err != nil {
		h.logger.Error("the extension cannot reach this host", "err", err)
		h.session.Move(session.HostFails, "its port could not be opened")
		return h, nil
	}
	h.session.Move(session.HostServes, "")
	return h, nil
}

// listen opens the link's port and enters the host into the list that the extension sees.
func (h *host) listen(instance string) error {
	cfg := link.Config{
		Instance: instance, Key: h.store.Key, Info: h.session.Info, Approve: session.ApproveHandler(), Handler: h, Logger: h.logger,
	}
	if h.settings.trace != "" {
		f, err := os.OpenFile(h.settings.trace, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("opening the trace: %w", err)
		}
		cfg.Trace, h.trace = f, f
	}
	var err error
	if h.link, err = link.Listen(cfg); err != nil {
		return err
	}
	h.do(func() error { // it waits for the disk; nobody needs it before the first approval link
		entry, err := store.Register(h.store.Dirs(), store.Entry{
			Instance: instance, Name: h.session.Info().Name, PID: os.Getpid(), Port: h.link.Port(), Started: time.Now(),
		})
		if err != nil {
			return err
		}
		h.mu.Lock()
		h.entry = entry
		h.mu.Unlock()
		return h.refresh()
	})
	h.do(func() error { // asking the system who started us may be slow
		program, parent := parents()
		h.session.SetInfo(func(i *protocol.HostInfo) { i.Executable, i.Parent = program, parent })
		return nil
	})
	return nil
}

// shown is the name that the owner reads.
func (h *host) shown(claimed string) string {
	if h.settings.name != "" {
		claimed = h.settings.name
	}
	return session.ClientName(claimed)
}

func (h *host) port() int {
	if h.link == nil {
		return 0
	}
	return h.link.Port()
}

// paired says why nobody could prove a pairing. The path of the file is for the terminal, not for the agent.
func (h *host) paired() error {
	p, err := h.store.Load()
	if err == nil && len(p.Profiles) > 0 {
		return nil
	}
	code := protocol.NotPaired
	if err != nil {
		code = protocol.CodeOf(err)
	}
	if w, err := h.store.Window(); code == protocol.NotPaired && err == nil && w.Kind == store.WindowManual {
		return nil // a code becomes an entry by its first proof
	}
	return protocol.Errorf(code, "%s", protocol.Lookup(code).Meaning)
}

// own is every host of this user that runs now: none of their ports is an agent's target.
func (h *host) own() policy.Own {
	own := policy.Own{Ports: []int{h.port()}, Approve: protocol.ApprovePath}
	if entries, err := store.List(h.store.Dirs()); err == nil {
		for _, e := range entries {
			own.Ports = append(own.Ports, e.Port)
		}
	}
	return own
}

// named takes the client's claimed name.
func (h *host) named(name string) {
	h.mu.Lock()
	same := h.name == name
	h.name = name
	h.mu.Unlock()
	if same {
		return
	}
	shown := h.shown(name)
	h.session.SetInfo(func(i *protocol.HostInfo) { i.Name = shown })
	h.record.SetClient(shown)
	h.do(h.refresh)
}

// refresh brings this host's entry in the list up to date.
func (h *host) refresh() error {
	h.mu.Lock()
	entry := h.entry
	h.mu.Unlock()
	if entry == nil {
		return nil
	}
	return entry.Update(func(e *store.Entry) {
		e.Name, e.Connected = h.session.Info().Name, h.link.Conn() != nil
	})
}

// do runs something that may wait, in the background; close waits for it.
func (h *host) do(f func() error) {
	h.background.Go(func() {
		if err := f(); err != nil {
			h.logger.Warn("housekeeping", "err", err)
		}
	})
}

// close ends leases, link and record in order, within two seconds whatever hangs.
func (h *host) close() {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.session.Close(ctx)
		h.record.Close() // its last row is mirrored too, while the link stands
		if h.session.Linked() {
			h.witness.await(ctx, h.record.Head())
		}
		if h.link != nil {
			h.link.Close()
		}
		h.background.Wait()
		if h.entry != nil {
			h.entry.Remove()
		}
		if h.trace != nil {
			h.trace.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(farewell + 300*time.Millisecond):
		h.logger.Warn("the end took too long")
	}
}

// The link's handler. Package session knows a link only by its interface, so each method hands the same Conn on.

func (h *host) Connected(c *link.Conn) {
	h.session.Connected(c)
	h.do(func() error { return h.store.Proved(c.Profile()) })
	h.do(h.refresh)
}

func (h *host) Call(ctx context.Context, c *link.Conn, method string, params jsontext.Value) (any, error) {
	return h.session.Call(ctx, c, method, params)
}

func (h *host) Note(c *link.Conn, method string, params jsontext.Value) {
	h.session.Note(c, method, params)
}

func (h *host) Disconnected(c *link.Conn, err error) {
	h.session.Disconnected(c, err)
	h.do(h.refresh)
}
