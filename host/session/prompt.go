package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A prompt is a question that the owner sees, about a ticket of the guard. The guard knows what is to be done after the
// answer; a prompt only carries it there and back. It belongs to its lease's mailbox, but for settled.
type prompt struct {
	lease   *lease
	ticket  guard.Ticket
	text    protocol.Prompt
	asked   time.Time
	expires time.Time
	checked *browser.Checked // of a foreseen act: what is rechecked after a yes
	denied  bool             // set before settled is closed
	settled chan struct{}    // closed when it was answered, or withdrawn, and what follows at once is done
}

// info is what the agent may know.
func (p *prompt) info() *PromptInfo {
	return &PromptInfo{
		ID: p.text.ID, Kind: p.text.Kind, To: p.text.Destination, State: string(guard.Open), Asked: p.asked, Expires: p.expires,
		Dispatched: p.ticket.Act != "",
	}
}

// ask puts a ticket before the owner. (mailbox)
func (l *lease) ask(t guard.Ticket, checked *browser.Checked) *prompt {
	q := t.Question
	p := &prompt{lease: l, ticket: t, asked: time.Now(), checked: checked, settled: make(chan struct{})}
	p.expires = p.asked.Add(l.m.opt.ConsentTimeout)
	p.text = protocol.Prompt{
		Tab: l.tab, Kind: protocol.PromptKind(q.Capability), Site: siteWords(q.Site()), Destination: originWords(q.To),
		Control: clean(t.Control, 80), Fields: []string{}, Announced: t.Announced, Choices: []protocol.PromptChoice{},
	}
	if q.Capability == policy.Submit {
		p.text.Method = clean(t.Method, 10)
	}
	for i, f := range t.Fields {
		if i == 30 {
			p.text.Fields = append(p.text.Fields, fmt.Sprintf("… and %d more", len(t.Fields)-i))
			break
		}
		p.text.Fields = append(p.text.Fields, clean(f, 60))
	}
	for _, c := range q.Choices() {
		p.text.Choices = append(p.text.Choices, protocol.PromptChoice(c))
	}
	l.m.mu.Lock()
	l.m.lastAsk++
	p.text.ID = fmt.Sprintf("p%d", l.m.lastAsk)
	l.m.mu.Unlock()
	l.prompts[t.ID] = p
	l.m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: l.name, Origin: q.From.String(), To: q.To.String(), Target: t.Control,
		Method: p.text.Method, Capability: string(q.Capability), Verdict: "ask", Consent: string(l.m.opt.Consent)})
	if l.m.opt.Consent == ConsentDeny {
		l.answer(p, policy.No, "nobody is asked")
		return p
	}
	p.show()
	if l.m.opt.ConsentTimeout < policy.QuestionLife {
		time.AfterFunc(l.m.opt.ConsentTimeout, func() {
			l.box.post(func() {
				if l.prompts[t.ID] == p {
					l.answer(p, policy.No, "no answer")
				}
			})
		})
	}
	return p
}

func siteWords(o policy.Origin) string {
	if o.Opaque() {
		return ""
	}
	return o.Site().String()
}

func originWords(o policy.Origin) string {
	if o.Opaque() {
		return ""
	}
	return o.String()
}

// show sends the question to the extension, again after it was away.
func (p *prompt) show() {
	p.text.ExpiresMS = int(max(time.Until(p.expires), 0).Milliseconds())
	p.lease.m.send(protocol.MethodPromptShow, p.text)
}

// answer takes the owner's choice from the extension.
func (m *Manager) answer(id string, c protocol.PromptChoice) error {
	m.mu.Lock()
	leases := slices.Clone(m.leases)
	m.mu.Unlock()
	for _, l := range leases {
		found := false
		l.box.do(func() {
			for _, p := range l.prompts {
				if p.text.ID == id {
					found = true
					l.answer(p, policy.Choice(c), "")
					return
				}
			}
		})
		if found {
			return nil
		}
	}
	return protocol.Errorf(protocol.InvalidTransition, "this question is not open any more")
}

// answer enters a choice. (mailbox)
func (l *lease) answer(p *prompt, c policy.Choice, note string) {
	now := time.Now()
	next := l.guard.Answer(p.ticket.ID, c, now)
	verdict := policy.Allow
	if next.Ticket.State != guard.Granted {
		verdict = policy.Refuse
	}
	l.m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: l.name, Origin: p.ticket.Question.From.String(), To: p.ticket.Question.To.String(),
		Target: p.ticket.Control, Capability: string(p.ticket.Question.Capability), Verdict: string(verdict), Consent: string(l.m.opt.Consent),
		Note: cmp.Or(note, "the owner answered: "+string(c))})
	if c == policy.No && note == "" {
		l.m.tired(p.ticket.Question.Capability)
	}
	next.Ticket.ID = p.ticket.ID
	l.settle(next)
	l.arm()
	l.show()
}

// settle closes the prompt of a ticket that is not open any more, after the step back that a refused hop leaves behind.
// (mailbox)
func (l *lease) settle(next guard.Next) {
	p, ok := l.prompts[next.Ticket.ID]
	if !ok {
		return
	}
	delete(l.prompts, next.Ticket.ID)
	l.m.send(protocol.MethodPromptWithdraw, protocol.PromptRef{ID: p.text.ID})
	p.denied = next.Ticket.State == guard.Denied
	l.remember(p)
	if next.Step != guard.Back {
		close(p.settled)
		return
	}
	l.m.wg.Go(func() {
		defer close(p.settled)
		l.stepBack(p)
	})
}

// withdraw takes back the prompts of tickets that are gone. (mailbox)
func (l *lease) withdraw(gone []guard.Ticket) {
	for _, t := range gone {
		l.settle(guard.Next{Step: guard.Stand, Ticket: t})
	}
}

// remember keeps what a foreseen act was checked for until its ticket is used up. (mailbox)
func (l *lease) remember(p *prompt) {
	if p.checked != nil {
		l.answered = append(l.answered, p)
		if len(l.answered) > 4 {
			l.answered = l.answered[1:]
		}
	}
}

// tired pauses the agent when the owner has said no to the same thing too often.
func (m *Manager) tired(c policy.Capability) {
	m.mu.Lock()
	pause := m.fatigue.Refused(c, time.Now())
	m.mu.Unlock()
	if pause {
		m.setPaused(true, "the agent is paused: the owner said no too often")
		m.send(protocol.MethodPaused, protocol.AgentPausedParams{Paused: true}) // the owner sees it, and resumes it
	}
}

// openPrompt is the question that is open in this tab, the eldest first. (mailbox)
func (l *lease) openPrompt() *prompt {
	var first *prompt
	for _, p := range l.prompts {
		if first == nil || p.asked.Before(first.asked) {
			first = p
		}
	}
	return first
}

// stepBack brings back the page before a redirect that the owner refused.
func (l *lease) stepBack(p *prompt) {
	ctx, cancel := context.WithTimeout(l.ctx, l.m.opt.Budget)
	defer cancel()
	t := l.queue.enter(true)
	defer t.leave()
	if t.wait(ctx) != nil {
		return
	}
	r := &run{lease: l, call: Call{Tool: "step_back"}, report: &Report{Outcome: browser.NotDispatched}, plan: Plan{Past: "went back", Step: browser.Back,
		Do: func(ctx context.Context, a Act, _ *browser.Checked) error { return a.History(ctx, browser.Back, "") }}}
	intent, err := r.intent(ctx, nil)
	if err == nil {
		_, err = r.dispatch(ctx, nil, intent, 0)
	}
	if err != nil {
		l.m.opt.Logger.Warn("going back after a refused redirect", "tab", l.name, "err", err)
	}
}

func grantName(id policy.GrantID) string { return fmt.Sprintf("g%d", id) }
