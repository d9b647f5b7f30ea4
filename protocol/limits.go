package protocol

import "time"

// Version is the only protocol version so far.
const Version = 1

// Names that stand on both sides.
const (
	Label       = "tabvalet/1"       // first field of every proof
	Subprotocol = "tabvalet.1"       // Sec-WebSocket-Protocol
	LinkPath    = "/tabvalet/1"      // the only path that upgrades
	ApprovePath = "/approve/"        // approval links: ApprovePath + token
	NativeName  = "io.tabvalet.host" // native-messaging host
	ProductName = "Tab Valet"        //
)

// Limits of the link.
const (
	MaxHandshakeFrame = 4 << 10
	MaxFrame          = 1 << 20
	MaxMessage        = 64 << 20
	MaxDepth          = 64
	MaxInFlight       = 64
	MaxUnproved       = 8
	MaxNativeFrame    = 4 << 10

	HeaderTimeout    = 2 * time.Second
	HandshakeTimeout = 3 * time.Second // per step
	Heartbeat        = 15 * time.Second
	DeadAfter        = 35 * time.Second // a peer that missed two heartbeats
	ProbeTimeout     = 2 * time.Second
	VerdictTimeout   = 2500 * time.Millisecond
	StopLimit        = 50 * time.Millisecond

	ReconnectMin = 250 * time.Millisecond
	ReconnectMax = 10 * time.Second

	PairingWindow = 120 * time.Second
	ApprovalLife  = 15 * time.Minute
)
