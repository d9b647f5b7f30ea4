package guard

import (
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// attribute says whose navigation begins now, first match wins (DESIGN §11). front: the tab is in front in the focused
// window, and nothing is sent: whether the page asked is not always told, and a sending must not pass on a guess; asked:
// something of the page asked for the navigation.
func (g *Guard) attribute(front, asked bool, now time.Time) policy.Driver {
	switch agentLast := !g.ownerInput.After(g.agentInput); {
	case g.state == driven, g.state == frozen: // a frozen tab is left to the owner
		return policy.ByOwner
	case agentLast && g.actual(now) != nil:
		return policy.ByAgent
	case g.sealed:
		return policy.ByPage
	case !agentLast && now.Sub(g.ownerInput) <= ownerInputLife:
		return policy.ByOwner
	case front && !asked:
		return policy.ByBrowser
	}
	return policy.ByPage
}

// actual returns the act in flight, or the last one while its tail lasts.
func (g *Guard) actual(now time.Time) *act {
	if g.act != nil && (g.act.ended.IsZero() || now.Sub(g.act.ended) <= Tail) {
		return g.act
	}
	return nil
}

// sender returns the origin that sends the first request of a navigation: that of the document whose frame navigates,
// if the Origin header says the same. A frame that steers another one, a sandbox, a missing referrer: nobody is sure.
func (g *Guard) sender(frame, header string) policy.Origin {
	d, ok := g.frames[frame]
	if !ok || d.opaque || !d.origin.Same(policy.ParseHeader(header)) {
		return policy.Origin{}
	}
	return d.origin
}
