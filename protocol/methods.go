package protocol

// A State is how far a connection has come. Each state leads to the next one, and all of them to the end.
type State int

// The states of a connection.
const (
	Opened  State = iota // upgraded; next: Greeted, when hello was answered
	Greeted              // the host has proved itself; next: Proved, when prove was answered
	Proved               // both have; next: Live, when the extension reconciles
	Live                 // until it ends
)

// String gives the name that PROTOCOL.md uses.
func (s State) String() string { return [...]string{"opened", "greeted", "proved", "live"}[s] }

// A Method is one row of the table of messages. Params and Result are zero values of their structs; a Result of nil means
// that there is none, or that it is Chrome's own.
type Method struct {
	Name   string
	From   From
	Kind   Kind // Call or Note
	State  State
	Params any
	Result any
}

// From is who sends a message.
type From int

// The values of From.
const (
	FromExtension From = 1 << iota
	FromHost
	FromBoth = FromExtension | FromHost
)

// String gives the name that PROTOCOL.md uses.
func (f From) String() string { return [...]string{"", "extension", "host", "both"}[f] }

// Allows reports whether the message may come in state s: those that lead to the next state in theirs only, all others in
// theirs and later.
func (m *Method) Allows(s State) bool {
	switch m.Name {
	case MethodHello, MethodProve, MethodReconcile:
		return s == m.State
	}
	return s >= m.State
}

// Methods is the table of messages, in the order of PROTOCOL.md.
var Methods = []Method{
	{MethodHello, FromExtension, Call, Opened, HelloParams{}, HelloResult{}},
	{MethodProve, FromExtension, Call, Greeted, ProveParams{}, ReadyResult{}},
	{MethodReconcile, FromExtension, Call, Proved, ReconcileParams{}, ReconcileResult{}},
	{MethodApprovalGet, FromExtension, Call, Live, ApprovalGetParams{}, Approval{}},
	{MethodApprovalRefuse, FromExtension, Call, Live, ApprovalRef{}, Empty{}},
	{MethodTabRefused, FromExtension, Note, Live, TabRefused{}, nil},
	{MethodLeaseOffer, FromExtension, Call, Live, LeaseOfferParams{}, LeaseOfferResult{}},
	{MethodLeaseEnded, FromExtension, Note, Live, LeaseEnded{}, nil},
	{MethodTakeover, FromExtension, Note, Live, Takeover{}, nil},
	{MethodHandback, FromExtension, Note, Live, TabRef{}, nil},
	{MethodPromptAnswer, FromExtension, Call, Live, PromptAnswerParams{}, Empty{}},
	{MethodEvent, FromExtension, Note, Live, Event{}, nil},
	{MethodMirror, FromExtension, Note, Live, Mirror{}, nil},

	{MethodSend, FromHost, Call, Proved, SendParams{}, nil},
	{MethodVerdict, FromHost, Note, Proved, Verdict{}, nil},
	{MethodTabOpen, FromHost, Call, Proved, TabOpenParams{}, LeasedTab{}},
	{MethodTabClose, FromHost, Call, Proved, TabRef{}, Empty{}},
	{MethodLeaseEnd, FromHost, Call, Proved, LeaseEndParams{}, LeaseEndResult{}},
	{MethodLeaseUpdate, FromHost, Note, Proved, LeaseUpdate{}, nil},
	{MethodPromptShow, FromHost, Note, Proved, Prompt{}, nil},
	{MethodPromptWithdraw, FromHost, Note, Proved, PromptRef{}, nil},
	{MethodRows, FromHost, Note, Proved, Rows{}, nil},

	{MethodPaused, FromBoth, Note, Proved, AgentPausedParams{}, nil},
	{MethodPing, FromBoth, Call, Proved, Empty{}, Empty{}},
	{MethodChunk, FromBoth, Note, Proved, Chunk{}, nil},
}

// LookupMethod returns the row of a method.
func LookupMethod(name string) (Method, bool) {
	for _, m := range Methods {
		if m.Name == name {
			return m, true
		}
	}
	return Method{}, false
}
