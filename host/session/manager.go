// Package session says who may act now. It holds what one host process has been lent: approvals, leases, the questions
// put to the owner, who is driving, and the one act at a time of each tab.
//
// A [Manager] is fed by the link (Connected, Call, Note, Disconnected) and asked by the tools ([Manager.Connect],
// [Manager.Read], [Manager.Act], …). Everything about one tab lives in a lease:
//
//	calls ──► queue (one act, or reads together) ──► checks ──► browser ──► Chrome
//	events ─► browser.Handle, then the lease's mailbox ──► guard ──► verdict notes
//
// The mailbox is one goroutine per tab and owns the guard, the state and the question of that tab. Nothing that runs
// there waits: verdicts are posted, prompts are records, and Chrome is called only from the goroutines of tool calls.
//
// A call has one budget, whatever it waits for. A call that waits for the owner gives its turn up and, when the answer
// comes, begins again with every check; when the budget ends first it answers approval_pending, and the same call made
// again joins where it stands (see question.go).
package session

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A Manager is the session of one host process. Its methods may be called from any goroutine.
type Manager struct {
	opt       Options
	approvals approvals

	ctx context.Context // ends when the host stops
	end context.CancelCauseFunc
	wg  sync.WaitGroup // leases, and what they started

	mu      sync.Mutex
	phase   Phase
	why     string // of PhaseFailed
	info    protocol.HostInfo
	conn    Conn          // set by reconcile, nil while no extension is there
	linked  chan struct{} // closed when conn is set
	lost    chan struct{} // closed when conn is taken away
	leases  []*lease      // that live, in order of name
	current *lease        // the agent's
	paused  bool          // the owner paused the agent
	fatigue policy.Fatigue
	lastTab int // of lease names
	lastAsk int // of prompt ids
}

// New makes a session in [PhasePending].
func New(o Options) *Manager {
	m := &Manager{opt: o.withDefaults(), phase: PhasePending, linked: make(chan struct{})}
	m.ctx, m.end = context.WithCancelCause(context.Background())
	return m
}

// Move takes the host from phase to phase. why is kept of a failure.
func (m *Manager) Move(e PhaseEvent, why string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.phase.Next(e)
	m.phase = next
	if e == HostFails && err == nil {
		m.why = why
	}
	return err
}

// SetInfo changes what is said to the owner about the host.
func (m *Manager) SetInfo(change func(*protocol.HostInfo)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.info)
}

// Info is who the host is.
func (m *Manager) Info() protocol.HostInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.info
}

// Linked reports whether an extension is connected.
func (m *Manager) Linked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conn != nil
}

// Connected takes a new link. It is used only after lease.reconcile, the first call on it.
func (m *Manager) Connected(Conn) {}

// Disconnected takes a link away. Leases stay, for the extension comes back and says what it still holds; but not when the
// pairing that they rest on is gone.
func (m *Manager) Disconnected(c Conn, err error) {
	forgotten := protocol.CodeOf(err) == protocol.Rotated
	if forgotten {
		m.approvals.void()
	}
	m.mu.Lock()
	if m.conn != c {
		m.mu.Unlock()
		return
	}
	m.conn, m.linked = nil, make(chan struct{})
	close(m.lost)
	leases := slices.Clone(m.leases)
	m.mu.Unlock()
	for _, l := range leases {
		if forgotten {
			l.finish(protocol.EndForgotten, "")
		} else {
			l.box.post(l.linkLost)
		}
	}
}

// Call answers a call of the extension.
func (m *Manager) Call(ctx context.Context, c Conn, method string, params jsontext.Value) (any, error) {
	switch method {
	case protocol.MethodReconcile:
		return serve(params, func(p protocol.ReconcileParams) (any, error) { return m.reconcile(c, p) })
	case protocol.MethodApprovalGet:
		return serve(params, func(p protocol.ApprovalGetParams) (any, error) { return m.approvalGet(p) })
	case protocol.MethodApprovalRefuse:
		return serve(params, func(p protocol.ApprovalRef) (any, error) {
			return protocol.Empty{}, m.approvalRefuse(p.ID)
		})
	case protocol.MethodLeaseOffer:
		return serve(params, func(p protocol.LeaseOfferParams) (any, error) { return m.offer(c, p) })
	case protocol.MethodPromptAnswer:
		return serve(params, func(p protocol.PromptAnswerParams) (any, error) {
			return protocol.Empty{}, m.answer(p.ID, p.Choice)
		})
	}
	return nil, protocol.Errorf(protocol.UnknownMethod, "unknown method")
}

func serve[P any](params jsontext.Value, f func(P) (any, error)) (any, error) {
	var p P
	if err := protocol.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return f(p)
}

// Note takes a note of the extension, on the link's reader: events go to the tab first and then to the lease's mailbox,
// so that the answer to a later command never overtakes them in the tab.
func (m *Manager) Note(c Conn, method string, params jsontext.Value) {
	var err error
	switch method {
	case protocol.MethodEvent:
		err = note(params, func(e protocol.Event) {
			if l := m.byTab(e.Tab); l != nil {
				l.handle(e)
			}
		})
	case protocol.MethodLeaseEnded:
		err = note(params, func(e protocol.LeaseEnded) {
			if l := m.byTab(e.Tab); l != nil {
				l.finish(e.Reason, e.Detail)
			}
		})
	case protocol.MethodTakeover:
		err = note(params, func(t protocol.Takeover) {
			if l := m.byTab(t.Tab); l != nil {
				l.box.post(func() { l.takeover(t.Private) })
			}
		})
	case protocol.MethodHandback:
		err = note(params, func(t protocol.TabRef) {
			if l := m.byTab(t.Tab); l != nil {
				l.box.post(l.handback)
			}
		})
	case protocol.MethodPaused:
		err = note(params, func(p protocol.AgentPausedParams) {
			m.setPaused(p.Paused, map[bool]string{true: "the owner paused the agent", false: "the owner resumed the agent"}[p.Paused])
		})
	case protocol.MethodTabRefused:
		err = note(params, func(t protocol.TabRefused) { m.approvals.tabRefused(t.ID, clean(t.Reason, 120)) })
	case protocol.MethodMirror:
		err = note(params, func(p protocol.Mirror) { m.opt.Mirrored(c.Profile(), p.Heads) })
	default:
		err = protocol.Errorf(protocol.UnknownMethod, "unknown note")
	}
	if err != nil {
		m.opt.Logger.Warn("dropping a note of the extension", "method", method, "err", err)
	}
}

func note[P any](params jsontext.Value, f func(P)) error {
	_, err := serve(params, func(p P) (any, error) { f(p); return nil, nil })
	return err
}

// send tells the extension something, if it is there.
func (m *Manager) send(method string, params any) {
	conn, err := m.link()
	if err != nil {
		return
	}
	if err := conn.Note(method, params); err != nil {
		m.opt.Logger.Debug("a note did not reach the extension", "method", method, "err", err)
	}
}

// reconcile compares what the extension holds after a handshake with what was lent: what both know stays, the rest ends
// on the side that has it.
func (m *Manager) reconcile(c Conn, p protocol.ReconcileParams) (protocol.ReconcileResult, error) {
	var result protocol.ReconcileResult
	m.mu.Lock()
	var lost []*lease
	for _, l := range m.leases {
		i := slices.IndexFunc(p.Tabs, func(t protocol.LeasedTab) bool {
			return t.Lease == l.id && t.Tab == l.tab && l.profile == c.Profile()
		})
		if i < 0 {
			lost = append(lost, l)
			continue
		}
		result.Keep = append(result.Keep, l.tab)
		l.box.post(func() { l.comeBack(p.Tabs[i]) })
	}
	if m.conn == nil {
		close(m.linked)
	} else {
		close(m.lost) // another took the place of one that had not ended yet
	}
	m.conn, m.lost = c, make(chan struct{})
	paused := m.paused
	m.mu.Unlock()
	for _, l := range lost {
		l.finish(protocol.EndReconciled, "")
	}
	for _, rows := range m.opt.Record.Recent() { // not under m.mu: see Row
		c.Note(protocol.MethodRows, rows)
	}
	if paused {
		c.Note(protocol.MethodPaused, protocol.AgentPausedParams{Paused: true})
	}
	return result, nil
}

// Row mirrors a row of the record into the extension. It is made for audit.Log.OnRow, which holds the log's lock: so
// m.mu may be taken under that lock, and the log is never called under m.mu.
func (m *Manager) Row(file string, row protocol.Row) {
	m.send(protocol.MethodRows, protocol.Rows{File: file, Rows: []protocol.Row{row}})
}

// setPaused follows the owner's Pause, said or meant.
func (m *Manager) setPaused(paused bool, why string) {
	m.mu.Lock()
	changed := m.paused != paused
	m.paused = paused
	leases := slices.Clone(m.leases)
	m.mu.Unlock()
	if !changed {
		return
	}
	m.opt.Record.Note(audit.Row{Kind: audit.Event, Note: why})
	if paused {
		for _, l := range leases {
			l.box.post(func() { l.stopAct(protocol.Errorf(protocol.AgentPaused, "the owner paused this agent")) })
		}
	}
}

// byTab finds the lease of one of Chrome's tabs.
func (m *Manager) byTab(id protocol.TabID) *lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.leases {
		if l.tab == id {
			return l
		}
	}
	return nil
}

// lease finds the tab a call is for: by name, or the agent's current one.
func (m *Manager) lease(name string) (*lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.phase == PhaseFailed:
		return nil, protocol.Errorf(protocol.Unavailable, "the host cannot serve: %s", m.why)
	case m.phase != PhaseReady:
		return nil, protocol.Errorf(protocol.Unavailable, "the host is %s", m.phase)
	case name == "" && m.current == nil:
		return nil, protocol.Errorf(protocol.NotConnected, "no tab is lent")
	case name == "":
		return m.current, nil
	}
	for _, l := range m.leases {
		if l.name == name {
			return l, nil
		}
	}
	if len(m.leases) == 0 {
		return nil, protocol.Errorf(protocol.NotConnected, "no tab is lent")
	}
	return nil, protocol.Errorf(protocol.SessionNotFound, "no tab of this session is called %q", clean(name, 20))
}

// Close ends every lease and waits until nothing of the session runs any more. ctx bounds how long the extension is
// waited for.
func (m *Manager) Close(ctx context.Context) {
	m.Move(HostStops, "")
	m.approvals.void()
	m.Disconnect(ctx, true)
	m.end(protocol.Errorf(protocol.ShuttingDown, "the host is ending"))
	m.wg.Wait()
	m.Move(HostEnds, "")
}

// clean makes one harmless line of a foreign text: no control or bidi characters, at most n characters.
func clean(s string, n int) string {
	var b strings.Builder
	count := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x061c || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f {
			r = ' '
		}
		if count++; count > n {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// budget bounds a call. The cause tells a client's cancel from a budget that ended.
func (m *Manager) budget(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, m.opt.Budget, errBudget)
}

var errBudget = protocol.Errorf(protocol.Timeout, "the call's time is up")

func since(t time.Time) string { return time.Since(t).Round(time.Second).String() }

// ClientName makes a client's claimed name fit for the owner's eyes.
func ClientName(claimed string) string { return cmp.Or(clean(claimed, 64), "an agent") }
