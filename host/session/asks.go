package session

import "time"

// askLife is how long after a page asked for a navigation its request may come. What never made one, because the page
// thought better of it, must not pass for the reason of what the owner does later.
const askLife = 5 * time.Second

// asks counts, by frame, the navigations that pages asked for (Page.frameRequestedNavigation) and whose requests did not
// come yet. A page that asks twice in a row makes two requests, or one.
type asks map[string]ask

type ask struct {
	open int
	last time.Time
}

func (a asks) add(frame string, now time.Time) {
	open := a[frame].open + 1
	if now.Sub(a[frame].last) > askLife {
		open = 1
	}
	a[frame] = ask{open, now}
}

// take reports whether the page asked for the request that has come for frame, and counts it.
func (a asks) take(frame string, now time.Time) bool {
	k := a[frame]
	if k.open == 0 {
		return false
	}
	k.open--
	a[frame] = k
	if k.open == 0 {
		delete(a, frame)
	}
	return now.Sub(k.last) <= askLife
}
