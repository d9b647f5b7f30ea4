package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// A Plan is an act before it is done.
type Plan struct {
	Past    string                  // "clicked", for the headline
	Target  *browser.CheckOptions   // nil: it has none
	Also    []*browser.CheckOptions // what it turns to on its way; Do finds in them where it may
	URL     string                  // of a navigation
	Step    browser.Direction       // of a step in the history
	Submits bool                    // the call said that it sends a form
	Chars   int                     // length of what is typed
	Answers bool                    // it answers the dialog that is open
	// Elsewhere: what is done is not done in this tab's page, but with this tab's grants. Do gets no act.
	Elsewhere bool
	// Do sends the act, once. It is called again only for a second act that the owner allowed.
	Do func(ctx context.Context, a Act, c *browser.Checked) error
}

// Act does something in a tab: checks, asks the owner where policy says so, writes it down, does it, and tells what
// became of it. The report is never nil.
func (m *Manager) Act(ctx context.Context, call Call, plan Plan) (*Report, error) {
	defer call.placed()
	l, err := m.lease(call.Tab)
	if err != nil {
		return &Report{Outcome: browser.NotDispatched}, err
	}
	return l.perform(ctx, call, plan)
}

// Navigate opens an address in a tab.
func (m *Manager) Navigate(ctx context.Context, call Call, url string, until browser.LoadState) (*Report, error) {
	if err := checkAddress(url); err != nil {
		call.placed()
		return &Report{Outcome: browser.NotDispatched}, err
	}
	return m.Act(ctx, call, navigation(url, until))
}

func navigation(url string, until browser.LoadState) Plan {
	return Plan{Past: "opened the address", URL: url, Do: func(ctx context.Context, a Act, _ *browser.Checked) error {
		return a.Navigate(ctx, url, until)
	}}
}

// A run is one call that acts, from its arrival to its answer.
type run struct {
	lease  *lease
	call   Call
	plan   Plan
	report *Report
	turn   *turn
	waited bool          // for the owner: a question of this call was settled
	asked  *guard.Ticket // the question whose answer allows what is done now
}

func (l *lease) perform(ctx context.Context, call Call, plan Plan) (*Report, error) {
	r := &run{lease: l, call: call, plan: plan, report: &Report{Tab: l.name, Outcome: browser.NotDispatched}}
	ctx, done := l.enter(ctx)
	defer done()
	r.turn = l.queue.enter(true)
	defer func() { r.turn.leave() }()
	r.call.placed()
	err := explain(ctx, r.loop(ctx))
	l.conclude(r.report)
	return r.report, err
}

// enter begins a call: within the budget, and no longer than the lease.
func (l *lease) enter(ctx context.Context) (context.Context, func()) {
	l.calls.Add(1)
	ctx, cancel := l.m.budget(ctx)
	ctx, stop := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(l.ctx, func() { stop(context.Cause(l.ctx)) })
	return ctx, func() {
		unhook()
		stop(nil)
		cancel()
		l.calls.Add(-1)
		l.box.post(func() { l.used = time.Now() })
	}
}

// explain puts why a call had to end in the place of what that looked like from inside.
func explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	switch e, ok := errors.AsType[*protocol.Error](err); {
	case ok && e.Code == protocol.TransportLost && context.Cause(ctx) == error(errBudget):
		return err // there was nobody to wait for
	case ok && e.Code != protocol.Timeout && e.Code != protocol.TransportLost && e.Code != protocol.PageClosed:
		return err
	}
	if e, ok := errors.AsType[*protocol.Error](context.Cause(ctx)); ok {
		return e
	}
	return protocol.Errorf(protocol.Timeout, "the client cancelled the call")
}

// loop takes the step that is due for this call until nothing is due any more. A step that ends in a question gives the
// turn up; after the answer everything is looked at again.
func (r *run) loop(ctx context.Context) error {
	l := r.lease
	for {
		if err := r.ready(ctx); err != nil {
			return err
		}
		next, open := r.next(ctx)
		var err error
		switch next.Step {
		case guard.Fresh:
			if r.waited {
				return protocol.Errorf(protocol.TabChanged, "the page changed while the owner was asked; nothing more was done")
			}
			open, err = r.first(ctx)
		case guard.Perform, guard.ActAgain:
			open, err = r.granted(ctx, next)
		case guard.Load:
			open, err = r.load(ctx, next)
		case guard.Reload:
			open, err = r.reload(ctx, next)
		case guard.RepeatAgain:
			return protocol.Errorf(protocol.AllowedRepeatNeeded, "the owner allowed it, but the page is not what it was")
		case guard.Pending:
			r.report.Prompt = open
			return protocol.Errorf(protocol.ApprovalPending, "another call of yours on this tab waits for the owner").
				With("hint", "Repeat that call, or wait; reads go on.")
		case guard.Join:
		default: // refused, and nothing to do about it
			return r.refused(next)
		}
		if protocol.CodeOf(err) == protocol.TransportLost && r.report.Outcome == browser.NotDispatched && ctx.Err() == nil {
			l.m.awaitLoss(ctx) // nothing was sent: look again when the extension is back
			continue
		}
		if err != nil || open == nil {
			return err
		}
		if err := r.await(ctx, open.ID); err != nil {
			return err
		}
	}
}

// ready waits for the turn, the extension and the page engine, and looks at who may act now.
func (r *run) ready(ctx context.Context) error {
	l := r.lease
	if err := r.turn.wait(ctx); err != nil {
		return err
	}
	if err := l.reachable(ctx); err != nil {
		return err
	}
	return l.inBox(func() error {
		if err := l.mayAct(); err != nil {
			return err
		}
		if l.page.Dialog() != nil && !r.plan.Answers {
			return protocol.Errorf(protocol.DialogOpen, "a dialog of the page is open")
		}
		for _, t := range slices.Concat(r.plan.Also, []*browser.CheckOptions{r.plan.Target}) {
			if t != nil && l.stale && isRef(t.Target) {
				return protocol.Errorf(protocol.StaleRef, "the owner drove since this ref was given")
			}
		}
		for _, t := range r.plan.Also {
			t.Readable, t.May = l.readable, l.mayTouch
		}
		return nil
	})
}

// mayTouch says why an act that is under way may not turn to a frame.
func (l *lease) mayTouch(frame string) error {
	return l.inBox(func() error {
		if code := l.guard.Touches(frame, time.Now()); code != "" {
			return refusal(code)
		}
		return nil
	})
}

// reachable waits until the extension is there and the page engine in place.
func (l *lease) reachable(ctx context.Context) error {
	if _, err := l.m.awaitLink(ctx); err != nil {
		return err
	}
	return l.gate.pass(ctx)
}

// inBox runs f in the mailbox and waits for it.
func (l *lease) inBox(f func() error) (err error) {
	if !l.box.do(func() { err = f() }) {
		return context.Cause(l.ctx)
	}
	return err
}

// mayAct says why the agent may not act now. (mailbox)
func (l *lease) mayAct() error {
	if l.state == LeaseSuspended && !l.private {
		return protocol.Errorf(protocol.OwnerHasControl, "the owner has been driving this tab for %s", since(l.driven))
	}
	if err := l.mayRead(); err != nil {
		return err
	}
	l.m.mu.Lock()
	paused := l.m.paused
	l.m.mu.Unlock()
	switch {
	case paused:
		return protocol.Errorf(protocol.AgentPaused, "the owner paused this agent")
	case l.guard.Book().ReadOnly():
		return protocol.Errorf(protocol.ReadOnly, "this tab was lent for reading only")
	}
	return nil
}

// next asks the guard what is due for this call.
func (r *run) next(ctx context.Context) (next guard.Next, open *PromptInfo) {
	l, key := r.lease, r.call.key()
	var answered *prompt
	l.box.do(func() {
		for _, p := range l.answered {
			if t := p.ticket; t.Call == key && t.Act != "" && !t.Parked && t.Question.Sending != nil && p.checked != nil {
				answered = p
			}
		}
	})
	unchanged := answered == nil
	if answered != nil {
		_, err := l.page.Recheck(ctx, answered.checked)
		unchanged = err == nil
	}
	ok := l.box.do(func() {
		next = l.guard.Repeat(key, unchanged, time.Now())
		switch next.Step {
		case guard.Join:
			if p, ok := l.prompts[next.Ticket.ID]; ok {
				open = p.info()
			} else {
				next.Step = guard.Say
			}
		case guard.Pending:
			if p := l.openPrompt(); p != nil {
				open = p.info()
			}
		}
		l.arm()
	})
	if !ok {
		return guard.Next{Step: guard.Say}, nil
	}
	return next, open
}

// first checks the target, hears policy on what the act would set off, and asks or acts.
func (r *run) first(ctx context.Context) (*PromptInfo, error) {
	l := r.lease
	var checked *browser.Checked
	if r.plan.Target != nil {
		o := *r.plan.Target
		o.Readable = l.readable
		var err error
		checked, err = l.page.Check(ctx, o)
		switch {
		case err != nil && o.Target == "" && protocol.CodeOf(err) == protocol.NotFound:
			checked = nil // nothing has the focus: the page itself gets the key
		case err != nil:
			return nil, err
		case checked.Would.NewTab && checked.Would.Kind != "none":
			return nil, protocol.Errorf(protocol.BlockedByPolicy, "it would open a new tab by itself").
				With("hint", "Open its address with browser_tabs, action new.")
		case checked.Would.Kind == "download", checked.Would.Kind == "follow" && slices.Contains(o.Modifiers, "Alt"):
			return nil, protocol.Errorf(protocol.BlockedByPolicy, "it would download a file").
				With("hint", "Tell the user where the file is; this version keeps none.")
		}
	}
	intent, err := r.intent(ctx, checked)
	if err != nil {
		return nil, err
	}
	var open *PromptInfo
	err = l.inBox(func() error {
		f := l.guard.Foresee(intent, time.Now())
		defer l.arm()
		switch f.Verdict {
		case policy.Allow:
			return nil
		case policy.Ask:
			open = l.ask(*f.Ticket, checked).info()
			return nil
		}
		return refusal(f.Code)
	})
	if err != nil || open != nil {
		return open, err
	}
	return r.dispatch(ctx, checked, intent, 0)
}

// intent says to the guard what the act would do.
func (r *run) intent(ctx context.Context, c *browser.Checked) (guard.Intent, error) {
	in := guard.Intent{Call: r.call.key(), Kind: guard.Interacts, Declared: r.plan.Submits}
	switch {
	case r.plan.URL != "":
		in.Kind, in.URL = guard.Navigates, r.plan.URL
	case r.plan.Step == browser.Reload:
		in.Kind = guard.Reloads
	case r.plan.Step != "":
		in.Kind = guard.Travels
		entries, i, err := r.lease.page.History(ctx)
		if err != nil {
			return in, err
		}
		if i += map[browser.Direction]int{browser.Back: -1, browser.Forward: 1}[r.plan.Step]; i < 0 || i >= len(entries) {
			return in, protocol.Errorf(protocol.InvalidTransition, "there is nothing to go %s to", r.plan.Step)
		}
		in.URL = entries[i].URL
	case c != nil:
		in.Frame, in.Method, in.URL, in.NewTab, in.Control = c.Frame, c.Would.Method, c.Would.URL, c.Would.NewTab, c.Describe
		in.Into = c.Would.Frame
		switch c.Would.Kind {
		case "submit":
			in.Kind, in.Fields = guard.Submits, c.Would.Fields
		case "follow", "download":
			in.Kind = guard.Follows
		}
	}
	return in, nil
}

// granted does what the owner allowed: a foreseen act for the first time, or a second act after a surprise. Everything is
// checked again first.
func (r *run) granted(ctx context.Context, next guard.Next) (*PromptInfo, error) {
	l := r.lease
	r.asked = &next.Ticket
	var checked *browser.Checked
	l.box.do(func() {
		for _, p := range l.answered {
			if p.ticket.ID == next.Ticket.ID {
				checked = p.checked
			}
		}
	})
	if checked != nil {
		var err error
		if checked, err = l.page.Recheck(ctx, checked); err != nil {
			return nil, err
		}
	} else if r.plan.Target != nil {
		return nil, protocol.Errorf(protocol.AllowedRepeatNeeded, "the owner allowed it, but the page is not what it was")
	}
	intent, err := r.intent(ctx, checked)
	if err != nil {
		return nil, err
	}
	return r.dispatch(ctx, checked, intent, next.Ticket.ID)
}

// load opens the address of a surprise that the owner allowed, without a second click.
func (r *run) load(ctx context.Context, next guard.Next) (*PromptInfo, error) {
	second := *r
	second.asked = &next.Ticket
	second.plan = navigation(next.URL, "")
	second.plan.Past = r.plan.Past
	return second.dispatch(ctx, nil, guard.Intent{Call: r.call.key(), Kind: guard.Navigates, URL: next.URL}, next.Ticket.ID)
}

// reload sends the hop again that was stopped half way.
func (r *run) reload(ctx context.Context, next guard.Next) (*PromptInfo, error) {
	second := *r
	second.asked = &next.Ticket
	second.plan.Target, second.plan.URL, second.plan.Step = nil, "", browser.Reload
	second.plan.Do = func(ctx context.Context, a Act, _ *browser.Checked) error {
		return a.History(ctx, browser.Reload, "")
	}
	return second.dispatch(ctx, nil, guard.Intent{Call: r.call.key(), Kind: guard.Reloads}, next.Ticket.ID)
}

// await gives the turn up until a question is settled, then takes a new one.
func (r *run) await(ctx context.Context, id string) error {
	l := r.lease
	var p *prompt
	l.box.do(func() { p = l.prompt(id) })
	r.waited = true
	r.turn.leave()
	if p != nil {
		r.report.Prompt = p.info()
		if err := r.watch(ctx, p); err != nil {
			return err
		}
		r.report.Prompt = nil
		if p.denied {
			next, _ := r.next(ctx) // which the guard counts as told
			return r.refused(next)
		}
	}
	r.turn = l.queue.enter(true)
	return nil
}

// watch waits for the owner, telling the client that it does.
func (r *run) watch(ctx context.Context, p *prompt) error {
	beat := time.NewTicker(5 * time.Second)
	defer beat.Stop()
	for {
		r.call.waiting("the owner of the browser is being asked")
		select {
		case <-p.settled:
			return nil
		case <-beat.C:
		case <-ctx.Done():
			if context.Cause(ctx) == error(errBudget) {
				return protocol.Errorf(protocol.ApprovalPending, "the owner has not answered yet")
			}
			if r.lease.ctx.Err() == nil { // the client gave the call up
				r.lease.box.post(func() {
					for _, next := range r.lease.guard.Cancel(r.call.key()) {
						r.lease.settle(next)
					}
				})
			}
			return context.Cause(ctx)
		}
	}
}

// refused is the answer after the owner's no.
func (r *run) refused(next guard.Next) error {
	r.lease.box.post(func() { r.lease.forget(next.Ticket.ID) })
	if r.lease.m.opt.Consent == ConsentDeny {
		return protocol.Errorf(protocol.ConsentUnavailable, "this host asks nobody, so it is refused")
	}
	return protocol.Errorf(protocol.BlockedByPolicy, "the owner said no, or did not answer in time")
}

func refusal(c policy.Code) error {
	e := protocol.Errorf(protocol.Code(c), "%s", protocol.Lookup(protocol.Code(c)).Meaning)
	if c == "" {
		e = protocol.Errorf(protocol.BlockedByPolicy, "policy refuses it")
	}
	return e
}

// row is what the record keeps of an act.
func (r *run) row(c *browser.Checked, in guard.Intent) audit.Row {
	row := audit.Row{Tab: r.lease.name, Tool: r.call.Tool, To: in.URL, Method: in.Method, Chars: r.plan.Chars,
		Capability: string(policy.Interact), Verdict: string(policy.Allow), Args: r.lease.m.opt.Record.Digest(r.call.Args)}
	switch in.Kind {
	case guard.Submits:
		row.Capability = string(policy.Submit)
	case guard.Navigates, guard.Travels:
		row.Capability = string(policy.Navigate)
	}
	if r.asked != nil {
		row.Capability, row.Consent = string(r.asked.Question.Capability), string(r.lease.m.opt.Consent)
	}
	if c != nil {
		row.Origin, row.Target = c.Origin, c.Describe
	} else {
		row.Origin = r.lease.page.Document().Origin
	}
	return row
}
