package protocol

import "github.com/go-json-experiment/json/jsontext"

// TabID is Chrome's id of a tab. It is only meaningful on the link it came over.
type TabID int

// The methods of the link. "call" has an answer, "note" has none. The table in PROTOCOL.md says the same.
const (
	// Extension → host.
	MethodHello          = "hello"           // call: HelloParams → HelloResult; first frame of a connection
	MethodProve          = "prove"           // call: ProveParams → ReadyResult; second
	MethodReconcile      = "lease.reconcile" // call: ReconcileParams → ReconcileResult; third, always
	MethodApprovalGet    = "approval.get"    // call: ApprovalGetParams → Approval
	MethodApprovalRefuse = "approval.refuse" // call: ApprovalRef → Empty
	MethodTabRefused     = "approval.tab_refused"
	MethodLeaseOffer     = "lease.offer" // call: LeaseOfferParams → LeaseOfferResult
	MethodLeaseEnded     = "lease.ended" // note: LeaseEnded
	MethodTakeover       = "takeover"    // note: Takeover
	MethodHandback       = "handback"    // note: TabRef
	MethodPromptAnswer   = "prompt.answer"
	MethodEvent          = "cdp.event"    // note: Event
	MethodMirror         = "audit.mirror" // note: Mirror

	// Host → extension.
	MethodSend           = "cdp.send"        // call: SendParams → the CDP result as it is
	MethodVerdict        = "verdict"         // note: Verdict
	MethodTabOpen        = "tab.open"        // call: TabOpenParams → LeasedTab
	MethodTabClose       = "tab.close"       // call: TabRef → Empty; only tabs the agent opened
	MethodLeaseEnd       = "lease.end"       // call: LeaseEndParams → LeaseEndResult
	MethodLeaseUpdate    = "lease.update"    // note: LeaseUpdate
	MethodPromptShow     = "prompt.show"     // note: Prompt
	MethodPromptWithdraw = "prompt.withdraw" // note: PromptRef
	MethodRows           = "audit.rows"      // note: Rows

	// Both directions.
	MethodPaused = "agent.paused" // note: AgentPausedParams
	MethodPing   = "ping"         // call: Empty → Empty
	MethodChunk  = "chunk"        // note: Chunk
)

// Empty is the parameters or the result of a method that has none.
type Empty struct{}

// HelloParams open the handshake. Nonce is 32 random bytes, base64url without padding.
type HelloParams struct {
	Versions  []int  `json:"versions"`
	Profile   string `json:"profile"`   // id of the paired profile
	Nonce     string `json:"nonce"`     // 32 bytes
	Extension string `json:"extension"` // the extension's version, for people
}

// HelloResult is the host's proof, which comes before the extension proves anything.
type HelloResult struct {
	Version  int    `json:"version"`
	Nonce    string `json:"nonce"`    // 32 bytes
	Instance string `json:"instance"` // the host's instance id, as the registry has it
	Proof    string `json:"proof"`    // 32 bytes
}

// ProveParams carry the extension's proof.
type ProveParams struct {
	Proof string `json:"proof"`
}

// ReadyResult ends the handshake. From here on every method may be used.
type ReadyResult struct {
	Host        HostInfo `json:"host"`
	HeartbeatMS int      `json:"heartbeat_ms"`
}

// HostInfo says who is at the Go end: what the client claims, and what the operating system reports.
type HostInfo struct {
	Name       string `json:"name"`       // the client's claimed name, cut and cleaned; what groups are called after
	Executable string `json:"executable"` // path of the client program as the OS reports it, "" if unknown
	Parent     string `json:"parent"`     // its parent's path, "" if unknown
	PID        int    `json:"pid"`        // of the host
	Version    string `json:"version"`    // of tabvalet
	Extension  string `json:"extension"`  // version of the extension that the binary carries
}

// ReconcileParams tell the host which of its leases the extension still holds, after a handshake.
type ReconcileParams struct {
	Tabs []LeasedTab `json:"tabs"`
}

// ReconcileResult names the tabs that stay leased; the extension ends the others.
type ReconcileResult struct {
	Keep []TabID `json:"keep"`
}

// LeasedTab is a tab as the extension has attached and guarded it. Frames and documents are the host's to ask.
type LeasedTab struct {
	Tab     TabID  `json:"tab"`
	Lease   string `json:"lease"` // "" until the host has accepted it
	URL     string `json:"url"`
	Title   string `json:"title"`
	Opened  bool   `json:"opened"`  // the agent opened it
	Driving bool   `json:"driving"` // the owner has taken over
	Private bool   `json:"private"` // … in private
	// Sessions are the child sessions that are attached already, for a host that comes back.
	Sessions []ChildSession `json:"sessions"`
}

// ChildSession is an attached frame of another process.
type ChildSession struct {
	Session string `json:"session"`
	Frame   string `json:"frame"` // CDP frame id (equal to the target id)
	URL     string `json:"url"`
}

// ApprovalGetParams ask for the approval that waits. Token is the last part of an opened link, "" from the popup.
type ApprovalGetParams struct {
	Token string `json:"token,omitzero"`
}

// Approval is what the owner decides about. Access and URL are what the agent asked for.
type Approval struct {
	ID        string   `json:"id"`
	Host      HostInfo `json:"host"`
	Reason    string   `json:"reason"` // the agent's words, cleaned, at most 200 characters
	URL       string   `json:"url"`    // a page the agent would like in a new tab, or ""
	Access    Access   `json:"access"`
	ExpiresMS int      `json:"expires_ms"` // from now
	Sealed    bool     `json:"sealed"`     // the host insists on a sealed lease
	Loosened  []string `json:"loosened"`   // what the owner's policy loosens, in plain words
}

// Access is what a lease allows from the start.
type Access string

// The values of Access.
const (
	AccessRead   Access = "read"   // read, wait, scroll
	AccessAct    Access = "act"    // and act on this site
	AccessSubmit Access = "submit" // and send forms for 10 minutes
)

// ApprovalRef names an approval.
type ApprovalRef struct {
	ID string `json:"id"`
}

// TabRefused tells that Chrome refused the tab the owner chose, in Chrome's own words; the approval stays open.
type TabRefused struct {
	ID     string `json:"id"` // the approval, or "" for a tab shared without one
	Reason string `json:"reason"`
}

// LeaseOfferParams hand a tab that the extension has attached and guarded to the host. Only an owner's click leads here.
type LeaseOfferParams struct {
	ID     string    `json:"id"` // the approval that was granted, or "": shared from the popup without one
	Tab    LeasedTab `json:"tab"`
	Access Access    `json:"access"`
	Exact  bool      `json:"exact"`  // this exact origin instead of the site
	Until  int       `json:"until"`  // seconds from now, 0: until stopped
	Sealed bool      `json:"sealed"` //
}

// LeaseOfferResult accepts it.
type LeaseOfferResult struct {
	Lease string `json:"lease"`
}

// LeaseEnded tells that the extension has ended a lease, or that Chrome did.
type LeaseEnded struct {
	Tab    TabID     `json:"tab"`
	Reason EndReason `json:"reason"`
	Detail string    `json:"detail,omitzero"` // Chrome's own words
}

// EndReason is why a lease ended.
type EndReason string

// The values of EndReason.
const (
	EndStopped    EndReason = "stopped"      // the owner's Stop sharing
	EndDragged    EndReason = "dragged_out"  // out of the group
	EndClosed     EndReason = "closed"       // the tab is gone
	EndCanceled   EndReason = "canceled"     // Cancel on Chrome's bar
	EndRefused    EndReason = "refused"      // Chrome threw the debugger off and refuses it
	EndOwnPage    EndReason = "own_page"     // it arrived at the extension's page or at an approval link
	EndExpired    EndReason = "expired"      // its time was up
	EndHost       EndReason = "host"         // the host ended it (disconnect, idle)
	EndLinkLost   EndReason = "link_lost"    // the host is gone
	EndForgotten  EndReason = "forgotten"    // the pairing is gone
	EndReplaced   EndReason = "tab_replaced" // Chrome replaced the tab
	EndReconciled EndReason = "reconciled"   // not known to the host any more
)

// Takeover tells that the owner drives from now on. The extension has already stopped relaying acts.
type Takeover struct {
	Tab      TabID `json:"tab"`
	Private  bool  `json:"private"`
	Implicit bool  `json:"implicit"`
}

// TabRef names a tab.
type TabRef struct {
	Tab TabID `json:"tab"`
}

// AgentPausedParams tell that the owner paused the agent as a whole, or resumed it. From a host they only ever pause: it
// stops asking an owner who keeps saying no, and the owner resumes it.
type AgentPausedParams struct {
	Paused bool `json:"paused"`
}

// Event is one CDP event of a leased tab, slimmed by the worker's list (PROTOCOL.md).
type Event struct {
	Tab     TabID          `json:"tab"`
	Session string         `json:"session,omitzero"` // "" is the tab itself
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	// Driven is set on Fetch.requestPaused when the owner drives: the extension has let it go already.
	Driven bool `json:"driven,omitzero"`
	// Front is set on Fetch.requestPaused when the tab is in front in the focused window.
	Front bool `json:"front,omitzero"`
}

// SendParams are one CDP command. Act marks what changes something: refused while the owner drives. Methods that always
// change something count as acts whatever the flag says.
type SendParams struct {
	Tab     TabID          `json:"tab"`
	Session string         `json:"session,omitzero"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
	Act     bool           `json:"act,omitzero"`
}

// Verdict decides a paused request. The extension fails what is not decided in [VerdictTimeout].
type Verdict struct {
	Tab     TabID         `json:"tab"`
	Session string        `json:"session,omitzero"`
	Request string        `json:"request"` // Fetch.RequestId
	Action  VerdictAction `json:"action"`
}

// VerdictAction is what becomes of a paused request.
type VerdictAction string

// The values of VerdictAction.
const (
	VerdictContinue VerdictAction = "continue" // it leaves as it is
	VerdictRefuse   VerdictAction = "refuse"   // answered 204: the page stands
	VerdictFail     VerdictAction = "fail"     // failed: an error page, or a parked hop
	// VerdictArrive answers the agent's own navigation with an empty page of that address: the engine goes on from there,
	// so that what leaves is same-origin and carries SameSite=Strict cookies, as the owner's own navigation would.
	VerdictArrive VerdictAction = "arrive"
)

// TabOpenParams open a tab in the background, attach and guard it before its first request, and lease it. URL is http,
// https or about:blank. Beside names a leased tab whose window and group it joins.
type TabOpenParams struct {
	URL    string `json:"url"`
	Lease  string `json:"lease"` // the id the host gives the new lease
	Beside TabID  `json:"beside"`
}

// LeaseEndParams end a lease. Close asks to close the tab, which the extension does only with one the agent opened.
type LeaseEndParams struct {
	Tab   TabID `json:"tab"`
	Close bool  `json:"close"`
}

// LeaseEndResult says whether Chrome confirmed the detach.
type LeaseEndResult struct {
	Detached bool `json:"detached"`
}

// LeaseUpdate tells the extension what to show of a lease.
type LeaseUpdate struct {
	Tab    TabID    `json:"tab"`
	Frozen bool     `json:"frozen"` // the guard froze the tab
	Grants []string `json:"grants"` // in plain words, for the popup
}

// Prompt is a question to the owner. All texts are plain and already cleaned; the extension puts them into its sentences.
type Prompt struct {
	ID          string         `json:"id"`
	Tab         TabID          `json:"tab"`
	Kind        PromptKind     `json:"kind"`
	Site        string         `json:"site"`        // for which site, as shown to people
	Destination string         `json:"destination"` // where it would go: an origin
	Method      string         `json:"method"`      // "" when nothing is sent
	Control     string         `json:"control"`     // what the agent would press: `button "Order"`, or ""
	Fields      []string       `json:"fields"`      // names only, never values
	Announced   bool           `json:"announced"`   // the agent had said so before acting
	Choices     []PromptChoice `json:"choices"`
	ExpiresMS   int            `json:"expires_ms"` // from now
}

// PromptKind is what the owner is asked for. The names are those of the capabilities.
type PromptKind string

// The values of PromptKind.
const (
	PromptNavigate PromptKind = "navigate"
	PromptSubmit   PromptKind = "submit"
	PromptRead     PromptKind = "read"
	PromptUpload   PromptKind = "upload"
	PromptDownload PromptKind = "download"
	PromptPublish  PromptKind = "publish"
	PromptScript   PromptKind = "script"
	PromptPopup    PromptKind = "popup"
)

// PromptChoice is an answer the owner may give.
type PromptChoice string

// The values of PromptChoice.
const (
	ChoiceOnce        PromptChoice = "once"
	ChoiceTenMinutes  PromptChoice = "ten_minutes"
	ChoiceWhileShared PromptChoice = "while_shared"
	ChoiceNo          PromptChoice = "no"
)

// PromptRef names a prompt.
type PromptRef struct {
	ID string `json:"id"`
}

// PromptAnswerParams carry the owner's choice; only a real click in the extension's own pages leads here.
type PromptAnswerParams struct {
	ID     string       `json:"id"`
	Choice PromptChoice `json:"choice"`
}

// Row is one row of the record as the extension shows and mirrors it.
type Row struct {
	Seq  int64          `json:"seq"`
	Hash string         `json:"hash"` // hex, of this row
	Row  jsontext.Value `json:"row"`  // the row as it stands in the file
}

// Rows mirror the record into the extension, in order.
type Rows struct {
	File string `json:"file"` // base name
	Rows []Row  `json:"rows"`
}

// Head is the end of one file of the record.
type Head struct {
	File string `json:"file"`
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Mirror is what the extension keeps of the record's heads: all of them after ready, later those that moved.
type Mirror struct {
	Heads []Head `json:"heads"`
}

// Chunk is a piece of a message that is over [MaxFrame]: the pieces of one ID, put together in order, are the message.
type Chunk struct {
	ID   int64  `json:"id"`  // unique per direction
	Seq  int    `json:"seq"` // from 0
	Last bool   `json:"last"`
	Data string `json:"data"`
}
