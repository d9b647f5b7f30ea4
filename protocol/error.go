package protocol

import (
	"errors"
	"fmt"
)

// Code is a short stable name of what went wrong. Codes cross the link, stand in tool results and in PROTOCOL.md; they
// are never renamed.
type Code string

// A CodeInfo is one row of the code table.
type CodeInfo struct {
	Code    Code
	Meaning string // one sentence, for PROTOCOL.md and for people
	Hint    string // the next move of whoever can act on it, or ""
	Retry   bool   // the same call may be repeated as it is
}

// Codes is the one table of codes, in the order of PROTOCOL.md. [Lookup] finds a row.
var Codes = []CodeInfo{
	// The link.
	{BadMessage, "A frame that is not a message of this protocol.", "", false},
	{AuthFailed, "The proof of the pairing did not verify.", "Pair this profile again: run `tabvalet pair`.", false},
	{NotPermitted, "The peer asked for something it may never have.", "", false},
	{Superseded, "Another connection of this profile is alive.", "", false},
	{Rotated, "The pairing key was replaced.", "Open the popup and press Renew pairing.", false},
	{VersionUnsupported, "No common protocol version.", "Run `tabvalet setup` and reload the extension.", false},
	{RateLimited, "Too many connections that did not prove themselves.", "", true},
	{ShuttingDown, "The host is ending.", "", false},
	{TooLarge, "A message is over its limit.", "Ask for less: a target, a depth or a smaller window.", false},
	{UnknownMethod, "The peer does not know this method.", "", false},
	{BadParams, "The parameters are not those of the method.", "", false},
	{MethodNotAllowed, "This CDP method, or one of its parameters, is not on the list.", "", false},
	{Busy, "Too many calls are in flight.", "Wait for the calls in flight, then repeat.", true},
	{Internal, "A defect of ours.", "Report it with the log.", false},
	{ChromeError, "Chrome answered the command with an error.", "", false},

	// Pairing.
	{NotPaired, "This machine has no pairing that can be used.", "The owner runs `tabvalet pair` and presses Pair this profile in the extension's popup.", false},
	{PairingClosed, "No pairing window is open.", "Run `tabvalet pair` in a terminal, then press the button again within 120 seconds.", true},
	{PairingCode, "The manual pairing code is mistyped, used or too old.", "Run `tabvalet pair --manual` for a new code.", false},
	{PairingPerms, "The pairing file can be read or written by others.", "Check who touched it, then `chmod 600` it, or run `tabvalet recover --confirm`.", false},
	{PairingOwner, "The pairing file belongs to another user.", "Run `tabvalet recover --confirm` after you know why.", false},
	{PairingSymlink, "The pairing file is a symbolic link.", "Run `tabvalet recover --confirm` after you know why.", false},
	{PairingNotRegular, "The pairing file is not a regular file.", "Run `tabvalet recover --confirm` after you know why.", false},
	{PairingHardlink, "The pairing file has a second name.", "Run `tabvalet recover --confirm` after you know why.", false},
	{PairingSize, "The pairing file is empty or too large.", "Run `tabvalet recover --confirm`, then pair again.", false},
	{PairingJSON, "The pairing file is not strict JSON.", "Run `tabvalet recover --confirm`, then pair again.", false},
	{PairingSchema, "The pairing file has a field that is missing, unknown or malformed.", "Run `tabvalet recover --confirm`, then pair again.", false},
	{PairingNewer, "The pairing file was written by a newer version.", "Update tabvalet; the file was left alone.", false},
	{PairingDirPerms, "The folder of the pairing file can be written by others.", "`chmod 700` the folder.", false},
	{ProfileUnknown, "No paired profile has that name.", "Run `tabvalet status` to see the names.", false},

	// Approval and leases.
	{ApprovalPending, "The owner has not answered yet.", "Repeat the same call; it goes on where it stands.", true},
	{ApprovalRefused, "The owner said no.", "Do not ask again unless the user of this conversation says so.", false},
	{ApprovalExpired, "The approval link is too old.", "Call browser_connect for a new one.", false},
	{ApprovalUsed, "The approval link was used already.", "Call browser_connect for a new one if there is no lease.", false},
	{ApprovalUnknown, "No such approval.", "Call browser_connect for a new one.", false},
	{AttachRefused, "Chrome refuses the debugger on this tab.", "The owner can choose another tab.", false},
	{NotLeased, "This tab is not lent to this host.", "", false},
	{NotConnected, "No tab is lent.", "Call browser_connect and give the owner the link.", false},
	{SessionNotFound, "No tab of this session has that name.", "Call browser_tabs to list them.", false},
	{InvalidTransition, "That cannot be done in the present state.", "Call browser_state to see it.", false},
	{Unavailable, "The host cannot serve now.", "Call browser_state to see why.", true},
	{TransportLost, "The connection to the extension broke during the call.", "Call browser_state; nothing was repeated.", false},
	{TabChanged, "The tab or its document changed while the call waited; nothing was done.", "Read the page again.", true},
	{PageClosed, "The tab was closed or taken back.", "Call browser_tabs to list what is left.", false},

	// The owner and the guard.
	{OwnerHasControl, "The owner is driving this tab.", "Reads go on; act again after the owner hands back.", true},
	{OwnerIsActing, "The owner is using this tab right now.", "Repeat in a moment.", true},
	{OwnerPrivate, "The owner is driving in private.", "Wait until the owner hands back.", true},
	{AgentPaused, "The owner paused this agent.", "Wait until the owner resumes it.", true},
	{BlockedByPolicy, "No grant covers this, or the owner said no.", "Work without it, or tell the user what was refused.", false},
	{WouldSubmit, "The act would send a form and did not say so; nothing was done.", "Repeat it with submits: true if sending is intended.", false},
	{AllowedRepeatNeeded, "The owner allowed it, but the page changed since.", "Read the page and act again if it is still right.", false},
	{NavigationEscaped, "The tab holds a document nobody allowed.", "The owner decides; open another tab or ask them.", false},
	{NotSharedSite, "The owner took the tab to a site that is not shared.", "Ask the owner to share it or to go back.", false},
	{SchemeRefused, "Addresses of this kind are never opened.", "Use an http or https address.", false},
	{ConsentUnavailable, "There is nobody to ask.", "Work without it.", false},
	{ReadOnly, "This lease may read only.", "Ask the owner to share the tab again with acting allowed.", false},
	{NavigationFailed, "The address could not be loaded.", "Check the address; see the reason.", false},
	{AuditUnavailable, "The record cannot be written, so nothing may be done.", "The owner checks disk and permissions of the record.", true},

	// Targets and input.
	{BadArgument, "An argument is missing, unknown or of the wrong kind.", "See the tool's arguments.", false},
	{NotFound, "Nothing matches the target.", "Take a snapshot and use a ref from it.", false},
	{Ambiguous, "More than one element matches the target.", "Use one of the refs, or nth.", false},
	{StaleRef, "The ref belongs to an element or page that is gone.", "Take a new snapshot.", false},
	{Hidden, "The element is not visible.", "Something else may have to be opened first.", false},
	{Disabled, "The element is disabled.", "Fill in what it waits for first.", false},
	{Covered, "Another element would receive the click.", "Deal with what covers it first.", false},
	{Moving, "The element does not keep still.", "Repeat in a moment.", true},
	{NotEditable, "The element takes no text.", "Choose the field itself.", false},
	{DropRefused, "Nothing took what was dropped.", "The page does not let it be dropped there.", false},
	{Outside, "The element cannot be scrolled into view.", "Scroll its container.", false},
	{DialogOpen, "A dialog of the page is open.", "Answer it with browser_handle_dialog.", false},
	{Timeout, "It was not done in time.", "See the outcome before repeating.", false},
	{ScriptError, "The script failed.", "See the line it names.", false},
}

// The codes. Their meaning stands in [Codes].
const (
	BadMessage         Code = "bad_message"
	AuthFailed         Code = "auth_failed"
	NotPermitted       Code = "not_permitted"
	Superseded         Code = "superseded"
	Rotated            Code = "rotated"
	VersionUnsupported Code = "version_unsupported"
	RateLimited        Code = "rate_limited"
	ShuttingDown       Code = "shutting_down"
	TooLarge           Code = "too_large"
	UnknownMethod      Code = "unknown_method"
	BadParams          Code = "bad_params"
	MethodNotAllowed   Code = "method_not_allowed"
	Busy               Code = "busy"
	Internal           Code = "internal"
	ChromeError        Code = "chrome_error"

	NotPaired         Code = "not_paired"
	PairingClosed     Code = "pairing_closed"
	PairingCode       Code = "pairing_code"
	PairingPerms      Code = "pairing_perms"
	PairingOwner      Code = "pairing_owner"
	PairingSymlink    Code = "pairing_symlink"
	PairingNotRegular Code = "pairing_not_regular"
	PairingHardlink   Code = "pairing_hardlink"
	PairingSize       Code = "pairing_size"
	PairingJSON       Code = "pairing_json"
	PairingSchema     Code = "pairing_schema"
	PairingNewer      Code = "pairing_newer"
	PairingDirPerms   Code = "pairing_dir_perms"
	ProfileUnknown    Code = "profile_unknown"

	ApprovalPending   Code = "approval_pending"
	ApprovalRefused   Code = "approval_refused"
	ApprovalExpired   Code = "approval_expired"
	ApprovalUsed      Code = "approval_used"
	ApprovalUnknown   Code = "approval_unknown"
	AttachRefused     Code = "attach_refused"
	NotLeased         Code = "not_leased"
	NotConnected      Code = "not_connected"
	SessionNotFound   Code = "session_not_found"
	InvalidTransition Code = "invalid_transition"
	Unavailable       Code = "unavailable"
	TransportLost     Code = "transport_lost"
	TabChanged        Code = "tab_changed"
	PageClosed        Code = "page_closed"

	OwnerHasControl     Code = "owner_has_control"
	OwnerIsActing       Code = "owner_is_acting"
	OwnerPrivate        Code = "owner_private"
	AgentPaused         Code = "agent_paused"
	BlockedByPolicy     Code = "blocked_by_policy"
	WouldSubmit         Code = "would_submit"
	AllowedRepeatNeeded Code = "allowed_repeat_needed"
	NavigationEscaped   Code = "navigation_escaped"
	NotSharedSite       Code = "not_shared_site"
	SchemeRefused       Code = "scheme_refused"
	ConsentUnavailable  Code = "consent_unavailable"
	ReadOnly            Code = "read_only"
	NavigationFailed    Code = "navigation_failed"
	AuditUnavailable    Code = "audit_unavailable"

	BadArgument Code = "bad_argument"
	NotFound    Code = "not_found"
	Ambiguous   Code = "ambiguous"
	StaleRef    Code = "stale_ref"
	Hidden      Code = "hidden"
	Disabled    Code = "disabled"
	Covered     Code = "covered"
	Moving      Code = "moving"
	NotEditable Code = "not_editable"
	Outside     Code = "outside"
	DialogOpen  Code = "dialog_open"
	Timeout     Code = "timeout"
	DropRefused Code = "drop_refused"
	ScriptError Code = "script_error"
)

// Lookup returns the row of a code; an unknown code gives a row with nothing but the code.
func Lookup(c Code) CodeInfo {
	for _, info := range Codes {
		if info.Code == c {
			return info
		}
	}
	return CodeInfo{Code: c}
}

// An Error is what crosses the link, and what every package of ours gives to a caller that can act on it.
type Error struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data,omitzero"`
}

// Errorf makes an Error. %w is honoured for the text only: what crosses a link carries no Go values.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Errorf(format, args...).Error()}
}

// With returns a copy of e with one more entry in Data.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Data = make(map[string]any, len(e.Data)+1)
	for k, v := range e.Data {
		c.Data[k] = v
	}
	c.Data[key] = value
	return &c
}

// Hint is the next move: the entry "hint" of Data if there is one, else the table's.
func (e *Error) Hint() string {
	if h, ok := e.Data["hint"].(string); ok {
		return h
	}
	return Lookup(e.Code).Hint
}

// Error gives "code: message".
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is reports whether target is an *Error of the same code, so that errors.Is(err, protocol.Errorf(code, "")) works on
// both ends of a link.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of the first *Error in err's tree, or of an error that says its code by a method ErrorCode (as
// those of host/store do, which imports nothing of ours); "" for nil, and Internal for any other error.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if e, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err); ok {
		return Code(e.ErrorCode())
	}
	return Internal
}

// A CloseCode is a WebSocket close code of the link. The reason of a close frame is the code's name.
type CloseCode int

// The values of CloseCode.
const (
	CloseTooLarge           CloseCode = 1009
	CloseBadMessage         CloseCode = 4400
	CloseAuthFailed         CloseCode = 4401
	CloseNotPermitted       CloseCode = 4403
	CloseTimeout            CloseCode = 4408
	CloseSuperseded         CloseCode = 4409
	CloseRotated            CloseCode = 4410
	CloseVersionUnsupported CloseCode = 4426
	CloseRateLimited        CloseCode = 4429
	CloseShuttingDown       CloseCode = 4503
)

// CloseCodes maps each close code to the code it stands for.
var CloseCodes = map[CloseCode]Code{
	CloseTooLarge:           TooLarge,
	CloseBadMessage:         BadMessage,
	CloseAuthFailed:         AuthFailed,
	CloseNotPermitted:       NotPermitted,
	CloseTimeout:            Timeout,
	CloseSuperseded:         Superseded,
	CloseRotated:            Rotated,
	CloseVersionUnsupported: VersionUnsupported,
	CloseRateLimited:        RateLimited,
	CloseShuttingDown:       ShuttingDown,
}
