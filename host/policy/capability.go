package policy

import "time"

// A Capability is something an agent may do on a site. The names are those of the prompts.
type Capability string

// The capabilities.
const (
	Read     Capability = "read"     // read documents of it in the lease
	Interact Capability = "interact" // click and type while staying on it
	Navigate Capability = "navigate" // load a document of it; implies Read and Interact there
	Submit   Capability = "submit"   // send a request that changes something
	Upload   Capability = "upload"   // give a file to a page
	Download Capability = "download" // keep a file a page offers
	Publish  Capability = "publish"  // make content public
	Script   Capability = "script"   // run the agent's code in the page
)

// implied lists what a capability carries with it. Publish is implied by nothing.
var implied = map[Capability][]Capability{
	Navigate: {Read, Interact},
	Interact: {Read},
}

// Carries reports whether holding c is holding d.
func (c Capability) Carries(d Capability) bool {
	if c == d {
		return true
	}
	for _, i := range implied[c] {
		if i == d {
			return true
		}
	}
	return false
}

// A Choice is what an owner answers to a question.
type Choice string

// The values of Choice.
const (
	Once        Choice = "once"
	TenMinutes  Choice = "ten_minutes"
	WhileShared Choice = "while_shared"
	No          Choice = "no"
)

// choices are the answers a question about a capability offers. Only Submit may be granted for a time: its grant counts
// during acts only. Single things (a file, a publication) are only ever granted once.
var choices = map[Capability][]Choice{
	Read:     {Once, WhileShared, No},
	Interact: {Once, WhileShared, No},
	Navigate: {Once, WhileShared, No},
	Submit:   {Once, TenMinutes, No},
	Upload:   {Once, No},
	Download: {Once, No},
	Publish:  {Once, No},
	Script:   {Once, No},
}

// Choices returns the answers a question about c offers. Uncertain questions, whose sender is in doubt, offer no grant
// that lasts.
func (c Capability) Choices(certain bool) []Choice {
	if !certain {
		return []Choice{Once, No}
	}
	return choices[c]
}

// How long things live unless told otherwise (DESIGN §9.1, §10, §20).
const (
	NavigateLife  = 600 * time.Second // of a grant to go to a site
	TimedLife     = 10 * time.Minute  // of "for 10 minutes"
	ReleaseGrace  = 2 * time.Second   // an unused single-use grant after its call
	TicketLife    = 120 * time.Second // of an answered question
	QuestionLife  = 300 * time.Second // no answer is a no
	FatigueWindow = 60 * time.Second
	FatigueLimit  = 3
)

// A Code tells why something was not allowed. The values are those of the protocol's table.
type Code string

// The codes policy and guard give.
const (
	BadArgument         Code = "bad_argument"
	SchemeRefused       Code = "scheme_refused"
	BlockedByPolicy     Code = "blocked_by_policy"
	ReadOnly            Code = "read_only"
	NotSharedSite       Code = "not_shared_site"
	WouldSubmit         Code = "would_submit"
	ApprovalPending     Code = "approval_pending"
	AllowedRepeatNeeded Code = "allowed_repeat_needed"
	NavigationEscaped   Code = "navigation_escaped"
	OwnerHasControl     Code = "owner_has_control"
	InvalidTransition   Code = "invalid_transition"
	PageClosed          Code = "page_closed"
)
