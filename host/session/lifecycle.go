package session

import "github.com/tabvalet/tabvalet/protocol"

// A Phase is where the host as a whole stands.
type Phase string

// The phases, with their successors.
const (
	PhasePending  Phase = "pending"  // made, nothing listens → starting, failed, closed
	PhaseStarting Phase = "starting" // the link's port is being opened → ready, failed, stopping
	PhaseReady    Phase = "ready"    // calls are served → stopping, failed
	PhaseStopping Phase = "stopping" // leases are being ended → closed
	PhaseFailed   Phase = "failed"   // the link cannot listen; tools answer unavailable → stopping
	PhaseClosed   Phase = "closed"   // nothing left; no successor
)

// A PhaseEvent moves a [Phase].
type PhaseEvent string

// The events of a host.
const (
	HostStarts PhaseEvent = "starts"
	HostServes PhaseEvent = "serves"
	HostFails  PhaseEvent = "fails"
	HostStops  PhaseEvent = "stops"
	HostEnds   PhaseEvent = "ends"
)

var phases = map[Phase]map[PhaseEvent]Phase{
	PhasePending:  {HostStarts: PhaseStarting, HostFails: PhaseFailed, HostStops: PhaseStopping, HostEnds: PhaseClosed},
	PhaseStarting: {HostServes: PhaseReady, HostFails: PhaseFailed, HostStops: PhaseStopping},
	PhaseReady:    {HostFails: PhaseFailed, HostStops: PhaseStopping},
	PhaseStopping: {HostStops: PhaseStopping, HostEnds: PhaseClosed},
	PhaseFailed:   {HostFails: PhaseFailed, HostStops: PhaseStopping},
	PhaseClosed:   {HostStops: PhaseClosed, HostEnds: PhaseClosed},
}

// Next is the one update function of a host's phase; invalid_transition leaves p as it is.
func (p Phase) Next(e PhaseEvent) (Phase, error) {
	if next, ok := phases[p][e]; ok {
		return next, nil
	}
	return p, protocol.Errorf(protocol.InvalidTransition, "a host that is %s cannot take %q", p, e)
}

// A LeaseState is where one lent tab stands.
type LeaseState string

// The states of a lease, with their successors. A read moves none of them.
const (
	LeaseReady     LeaseState = "ready"     // waits for a call → active, suspended, frozen, ended
	LeaseActive    LeaseState = "active"    // one act is under way → ready, suspended, frozen, ended
	LeaseSuspended LeaseState = "suspended" // the owner drives; only the owner leaves it → ready, ended
	LeaseFrozen    LeaseState = "frozen"    // holds a document nobody allowed → suspended, ended
	LeaseEnded     LeaseState = "ended"     // no successor
)

// A LeaseEvent moves a [LeaseState].
type LeaseEvent string

// The events of a lease.
const (
	ActBegins    LeaseEvent = "act_begins"
	ActEnds      LeaseEvent = "act_ends"
	OwnerTakes   LeaseEvent = "owner_takes"
	OwnerReturns LeaseEvent = "owner_returns"
	Escapes      LeaseEvent = "escapes" // a document was committed without a verdict
	Ends         LeaseEvent = "ends"
)

// While the owner drives nothing is frozen: what is there then is judged when they hand back. An act that was under way
// ends in whatever state the tab has come to meanwhile.
var leaseStates = map[LeaseState]map[LeaseEvent]LeaseState{
	LeaseReady: {ActBegins: LeaseActive, OwnerTakes: LeaseSuspended, OwnerReturns: LeaseReady, Escapes: LeaseFrozen,
		Ends: LeaseEnded},
	LeaseActive: {ActEnds: LeaseReady, OwnerTakes: LeaseSuspended, Escapes: LeaseFrozen, Ends: LeaseEnded},
	LeaseSuspended: {ActEnds: LeaseSuspended, OwnerTakes: LeaseSuspended, OwnerReturns: LeaseReady,
		Escapes: LeaseSuspended, Ends: LeaseEnded},
	LeaseFrozen: {ActEnds: LeaseFrozen, OwnerTakes: LeaseSuspended, Escapes: LeaseFrozen, Ends: LeaseEnded},
	LeaseEnded:  {ActEnds: LeaseEnded, Ends: LeaseEnded},
}

// Next is the one update function of a lease's state. What cannot be leaves s as it is and says why in the code that
// the agent gets.
func (s LeaseState) Next(e LeaseEvent) (LeaseState, error) {
	if next, ok := leaseStates[s][e]; ok {
		return next, nil
	}
	switch s {
	case LeaseSuspended:
		return s, protocol.Errorf(protocol.OwnerHasControl, "the owner is driving this tab")
	case LeaseFrozen:
		return s, protocol.Errorf(protocol.NavigationEscaped, "the tab holds a document nobody allowed")
	case LeaseEnded:
		return s, protocol.Errorf(protocol.PageClosed, "this tab is not lent any more")
	}
	return s, protocol.Errorf(protocol.InvalidTransition, "a lease that is %s cannot take %q", s, e)
}
