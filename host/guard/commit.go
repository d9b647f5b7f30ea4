package guard

import (
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// A Commit is a document that a frame holds from now on (Page.frameNavigated, or an entry of the frame tree).
type Commit struct {
	Session  string
	Frame    string
	Parent   string // "" is the main frame
	Loader   string
	URL      string
	Origin   string // securityOrigin
	Restored bool   // out of the back/forward cache (type BackForwardCacheRestore)
}

// A Standing is what the guard makes of a committed document.
type Standing string

// The values of Standing.
const (
	OK     Standing = "ok"
	Unread Standing = "unread" // it may stand there, the agent may not read it: not_shared_site
	Frozen Standing = "frozen" // nobody allowed it: navigation_escaped
)

// A Commitment is the guard's word on a commit.
type Commitment struct {
	Standing Standing
	Main     bool
	Code     policy.Code // what reads and acts answer from now on, if this is the main frame
	Act      string      // the act it is attributed to, "" if none
	Gone     []Ticket    // tickets whose document is gone: their prompts are to be withdrawn
	Row      Row
}

// Start tells the frames of the tab when the lease begins, main frame first. The document that is there was never
// paused, so it is judged by its address alone. The result is that of the main frame.
func (g *Guard) Start(frames []Commit, now time.Time) Commitment {
	panic("later")
}

// Committed judges a commit: the second gate.
func (g *Guard) Committed(c Commit, now time.Time) Commitment {
	panic("later")
}

// Attached tells of a new frame (Page.frameAttached), before it has committed anything.
func (g *Guard) Attached(frame, parent string) {}

// Detached tells that a frame is gone (Page.frameDetached with reason "remove"; a swap keeps it). It returns the tickets
// that went with it.
func (g *Guard) Detached(frame string) []Ticket { return nil }
