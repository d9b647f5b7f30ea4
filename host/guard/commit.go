package guard

import (
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// A Commit is a document that a frame holds from now on (Page.frameNavigated, or an entry of the frame tree).
type Commit struct {
	Session  string
	Frame    string
	Parent   string // "" is the main frame
	Loader   string
	URL      string
	Origin   string // securityOrigin
	Restored bool   // out of the back/forward cache (type BackForwardCacheRestore)
}

// A Standing is what the guard makes of a committed document.
type Standing string

// The values of Standing.
const (
	OK     Standing = "ok"
	Unread Standing = "unread" // it may stand there, the agent may not read it: not_shared_site
	Frozen Standing = "frozen" // nobody allowed it: navigation_escaped
)

// A Commitment is the guard's word on a commit.
type Commitment struct {
	Standing Standing
	Main     bool
	Code     policy.Code // what reads and acts answer from now on, if this is the main frame
	Act      string      // the act it is attributed to, "" if none
	Gone     []Ticket    // tickets whose document is gone: their prompts are to be withdrawn
	Row      Row
}

// Start tells the frames of the tab when the lease begins, and again when the extension comes back after it was away:
// parents before children. What is there was not paused, so it is judged by its address alone: it is read or unread,
// never frozen. The result is that of the main frame.
func (g *Guard) Start(frames []Commit, now time.Time) Commitment {
	var first Commitment
	for _, c := range frames {
		commitment := g.commit(c, true, now)
		if commitment.Main {
			commitment.Gone = append(first.Gone, commitment.Gone...)
			first = commitment
		} else {
			first.Gone = append(first.Gone, commitment.Gone...)
		}
	}
	g.move(started)
	return first
}

// Committed judges a commit: the second gate.
func (g *Guard) Committed(c Commit, now time.Time) Commitment {
	return g.commit(c, g.state == fresh, now)
}

// commit notes what a frame holds now. There: it was there before the guard could judge its request.
func (g *Guard) commit(c Commit, there bool, now time.Time) Commitment {
	main := c.Session == "" && c.Parent == ""
	before := g.frames[c.Frame]
	if main {
		before = g.front()
	}
	n := g.chains.get(c.Loader)
	d, legible := g.document(c, before)
	if main {
		g.turnPage(before, c)
		g.book.Arrive(d.origin, now)
	}
	g.frames[c.Frame] = d

	driver := g.commitDriver(n, c, now)
	owners := there || driver == policy.ByOwner || driver == policy.ByBrowser // not ours to judge, but to read
	standing := OK
	switch {
	case !owners && !(legible && g.belongs(c, d, before, n, main, now)):
		standing = Frozen
	case main && !g.reads(d, now):
		standing = Unread
	case main:
		g.book.Arrive(d.origin, now) // under a grant that was only now extended to it
	}
	commitment := Commitment{Standing: standing, Main: main, Gone: g.documentChanged(c.Frame, main, d)}
	if standing == Frozen && g.move(escaped) {
		g.book.Clear()
		commitment.Gone = append(commitment.Gone, g.dropTickets(func(*Ticket) bool { return true })...)
	}
	if main || standing == Frozen {
		commitment.Code = g.Reading(now)
	}
	if n != nil && n.act != nil {
		commitment.Act = n.act.ID
	}
	commitment.Row = Row{
		Event:   "commit",
		Frame:   frameWord(main),
		To:      d.origin.String(),
		Driver:  driver,
		Verdict: string(standing),
		Code:    commitment.Code,
		Act:     commitment.Act,
	}
	return commitment
}

// maxShelf is how many pages' frames are kept for the back/forward cache.
const maxShelf = 8

// A page is the frames of a document that may come back out of the back/forward cache: Chrome does not tell them again.
type page struct {
	loader string
	frames map[string]*document
}

// turnPage puts the frames of the page before on the shelf, and takes those of a page that comes back off it.
func (g *Guard) turnPage(before *document, c Commit) {
	delete(g.frames, g.main)
	g.main = c.Frame
	if before.loader == c.Loader {
		return
	}
	g.shelf = append(g.shelf, page{before.loader, g.frames})
	g.frames = map[string]*document{}
	if i := slices.IndexFunc(g.shelf, func(p page) bool { return p.loader == c.Loader }); c.Restored && i >= 0 {
		g.frames = g.shelf[i].frames
		g.shelf = slices.Delete(g.shelf, i, i+1)
	}
	if len(g.shelf) > maxShelf {
		g.shelf = slices.Delete(g.shelf, 0, 1)
	}
}

// document reads what a frame holds now. It is not legible if its address is of a kind no frame may hold, or if the
// origin Chrome reports is another one.
func (g *Guard) document(c Commit, before *document) (d *document, legible bool) {
	d = &document{frame: c.Frame, parent: c.Parent, loader: c.Loader}
	t, err := policy.ParseCommitted(c.URL)
	if err != nil {
		return d, false
	}
	d.kind, d.origin = t.Kind, t.Origin
	reported := policy.ParseHeader(c.Origin)
	switch t.Kind {
	case policy.TargetBlank: // content of whoever made it: Chrome does not say, so its parent, or the page before
		if parent, ok := g.frames[c.Parent]; ok && c.Parent != "" {
			d.origin = parent.origin
		} else if c.Parent == "" {
			d.origin = before.origin
		}
	case policy.TargetWeb, policy.TargetBlob:
		d.opaque = reported.Opaque() && c.Origin != ""
		if !reported.Opaque() && !reported.Same(t.Origin) {
			d.origin = policy.Origin{}
			return d, false
		}
	}
	return d, true
}

// commitDriver is the driver of the navigation that commits; for one that raised no request, whoever drives now.
func (g *Guard) commitDriver(n *chain, c Commit, now time.Time) policy.Driver {
	if n != nil && !c.Restored {
		return n.driver
	}
	return g.attribute(false, true, now)
}

// belongs reports whether a document may stand where it committed.
func (g *Guard) belongs(c Commit, d, before *document, n *chain, main bool, now time.Time) bool {
	switch d.kind {
	case policy.TargetError, policy.TargetBlank:
		return true // Chrome's own page, also before a blocked navigation is sent again; inline content
	case policy.TargetData:
		return !main // Chrome lets no page put one into a tab
	case policy.TargetBlob:
		return g.reads(d, now) || !main
	}
	if n != nil && !c.Restored {
		allowed := n.fate == Allowed && n.main == main && n.to.Same(d.origin)
		return allowed && (!main || g.lives(n, d, now))
	}
	if !main {
		return true // a frame's document is unread until granted, however it came
	}
	if c.Restored {
		_, granted := g.book.Holds(policy.Navigate, d.origin, now)
		return granted || g.book.Stays(before.origin, d.origin, now)
	}
	// No request at all: content the page wrote itself (document.open, a javascript: address) keeps its origin.
	return before.origin.Same(d.origin)
}

// lives reports whether what let a main document load still holds now that it commits.
func (g *Guard) lives(n *chain, d *document, now time.Time) bool {
	switch {
	case g.reads(d, now):
		return true
	case n.grant == 0:
		return n.driver == policy.ByPage // it moved within a site nobody reads
	}
	return g.book.Extend(n.grant, d.origin, now)
}

// Attached tells of a new frame (Page.frameAttached), before it has committed anything: it holds a blank document of its
// parent.
func (g *Guard) Attached(frame, parent string) {
	if _, known := g.frames[frame]; known || frame == g.main {
		return
	}
	d := &document{frame: frame, parent: parent, kind: policy.TargetBlank}
	if p, ok := g.frames[parent]; ok {
		d.origin = p.origin
	}
	g.frames[frame] = d
}

// Detached tells that a frame is gone (Page.frameDetached with reason "remove"; a swap keeps it). It returns the tickets
// that went with it.
func (g *Guard) Detached(frame string) []Ticket {
	if frame == g.main {
		return nil
	}
	delete(g.frames, frame)
	gone := g.dropTickets(func(t *Ticket) bool { return t.Frame == frame })
	for id, d := range g.frames {
		if d.parent == frame {
			gone = append(gone, g.Detached(id)...)
		}
	}
	return gone
}
