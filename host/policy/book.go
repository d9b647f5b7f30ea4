package policy

import (
	"slices"
	"time"
)

// Access is what a lease allows from the start. The values are the protocol's.
type Access string

// The values of Access.
const (
	AccessRead   Access = "read"   // read, wait, scroll
	AccessAct    Access = "act"    // and act on this site
	AccessSubmit Access = "submit" // and send forms for ten minutes
)

// Terms are those of a lease when the owner shared the tab.
type Terms struct {
	Origin Origin // of the tab's document
	Exact  bool   // this exact address instead of its site
	Access Access // anything unknown counts as AccessRead

	NavigateLife time.Duration // 0: [NavigateLife]
	ReleaseGrace time.Duration // 0: [ReleaseGrace]
}

// A Book holds the grants of one lease. It is not safe for concurrent use: the lease's goroutine owns it.
type Book struct {
	terms  Terms
	grants []*Grant
	last   GrantID
	here   Scope // READ that came with NAVIGATE: lasts while the tab stays on the document loaded under it
}

// NewBook opens the book of a lease with what its access gives.
func NewBook(terms Terms, now time.Time) *Book {
	if terms.NavigateLife == 0 {
		terms.NavigateLife = NavigateLife
	}
	if terms.ReleaseGrace == 0 {
		terms.ReleaseGrace = ReleaseGrace
	}
	b := &Book{terms: terms}
	scope := Scope{terms.Origin, terms.Exact}
	b.Add(Grant{Capability: Read, Scope: scope, Source: FromLease})
	if b.ReadOnly() {
		return b
	}
	b.Add(Grant{Capability: Navigate, Scope: scope, Source: FromLease})
	if terms.Access == AccessSubmit {
		b.Add(Grant{Capability: Submit, Scope: scope, Source: FromLease, Expires: now.Add(TimedLife)})
	}
	return b
}

// ReadOnly reports whether the lease may read and nothing else, whatever is granted later.
func (b *Book) ReadOnly() bool { return b.terms.Access != AccessAct && b.terms.Access != AccessSubmit }

// Add enters a grant and returns its id. A grant on an opaque origin covers nothing.
func (b *Book) Add(g Grant) GrantID {
	b.last++
	g.ID = b.last
	if g.Once != nil {
		g.purchase = given
	}
	b.grants = append(b.grants, &g)
	return g.ID
}

// Holds returns the grant that gives c on o at now, single-use grants aside: those are spent by what they were given
// for, see [Book.Spend].
func (b *Book) Holds(c Capability, o Origin, now time.Time) (GrantID, bool) {
	for _, g := range b.grants {
		if g.Once == nil && g.Capability.Carries(c) && g.Scope.Covers(o) && g.live(now) {
			return g.ID, true
		}
	}
	return 0, c == Read && b.here.Covers(o)
}

// Extend gives a living grant's capability on o too, for as long: a navigation under it arrived there by hops that
// stayed, as from http://a.test over https://a.test to https://www.a.test.
func (b *Book) Extend(id GrantID, o Origin, now time.Time) bool {
	for _, g := range b.grants {
		if g.ID == id && g.Once == nil && !g.Scope.Exact && g.live(now) {
			more := *g
			more.Scope = Scope{Origin: o}
			b.Add(more)
			return true
		}
	}
	return false
}

// Stays reports whether going from one origin to the other is staying: on the same site, or on the exact origin where
// the owner narrowed every grant that holds there, or upgrading to https on the same host.
func (b *Book) Stays(from, to Origin, now time.Time) bool {
	if from.Same(to) || from.Upgrades(to) {
		return true
	}
	narrowed := false
	for _, g := range b.grants {
		if g.Once == nil && g.Scope.Covers(from) && g.live(now) {
			if !g.Scope.Exact {
				return from.SameSite(to)
			}
			narrowed = true
		}
	}
	return !narrowed && from.SameSite(to)
}

// Arrive tells that the main frame now holds a document of o. READ lasts with that document if a grant to go there
// lives now; READ that came with the document before is over.
func (b *Book) Arrive(o Origin, now time.Time) {
	b.here = Scope{}
	for _, g := range b.grants {
		if g.Once == nil && g.Capability == Navigate && g.Scope.Covers(o) && g.live(now) {
			b.here = g.Scope
			return
		}
	}
}

// Offers reports whether a single-use grant waits that covers s and no act has bought yet.
func (b *Book) Offers(s Sending, now time.Time) bool { return b.once(given, "", s, now) != nil }

// Buy reserves, for an act that declares s, the single-use grant that covers it.
func (b *Book) Buy(act string, s Sending, now time.Time) (GrantID, bool) {
	g := b.once(given, "", s, now)
	if g == nil {
		return 0, false
	}
	g.purchase, _ = g.purchase.update(buy)
	g.buyer = act
	return g.ID, true
}

// Spend pays for s with the grant that act bought, once. Without an act, or for a sending that is not covered, there is
// nothing to spend.
func (b *Book) Spend(act string, s Sending, now time.Time) (GrantID, bool) {
	g := b.once(bought, act, s, now)
	if g == nil {
		return 0, false
	}
	g.purchase, _ = g.purchase.update(spend)
	return g.ID, true
}

// Release tells that the call of act has ended: what it bought and did not use is taken back after a grace.
func (b *Book) Release(act string, now time.Time) {
	for _, g := range b.grants {
		if g.purchase == bought && g.buyer == act && g.back.IsZero() {
			g.back = now.Add(b.terms.ReleaseGrace)
		}
	}
}

func (b *Book) once(state purchase, buyer string, s Sending, now time.Time) *Grant {
	for _, g := range b.grants {
		if g.Once != nil && g.purchase == state && g.buyer == buyer && g.live(now) && g.Once.Covers(s) {
			return g
		}
	}
	return nil
}

// A Question is what an owner is asked: may the agent do Capability? For Submit, From sends and Sending is what is shown.
type Question struct {
	Capability Capability
	From       Origin   // the sender; opaque when in doubt
	To         Origin   // the destination
	Sending    *Sending // of Submit
}

// Certain reports whether the sender of what is asked for is beyond doubt. Without that no grant lasts.
func (q Question) Certain() bool { return q.Capability != Submit || !q.From.Opaque() }

// Choices returns the answers the question offers.
func (q Question) Choices() []Choice { return q.Capability.Choices(q.Certain()) }

// Site is what the grant would be for, as an origin: the sender's for Submit, else the destination's.
func (q Question) Site() Origin {
	if q.Capability == Submit {
		return q.From
	}
	return q.To
}

// Answer enters what the owner's choice grants, and reports whether it grants anything; once is the single-use grant
// among it. A choice that was not offered is a no. A yes to a sending is also a yes to arriving where it goes: the owner
// saw the destination.
func (b *Book) Answer(q Question, c Choice, now time.Time) (once GrantID, yes bool) {
	if c == No || !slices.Contains(q.Choices(), c) || b.ReadOnly() && q.Capability != Read {
		return 0, false
	}
	g := Grant{Capability: q.Capability, Scope: b.scope(q.Site()), Source: FromOwner}
	if q.Capability != Submit {
		if c == Once {
			g.Expires = now.Add(b.terms.NavigateLife)
		}
		b.Add(g)
		return 0, true
	}
	if q.Sending == nil {
		return 0, false
	}
	if c == TenMinutes {
		timed := g
		timed.Expires = now.Add(TimedLife)
		b.Add(timed)
	}
	if q.Sending.Main && !b.Stays(q.From, q.To, now) {
		b.Add(Grant{Capability: Navigate, Scope: b.scope(q.To), Source: FromOwner, Expires: now.Add(b.terms.NavigateLife)})
	}
	g.Once, g.Expires = q.Sending, now.Add(TicketLife)
	return b.Add(g), true
}

// scope is where an answer's grant holds: the whole site, but the exact origin within a site the owner narrowed.
func (b *Book) scope(o Origin) Scope {
	return Scope{Origin: o, Exact: b.terms.Exact && o.SameSite(b.terms.Origin)}
}

// Expire forgets what can no longer be used.
func (b *Book) Expire(now time.Time) {
	b.grants = slices.DeleteFunc(b.grants, func(g *Grant) bool { return !g.live(now) })
}

// Revoke takes one grant back, and READ that came with it.
func (b *Book) Revoke(id GrantID) {
	b.grants = slices.DeleteFunc(b.grants, func(g *Grant) bool {
		if g.ID == id && g.Scope == b.here {
			b.here = Scope{}
		}
		return g.ID == id
	})
}

// Clear takes every grant back: the tab is lost to the agent.
func (b *Book) Clear() { b.grants, b.here = nil, Scope{} }

// List returns the grants that live, in the order they were given.
func (b *Book) List(now time.Time) []Grant {
	var list []Grant
	for _, g := range b.grants {
		if g.live(now) {
			list = append(list, *g)
		}
	}
	return list
}

// Child opens the book of a tab that the agent opens beside this one: the same lease and every lasting grant. Single-use
// grants stay where they were given.
func (b *Book) Child() *Book {
	c := &Book{terms: b.terms, last: b.last}
	for _, g := range b.grants {
		if g.Once == nil {
			copied := *g
			c.grants = append(c.grants, &copied)
		}
	}
	return c
}
