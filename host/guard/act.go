package guard

import (
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
	Frame    string // that holds the target, or "" for the main frame
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
	Ticket  *Ticket     // of a question: to be shown to the owner
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
	ended  time.Time // zero while in flight
	sent   int       // requests that changed something and were let go
	raised bool      // it has raised a question already
	parked *Ticket   // whose hop it sends again
}

// Foresee judges an intent before anything is dispatched. A question becomes a ticket at once; the same call asked again
// joins it ([Guard.Repeat] first).
func (g *Guard) Foresee(in Intent, now time.Time) Foresight {
	panic("later")
}

// ActBegan tells that an act is about to be dispatched, after [Guard.Foresee] allowed its intent. What the intent
// declares is bought now. It returns a code, and changes nothing, when no act may begin.
func (g *Guard) ActBegan(a Act, now time.Time) policy.Code {
	panic("later")
}

// ActEnded tells that the call of the act has ended. What it bought and did not use is taken back after a grace; what
// the page does in the next five seconds may still be its doing.
func (g *Guard) ActEnded(id string, now time.Time) {
	panic("later")
}
