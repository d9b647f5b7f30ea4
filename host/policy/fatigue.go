package policy

import "time"

// Fatigue counts an owner's refusals, so that an agent who keeps asking for the same kind of thing is paused. One serves
// all tabs of a host. The zero Fatigue is ready.
type Fatigue struct {
	refused map[Capability][]time.Time
}

// Refused tells of a no to a question about c and reports whether the agent is to be paused now. A pause starts the
// count anew.
func (f *Fatigue) Refused(c Capability, now time.Time) bool {
	if f.refused == nil {
		f.refused = map[Capability][]time.Time{}
	}
	recent := []time.Time{now}
	for _, t := range f.refused[c] {
		if now.Sub(t) < FatigueWindow {
			recent = append(recent, t)
		}
	}
	if len(recent) >= FatigueLimit {
		delete(f.refused, c)
		return true
	}
	f.refused[c] = recent
	return false
}
