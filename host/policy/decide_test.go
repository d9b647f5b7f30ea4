package policy

import (
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// Books of the tables below.
func lease(access Access, url string) *Book {
	return NewBook(Terms{Origin: origin(url), Access: access}, noon)
}

func acting() *Book  { return lease(AccessAct, "https://shop.test") }
func reading() *Book { return lease(AccessRead, "https://shop.test") }
func sending() *Book { return lease(AccessSubmit, "https://shop.test") }

func visiting() *Book { // and the owner let the agent go to another site
	b := acting()
	b.Add(Grant{Capability: Navigate, Scope: Scope{Origin: origin("https://other.test")}, Expires: noon.Add(NavigateLife), Source: FromOwner})
	return b
}

func sendingAndVisiting() *Book {
	b := visiting()
	b.Add(Grant{Capability: Submit, Scope: Scope{Origin: origin("https://shop.test")}, Expires: noon.Add(TimedLife), Source: FromOwner})
	return b
}

func exactly() *Book {
	return NewBook(Terms{Origin: origin("https://www.shop.test"), Exact: true, Access: AccessAct}, noon)
}

func exactlyAndMore() *Book { // whatever else is granted, the site stays narrowed
	b := exactly()
	b.Add(Grant{Capability: Navigate, Scope: Scope{Origin: origin("https://other.test")}, Source: FromOwner})
	for _, c := range []Choice{Once, TenMinutes} {
		q := ordering()
		q.From, q.To = origin(www), origin(www)
		b.Answer(q, c, noon)
	}
	return b
}

func plain() *Book { return lease(AccessAct, "http://shop.test") }

func lapsed() *Book { // it went to the other site ten minutes ago and is still there
	b := acting()
	b.Add(Grant{Capability: Navigate, Scope: Scope{Origin: origin("https://other.test")}, Expires: noon, Source: FromOwner})
	b.Arrive(origin("https://other.test"), noon.Add(-time.Minute))
	return b
}

// A row is one line of policy. It reads: under this book, when DRIVER goes FROM somewhere TO somewhere.
type row struct {
	book func() *Book
	Request
	want Decision
}

type with func(*Request)

func post(r *Request)    { r.Changes = true }
func frame(r *Request)   { r.Child = true }
func hop(r *Request)     { r.Hop = 1 }
func own(r *Request)     { r.Own = true }
func nowhere(r *Request) { r.To, r.Refused = Target{}, SchemeRefused }
func blank(r *Request)   { r.To = Target{Kind: TargetBlank} }
func data(r *Request)    { r.To = Target{Kind: TargetData} }

func line(want Decision, book func() *Book, d Driver, from, to string, more ...with) row {
	r := Request{Driver: d, To: Target{Kind: TargetWeb, Origin: origin(to)}}
	if from != "null" {
		r.From = origin(from)
	}
	for _, w := range more {
		w(&r)
	}
	return row{book, r, want}
}

func allow(c Capability, book func() *Book, d Driver, from, to string, more ...with) row {
	return line(Decision{Verdict: Allow, Capability: c}, book, d, from, to, more...)
}

func ask(c Capability, book func() *Book, d Driver, from, to string, more ...with) row {
	return line(Decision{Verdict: Ask, Capability: c}, book, d, from, to, more...)
}

func denied(code Code, book func() *Book, d Driver, from, to string, more ...with) row {
	return line(Decision{Verdict: Refuse, Code: code}, book, d, from, to, more...)
}

const (
	shop  = "https://shop.test"
	www   = "https://www.shop.test"
	other = "https://other.test"
	evil  = "https://evil.test"
	free  = Capability("") // allowed without any grant
)

var table = []row{
	// A same-site GET is interaction: a search box is not a submission.
	allow(Interact, acting, ByAgent, shop, shop),
	allow(Interact, acting, ByAgent, shop, www),
	allow(free, acting, ByPage, shop, www),
	allow(free, reading, ByPage, shop, shop),
	allow(free, reading, ByPage, shop, www),
	denied(ReadOnly, reading, ByAgent, shop, shop),

	// Arriving somewhere else needs a grant; with one, the way back is open too.
	ask(Navigate, acting, ByAgent, shop, other),
	allow(Navigate, visiting, ByAgent, shop, other),
	allow(Navigate, visiting, ByAgent, shop, "https://www.other.test"),
	allow(Navigate, acting, ByAgent, other, shop),
	allow(Navigate, acting, ByAgent, "null", shop),
	ask(Navigate, visiting, ByAgent, shop, evil),
	denied(ReadOnly, reading, ByAgent, shop, other),

	// A page that moves itself to another site is leaving.
	denied(BlockedByPolicy, acting, ByPage, shop, other),
	denied(BlockedByPolicy, reading, ByPage, shop, other),
	denied(BlockedByPolicy, reading, ByPage, other, shop), // READ alone takes nobody anywhere
	allow(Navigate, visiting, ByPage, shop, other),
	allow(Navigate, acting, ByPage, other, shop),
	allow(free, acting, ByPage, other, other), // where the owner went: unread, but not ours to stop
	ask(Navigate, acting, ByAgent, other, other),

	// Compared as scheme, host and port, never as text.
	ask(Navigate, acting, ByAgent, shop, "https://shop.test.evil.test"),
	ask(Navigate, acting, ByAgent, shop, "https://good@evil.test"),
	ask(Navigate, acting, ByAgent, shop, "https://evilshop.test"),
	ask(Navigate, acting, ByAgent, shop, "https://shop.test:8443"),
	ask(Navigate, acting, ByAgent, shop, "http://shop.test"),
	ask(Navigate, acting, ByAgent, shop, "https://shop.test."),

	// Upgrading to https on the same host is staying; going down is leaving.
	allow(Interact, plain, ByAgent, "http://shop.test", shop),
	allow(free, plain, ByPage, "http://shop.test", shop, hop),
	ask(Navigate, plain, ByAgent, "http://shop.test", www),

	// "This exact address" instead of the site.
	allow(Interact, exactly, ByAgent, www, www),
	ask(Navigate, exactly, ByAgent, www, shop),
	ask(Navigate, exactly, ByAgent, www, shop, hop),
	denied(BlockedByPolicy, exactly, ByPage, www, shop),
	ask(Navigate, exactlyAndMore, ByAgent, www, shop),
	ask(Submit, exactlyAndMore, ByAgent, shop, www, post),
	allow(Submit, exactlyAndMore, ByAgent, www, www, post),
	allow(Navigate, exactlyAndMore, ByAgent, www, other),
	allow(free, exactlyAndMore, ByPage, other, "https://www.other.test"),

	// A grant to go somewhere ends; what may be read there stays readable, acting asks again.
	ask(Navigate, lapsed, ByAgent, other, other),
	allow(free, lapsed, ByPage, other, other),
	denied(BlockedByPolicy, lapsed, ByPage, shop, other),

	// Hops: one that stays on the site that sent it is not judged again, one that leaves is.
	allow(free, acting, ByAgent, shop, www, hop),
	allow(free, acting, ByAgent, other, other, hop),
	allow(free, acting, ByAgent, shop, www, hop, post),
	ask(Navigate, acting, ByAgent, shop, other, hop),
	ask(Submit, acting, ByAgent, shop, other, hop, post),
	denied(BlockedByPolicy, acting, ByPage, shop, other, hop),
	denied(BlockedByPolicy, acting, ByPage, shop, other, hop, post),

	// Sending: authorised by the site that sends.
	ask(Submit, acting, ByAgent, shop, shop, post),
	ask(Submit, visiting, ByAgent, shop, other, post), // going there is not sending there
	ask(Submit, sending, ByAgent, other, shop, post),  // another site's form
	ask(Submit, sending, ByAgent, "null", shop, post), // a sender in doubt spends no timed grant
	allow(Submit, sending, ByAgent, shop, shop, post),
	allow(Submit, sending, ByAgent, www, shop, post),
	ask(Submit, sending, ByAgent, shop, other, post), // it would also take the tab elsewhere
	allow(Submit, sendingAndVisiting, ByAgent, shop, other, post),
	denied(BlockedByPolicy, sending, ByPage, shop, shop, post), // counts during acts only
	denied(BlockedByPolicy, acting, ByPage, shop, shop, post),
	denied(ReadOnly, reading, ByAgent, shop, shop, post),

	// Frames: a GET is the page's subresource, a body is a sending.
	allow(free, acting, ByPage, shop, other, frame),
	allow(free, reading, ByPage, shop, other, frame),
	allow(free, acting, ByAgent, shop, evil, frame),
	allow(free, acting, ByPage, shop, other, frame, hop),
	ask(Submit, acting, ByAgent, shop, shop, frame, post),
	ask(Submit, sending, ByAgent, evil, shop, frame, post), // an ad does not spend the bank's grant
	allow(Submit, sending, ByAgent, shop, other, frame, post),
	denied(BlockedByPolicy, sending, ByPage, shop, shop, frame, post),

	// Targets that are nobody's.
	denied(SchemeRefused, visiting, ByAgent, shop, shop, nowhere),
	denied(SchemeRefused, visiting, ByPage, shop, shop, nowhere),
	denied(SchemeRefused, visiting, ByPage, shop, shop, nowhere, frame),
	denied(BlockedByPolicy, visiting, ByAgent, shop, shop, own),
	denied(BlockedByPolicy, visiting, ByPage, shop, shop, own, frame),
	denied(BlockedByPolicy, visiting, ByAgent, shop, shop, own, hop),
	allow(free, acting, ByPage, shop, shop, blank),
	allow(free, acting, ByAgent, shop, shop, blank),
	allow(free, acting, ByPage, shop, shop, data, frame),
	denied(BlockedByPolicy, acting, ByPage, shop, shop, data),

	// The owner is never refused their own browser.
	allow(free, acting, ByOwner, shop, evil),
	allow(free, reading, ByOwner, shop, evil, post),
	allow(free, acting, ByOwner, shop, shop, own),
	allow(free, acting, ByOwner, shop, shop, nowhere),
	allow(free, acting, ByBrowser, shop, evil),
}

// agrees compares what the table says. Grants and rules are checked elsewhere.
func (r row) agrees(rules []rule) (Decision, bool) {
	d := decide(rules, r.Request, r.book(), noon)
	ok := d.Verdict == r.want.Verdict && d.Code == r.want.Code && (d.Verdict == Refuse || d.Capability == r.want.Capability)
	return d, ok
}

func TestDecide(t *testing.T) {
	for _, r := range table {
		d, ok := r.agrees(rules)
		if !ok {
			t.Errorf("%s goes from %s to %s%s: %s %s %s (%s), want %s %s %s", r.Driver, r.From, r.To.Kind, r.To.Origin,
				d.Verdict, d.Capability, d.Code, d.Rule, r.want.Verdict, r.want.Capability, r.want.Code)
		}
		if d.Verdict == Allow && r.want.Capability != free && d.Grant == 0 {
			t.Errorf("%s from %s to %s: allowed by %s without naming the grant", r.Driver, r.From, r.To.Origin, d.Capability)
		}
	}
}

// TestDecideNeedsEveryRule takes one rule away at a time; the table must notice, or nobody needs the rule.
func TestDecideNeedsEveryRule(t *testing.T) {
	for i, rule := range rules {
		without := slices.Delete(slices.Clone(rules), i, i+1)
		if !slices.ContainsFunc(table, func(r row) bool { _, ok := r.agrees(without); return !ok }) {
			t.Errorf("no row needs the rule %q", rule.says)
		}
	}
}

func TestDecideRefusesWhatNoRuleKnows(t *testing.T) {
	if d := decide(nil, table[0].Request, acting(), noon); d.Verdict != Refuse || d.Code != BlockedByPolicy {
		t.Errorf("without rules: %+v", d)
	}
}

// TestDecideGrantsNothingToNobody: with no grants at all nothing of the agent's gets through, wherever it goes.
func TestDecideGrantsNothingToNobody(t *testing.T) {
	for _, r := range table {
		b := r.book()
		b.Clear()
		d := Decide(r.Request, b, noon)
		subresource := r.Child && !r.Changes || r.To.Kind == TargetBlank || r.Hop > 0
		if r.Driver == ByAgent && d.Verdict == Allow && !subresource {
			t.Errorf("without a grant the agent goes from %s to %s: %s", r.From, r.To.Origin, d.Rule)
		}
	}
}
