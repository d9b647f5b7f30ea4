package guard

import (
	"strings"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// A Kind is what an act would set off, as far as the page and the call tell.
type Kind string

// The values of Kind.
const (
	Interacts Kind = "none"     // nothing that leaves the page
	Follows   Kind = "follow"   // a link
	Submits   Kind = "submit"   // a form
	Navigates Kind = "navigate" // browser_navigate: the agent's own navigation
	Travels   Kind = "history"  // back or forward; URL is the entry's
	Reloads   Kind = "reload"   // URL is ignored
)

// An Intent is what an act is about to do.
type Intent struct {
	Call     string // key of the call: tab, document, tool and canonical arguments, made by the caller
	Kind     Kind
	Frame    string // that holds the target, "" for the main frame
	Origin   string // of the document there as it sees itself: "null" in a sandbox, "" when nobody asked it
	Into     string // that would navigate, "" for Frame
	NewTab   bool   // … a new tab instead
	Method   string // of Submits
	URL      string
	Fields   []string // of Submits: names, never nil when the engine could tell them
	Declared bool     // the call said submits: true
	Control  string   // what would be pressed, for the prompt: `button "Save"`
}

// A Foresight is what policy says of an intent before anything is dispatched.
type Foresight struct {
	Verdict policy.Verdict
	Code    policy.Code // of a refusal: the call answers with it
	Ticket  *Ticket     // of a question: a copy, to be shown to the owner
}

// An Act is one change the agent makes.
type Act struct {
	ID     string
	Intent Intent
	Ticket int // the answered ticket whose step this is, or 0
}

// act is an act in flight, or the last one.
type act struct {
	Act
	ended   time.Time // zero while in flight
	sent    int       // requests that changed something and were let go
	raised  bool      // it has raised a question already
	dropped bool      // the owner took over meanwhile
	parked  *Ticket   // whose hop it sends again
}

// resends reports whether s is the parked hop that a was begun to send again.
func (a *act) resends(s policy.Sending) bool {
	return a != nil && a.parked != nil && s.Main && s.Method == a.parked.Method && s.URL == a.parked.URL &&
		s.Digest == a.parked.Digest
}

// Foresee judges an intent before anything is dispatched. A question becomes a ticket at once. Ask [Guard.Repeat] first:
// it knows whether this call has been here before.
func (g *Guard) Foresee(in Intent, now time.Time) Foresight {
	if code := g.mayAct(); code != "" {
		return Foresight{Verdict: policy.Refuse, Code: code}
	}
	if g.open() != nil {
		return Foresight{Verdict: policy.Refuse, Code: policy.ApprovalPending}
	}
	d, q := g.judge(in, now)
	f := Foresight{Verdict: d.Verdict, Code: d.Code}
	if d.Verdict == policy.Ask {
		f.Ticket = g.foreseen(in, q, now)
	}
	return f
}

// mayAct returns why no act may begin in this state, or "".
func (g *Guard) mayAct() policy.Code {
	switch g.state {
	case guarding:
		return ""
	case driven:
		return policy.OwnerHasControl
	case frozen:
		return policy.NavigationEscaped
	case over:
		return policy.PageClosed
	}
	return policy.InvalidTransition
}

// judge puts an intent before the rules. What it returns beside the decision is what the owner would be asked.
func (g *Guard) judge(in Intent, now time.Time) (policy.Decision, policy.Question) {
	if g.book.ReadOnly() {
		return refuse(policy.ReadOnly), policy.Question{}
	}
	switch in.Kind {
	case Navigates, Travels:
		return g.judgeGoing(in, g.front().origin, false, now)
	case Reloads:
		return g.judgeReload(now)
	}
	d, ok := g.frames[g.orMain(in.Frame)]
	if !ok || g.Reading(now) != "" || !g.reads(d, now) {
		return refuse(policy.NotSharedSite), policy.Question{}
	}
	if _, ok := g.book.Holds(policy.Interact, d.origin, now); !ok && !d.origin.Opaque() {
		return policy.Decision{Verdict: policy.Ask, Capability: policy.Navigate},
			policy.Question{Capability: policy.Navigate, To: d.origin}
	}
	into := g.orMain(in.Into)
	if in.Into == "" {
		into = g.orMain(in.Frame)
	}
	child := into != g.main && !in.NewTab
	switch {
	case in.Kind == Interacts, strings.HasPrefix(strings.ToLower(in.URL), "javascript:"): // the page acting on itself
		return policy.Decision{Verdict: policy.Allow, Capability: policy.Interact}, policy.Question{}
	case in.Kind == Submits && changes(in.Method):
		return g.judgeSending(in, d, into, child, now)
	}
	return g.judgeGoing(in, g.front().origin, child, now)
}

// Touches returns why an act that is under way may not turn to another frame, or "". Nobody is asked half way.
func (g *Guard) Touches(frame string, now time.Time) policy.Code {
	d, _ := g.judge(Intent{Kind: Interacts, Frame: frame}, now)
	if d.Verdict == policy.Ask {
		return policy.NotSharedSite
	}
	return d.Code
}

func refuse(code policy.Code) policy.Decision {
	return policy.Decision{Verdict: policy.Refuse, Code: code}
}

func (g *Guard) orMain(frame string) string {
	if frame == "" {
		return g.main
	}
	return frame
}

// changes reports whether a form's method changes something; "dialog" sends nothing.
func changes(method string) bool {
	switch strings.ToUpper(method) {
	case "", "GET", "HEAD", "DIALOG":
		return false
	}
	return true
}

func (g *Guard) judgeGoing(in Intent, from policy.Origin, child bool, now time.Time) (policy.Decision, policy.Question) {
	to, err := policy.ParseTarget(in.URL)
	if err != nil {
		return refuse(policy.CodeOf(err)), policy.Question{}
	}
	d := policy.Decide(policy.Request{
		Driver: policy.ByAgent,
		From:   from,
		To:     to,
		Child:  child,
		Own:    g.own.Holds(to),
	}, g.book, now)
	return d, policy.Question{Capability: d.Capability, From: from, To: to.Origin}
}

// judgeReload: the document that is there was judged when it came, and its request is judged again when it pauses.
func (g *Guard) judgeReload(now time.Time) (policy.Decision, policy.Question) {
	d := g.front()
	if d.kind == policy.TargetError {
		return policy.Decision{Verdict: policy.Allow}, policy.Question{}
	}
	if _, ok := g.book.Holds(policy.Interact, d.origin, now); !ok {
		return policy.Decision{Verdict: policy.Ask, Capability: policy.Navigate},
			policy.Question{Capability: policy.Navigate, To: d.origin}
	}
	return policy.Decision{Verdict: policy.Allow, Capability: policy.Interact}, policy.Question{}
}

func (g *Guard) judgeSending(in Intent, d *document, into string, child bool, now time.Time) (policy.Decision, policy.Question) {
	to, err := policy.ParseTarget(in.URL)
	if err != nil {
		return refuse(policy.CodeOf(err)), policy.Question{}
	}
	if !in.Declared {
		return refuse(policy.WouldSubmit), policy.Question{}
	}
	s := policy.Sending{Frame: into, Main: !child, Method: strings.ToUpper(in.Method), URL: in.URL, Fields: in.Fields}
	if self := policy.ParseHeader(in.Origin); !d.opaque && (in.Origin == "" || self.Same(d.origin)) {
		s.Sender = d.origin
	}
	decision := policy.Decide(policy.Request{
		Driver:  policy.ByAgent,
		From:    s.Sender,
		To:      to,
		Changes: true,
		Child:   child,
		Own:     g.own.Holds(to),
	}, g.book, now)
	if decision.Verdict == policy.Ask && g.book.Offers(s, now) {
		decision = policy.Decision{Verdict: policy.Allow, Capability: policy.Submit}
	}
	return decision, policy.Question{Capability: policy.Submit, From: s.Sender, To: to.Origin, Sending: &s}
}

// ActBegan tells that an act is about to be dispatched. Its intent is judged again, since the owner may have answered
// minutes ago, and what it declares is bought now. It returns a code, and changes nothing, when the act may not begin.
func (g *Guard) ActBegan(a Act, now time.Time) policy.Code {
	if code := g.mayAct(); code != "" {
		return code
	}
	if g.open() != nil {
		return policy.ApprovalPending
	}
	begun := &act{Act: a}
	var shown *policy.Sending
	if a.Ticket != 0 {
		t := g.ticket(a.Ticket)
		if t == nil || t.State != Granted {
			return policy.InvalidTransition
		}
		if shown = t.Question.Sending; t.Parked {
			begun.parked = t
		}
	}
	d, q := g.judge(a.Intent, now)
	switch {
	case d.Verdict == policy.Ask:
		return policy.BlockedByPolicy
	case d.Verdict == policy.Refuse:
		return d.Code
	case q.Sending != nil:
		shown = q.Sending
	}
	if t := g.ticket(a.Ticket); t != nil {
		t.State = Used
		g.forget()
	}
	if shown != nil {
		g.book.Buy(a.ID, *shown, now)
	}
	g.act, g.agentInput = begun, now
	g.move(actBegan)
	return ""
}

// ActEnded tells that the call of the act has ended. What it bought and did not use is taken back after a grace; what
// the page does in the next five seconds may still be its doing.
func (g *Guard) ActEnded(id string, now time.Time) {
	g.book.Release(id, now)
	if g.act != nil && g.act.ID == id && g.move(actEnded) {
		g.act.ended = now
	}
}
