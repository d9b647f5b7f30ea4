package browser

import (
	"strings"
)

// A phase is how far one navigation has come.
type phase string

const (
	requested phase = "requested" // a page asked for it; Chrome may still drop it
	started   phase = "started"   // it has a loader
	arrived   phase = "arrived"   // its document has committed
	ready     phase = "ready"     // … and has been parsed
	over      phase = "over"      // it brought no document
)

// A move is the last navigation of one frame since the act began.
type move struct {
	frame   string
	loader  string
	url     string
	phase   phase
	fate    NavigationFate
	status  int
	mime    string
	err     string
	reached LoadState
}

// A settling is what is known of an act's consequences. It is pure: observe and note are its only updates. Navigations
// of the main frame and of the act's own frame count as such; documents of other frames are requests like any other.
type settling struct {
	main, frame string // the main frame, and the one the act is in
	moves       map[string]*move
	requests    map[string]string // that are open: id → frame
	counting    bool              // requests belong to the act from here on
	dialogs     int               // that opened and have no answer yet
	crashed     bool
}

func newSettling(main, frame string) settling {
	return settling{main: main, frame: frame, moves: map[string]*move{}, requests: map[string]string{}}
}

func (s *settling) concerns(frame string) bool { return frame == s.main || frame == s.frame }

// counted names the types of requests whose end is waited for: what scripts fetch and what they load to go on. Pictures,
// media and streams are not, and nothing ever ends for some of them.
var counted = map[string]bool{"XHR": true, "Fetch": true, "Script": true, "Stylesheet": true, "Document": true}

// observe takes one event of the tab.
func (s *settling) observe(session string, e any) {
	switch e := e.(type) {
	case requestedNavigation:
		if e.Disposition == "currentTab" && s.concerns(e.Frame) && loads(e.URL) && !s.moving(e.Frame) {
			s.moves[e.Frame] = &move{frame: e.Frame, url: e.URL, phase: requested}
		}
	case startedNavigating:
		if e.Type != "sameDocument" && e.Type != "historySameDocument" {
			s.begin(e.Frame, e.Loader, e.URL)
		}
	case requestPaused:
		s.begin(e.Frame, e.Loader, e.Request.URL)
	case requestSent:
		s.sent(e)
	case responseReceived:
		if m := s.byLoader(e.Request); m != nil {
			m.status, m.mime = e.Response.Status, e.Response.MimeType
		}
	case loadingFinished:
		delete(s.requests, e.Request)
	case loadingFailed:
		s.failed(e)
	case frameNavigated:
		s.navigated(e)
	case navigatedWithin:
		if s.concerns(e.Frame) && !s.moving(e.Frame) {
			s.moves[e.Frame] = &move{frame: e.Frame, url: e.URL, phase: over, fate: SameDocument}
		}
	case lifecycle:
		s.lived(e)
	case frameDetached:
		if e.Reason != "swap" {
			s.end(e.Frame, Abandoned)
			for id, frame := range s.requests {
				if frame == e.Frame {
					delete(s.requests, id)
				}
			}
		}
	case downloadBegins:
		s.end(e.Frame, Abandoned)
	case targetCrashed:
		s.crashed = s.crashed || session == ""
	}
}

// loads tells whether an address can bring a document.
func loads(address string) bool {
	for _, scheme := range []string{"http:", "https:", "about:", "blob:", "file:", "data:"} {
		if strings.HasPrefix(address, scheme) {
			return true
		}
	}
	return false
}

// moving tells whether a navigation of the frame is on its way.
func (s *settling) moving(frame string) bool {
	m := s.moves[frame]
	return m != nil && m.phase == started
}

func (s *settling) byLoader(loader string) *move {
	for _, m := range s.moves {
		if loader != "" && m.loader == loader {
			return m
		}
	}
	return nil
}

// begin: a navigation of the frame has a loader. Its redirects keep it.
func (s *settling) begin(frame, loader, url string) {
	if !s.concerns(frame) || loader == "" {
		return
	}
	if m := s.moves[frame]; m != nil && m.loader == loader {
		m.url = url
		return
	}
	s.moves[frame] = &move{frame: frame, loader: loader, url: url, phase: started}
}

func (s *settling) sent(e requestSent) {
	if e.Type == "Document" && e.Request == e.Loader && s.concerns(e.Frame) {
		s.begin(e.Frame, e.Loader, e.What.URL)
		return
	}
	if s.counting && counted[e.Type] {
		s.requests[e.Request] = e.Frame
	}
}

func (s *settling) failed(e loadingFailed) {
	delete(s.requests, e.Request)
	m := s.byLoader(e.Request)
	if m == nil || m.phase != started {
		return
	}
	m.err = e.Error
	if e.Error == "net::ERR_ABORTED" { // no document comes: 204, a download, stopped; all else commits an error page
		m.phase, m.fate = over, Abandoned
	}
}

func (s *settling) navigated(e frameNavigated) {
	for id, frame := range s.requests { // the page that asked for them is gone
		if frame == e.Frame.ID {
			delete(s.requests, id)
		}
	}
	if !s.concerns(e.Frame.ID) {
		return
	}
	m := s.moves[e.Frame.ID]
	if m == nil || m.loader != e.Frame.Loader {
		m = &move{frame: e.Frame.ID, loader: e.Frame.Loader}
		s.moves[e.Frame.ID] = m
	}
	m.url, m.phase, m.fate, m.reached = e.Frame.URL+e.Frame.Fragment, arrived, Committed, Commit
	if m.mime == "" {
		m.mime = e.Frame.MimeType
	}
	switch {
	case e.Frame.Unreachable != "":
		m.url, m.phase, m.fate = e.Frame.Unreachable, over, Abandoned
	case e.Type == "BackForwardCacheRestore":
		m.phase, m.reached = ready, NetworkIdle
	}
}

func (s *settling) lived(e lifecycle) {
	m := s.moves[e.Frame]
	if m == nil || m.loader != e.Loader || m.phase == over {
		return
	}
	switch e.Name {
	case "DOMContentLoaded":
		m.phase, m.reached = ready, further(m.reached, DOMContentLoaded)
	case "load":
		m.phase, m.reached = ready, further(m.reached, Load)
	case "networkIdle":
		m.reached = further(m.reached, NetworkIdle)
	}
}

// end: the navigation on its way in a frame brings no document.
func (s *settling) end(frame string, fate NavigationFate) {
	if m := s.moves[frame]; m != nil && (m.phase == requested || m.phase == started) {
		m.phase, m.fate = over, fate
	}
}

// asked: a dialog opened that nobody answers for now.
func (s *settling) asked() { s.dialogs++ }

// note takes what the guard decided about a request of the frame.
func (s *settling) note(frame string, fate NavigationFate, url string) {
	if frame == "" {
		frame = s.main
	}
	m := s.moves[frame]
	if m == nil {
		m = &move{frame: frame, url: url}
		s.moves[frame] = m
	}
	m.phase, m.fate = over, fate
	if url != "" {
		m.url = url
	}
}

// forget drops what is known of a loader: the empty page an agent's navigation passes through.
func (s *settling) forget(loader string) {
	if m := s.byLoader(loader); m != nil {
		delete(s.moves, m.frame)
	}
}

// last is the navigation to tell of: the main frame's before the act's own frame's.
func (s *settling) last() *move {
	if m := s.moves[s.main]; m != nil {
		return m
	}
	return s.moves[s.frame]
}

// A stage is what an act has to wait for next.
type stage string

const (
	still     stage = "still"     // nothing is known to be going on
	asking    stage = "asking"    // a navigation was asked for and has not started
	moving    stage = "moving"    // a navigation is on its way, or its document not far enough
	fetching  stage = "fetching"  // requests are open
	settled   stage = "settled"   // a navigation has come to its end
	cut       stage = "cut"       // a dialog, a crash: nothing more can be waited for
	expecting stage = "expecting" // a navigation was commanded and nothing is seen of it
)

// stage tells where things stand, when documents are waited for until they have reached until, and commanded says that a
// navigation must come.
func (s *settling) stage(until LoadState, commanded bool) stage {
	switch {
	case s.crashed || s.dialogs > 0:
		return cut
	}
	if until == "" {
		until = DOMContentLoaded
	}
	found := still
	for _, m := range s.moves {
		switch m.phase {
		case requested:
			if found != moving {
				found = asking
			}
		case started:
			found = moving
		case arrived, ready:
			if further(m.reached, until) == m.reached {
				if found == still {
					found = settled
				}
			} else {
				found = moving
			}
		case over:
			if found == still && (commanded || m.fate != SameDocument) {
				found = settled
			}
		}
	}
	switch {
	case found != still:
	case commanded:
		return expecting
	case len(s.requests) > 0:
		return fetching
	}
	return found
}

var loadOrder = map[LoadState]int{"": 0, Commit: 1, DOMContentLoaded: 2, Load: 3, NetworkIdle: 4}

// further gives the later of two load states.
func further(a, b LoadState) LoadState {
	if loadOrder[b] > loadOrder[a] {
		return b
	}
	return a
}
