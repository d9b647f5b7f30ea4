package protocol

// A Method is one row of the table of messages. Params and Result are zero values of their structs; a Result of nil means
// that the result is Chrome's own.
type Method struct {
	Name   string
	From   From
	Kind   Kind // Call or Note
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

// Methods is the table of messages, in the order of PROTOCOL.md.
var Methods = []Method{
	{MethodHello, FromExtension, Call, HelloParams{}, HelloResult{}},
	{MethodProve, FromExtension, Call, ProveParams{}, ReadyResult{}},
	{MethodReconcile, FromExtension, Call, ReconcileParams{}, ReconcileResult{}},
	{MethodApprovalGet, FromExtension, Call, ApprovalGetParams{}, Approval{}},
	{MethodApprovalRefuse, FromExtension, Call, ApprovalRef{}, Empty{}},
	{MethodTabRefused, FromExtension, Note, TabRefused{}, nil},
	{MethodLeaseOffer, FromExtension, Call, LeaseOfferParams{}, LeaseOfferResult{}},
	{MethodLeaseEnded, FromExtension, Note, LeaseEnded{}, nil},
	{MethodTakeover, FromExtension, Note, Takeover{}, nil},
	{MethodHandback, FromExtension, Note, TabRef{}, nil},
	{MethodPromptAnswer, FromExtension, Call, PromptAnswerParams{}, Empty{}},
	{MethodPaused, FromExtension, Note, AgentPausedParams{}, nil},
	{MethodEvent, FromExtension, Note, Event{}, nil},
	{MethodMirror, FromExtension, Note, Mirror{}, nil},

	{MethodSend, FromHost, Call, SendParams{}, nil},
	{MethodVerdict, FromHost, Note, Verdict{}, nil},
	{MethodTabOpen, FromHost, Call, TabOpenParams{}, LeasedTab{}},
	{MethodTabClose, FromHost, Call, TabRef{}, Empty{}},
	{MethodTabBlock, FromHost, Call, TabBlockParams{}, Empty{}},
	{MethodLeaseEnd, FromHost, Call, LeaseEndParams{}, LeaseEndResult{}},
	{MethodLeaseUpdate, FromHost, Note, LeaseUpdate{}, nil},
	{MethodPromptShow, FromHost, Note, Prompt{}, nil},
	{MethodPromptWithdraw, FromHost, Note, PromptRef{}, nil},
	{MethodRows, FromHost, Note, Rows{}, nil},

	{MethodPing, FromBoth, Call, Empty{}, Empty{}},
	{MethodChunk, FromBoth, Note, Chunk{}, nil},
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
