package guard

// A state is what the guard of a tab is doing. Reads, requests and commits move no state, but for a commit that escaped.
type state string

const (
	fresh    state = "fresh"    // leased; Start has not told the frames yet
	guarding state = "guarding" // no act in flight
	acting   state = "acting"   // one act in flight
	driven   state = "driven"   // the owner drives
	frozen   state = "frozen"   // a document nobody allowed: the tab is left to the owner
	over     state = "ended"
)

// An event moves a state.
type event string

const (
	started    event = "started"
	actBegan   event = "act_began"
	actEnded   event = "act_ended"
	takenOver  event = "taken_over"
	handedBack event = "handed_back"
	escaped    event = "escaped"
	ended      event = "ended"
)

// transitions is the whole machine; what is not listed is no transition and changes nothing.
var transitions = map[state]map[event]state{
	fresh:    {started: guarding, takenOver: driven, ended: over},
	guarding: {actBegan: acting, takenOver: driven, escaped: frozen, ended: over},
	acting:   {actEnded: guarding, takenOver: driven, escaped: frozen, ended: over},
	driven:   {handedBack: guarding, ended: over},
	frozen:   {ended: over},
	over:     {},
}

// update returns the successor of s, or s and false.
func (s state) update(e event) (state, bool) {
	next, ok := transitions[s][e]
	if !ok {
		return s, false
	}
	return next, true
}

func (g *Guard) move(e event) bool {
	next, ok := g.state.update(e)
	g.state = next
	return ok
}
