package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A Reading is something that is looked at in a tab.
type Reading struct {
	Fresh bool // it gives refs of the page as it is now
	// Do reads, of frames whose origin may be read only, and says which document answered and how much it gave. It may
	// be called again after a lost link.
	Do func(ctx context.Context, t Tab, may func(origin string) bool) (doc browser.Document, chars int, err error)
}

// Read looks at a tab. Reads go on while the owner drives, unless in private. The report is never nil.
func (m *Manager) Read(ctx context.Context, call Call, reading Reading) (*Report, error) {
	defer call.placed()
	l, err := m.lease(call.Tab)
	if err != nil {
		return &Report{}, err
	}
	ctx, done := l.enter(ctx)
	defer done()
	t := l.queue.enter(false)
	defer t.leave()
	call.placed()
	report := &Report{Tab: l.name}
	if err := t.wait(ctx); err != nil {
		return report, explain(ctx, err)
	}
	var doc browser.Document
	var chars int
	for {
		doc, chars, err = l.read(ctx, reading)
		if protocol.CodeOf(err) != protocol.TransportLost || ctx.Err() != nil {
			break
		}
		m.awaitLoss(ctx) // a read, unlike an act, may be sent again when the extension is back
	}
	err = explain(ctx, err)
	row := audit.Row{Kind: audit.Read, Tab: l.name, Tool: call.Tool, Origin: doc.Origin, Chars: chars, Code: string(protocol.CodeOf(err))}
	if err == nil {
		report.Outcome = browser.Observed
		row.Outcome = string(browser.Observed)
	}
	m.opt.Record.Note(row)
	l.conclude(report)
	return report, err
}

// read looks once, and looks again at what may be read: the tab can have moved on meanwhile.
func (l *lease) read(ctx context.Context, reading Reading) (doc browser.Document, chars int, err error) {
	if err := l.reachable(ctx); err != nil {
		return doc, 0, err
	}
	if err := l.inBox(l.mayRead); err != nil {
		return doc, 0, err
	}
	if doc, chars, err = reading.Do(ctx, l.page, l.readable); err != nil {
		return doc, 0, err
	}
	err = l.inBox(func() error {
		if err := l.mayRead(); err != nil {
			return err
		}
		if doc.Origin != "" && doc.Loader != "" && !l.holds(doc) {
			return protocol.Errorf(protocol.TabChanged, "the page changed while it was read")
		}
		if reading.Fresh && l.state != LeaseSuspended {
			l.stale = false
		}
		return nil
	})
	if err != nil {
		return browser.Document{}, 0, err
	}
	return doc, chars, nil
}

// holds reports whether a document that answered is still the one the guard knows. (mailbox)
func (l *lease) holds(doc browser.Document) bool {
	_, loader := l.guard.Front()
	return loader == "" || loader == doc.Loader
}

// mayRead says why the agent may not even read now. (mailbox)
func (l *lease) mayRead() error {
	if l.state == LeaseSuspended && l.private {
		return protocol.Errorf(protocol.OwnerPrivate, "the owner has been driving in private for %s", since(l.driven))
	}
	if code := l.guard.Reading(time.Now()); code != "" {
		return refusal(code)
	}
	return nil
}

// A view is what may be read, for those who must not wait for the mailbox: the page asks while it holds a lock of its
// own, and the mailbox asks the page.
type view struct {
	code   policy.Code // why nothing may be
	front  policy.Origin
	grants []policy.Grant
}

// publish renews the view. (mailbox)
func (l *lease) publish() {
	now := time.Now()
	v := &view{code: l.guard.Reading(now), grants: l.guard.Book().List(now)}
	v.front, _ = l.guard.Front()
	l.view.Store(v)
}

// readable tells whether frames of an origin may be read.
func (l *lease) readable(origin string) bool {
	v, o, now := l.view.Load(), policy.ParseHeader(origin), time.Now()
	if v.code != "" || o.Opaque() {
		return false
	}
	for _, g := range v.grants {
		if g.Once == nil && g.Capability.Carries(policy.Read) && g.Scope.Covers(o) && (g.Expires.IsZero() || now.Before(g.Expires)) {
			return true
		}
	}
	return o.Same(v.front) // READ that came with a NAVIGATE that is over lasts with the document
}

// conclude adds to a report what every result on a tab tells: where the tab is, as far as that may be known, and what
// happened that the agent does not know yet.
func (l *lease) conclude(r *Report) {
	l.box.do(func() {
		for _, t := range l.guard.Outcomes() {
			r.Notes = append(r.Notes, outcomeWords(t))
			if t.State == guard.Denied {
				l.forget(t.ID)
			}
		}
		r.Notes = append(l.notes, r.Notes...)
		l.notes = nil
		if l.state == LeaseSuspended {
			r.Notes = append(r.Notes, "the owner is driving this tab, for "+since(l.driven)+" so far")
		}
		if l.mayRead() == nil {
			r.Document = l.page.Document()
		}
	})
}

// outcomeWords tells an agent how a question of an earlier call was answered.
func outcomeWords(t guard.Ticket) string {
	tool, _, _ := strings.Cut(t.Call, "\x00")
	what := string(t.Question.Capability)
	if o := t.Question.To; !o.Opaque() {
		what += " " + o.String()
	}
	if t.State == guard.Granted {
		return fmt.Sprintf("the owner allowed your %s (%s): repeat that same call", tool, what)
	}
	return fmt.Sprintf("the owner said no to your %s (%s)", tool, what)
}

// isRef tells refs from other targets.
func isRef(target string) bool {
	s := strings.TrimPrefix(target, "aria-ref=")
	digits := strings.TrimLeft(s, "fe0123456789")
	return s != "" && digits == "" && strings.ContainsRune(s, 'e') && (s[0] == 'e' || s[0] == 'f')
}
