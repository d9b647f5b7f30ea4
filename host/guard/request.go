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
	To              string            `json:"to"`
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
	panic("later")
}
