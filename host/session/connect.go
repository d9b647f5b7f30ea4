package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A ConnectRequest is what an agent asks of the owner.
type ConnectRequest struct {
	Reason string
	URL    string // of a page it would like in a new tab
	Access protocol.Access
	Wait   time.Duration // for the owner
}

// Connection is where a request stands.
type Connection struct {
	Link       string        // "" when tabs are lent
	Expires    time.Duration // of the link
	TabRefused string        // Chrome's words about the tab the owner chose last
	Leases     []LeaseInfo
}

// Connect gives the tabs that are lent, or the link by which the owner lends one. It waits as long as the request says.
func (m *Manager) Connect(ctx context.Context, r ConnectRequest) (*Connection, error) {
	m.mu.Lock()
	phase, why, n := m.phase, m.why, len(m.leases)
	m.mu.Unlock()
	if phase != PhaseReady {
		return nil, protocol.Errorf(protocol.Unavailable, "the host is %s %s", phase, why)
	}
	if n > 0 {
		return m.connection(ctx), nil
	}
	if err := m.opt.Paired(); err != nil {
		return nil, err
	}
	if r.URL != "" {
		if err := checkAddress(r.URL); err != nil {
			return nil, err
		}
	}
	if r.Access == "" {
		r.Access = protocol.AccessAct
	}
	a := m.approvals.ask(clean(r.Reason, 200), r.URL, r.Access)
	deadline := time.NewTimer(r.Wait)
	defer deadline.Stop()
	for wait := r.Wait > 0; wait; {
		select {
		case <-a.decided:
			wait = false
		case <-a.changed:
			wait = false
		case <-deadline.C:
			wait = false
		case <-ctx.Done():
			wait = false
		}
	}
	a, ok := m.approvals.get(a.id)
	if !ok {
		return nil, protocol.Errorf(protocol.ApprovalUnknown, "the request is gone")
	}
	switch a.state {
	case approvalGranted:
		return m.connection(ctx), nil
	case approvalRefused, approvalExpired:
		return nil, a.usable()
	}
	c := &Connection{Link: m.approvalLink(a.token), Expires: time.Until(a.expires), TabRefused: a.refusal}
	if r.Wait > 0 {
		return c, protocol.Errorf(protocol.ApprovalPending, "the owner has not answered yet").
			With("hint", "Show the user the link, then call browser_connect with wait_ms again.")
	}
	return c, nil
}

// connection tells what is lent, once the page engines are in place, or have had time enough.
func (m *Manager) connection(ctx context.Context) *Connection {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	m.mu.Lock()
	leases := slices.Clone(m.leases)
	m.mu.Unlock()
	for _, l := range leases {
		l.gate.pass(ctx)
	}
	return &Connection{Leases: m.State().Leases}
}

// engineTime is how long browser_connect waits for a page that was just lent.
const engineTime = 3 * time.Second

func (m *Manager) approvalLink(token string) string {
	return fmt.Sprintf("http://127.0.0.1:%d%s%s", m.opt.Port(), protocol.ApprovePath, token)
}

// checkAddress refuses what no agent may open, before anyone is asked.
func checkAddress(url string) error {
	t, err := policy.ParseTarget(url)
	switch {
	case err != nil && policy.CodeOf(err) == policy.SchemeRefused:
		return protocol.Errorf(protocol.SchemeRefused, "addresses of this kind are never opened")
	case err != nil:
		return protocol.Errorf(protocol.BadArgument, "the address cannot be read without doubt").With("hint", "Give an absolute http or https address.")
	case t.Kind != policy.TargetWeb:
		return protocol.Errorf(protocol.SchemeRefused, "only http and https addresses are opened")
	}
	return nil
}

func (m *Manager) approvalGet(p protocol.ApprovalGetParams) (protocol.Approval, error) {
	a, err := m.approvals.open(p.Token)
	if err != nil {
		return protocol.Approval{}, err
	}
	return protocol.Approval{
		ID: a.id, Host: m.Info(), Reason: a.reason, URL: a.url, Access: a.access,
		ExpiresMS: int(time.Until(a.expires).Milliseconds()), Sealed: m.opt.Sealed,
	}, nil
}

func (m *Manager) approvalRefuse(id string) error {
	if err := m.approvals.decide(id, approvalRefused, func() error { return nil }); err != nil {
		return err
	}
	m.opt.Record.Note(audit.Row{Kind: audit.Event, Tool: "browser_connect", Consent: string(ConsentChrome), Verdict: "refuse",
		Note: "the owner refused a request for a tab"})
	return nil
}

// offer takes a tab that the owner shared: for the request that waits, or, from the popup, for none.
func (m *Manager) offer(c Conn, p protocol.LeaseOfferParams) (protocol.LeaseOfferResult, error) {
	m.mu.Lock()
	taken := slices.ContainsFunc(m.leases, func(l *lease) bool { return l.tab == p.Tab.Tab })
	m.mu.Unlock()
	if taken {
		return protocol.LeaseOfferResult{}, protocol.Errorf(protocol.InvalidTransition, "this tab is lent to this host already")
	}
	if p.ID == "" {
		// Shared from the popup: whoever waits for an approval has it by this.
		if a, ok := m.approvals.current(); ok {
			p.ID = a.id
		}
	}
	name := m.newName()
	var l *lease
	lend := func() (err error) {
		l, err = m.addLease(c, name, p)
		return err
	}
	var err error
	if p.ID == "" {
		err = lend()
	} else {
		err = m.approvals.decide(p.ID, approvalGranted, lend)
	}
	if err != nil {
		return protocol.LeaseOfferResult{}, err
	}
	m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: name, Origin: p.Tab.URL, Tool: "browser_connect",
		Consent: string(ConsentChrome), Verdict: "allow", Note: "the owner lent a tab: " + string(p.Access)})
	return protocol.LeaseOfferResult{Lease: l.id}, nil
}

func (m *Manager) newName() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastTab++
	return fmt.Sprintf("t%d", m.lastTab)
}

// An Ended is what became of a lease that this side ended.
type Ended struct {
	Tab      string
	Detached bool // Chrome confirmed it
	Closed   bool // the tab was closed
}

// Disconnect ends all leases. Tabs that the agent opened are closed unless keep.
func (m *Manager) Disconnect(ctx context.Context, keep bool) ([]Ended, error) {
	m.mu.Lock()
	leases := slices.Clone(m.leases)
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ended := make([]Ended, len(leases))
	done := make(chan struct{})
	for i, l := range leases {
		go func() {
			defer func() { done <- struct{}{} }()
			ended[i] = l.giveBack(ctx, !keep && l.opened)
		}()
	}
	for range leases {
		<-done
	}
	return ended, nil
}
