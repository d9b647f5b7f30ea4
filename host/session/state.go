package session

import (
	"context"
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// State is what browser_state tells. It holds addresses and titles only of what the agent may read.
type State struct {
	Phase        Phase        `json:"phase"`
	Link         string       `json:"link"` // connected, or why not
	Paused       bool         `json:"paused"`
	Approval     string       `json:"approval"` // of the last request: waiting, granted, …; "" when there was none
	Leases       []LeaseInfo  `json:"leases"`
	Prompts      []PromptInfo `json:"prompts"`
	Capabilities []Offered    `json:"capabilities"`
}

// LeaseInfo is one lent tab.
type LeaseInfo struct {
	Tab     string          `json:"tab"`
	State   LeaseState      `json:"state"`
	Access  protocol.Access `json:"access"`
	Current bool            `json:"current"`
	Opened  bool            `json:"opened"` // by the agent
	Sealed  bool            `json:"sealed"`
	Private bool            `json:"private"`
	URL     string          `json:"-"` // "" when it may not be known
	Title   string          `json:"-"`
	Origin  string          `json:"origin"`
	Grants  []string        `json:"grants"`
}

// Offered is a capability of this version, and whether it can be used now.
type Offered struct {
	Name      string `json:"name"`
	Available bool   `json:"available"`
	Why       string `json:"why,omitzero"` // not
}

// declared are the capabilities there are, in the order of DESIGN §9.1. What has no reason is built.
var declared = []struct {
	name policy.Capability
	why  string
}{
	{policy.Read, ""}, {policy.Interact, ""}, {policy.Navigate, ""}, {policy.Submit, ""},
	{policy.Upload, "not in this version"}, {policy.Download, "not in this version"},
	{policy.Publish, "not in this version"}, {policy.Script, "not in this version"},
}

// State tells where everything stands.
func (m *Manager) State() State {
	m.mu.Lock()
	s := State{Phase: m.phase, Link: "connected", Paused: m.paused, Leases: []LeaseInfo{}, Prompts: []PromptInfo{}}
	linked, leases, current := m.conn != nil, slices.Clone(m.leases), m.current
	if m.why != "" {
		s.Link = m.why
	}
	m.mu.Unlock()
	if !linked {
		s.Link = "no extension is connected"
	}
	s.Approval = m.approvals.last()
	for _, l := range leases {
		l.box.do(func() {
			info := l.info()
			info.Current = l == current
			s.Leases = append(s.Leases, info)
			for _, p := range l.prompts {
				s.Prompts = append(s.Prompts, *p.info())
			}
		})
	}
	slices.SortFunc(s.Prompts, func(a, b PromptInfo) int { return a.Asked.Compare(b.Asked) })
	s.Capabilities = m.capabilities(linked, leases)
	return s
}

// info tells about one tab. (mailbox)
func (l *lease) info() LeaseInfo {
	now := time.Now()
	i := LeaseInfo{Tab: l.name, State: l.state, Access: l.access, Opened: l.opened, Sealed: l.sealed, Private: l.private, Grants: []string{}}
	for _, g := range l.guard.Book().List(now) {
		i.Grants = append(i.Grants, g.Words(now))
	}
	if l.mayRead() == nil {
		d := l.page.Document()
		i.URL, i.Title, i.Origin = d.URL, d.Title, d.Origin
	}
	return i
}

func (m *Manager) capabilities(linked bool, leases []*lease) []Offered {
	var out []Offered
	for _, d := range declared {
		o := Offered{Name: string(d.name), Why: d.why}
		switch {
		case o.Why != "":
		case len(leases) == 0:
			o.Why = "no tab is lent"
		case !linked:
			o.Why = "no extension is connected"
		case d.name != policy.Read && !slices.ContainsFunc(leases, func(l *lease) bool { return l.access != protocol.AccessRead }):
			o.Why = "lent for reading only"
		case d.name != policy.Read && m.opt.Record.Err() != nil:
			o.Why = "the record cannot be written"
		}
		o.Available = o.Why == ""
		out = append(out, o)
	}
	return out
}

// last is the state of the newest request.
func (as *approvals) last() string {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.waiting()
	if len(as.list) == 0 {
		return ""
	}
	return string(as.list[len(as.list)-1].state)
}

// Select makes a tab the agent's current one.
func (m *Manager) Select(tab string) error {
	l, err := m.lease(tab)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = l
	return nil
}

// OpenTab opens a tab of the agent's own beside another, in the background, and goes to url there; "" leaves it blank.
// The owner is asked, where that is due, before the tab is there.
func (m *Manager) OpenTab(ctx context.Context, call Call, url string) (*Report, error) {
	defer call.placed()
	if url != "" {
		if err := checkAddress(url); err != nil {
			return &Report{Outcome: browser.NotDispatched}, err
		}
	}
	l, err := m.lease(call.Tab)
	if err != nil {
		return &Report{Outcome: browser.NotDispatched}, err
	}
	var child *lease
	plan := Plan{Past: "opened a tab", URL: url, Elsewhere: true, Do: func(ctx context.Context, _ Act, _ *browser.Checked) (err error) {
		child, err = l.openBeside(ctx)
		return err
	}}
	report, err := l.perform(ctx, call, plan)
	if err != nil || child == nil {
		return report, err
	}
	m.Select(child.name)
	if url == "" {
		report.Tab = child.name
		child.conclude(report)
		return report, nil
	}
	report, err = child.perform(ctx, Call{Tool: call.Tool, Args: call.Args, Waiting: call.Waiting}, navigation(url, ""))
	report.Did = "opened the address in the new tab"
	return report, err
}

// openBeside has the extension open a blank tab and takes it into the lease's grants.
func (l *lease) openBeside(ctx context.Context) (*lease, error) {
	m := l.m
	conn, err := m.link()
	if err != nil {
		return nil, err
	}
	child := &lease{name: m.newName(), id: randomText(16), profile: conn.Profile(), opened: true, opener: l, access: l.access, sealed: l.sealed}
	var t protocol.LeasedTab
	if err := conn.Call(ctx, protocol.MethodTabOpen, protocol.TabOpenParams{URL: "about:blank", Lease: child.id, Beside: l.tab}, &t); err != nil {
		return nil, err
	}
	var book *policy.Book
	if !l.box.do(func() { book = l.guard.Book().Child() }) {
		conn.Call(ctx, protocol.MethodLeaseEnd, protocol.LeaseEndParams{Tab: t.Tab, Close: true}, nil)
		return nil, context.Cause(l.ctx)
	}
	if err := m.start(child, t, book); err != nil {
		return nil, err
	}
	m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: child.name, Note: "the agent opened a tab beside " + l.name})
	return child, nil
}

// CloseTab closes a tab that the agent opened, never the owner's.
func (m *Manager) CloseTab(ctx context.Context, call Call) (*Report, error) {
	defer call.placed()
	l, err := m.lease(call.Tab)
	if err != nil {
		return &Report{Outcome: browser.NotDispatched}, err
	}
	report := &Report{Tab: l.name, Outcome: browser.NotDispatched}
	if !l.opened {
		return report, protocol.Errorf(protocol.InvalidTransition, "%s is the owner's tab", l.name).With("hint", "Leave it open, or give it back with browser_disconnect.")
	}
	ctx, done := l.enter(ctx)
	defer done()
	t := l.queue.enter(true)
	defer t.leave()
	call.placed()
	if err := t.wait(ctx); err != nil {
		return report, explain(ctx, err)
	}
	switch err := l.inBox(l.mayAct); protocol.CodeOf(err) { // a page that may not be read may be closed all the same
	case protocol.OwnerHasControl, protocol.OwnerPrivate, protocol.AgentPaused:
		return report, err
	}
	conn, err := m.awaitLink(ctx)
	if err != nil {
		return report, err
	}
	seq, err := m.opt.Record.Intent(audit.Row{Tab: l.name, Tool: call.Tool, Verdict: "allow", Note: "closing a tab of the agent"})
	if err != nil {
		return report, err
	}
	err = conn.Call(context.WithoutCancel(ctx), protocol.MethodTabClose, protocol.TabRef{Tab: l.tab}, nil)
	if err == nil {
		report.Outcome, report.Did = browser.Confirmed, "closed "+l.name
		l.finish(protocol.EndClosed, "")
	}
	m.opt.Record.Result(seq, audit.Row{Tab: l.name, Tool: call.Tool, Outcome: string(report.Outcome), Code: string(protocol.CodeOf(err))})
	return report, err
}
