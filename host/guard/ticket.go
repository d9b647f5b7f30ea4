package guard

import (
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// A TicketState is how far a question has come.
type TicketState string

// The values of TicketState.
const (
	Open    TicketState = "open"    // the owner has not answered
	Granted TicketState = "granted" // … said yes; nothing was done about it yet
	Denied  TicketState = "denied"  // … said no, or nothing in time
	Used    TicketState = "used"    // its step was taken
	Gone    TicketState = "gone"    // its document changed, its call was cancelled, the owner took over
)

// A Ticket remembers a question to the owner and what is to be done after the answer.
type Ticket struct {
	ID        int // unique in this guard
	State     TicketState
	Question  policy.Question
	Call      string // key of the call that led to it
	Act       string // the act that set it off; "" when it was foreseen
	Announced bool   // foreseen: asked before anything was dispatched
	Parked    bool   // a later hop that was failed: its step is a reload, or one step back
	Document  string // loader of the main document it belongs to
	Frame     string // the frame that navigates
	Method    string
	URL       string   // the whole destination: for the step, never for a record
	Fields    []string // names, as the page has them: clean them before showing
	Digest    string   // of the body
	Control   string

	expires  time.Time // open: no answer is a no; granted: too late
	told     bool
	waits    bool   // parked, and the error page it waits on has committed
	frameDoc string // loader of what Frame held
	once     policy.GrantID
	act      *act // of a surprise
}

// A Step is what is to be done now about a call or a ticket.
type Step string

// The values of Step.
const (
	Fresh       Step = "fresh"         // nothing is known of this call: begin it
	Join        Step = "join"          // its question is open: wait with it, dispatch nothing
	Pending     Step = "pending"       // another call's question is open: answer approval_pending
	Say         Step = "blocked"       // refused: answer blocked_by_policy, dispatch nothing
	Perform     Step = "perform"       // foreseen and granted: recheck, then the act, for the first time
	Load        Step = "load"          // surprise by GET: load URL, no second click
	Reload      Step = "reload"        // parked: reload the tab, which sends exactly that hop
	Back        Step = "back"          // parked and refused: one step back in history
	ActAgain    Step = "act_again"     // surprise with a body: one second act
	RepeatAgain Step = "repeat_needed" // … but something changed: answer allowed_repeat_needed
	Stand       Step = "stand"         // nothing to do: the page stands
)

// A Next is a step, with the ticket it is about.
type Next struct {
	Step   Step
	Ticket Ticket
	URL    string // of Load
}

// Answer enters the owner's choice. The step is what is to be done whether a call waits or not: Back after a no to a
// parked hop, else Stand. The call that waits then asks [Guard.Repeat]. An unknown or settled ticket changes nothing.
func (g *Guard) Answer(ticket int, c policy.Choice, now time.Time) Next {
	t := g.ticket(ticket)
	if t == nil || t.State != Open {
		return Next{Step: Stand}
	}
	once, yes := g.book.Answer(t.Question, c, now)
	if !yes {
		return g.deny(t, now)
	}
	t.State, t.once, t.expires = Granted, once, now.Add(policy.TicketLife)
	return Next{Step: Stand, Ticket: *t}
}

func (g *Guard) deny(t *Ticket, now time.Time) Next {
	t.State, t.expires = Denied, now.Add(policy.TicketLife)
	return t.abandon()
}

// abandon is what is to be done about a ticket that will not be used.
func (t *Ticket) abandon() Next {
	if t.Parked {
		return Next{Step: Back, Ticket: *t}
	}
	return Next{Step: Stand, Ticket: *t}
}

// Outcomes returns tickets that were answered and not told to the agent yet, and counts them as told. A denied one is
// forgotten with that: asking again asks the owner again.
func (g *Guard) Outcomes() []Ticket {
	var list []Ticket
	for _, t := range g.tickets {
		if (t.State == Granted || t.State == Denied) && !t.told {
			t.told = true
			list = append(list, *t)
		}
	}
	g.tickets = slices.DeleteFunc(g.tickets, func(t *Ticket) bool { return t.State == Denied && t.told })
	return list
}

// Cancel drops the tickets of a call that was cancelled. It returns what is to be done, Back or Stand, for each; their
// prompts are to be withdrawn.
func (g *Guard) Cancel(call string) []Next {
	var list []Next
	for _, t := range g.dropTickets(func(t *Ticket) bool { return t.Call == call }) {
		list = append(list, t.abandon())
	}
	return list
}

// Tick lets time pass: open questions become a no, granted ones lapse. It returns what is to be done, Back or Stand, for
// each ticket that changed; prompts of those are to be withdrawn.
func (g *Guard) Tick(now time.Time) []Next {
	var list []Next
	for _, t := range g.tickets {
		if now.Before(t.expires) {
			continue
		}
		switch t.State {
		case Open:
			list = append(list, g.deny(t, now))
		case Granted:
			g.drop(t)
			list = append(list, t.abandon())
		case Denied:
			t.State = Gone
		}
	}
	g.forget()
	g.book.Expire(now)
	return list
}

// Deadline returns when [Guard.Tick] has something to do next; the zero time is never.
func (g *Guard) Deadline() time.Time {
	var next time.Time
	for _, t := range g.tickets {
		if next.IsZero() || t.expires.Before(next) {
			next = t.expires
		}
	}
	return next
}

// foreseen makes the ticket of a question that is asked before anything is dispatched.
func (g *Guard) foreseen(in Intent, q policy.Question, now time.Time) *Ticket {
	t := &Ticket{
		Question:  q,
		Call:      in.Call,
		Announced: true,
		Frame:     g.orMain(in.Frame),
		URL:       in.URL,
		Fields:    in.Fields,
		Control:   in.Control,
	}
	if q.Sending != nil {
		t.Method = q.Sending.Method
	}
	return g.raise(t, now)
}

// surprise makes the ticket of a request that nobody had announced. A parked one is shown with its body: exactly that is
// sent again. Else a second act makes the body anew.
func (g *Guard) surprise(n *chain, q query, c policy.Capability, now time.Time) *Ticket {
	t := &Ticket{
		Question: policy.Question{Capability: c, From: q.From, To: q.To.Origin},
		Call:     n.act.Intent.Call,
		Act:      n.act.ID,
		Parked:   n.main && q.Hop > 0,
		Frame:    q.sending.Frame,
		Method:   q.sending.Method,
		URL:      q.sending.URL,
		Fields:   q.sending.Fields,
		Digest:   q.sending.Digest,
		Control:  n.act.Intent.Control,
		act:      n.act,
	}
	if q.Changes {
		shown := q.sending
		if !t.Parked {
			shown.Digest = ""
		}
		t.Question.Sending = &shown
	}
	return g.raise(t, now)
}

func (g *Guard) raise(t *Ticket, now time.Time) *Ticket {
	g.last++
	t.ID, t.State, t.expires = g.last, Open, now.Add(policy.QuestionLife)
	t.Document = g.front().loader
	if d, ok := g.frames[t.Frame]; ok {
		t.frameDoc = d.loader
	}
	g.tickets = append(g.tickets, t)
	copied := *t
	return &copied
}

func (g *Guard) ticket(id int) *Ticket {
	for _, t := range g.tickets {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// open returns the question that waits for its answer; there is at most one.
func (g *Guard) open() *Ticket {
	for _, t := range g.tickets {
		if t.State == Open {
			return t
		}
	}
	return nil
}

// documentChanged drops the tickets that belonged to what a frame held before. The error page of a failed hop is where
// its parked ticket waits.
func (g *Guard) documentChanged(frame string, main bool, d *document) []Ticket {
	return g.dropTickets(func(t *Ticket) bool {
		switch {
		case main && t.Parked && d.kind == policy.TargetError && !t.waits:
			t.waits, t.Document, t.frameDoc = true, d.loader, d.loader
			return false
		case main:
			return t.Document != d.loader
		}
		return t.Frame == frame && t.frameDoc != d.loader
	})
}

// dropTickets drops what is open or granted and chosen, and returns it.
func (g *Guard) dropTickets(which func(*Ticket) bool) []Ticket {
	var gone []Ticket
	for _, t := range g.tickets {
		if (t.State == Open || t.State == Granted) && which(t) {
			g.drop(t)
			gone = append(gone, *t)
		}
	}
	g.forget()
	return gone
}

// drop ends a ticket; a single-use grant it had goes with it.
func (g *Guard) drop(t *Ticket) {
	t.State = Gone
	g.book.Revoke(t.once)
}

func (g *Guard) forget() {
	g.tickets = slices.DeleteFunc(g.tickets, func(t *Ticket) bool { return t.State == Gone || t.State == Used })
}
