package guard

import (
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// A Request is a document request that Chrome has paused (Fetch.requestPaused).
type Request struct {
	Session    string // "" is the tab itself
	ID         string // requestId
	Loader     string // networkId: the loader of the document it would become, the same for every hop
	Frame      string // frameId: the frame that navigates
	Redirected bool   // redirectedRequestId is set
	URL        string
	Method     string
	Origin     string // header, "" when absent
	HasBody    bool
	Body       Body

	Driven bool // the extension let it go: the owner drives
	Front  bool // the tab is in front, in the focused window
	Asked  bool // something of the page asked for it (Page.frameRequestedNavigation)
}

// An Action is the verdict the extension carries out. The values are the protocol's.
type Action string

// The values of Action.
const (
	Continue Action = "continue" // it leaves as it is
	Refuse   Action = "refuse"   // answered 204: the page stands
	Fail     Action = "fail"     // failed: an error page, a parked hop
	Nothing  Action = ""         // no verdict is wanted: the extension let it go
)

// A Fate is what became of a navigation, as results tell it.
type Fate string

// The values of Fate.
const (
	Allowed    Fate = "allowed"
	Refused    Fate = "refused"
	Asked      Fate = "asked"
	Parked     Fate = "parked"
	UserDriven Fate = "user_driven"
)

// A Ruling is the guard's word on a paused request. The verdict goes out first, whatever else there is to do.
type Ruling struct {
	Action Action
	Fate   Fate
	Code   policy.Code // why it was refused
	Main   bool        // it is for the main frame
	Act    string      // the act it is attributed to, "" if none
	Ticket *Ticket     // a copy of the question it raised: to be shown to the owner
	Row    Row
}

// A Row is what the record keeps of a request or a commit. No address is in it, only origins.
type Row struct {
	Event           string            `json:"event"` // "request" or "commit"
	Frame           string            `json:"frame"` // "main" or "child"
	Hop             int               `json:"hop,omitzero"`
	From            string            `json:"from,omitzero"`
	To              string            `json:"to,omitzero"` // "" when the address names no origin
	Method          string            `json:"method,omitzero"`
	Driver          policy.Driver     `json:"driver,omitzero"`
	Verdict         string            `json:"verdict"` // a Fate, or a Standing
	Capability      policy.Capability `json:"capability,omitzero"`
	Grant           policy.GrantID    `json:"grant,omitzero"`
	Code            policy.Code       `json:"code,omitzero"`
	Rule            string            `json:"rule,omitzero"`
	CrossOriginSend bool              `json:"cross_origin_send,omitzero"`
	Act             string            `json:"act,omitzero"`
}

// Paused judges a request. It never waits: what the owner has to be asked about is refused or parked now, and a ticket
// remembers it.
func (g *Guard) Paused(r Request, now time.Time) Ruling {
	n, q := g.read(r, now)
	ruling := Ruling{Main: n.main}
	var d policy.Decision
	switch {
	case r.Driven: // the extension let it go: record it, whatever else is going on
		n.driver, n.fate = policy.ByOwner, UserDriven
	case g.state == over:
		ruling.Action, n.fate, d.Code = Fail, Refused, policy.PageClosed
	case g.state == driven: // paused before the owner took over: the very thing they may have wanted to stop
		ruling.Action, n.fate, d.Code = Fail, Refused, policy.OwnerHasControl
	default:
		d = g.decide(n, q, now)
		ruling.Action, n.fate = g.carryOut(n, q, &d, &ruling, now)
	}
	ruling.Fate, ruling.Code = n.fate, d.Code
	if n.act != nil {
		ruling.Act = n.act.ID
	}
	ruling.Row = q.row(n, d, ruling)
	return ruling
}

// A query is a paused request as the rules see it.
type query struct {
	policy.Request
	sending policy.Sending
}

// read finds the navigation a request belongs to, or begins one, and puts the request before the rules.
func (g *Guard) read(r Request, now time.Time) (*chain, query) {
	to, err := policy.ParseTarget(r.URL)
	main := g.isMain(r.Session, r.Frame)
	if child, e := policy.ParseCommitted(r.URL); !main && e == nil && child.Kind == policy.TargetData {
		to, err = child, nil
	}
	q := query{sending: policy.Sending{
		Frame:  r.Frame,
		Main:   main,
		Method: r.Method,
		URL:    r.URL,
		Fields: r.Body.Fields,
		Digest: r.Body.Digest,
	}}
	q.To, q.Child = to, !main
	q.Own, q.Refused = g.own.Holds(to), policy.CodeOf(err)
	q.Changes = r.HasBody || r.Method != "GET" && r.Method != "HEAD"

	n := g.chains.get(r.Loader)
	if n.leaves() {
		n.hop++
		q.From = n.to
		q.sending.Sender = n.to
	} else {
		n = &chain{loader: r.Loader, main: main, driver: g.attribute(r.Front && main && !q.Changes, r.Asked, now)}
		if n.driver == policy.ByAgent {
			n.act = g.actual(now)
		}
		g.chains.put(n)
		q.sending.Sender = g.sender(r.Frame, r.Origin)
		if n.act.resends(q.sending) {
			q.sending.Sender = n.act.parked.Question.From // it is that hop: its sender is the one who redirected
			n.act.parked = nil                            // once
		}
		if q.From = g.front().origin; q.Changes {
			q.From = q.sending.Sender
		}
		if r.Redirected { // of a navigation that is not known any more: nobody is sure who sends it
			n.hop, q.From, q.sending.Sender = 1, policy.Origin{}, policy.Origin{}
		}
	}
	if g.state == frozen {
		n.driver = policy.ByOwner
	}
	n.to, q.Hop, q.Driver = to.Origin, n.hop, n.driver
	return n, q
}

// isMain tells whether a frame is the tab's main frame. Before Start a frame of the tab's own session that nobody told
// about counts as the main frame: the stricter reading.
func (g *Guard) isMain(session, frame string) bool {
	if session != "" {
		return false
	}
	if g.main == "" {
		_, known := g.frames[frame]
		return !known
	}
	return frame == g.main
}

// decide applies the rules, and pays with a single-use grant where they would ask about a sending.
func (g *Guard) decide(n *chain, q query, now time.Time) policy.Decision {
	d := policy.Decide(q.Request, g.book, now)
	if d.Verdict == policy.Ask && q.Changes && !n.act.dropped { // whom the owner is asked about is an act's doing
		if id, ok := g.book.Spend(n.act.ID, q.sending, now); ok {
			d = policy.Decision{Verdict: policy.Allow, Rule: "the owner was shown exactly this", Capability: policy.Submit, Grant: id}
		}
	}
	return d
}

// carryOut turns a decision into what happens to the request, and raises a ticket where the owner is to be asked. One
// question at a time, and one surprise for each act: a page cannot flood the owner.
func (g *Guard) carryOut(n *chain, q query, d *policy.Decision, ruling *Ruling, now time.Time) (Action, Fate) {
	switch d.Verdict {
	case policy.Allow:
		if q.Changes && n.act != nil {
			n.act.sent++
		}
		if id, ok := g.book.Holds(policy.Navigate, q.To.Origin, now); ok {
			n.grant = id
		}
		if n.driver == policy.ByOwner || n.driver == policy.ByBrowser {
			return Continue, UserDriven
		}
		return Continue, Allowed
	case policy.Refuse:
		return Refuse, Refused
	}
	switch {
	case g.open() != nil:
		d.Code = policy.ApprovalPending
		return Refuse, Refused
	case n.act.raised, n.act.dropped, q.Child && q.Hop > 0: // a frame's hop cannot be sent again by itself
		d.Code = policy.BlockedByPolicy
		return Refuse, Refused
	}
	n.act.raised = true
	ruling.Ticket = g.surprise(n, q, d.Capability, now)
	if ruling.Ticket.Parked {
		return Fail, Parked
	}
	return Refuse, Asked
}

func (q query) row(n *chain, d policy.Decision, r Ruling) Row {
	row := Row{
		Event:           "request",
		Frame:           frameWord(n.main),
		Hop:             n.hop,
		From:            q.From.String(),
		To:              q.To.Origin.String(),
		Method:          q.sending.Method,
		Driver:          n.driver,
		Verdict:         string(n.fate),
		Capability:      d.Capability,
		Grant:           d.Grant,
		Code:            d.Code,
		Rule:            d.Rule,
		CrossOriginSend: q.Changes && !q.From.Same(q.To.Origin),
		Act:             r.Act,
	}
	if q.Refused != "" {
		row.To = ""
	}
	return row
}

func frameWord(main bool) string {
	if main {
		return "main"
	}
	return "child"
}
