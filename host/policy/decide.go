package policy

import "time"

// A Driver is who a navigation belongs to (DESIGN §11).
type Driver string

// The values of Driver.
const (
	ByOwner   Driver = "owner"   // the owner drives, or it follows the owner's own input
	ByBrowser Driver = "browser" // address bar, bookmark, Back: let through, reading suspended
	ByAgent   Driver = "agent"   // an act of the agent set it off
	ByPage    Driver = "page"    // the page's own doing
)

// A Request is a document request as far as the rules care.
type Request struct {
	Driver  Driver
	From    Origin // the document it leaves, or for a later hop the origin that redirects; of a sending its sender
	To      Target
	Changes bool // a body, or a method other than GET and HEAD
	Child   bool // for a frame of the page
	Hop     int  // redirects before it
	Own     bool // leads to one of our own hosts
	Refused Code // the address itself cannot be a target
}

// A Verdict is what becomes of a request.
type Verdict string

// The values of Verdict.
const (
	Allow  Verdict = "allow"
	Ask    Verdict = "ask"
	Refuse Verdict = "refuse"
)

// A Decision is a verdict with its reason. Rule is the sentence that decided.
type Decision struct {
	Verdict    Verdict
	Rule       string
	Capability Capability // that covers it, or that is asked for
	Grant      GrantID    // that covers it, 0 if none was needed
	Code       Code       // why it is refused
}

// Decide applies the rules to a request, first match wins; what none allows is refused. Single-use grants are not its business: who holds one for
// exactly this sending spends it instead of asking here.
func Decide(r Request, b *Book, now time.Time) Decision { return decide(rules, r, b, now) }

func decide(rules []rule, r Request, b *Book, now time.Time) Decision {
	c := &bench{Request: r, book: b, now: now}
	for _, rule := range rules {
		if c.grant = 0; rule.when(c) {
			d := rule.then
			d.Rule, d.Grant = rule.says, c.grant
			return d
		}
	}
	return Decision{Verdict: Refuse, Rule: "what no rule allows is refused: a page does not leave on its own", Code: BlockedByPolicy}
}

type rule struct {
	says string
	when func(c *bench) bool
	then Decision
}

// rules are DESIGN §9.1 and §9.2, in order.
var rules = []rule{
	{"the owner is never refused their own browser", (*bench).owners,
		Decision{Verdict: Allow}},
	{"our own hosts are nobody's target", func(c *bench) bool { return c.Own },
		Decision{Verdict: Refuse, Code: BlockedByPolicy}},
	{"only http, https, blob and blank documents are targets", func(c *bench) bool { return c.Refused != "" },
		Decision{Verdict: Refuse, Code: SchemeRefused}},
	{"inline content is the page's own", (*bench).inline,
		Decision{Verdict: Allow}},
	{"a hop that stays on the site that sent it is not judged again", func(c *bench) bool { return c.Hop > 0 && c.stays() },
		Decision{Verdict: Allow}},
	{"a frame's own GET is the page's subresource", func(c *bench) bool { return c.Child && !c.Changes },
		Decision{Verdict: Allow}},
	{"nothing is sent without an act", func(c *bench) bool { return c.Changes && c.Driver != ByAgent },
		Decision{Verdict: Refuse, Capability: Submit, Code: BlockedByPolicy}},
	{"a read-only lease sets nothing off", func(c *bench) bool { return c.Driver == ByAgent && c.book.ReadOnly() },
		Decision{Verdict: Refuse, Capability: Interact, Code: ReadOnly}},
	{"a sending is authorised by the site that sends it", func(c *bench) bool { return c.Changes && !c.holds(Submit, c.From) },
		Decision{Verdict: Ask, Capability: Submit}},
	{"a sending that takes the tab elsewhere is also leaving", func(c *bench) bool { return c.Changes && !c.Child && !c.stays() && !c.holds(Navigate, c.To.Origin) },
		Decision{Verdict: Ask, Capability: Submit}},
	{"a granted sending leaves", func(c *bench) bool { return c.Changes && c.holds(Submit, c.From) },
		Decision{Verdict: Allow, Capability: Submit}},
	{"a page may move within its site", func(c *bench) bool { return c.Driver == ByPage && c.stays() },
		Decision{Verdict: Allow}},
	{"a GET that stays is interaction", func(c *bench) bool { return c.stays() && c.holds(Interact, c.To.Origin) },
		Decision{Verdict: Allow, Capability: Interact}},
	{"arriving on a site needs a grant to go there", func(c *bench) bool { return c.holds(Navigate, c.To.Origin) },
		Decision{Verdict: Allow, Capability: Navigate}},
	{"an agent who wants to leave asks", func(c *bench) bool { return c.Driver == ByAgent },
		Decision{Verdict: Ask, Capability: Navigate}},
}

// A bench is one request before the rules.
type bench struct {
	Request
	book  *Book
	now   time.Time
	grant GrantID // that the rule at work found
}

func (c *bench) owners() bool { return c.Driver == ByOwner || c.Driver == ByBrowser }

func (c *bench) inline() bool {
	return c.To.Kind == TargetBlank || c.To.Kind == TargetData && c.Child
}

func (c *bench) stays() bool { return c.book.Stays(c.From, c.To.Origin, c.now) }

func (c *bench) holds(want Capability, o Origin) bool {
	id, ok := c.book.Holds(want, o, c.now)
	c.grant = id
	return ok
}
