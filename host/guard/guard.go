package guard

import (
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// Tail is how long after an act what the page does may still be the act's doing.
const Tail = 5 * time.Second

// ownerInputLife is how long a navigation may still follow from the owner's own input.
const ownerInputLife = 5 * time.Second

// Config is what a guard starts from.
type Config struct {
	Book   *policy.Book // the lease's grants; the guard and its goroutine own it from now on
	Own    policy.Own   // what belongs to our own hosts
	URL    string       // of the tab when it was offered: stands for its document until [Guard.Start]
	Sealed bool         // nobody but an owner who took over is let through unjudged
}

// A Guard judges what one leased tab loads and sends. Its zero value is of no use; make one with [New]. It is not safe
// for concurrent use.
type Guard struct {
	book   *policy.Book
	own    policy.Own
	sealed bool

	state  state
	main   string               // id of the main frame, "" before Start
	frames map[string]*document // what each frame holds
	shelf  []page               // frames of pages before, oldest first
	chains chains               // verdicts by loader

	act        *act // in flight, or the last one while its tail lasts
	agentInput time.Time
	ownerInput time.Time

	tickets []*Ticket
	last    int // ticket id
}

// A document is what a frame holds.
type document struct {
	frame, parent string
	loader        string
	kind          policy.TargetKind
	origin        policy.Origin // of its address; a blank document has its maker's
	opaque        bool          // its own origin is opaque (a sandbox): it sends as nobody
}

// New makes the guard of a tab that was just leased.
func New(c Config) *Guard {
	g := &Guard{
		book:   c.Book,
		own:    c.Own,
		sealed: c.Sealed,
		state:  fresh,
		frames: map[string]*document{},
		chains: newChains(),
	}
	t, err := policy.ParseCommitted(c.URL)
	if err != nil {
		t = policy.Target{}
	}
	g.frames[""] = &document{kind: t.Kind, origin: t.Origin}
	return g
}

// State names what the guard is doing, for people and records: fresh, guarding, acting, driven, frozen or ended.
func (g *Guard) State() string { return string(g.state) }

// Book returns the grants of the lease.
func (g *Guard) Book() *policy.Book { return g.book }

// Front returns what the main frame holds, as far as the guard knows it: origin and loader.
func (g *Guard) Front() (policy.Origin, string) {
	d := g.front()
	return d.origin, d.loader
}

func (g *Guard) front() *document { return g.frames[g.main] }

// TakenOver tells that the owner drives from now on. Every ticket is dropped; what was paused before is failed, by the
// extension at once and by [Guard.Paused] when its event comes late. It returns the tickets whose prompts are to be
// withdrawn; of a parked one the step back is left to the owner.
func (g *Guard) TakenOver() []Ticket {
	if !g.move(takenOver) {
		return nil
	}
	if g.act != nil {
		g.act.dropped, g.act = true, nil
	}
	return g.dropTickets(func(*Ticket) bool { return true })
}

// HandedBack tells that the owner gave the tab back. If the tab stands on a site that is not shared, reads and acts say
// so.
func (g *Guard) HandedBack() { g.move(handedBack) }

// OwnerInput tells of real input of the owner in the tab (implicit takeover, DESIGN §11).
func (g *Guard) OwnerInput(now time.Time) { g.ownerInput = now }

// AgentInput tells that input of the agent was dispatched. [Guard.ActBegan] counts as input.
func (g *Guard) AgentInput(now time.Time) { g.agentInput = now }

// Ended tells that the lease is over. It returns the tickets whose prompts are to be withdrawn.
func (g *Guard) Ended() []Ticket {
	g.move(ended)
	g.book.Clear()
	return g.dropTickets(func(*Ticket) bool { return true })
}

// Reading returns "" if the document of the main frame may be read now, else the code that says why not.
func (g *Guard) Reading(now time.Time) policy.Code {
	switch {
	case g.state == frozen:
		return policy.NavigationEscaped
	case g.state == over:
		return policy.PageClosed
	case !g.reads(g.front(), now):
		return policy.NotSharedSite
	}
	return ""
}

// Reads reports whether a frame's document may be read now. A frame that is not known may not.
func (g *Guard) Reads(frame string, now time.Time) bool {
	d, ok := g.frames[frame]
	return ok && g.Reading(now) == "" && g.reads(d, now)
}

// ReadsOrigin reports whether documents of an origin, spelled as browsers do, may be read now.
func (g *Guard) ReadsOrigin(origin string, now time.Time) bool {
	if g.Reading(now) != "" {
		return false
	}
	_, ok := g.book.Holds(policy.Read, policy.ParseHeader(origin), now)
	return ok
}

func (g *Guard) reads(d *document, now time.Time) bool {
	if d.kind == policy.TargetError {
		return true // Chrome's words, not a site's
	}
	if d.origin.Opaque() && (d.kind == policy.TargetBlank || d.kind == policy.TargetData) {
		if parent, ok := g.frames[d.parent]; ok && d.parent != "" {
			return g.reads(parent, now)
		}
		return d.kind == policy.TargetBlank // an empty tab
	}
	_, ok := g.book.Holds(policy.Read, d.origin, now)
	return ok
}
