package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Scope is where a grant holds: a whole site, or one exact origin. Either way it also holds for the same host reached
// over https when the origin is http.
type Scope struct {
	Origin Origin
	Exact  bool
}

// Covers reports whether s holds for o.
func (s Scope) Covers(o Origin) bool {
	switch {
	case s.Origin.Opaque():
		return false
	case s.Origin == o || s.Origin.Upgrades(o):
		return true
	}
	return !s.Exact && s.Origin.SameSite(o)
}

// String names the scope as people read it.
func (s Scope) String() string {
	if s.Exact {
		return s.Origin.String()
	}
	return s.Origin.Site().String()
}

// A Sending is a request that changes something: as it was shown to the owner, or as it was paused.
type Sending struct {
	Sender Origin // of the frame that asks; opaque when session and Origin header disagree or say nothing
	Frame  string // CDP frame id of the frame that navigates
	Main   bool   // … which is the main frame
	Method string
	URL    string   // where it goes
	Fields []string // names of the fields; nil when they cannot be told
	Digest string   // of the body; in a sending that is shown: "" when only a second act will make the body
}

// Covers reports whether showing s was showing t. Whatever differs is not covered: sender, frame, method, address, a
// field that was not shown. A body that is known must be the same to the byte.
func (s Sending) Covers(t Sending) bool {
	if s.Sender != t.Sender || s.Frame != t.Frame || s.Main != t.Main || s.Method != t.Method || bare(s.URL) != bare(t.URL) {
		return false
	}
	if s.Digest != "" {
		return s.Digest == t.Digest
	}
	if s.Fields == nil || t.Fields == nil {
		return s.Fields == nil && t.Fields == nil
	}
	for _, name := range t.Fields {
		if !slices.Contains(s.Fields, name) {
			return false
		}
	}
	return true
}

// bare is a URL without its fragment, which is never sent.
func bare(url string) string { before, _, _ := strings.Cut(url, "#"); return before }

// A Source is where a grant comes from.
type Source string

// The values of Source.
const (
	FromLease  Source = "lease"  // what the owner chose when sharing the tab
	FromOwner  Source = "owner"  // an answer to a question
	FromPolicy Source = "policy" // the owner's policy file
)

// A GrantID names a grant of one book; 0 is none.
type GrantID int

// A Grant is a capability on a scope for a while. A single-use grant (Once) pays for one thing that is exactly what was
// shown; it is given, bought, spent, and over when its time is.
type Grant struct {
	ID         GrantID
	Capability Capability
	Scope      Scope
	Expires    time.Time // zero: with the lease
	Source     Source
	Once       *Sending // nil: as often as wanted

	purchase purchase
	buyer    string    // the act that bought it
	back     time.Time // when an unused purchase is taken back; zero while its act runs
}

// A purchase is the state of a single-use grant.
type purchase string

const (
	given  purchase = "given"  // the owner said yes, no act has declared it yet
	bought purchase = "bought" // an act that declared it is under way
	spent  purchase = "spent"  // it has paid
)

// A purchaseEvent moves a purchase.
type purchaseEvent string

const (
	buy   purchaseEvent = "buy"
	spend purchaseEvent = "spend"
)

// purchases is the whole state machine; what is not listed does not happen. Taking back is a matter of time: see live.
var purchases = map[purchase]map[purchaseEvent]purchase{
	given:  {buy: bought},
	bought: {spend: spent},
}

func (p purchase) update(e purchaseEvent) (purchase, bool) {
	next, ok := purchases[p][e]
	if !ok {
		return p, false
	}
	return next, true
}

// live reports whether g may still be used at now.
func (g *Grant) live(now time.Time) bool {
	if !g.Expires.IsZero() && !now.Before(g.Expires) {
		return false
	}
	if g.Once == nil {
		return true
	}
	overdue := !g.back.IsZero() && !now.Before(g.back)
	return !overdue && (g.purchase == given || g.purchase == bought)
}

// Words says a grant in plain words, for the owner.
func (g Grant) Words(now time.Time) string {
	var b strings.Builder
	switch g.Capability {
	case Read:
		b.WriteString("read ")
	case Interact:
		b.WriteString("act on ")
	case Navigate:
		b.WriteString("go to ")
	case Submit:
		if g.Once != nil {
			b.WriteString("send one form from ")
		} else {
			b.WriteString("send forms from ")
		}
	default:
		b.WriteString(string(g.Capability) + " on ")
	}
	b.WriteString(g.Scope.String())
	if !g.Expires.IsZero() && g.Once == nil {
		minutes := (g.Expires.Sub(now) + time.Minute - 1) / time.Minute
		fmt.Fprintf(&b, " for %d min", max(minutes, 0))
	}
	return b.String()
}
