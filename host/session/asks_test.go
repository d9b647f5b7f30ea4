package session

import (
	"testing"
	"time"
)

func TestAsksAreCountedAndForgotten(t *testing.T) {
	now := time.Now()
	a := asks{}
	take := func(frame string, want bool) {
		t.Helper()
		if got := a.take(frame, now); got != want {
			t.Errorf("%s: asked %v, want %v", frame, got, want)
		}
	}
	take("main", false)
	a.add("main", now)
	a.add("main", now)
	take("frame", false)
	take("main", true) // the page asks twice before either request comes
	take("main", true)
	take("main", false)

	a.add("main", now)
	now = now.Add(askLife)
	take("main", true)
	a.add("main", now)
	now = now.Add(askLife + 1)
	a.add("main", now) // the one before never made a request
	take("main", true)
	take("main", false)
	a.add("main", now)
	now = now.Add(askLife + 1)
	take("main", false)
	if len(a) > 0 {
		t.Errorf("%d frames are kept for nothing", len(a))
	}
}
