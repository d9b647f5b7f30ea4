package guard

import "time"

// A standing is what the guard knows when a call comes (again).
type standing struct {
	mine      TicketState // of this call's ticket; "" if there is none
	other     bool        // another call's question is open
	announced bool
	parked    bool
	changes   bool // it sends something
	unchanged bool // document, target and would are what they were
	sentElse  bool // the act that set it off has sent something besides
}

// repeat is the table of DESIGN §10, "repeat the same call".
func repeat(s standing) Step {
	switch {
	case s.mine == Open:
		return Join
	case s.other:
		return Pending
	case s.mine == Denied:
		return Say
	case s.mine != Granted:
		return Fresh
	case s.announced:
		return Perform
	case s.parked:
		return Reload
	case !s.changes:
		return Load
	case s.unchanged && !s.sentElse:
		return ActAgain
	}
	return RepeatAgain
}

// Repeat tells what a call is to do, given by the key it has. unchanged says whether target and would are what they were
// when the ticket was made; it matters to a second act only, the guard itself knows the document. Say and RepeatAgain
// settle the matter: the key is gone. Perform, Load, Reload and ActAgain are done inside an act that names the ticket
// ([Act.Ticket]).
func (g *Guard) Repeat(call string, unchanged bool, now time.Time) Next {
	s := standing{unchanged: unchanged}
	var mine *Ticket
	for _, t := range g.tickets {
		if !now.Before(t.expires) {
			continue // Tick has it next
		}
		if t.Call == call {
			mine = t
		} else if t.State == Open {
			s.other = true
		}
	}
	if mine == nil {
		return Next{Step: repeat(s)}
	}
	s.mine, s.announced, s.parked = mine.State, mine.Announced, mine.Parked
	s.changes = mine.Question.Sending != nil
	s.sentElse = mine.act != nil && mine.act.sent > 0
	next := Next{Step: repeat(s), Ticket: *mine}
	switch next.Step {
	case Load:
		next.URL = mine.URL
	case Say, RepeatAgain:
		mine.State = Used
		g.forget()
	}
	return next
}
