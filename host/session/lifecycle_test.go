package session

import (
	"testing"

	"github.com/tabvalet/tabvalet/protocol"
)

func TestEveryPhaseAndEvent(t *testing.T) {
	states := []Phase{PhasePending, PhaseStarting, PhaseReady, PhaseStopping, PhaseFailed, PhaseClosed}
	events := []PhaseEvent{HostStarts, HostServes, HostFails, HostStops, HostEnds}
	// One row a state, one column an event; "" is no transition.
	want := [][]Phase{
		{PhaseStarting, "", PhaseFailed, PhaseStopping, PhaseClosed},
		{"", PhaseReady, PhaseFailed, PhaseStopping, ""},
		{"", "", PhaseFailed, PhaseStopping, ""},
		{"", "", "", PhaseStopping, PhaseClosed},
		{"", "", PhaseFailed, PhaseStopping, ""},
		{"", "", "", PhaseClosed, PhaseClosed},
	}
	for i, s := range states {
		for j, e := range events {
			got, err := s.Next(e)
			expect := want[i][j]
			if expect == "" {
				expect = s
			}
			if got != expect || (want[i][j] == "") != (protocol.CodeOf(err) == protocol.InvalidTransition) {
				t.Errorf("%s × %s = %s, %v; want %q", s, e, got, err, want[i][j])
			}
		}
	}
}

func TestEveryLeaseStateAndEvent(t *testing.T) {
	states := []LeaseState{LeaseReady, LeaseActive, LeaseSuspended, LeaseFrozen, LeaseEnded}
	events := []LeaseEvent{ActBegins, ActEnds, OwnerTakes, OwnerReturns, Escapes, Ends}
	want := [][]LeaseState{
		{LeaseActive, "", LeaseSuspended, LeaseReady, LeaseFrozen, LeaseEnded},
		{"", LeaseReady, LeaseSuspended, "", LeaseFrozen, LeaseEnded},
		{"", LeaseSuspended, LeaseSuspended, LeaseReady, LeaseSuspended, LeaseEnded},
		{"", LeaseFrozen, LeaseSuspended, "", LeaseFrozen, LeaseEnded},
		{"", LeaseEnded, "", "", "", LeaseEnded},
	}
	codes := map[LeaseState]protocol.Code{
		LeaseReady: protocol.InvalidTransition, LeaseActive: protocol.InvalidTransition, LeaseSuspended: protocol.OwnerHasControl,
		LeaseFrozen: protocol.NavigationEscaped, LeaseEnded: protocol.PageClosed,
	}
	for i, s := range states {
		for j, e := range events {
			got, err := s.Next(e)
			expect, code := want[i][j], protocol.Code("")
			if expect == "" {
				expect, code = s, codes[s]
			}
			if got != expect || protocol.CodeOf(err) != code {
				t.Errorf("%s × %s = %s, %v; want %q %q", s, e, got, err, expect, code)
			}
		}
	}
}
