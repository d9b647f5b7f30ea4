package session

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A lease is one lent tab.
type lease struct {
	m       *Manager
	name    string // "t1", for the agent
	id      string // for the extension
	tab     protocol.TabID
	profile string
	opened  bool   // the agent opened it
	opener  *lease // beside which
	access  protocol.Access
	sealed  bool

	page  Tab
	queue queue
	box   *mailbox
	ctx   context.Context // ends, with the reason as cause, when the lease does
	end   context.CancelCauseFunc
	calls atomic.Int32 // that are under way
	gate  gate         // opens when the page engine is in place
	view  atomic.Pointer[view]

	// What follows belongs to the mailbox.
	state    LeaseState
	guard    *guard.Guard
	act      *running        // the act that is under way
	prompts  map[int]*prompt // by ticket
	asked    asks            // what pages asked for that was not judged yet
	private  bool            // the owner drives in private
	driven   time.Time       // since when the owner drives
	stale    bool            // the owner drove since the last snapshot
	answered []*prompt       // settled, whose act was not done yet
	last     *running        // the act before
	notes    []string        // for the next result
	used     time.Time       // end of the last call
	clock    *time.Timer     // of the guard
	idle     *time.Timer     //
	until    *time.Timer     // nil: until stopped
	shown    protocol.LeaseUpdate
}

// addLease makes the lease of a tab that the owner shared.
func (m *Manager) addLease(c Conn, name string, p protocol.LeaseOfferParams) (*lease, error) {
	origin, _ := policy.ParseOrigin(p.Tab.URL) // an opaque origin holds no grant
	book := policy.NewBook(policy.Terms{
		Origin: origin, Exact: p.Exact, Access: policy.Access(p.Access),
		NavigateLife: m.opt.GrantTTL, ReleaseGrace: m.opt.ReleaseGrace,
	}, time.Now())
	l := &lease{name: name, id: randomText(16), profile: c.Profile(), opened: p.Tab.Opened, access: p.Access, sealed: p.Sealed || m.opt.Sealed}
	if err := m.start(l, p.Tab, book); err != nil {
		return nil, err
	}
	if p.Until > 0 {
		l.box.post(func() {
			l.until = time.AfterFunc(time.Duration(p.Until)*time.Second, func() { l.box.post(func() { l.expire("its time was up") }) })
		})
	}
	return l, nil
}

// start puts a lease among the others and its page engine in place.
func (m *Manager) start(l *lease, t protocol.LeasedTab, book *policy.Book) error {
	l.m, l.tab = m, t.Tab
	l.state, l.prompts, l.asked, l.used = LeaseReady, map[int]*prompt{}, asks{}, time.Now()
	l.guard = guard.New(guard.Config{Book: book, Own: m.opt.Own(), URL: t.URL, Sealed: l.sealed})
	l.publish()
	m.mu.Lock()
	if m.phase != PhaseReady {
		m.mu.Unlock()
		return protocol.Errorf(protocol.ShuttingDown, "the host does not take tabs now")
	}
	l.box = newMailbox(l.publish)
	l.ctx, l.end = context.WithCancelCause(m.ctx)
	l.page = m.opt.NewTab(chrome{m}, t.Tab, browser.Options{Logger: m.opt.Logger})
	m.wg.Add(1) // until finish is through: all that the mailbox starts lies in between
	m.leases = append(m.leases, l)
	if m.current == nil {
		m.current = l
	}
	m.mu.Unlock()
	l.box.post(func() {
		l.idle = time.AfterFunc(m.opt.Idle, func() { l.box.post(l.idled) })
		if t.Driving {
			l.takeover(t.Private)
		}
		l.begin(t)
	})
	return nil
}

// begin puts the page engine in place, at the start and whenever the extension has come back.
func (l *lease) begin(t protocol.LeasedTab) {
	opened := l.gate.close()
	l.m.wg.Go(func() {
		err := l.page.Start(l.ctx, t.Sessions)
		l.box.do(func() {
			if err == nil {
				l.commit(l.guard.Start(commits(l.page.Frames()), time.Now()))
			}
			opened(err)
			l.show()
		})
		if err != nil {
			l.m.opt.Logger.Warn("starting in a tab", "tab", l.name, "err", err)
		}
	})
}

// commits tells the guard what the frames hold, main frame first.
func commits(frames []browser.Frame) []guard.Commit {
	var out []guard.Commit
	for _, f := range frames {
		out = append(out, guard.Commit{Session: f.Session, Frame: f.ID, Parent: f.Parent, Loader: f.Document.Loader, URL: f.Document.URL, Origin: f.Document.Origin})
	}
	return out
}

// linkLost ends what was under way: nothing of it is sent again. (mailbox)
func (l *lease) linkLost() {
	l.gate.close()
	l.stopAct(protocol.Errorf(protocol.TransportLost, "the connection to the extension broke"))
}

// comeBack goes on after the extension was away: the tab may hold anything by now, so it is judged afresh. (mailbox)
func (l *lease) comeBack(t protocol.LeasedTab) {
	if t.Driving && l.state != LeaseSuspended {
		l.takeover(t.Private)
	} else if !t.Driving && l.state == LeaseSuspended {
		l.handback()
	}
	l.begin(t)
	l.shown = protocol.LeaseUpdate{}
	for _, p := range l.prompts {
		p.show()
	}
}

// move takes the state on, and says why it cannot. (mailbox)
func (l *lease) move(e LeaseEvent) error {
	next, err := l.state.Next(e)
	l.state = next
	return err
}

// show tells the extension what to show of the lease, when that has changed. (mailbox)
func (l *lease) show() {
	now := time.Now()
	u := protocol.LeaseUpdate{Tab: l.tab, Frozen: l.state == LeaseFrozen, Grants: []string{}}
	for _, g := range l.guard.Book().List(now) {
		u.Grants = append(u.Grants, g.Words(now))
	}
	if u.Frozen != l.shown.Frozen || u.Tab != l.shown.Tab || !slices.Equal(u.Grants, l.shown.Grants) {
		l.shown = u
		l.m.send(protocol.MethodLeaseUpdate, u)
	}
}

// finish ends the lease on this side: the extension has, or is about to. It does not block.
func (l *lease) finish(why protocol.EndReason, detail string) {
	m := l.m
	m.mu.Lock()
	i := slices.Index(m.leases, l)
	if i < 0 {
		m.mu.Unlock()
		return
	}
	m.leases = slices.Delete(m.leases, i, i+1)
	if m.current == l {
		m.current = nil
		if l.opener != nil && slices.Contains(m.leases, l.opener) {
			m.current = l.opener
		} else if len(m.leases) > 0 {
			m.current = m.leases[0]
		}
	}
	m.mu.Unlock()
	gone := protocol.Errorf(protocol.PageClosed, "the tab is not lent any more: %s", endWords(why))
	if d := clean(detail, 120); d != "" {
		gone = gone.With("chrome", d)
	}
	l.end(gone)
	l.box.post(func() {
		l.move(Ends)
		for _, t := range []*time.Timer{l.clock, l.idle, l.until} {
			if t != nil {
				t.Stop()
			}
		}
		l.withdraw(l.guard.Ended())
		l.stopAct(gone)
		m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: l.name, Note: "the lease ended: " + endWords(why)})
	})
	l.box.close()
	go func() {
		defer m.wg.Done()
		l.page.Close()
		<-l.box.done
	}()
}

// expire gives the tab back by itself. (mailbox)
func (l *lease) expire(why string) {
	l.m.opt.Logger.Info("giving a tab back", "tab", l.name, "why", why)
	l.m.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		l.giveBack(ctx, false)
	})
}

// giveBack ends the lease from this side, and closes the tab if told.
func (l *lease) giveBack(ctx context.Context, closes bool) Ended {
	e := Ended{Tab: l.name}
	l.finish(protocol.EndHost, "")
	conn, err := l.m.link()
	if err != nil {
		return e
	}
	var r protocol.LeaseEndResult
	if err := conn.Call(ctx, protocol.MethodLeaseEnd, protocol.LeaseEndParams{Tab: l.tab, Close: closes}, &r); err != nil {
		l.m.opt.Logger.Warn("ending a lease", "tab", l.name, "err", err)
		return e
	}
	e.Detached, e.Closed = r.Detached, closes
	return e
}

// idled ends a lease that nobody used; the clock stands while a call is under way, the owner drives or a question is
// open. (mailbox)
func (l *lease) idled() {
	rest := l.m.opt.Idle - time.Since(l.used)
	if l.calls.Load() > 0 || l.state == LeaseSuspended || len(l.prompts) > 0 {
		l.used, rest = time.Now(), l.m.opt.Idle
	}
	if rest > 0 {
		l.idle.Reset(rest)
		return
	}
	l.expire("no call for " + l.m.opt.Idle.String())
}

var endReasons = map[protocol.EndReason]string{
	protocol.EndStopped:    "the owner stopped sharing",
	protocol.EndDragged:    "the owner dragged it out of the group",
	protocol.EndClosed:     "it was closed",
	protocol.EndCanceled:   "the owner cancelled the debugging",
	protocol.EndRefused:    "Chrome refuses the debugger on it now",
	protocol.EndOwnPage:    "it came to a page of Tab Valet",
	protocol.EndExpired:    "its time was up",
	protocol.EndHost:       "it was given back",
	protocol.EndLinkLost:   "the connection was lost",
	protocol.EndForgotten:  "the pairing is gone",
	protocol.EndReplaced:   "Chrome replaced it",
	protocol.EndReconciled: "the extension does not hold it any more",
}

func endWords(r protocol.EndReason) string {
	if s, ok := endReasons[r]; ok {
		return s
	}
	return "it ended"
}
