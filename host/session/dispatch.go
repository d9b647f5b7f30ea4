package session

import (
	"cmp"
	"context"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A running act is one that is under way. It belongs to its lease's mailbox, but for what never changes.
type running struct {
	id      string
	stop    context.CancelCauseFunc
	act     Act
	checked *browser.Checked
	code    policy.Code // of the last request of the main frame that was refused
}

// note tells the act what became of a request it set off. (mailbox)
func (a *running) note(frame string, fate browser.NavigationFate, url string, ruling guard.Ruling) {
	if frame == "" {
		a.code = ruling.Code
	}
	if a.act != nil {
		a.act.Note(frame, fate, url)
	}
}

// stopAct ends the act that is under way, between its steps. (mailbox)
func (l *lease) stopAct(why error) {
	if l.act != nil {
		l.act.stop(why)
	}
}

// dispatch sends one act, after it was written down, and waits until it has settled. A question that it raised comes
// back instead of an error.
func (r *run) dispatch(ctx context.Context, c *browser.Checked, in guard.Intent, ticket int) (*PromptInfo, error) {
	l := r.lease
	if c != nil {
		r.report.Did = r.plan.Past + " " + clean(c.Describe, 100)
	} else {
		r.report.Did = r.plan.Past
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a := &running{id: randomText(6), stop: stop, checked: c}
	begun := make(chan error, 1) // to begin sends nothing, so it need not wait for the disk
	go func() { begun <- r.begin(ctx, a) }()
	seq, err := l.m.opt.Record.Intent(r.row(c, in))
	beginErr := <-begun
	if a.act != nil {
		defer a.act.End()
	}
	if err != nil {
		return nil, err
	}
	var open *PromptInfo
	if err = beginErr; err == nil {
		open, err = r.send(ctx, a, in, ticket)
	}
	l.m.opt.Record.Result(seq, audit.Row{Tab: l.name, Tool: r.call.Tool, Origin: l.page.Document().Origin,
		Outcome: string(r.report.Outcome), Code: string(protocol.CodeOf(err))})
	return open, err
}

// begin makes the page ready for an act.
func (r *run) begin(ctx context.Context, a *running) (err error) {
	if r.plan.Elsewhere {
		return nil
	}
	a.act, err = r.lease.page.Begin(ctx, a.checked)
	return explain(ctx, err)
}

// send does it.
func (r *run) send(ctx context.Context, a *running, in guard.Intent, ticket int) (*PromptInfo, error) {
	l := r.lease
	err := l.inBox(func() error {
		if err := l.move(ActBegins); err != nil {
			return err
		}
		if code := l.guard.ActBegan(guard.Act{ID: a.id, Intent: in, Ticket: ticket}, time.Now()); code != "" {
			l.move(ActEnds)
			return refusal(code)
		}
		l.act = a
		l.forget(ticket)
		return nil
	})
	if err != nil {
		return nil, err
	}
	settled, err := r.settle(ctx, a)
	err = explain(ctx, err)
	var open *PromptInfo
	l.box.do(func() {
		l.act, l.last = nil, a
		l.guard.ActEnded(a.id, time.Now())
		l.move(ActEnds)
		for _, p := range l.prompts {
			if p.ticket.Act == a.id {
				open = p.info()
			}
		}
		l.arm()
		l.show()
		if err == nil && open == nil && settled != nil {
			open, err = l.fate(r.plan, settled, a.code)
		}
	})
	if open != nil {
		err = nil
	}
	return open, err
}

// settle sends the act's steps and waits for what they set off.
func (r *run) settle(ctx context.Context, a *running) (*browser.Settled, error) {
	if r.plan.Elsewhere {
		err := r.plan.Do(ctx, nil, a.checked)
		if r.report.Outcome = browser.Confirmed; err != nil {
			r.report.Outcome = browser.NotDispatched
		}
		return nil, err
	}
	err := r.plan.Do(ctx, a.act, a.checked)
	r.report.Outcome = a.act.Step()
	if err == nil {
		var settled *browser.Settled
		if settled, err = a.act.Settle(ctx); err == nil {
			r.report.Settled = settled
			if settled.Outcome != "" {
				r.report.Outcome = settled.Outcome
			}
			return settled, nil
		}
		r.report.Outcome = a.act.Step()
	}
	if protocol.CodeOf(explain(ctx, err)) == protocol.TransportLost && r.report.Outcome != browser.NotDispatched {
		r.report.Outcome = browser.Unknown
	}
	return nil, err
}

// fate says whether what an act set off makes the call fail, or has raised a question that is answered already. (mailbox)
func (l *lease) fate(p Plan, s *browser.Settled, code policy.Code) (*PromptInfo, error) {
	if c := l.guard.Reading(time.Now()); c == policy.NavigationEscaped {
		return nil, refusal(c)
	}
	n := s.Navigation
	if n == nil {
		return nil, nil
	}
	switch {
	case n.Fate == browser.Asked, n.Fate == browser.Parked:
		return &PromptInfo{}, nil
	case n.Fate == browser.Refused:
		if code == "" {
			code = policy.BlockedByPolicy
		}
		return nil, refusal(code)
	case p.URL == "":
		return nil, nil
	case n.Fate == browser.FateUnknown:
		return nil, protocol.Errorf(protocol.Timeout, "the page did not come in time")
	case n.Fate == browser.Abandoned || n.Error != "":
		return nil, protocol.Errorf(protocol.NavigationFailed, "no page came: %s", cmp.Or(clean(n.Error, 60), "the server sent none"))
	}
	return nil, nil
}

// prompt finds an open one by its id. (mailbox)
func (l *lease) prompt(id string) *prompt {
	for _, p := range l.prompts {
		if p.text.ID == id {
			return p
		}
	}
	return nil
}

// forget drops what was remembered of an answered question. (mailbox)
func (l *lease) forget(ticket int) {
	for i, p := range l.answered {
		if p.ticket.ID == ticket {
			l.answered = append(l.answered[:i], l.answered[i+1:]...)
			return
		}
	}
}
