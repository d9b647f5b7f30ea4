package guard

import (
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
	frameDoc string // loader of what Frame held
	act      *act
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

// Answer enters the owner's choice. The step is Back for a parked hop that was refused, else what [Guard.Repeat] would
// say to the call that waits: Stand after a no. An unknown or settled ticket changes nothing.
func (g *Guard) Answer(ticket int, c policy.Choice, now time.Time) Next {
	panic("later")
}

// Repeat tells what a call is to do, given by the key it has. unchanged says whether target and would are what they were
// when the ticket was made; it matters to a second act only, the guard itself knows the document.
func (g *Guard) Repeat(call string, unchanged bool, now time.Time) Next {
	panic("later")
}

// Outcomes returns tickets that were answered and not told to the agent yet, and counts them as told. A denied one is
// forgotten with that: asking again asks the owner again.
func (g *Guard) Outcomes() []Ticket { return nil }

// Cancel drops the tickets of a call that was cancelled, and returns those whose prompts are to be withdrawn.
func (g *Guard) Cancel(call string) []Ticket {
	return g.dropTickets(func(t *Ticket) bool { return t.Call == call })
}

// Tick lets time pass: open questions become a no, granted ones lapse, unused grants go. It returns what is to be done,
// Back or Stand, for each ticket that changed.
func (g *Guard) Tick(now time.Time) []Next { return nil }

// Deadline returns when [Guard.Tick] has something to do next; the zero time is never.
func (g *Guard) Deadline() time.Time { return time.Time{} }

func (g *Guard) dropTickets(which func(*Ticket) bool) []Ticket { return nil }
