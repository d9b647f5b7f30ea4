package browser

import (
	"net/url"
	"slices"
	"strings"
)

// frames is the frame tree of a tab, its child sessions included. It is pure: every method is one step, and what ended
// by it stands in ended until it is taken.
type frames struct {
	main  string
	nodes map[string]*node
	seq   int
	ended []*document
}

// A node is one frame. A frame that moves to another process keeps its id and changes its session.
type node struct {
	id       string
	parent   string
	session  string
	children []string
	doc      *document
}

// A document is one document of one frame; engine belongs to engine.go, and idle to waiting.
type document struct {
	Document
	session     string
	unreachable bool // Chrome's own error page
	idle        bool // networkIdle was seen
	engine      *engine
	making      chan struct{} // closed when an attempt to make engine has ended
	gone        bool
}

func newFrames() frames { return frames{nodes: map[string]*node{}} }

// top is the main frame, or nil before it is known.
func (f *frames) top() *node { return f.nodes[f.main] }

// node finds or makes a frame.
func (f *frames) node(id, parent, session string) *node {
	n := f.nodes[id]
	if n == nil {
		n = &node{id: id, session: session}
		f.nodes[id] = n
		for _, child := range f.nodes { // its session was told of first
			if child.parent == id {
				n.children = append(n.children, child.id)
			}
		}
		slices.Sort(n.children)
	}
	if n.parent == "" && parent != "" && parent != id {
		n.parent = parent
	}
	if p := f.nodes[n.parent]; p != nil && !slices.Contains(p.children, id) {
		p.children = append(p.children, id)
	}
	return n
}

// attached: a frame appears in session, or comes back into the process of its parent.
func (f *frames) attached(session string, e frameAttached) {
	f.node(e.Frame, e.Parent, session).session = session
}

// detached: a frame goes. On a swap only what was in this session goes; the frame lives on in another.
func (f *frames) detached(session string, e frameDetached) {
	n := f.nodes[e.Frame]
	switch {
	case n == nil:
	case e.Reason != "swap":
		f.remove(n)
	case n.session == session:
		f.clear(n)
	}
}

// navigated: a document commits. The same loader again is the same document with another address.
func (f *frames) navigated(session string, e frameNavigated) *document {
	n := f.node(e.Frame.ID, e.Frame.Parent, session)
	if e.Frame.Parent == "" && session == "" {
		f.main = n.id
	}
	n.session = session
	if n.doc != nil && n.doc.Loader == e.Frame.Loader && n.doc.session == session && e.Type != "BackForwardCacheRestore" {
		n.doc.URL = e.Frame.URL + e.Frame.Fragment
		return n.doc
	}
	f.clear(n)
	f.seq++
	n.doc = newDocument(session, f.seq, e.Frame)
	if e.Type == "BackForwardCacheRestore" {
		n.doc.Ready, n.doc.idle = Complete, true
	}
	return n.doc
}

func newDocument(session string, seq int, info frameInfo) *document {
	return &document{session: session, unreachable: info.Unreachable != "", Document: Document{
		Frame: info.ID, Loader: info.Loader, URL: info.URL + info.Fragment, Origin: originOf(info.URL), Seq: seq, Ready: Loading, ContentType: info.MimeType,
	}}
}

// within: the address changed, the document did not.
func (f *frames) within(e navigatedWithin) {
	if n := f.nodes[e.Frame]; n != nil && n.doc != nil {
		n.doc.URL = e.URL
	}
}

// lived: a document has come so far.
func (f *frames) lived(e lifecycle) {
	n := f.nodes[e.Frame]
	if n == nil || n.doc == nil || n.doc.Loader != e.Loader {
		return
	}
	switch e.Name {
	case "DOMContentLoaded":
		if n.doc.Ready == Loading {
			n.doc.Ready = Interactive
		}
	case "load":
		n.doc.Ready = Complete
	case "networkIdle":
		n.doc.idle = true
	}
}

// childAttached: a frame has its own session from now on. parent is the session it was announced on.
func (f *frames) childAttached(e targetAttached) {
	n := f.node(e.Info.Target, "", e.Session)
	if n.session != e.Session {
		f.clear(n)
		n.session = e.Session
	}
}

// childDetached: a session ends; what has not moved to another session goes with it.
func (f *frames) childDetached(e targetDetached) {
	for _, n := range f.inSession(e.Session) {
		f.remove(n)
	}
}

// crashed: all documents of the session are gone, its frames are not.
func (f *frames) crashed(session string) {
	for _, n := range f.inSession(session) {
		f.end(n)
	}
}

// tree merges what Page.getFrameTree says of a session, asked for when seq was since: what committed later is newer.
func (f *frames) tree(session string, since int, t frameTree) {
	n := f.node(t.Frame.ID, t.Frame.Parent, session)
	if t.Frame.Parent == "" && session == "" {
		f.main = n.id
	}
	if n.doc != nil && n.doc.Seq > since && n.doc.Loader != t.Frame.Loader {
		return
	}
	n.session = session
	if n.doc == nil || n.doc.Loader != t.Frame.Loader {
		f.end(n)
		f.seq++
		n.doc = newDocument(session, f.seq, t.Frame)
		n.doc.Ready = Complete // not known; nobody waits for what was there before
	}
	for _, c := range t.Children {
		if c.Frame.Parent == "" {
			c.Frame.Parent = n.id
		}
		f.tree(session, since, c)
	}
}

func (f *frames) inSession(session string) (nodes []*node) {
	for _, n := range f.nodes {
		if n.session == session {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// clear ends n's document and removes the frames below.
func (f *frames) clear(n *node) {
	f.end(n)
	for _, id := range slices.Clone(n.children) {
		if c := f.nodes[id]; c != nil {
			f.remove(c)
		}
	}
	n.children = nil
}

func (f *frames) remove(n *node) {
	f.clear(n)
	delete(f.nodes, n.id)
	if p := f.nodes[n.parent]; p != nil {
		p.children = slices.DeleteFunc(p.children, func(id string) bool { return id == n.id })
	}
	if f.main == n.id {
		f.main = ""
	}
}

func (f *frames) end(n *node) {
	if n.doc != nil {
		n.doc.gone = true
		f.ended = append(f.ended, n.doc)
		n.doc = nil
	}
}

// list gives all frames that hang together with the main frame, parents first.
func (f *frames) list() []*node {
	var all []*node
	var add func(n *node)
	add = func(n *node) {
		if n == nil {
			return
		}
		all = append(all, n)
		for _, id := range n.children {
			add(f.nodes[id])
		}
	}
	add(f.top())
	return all
}

// readOrigin is the origin by which reading n is judged: that of its document; opaque inline content (about:blank,
// srcdoc, data:) is its parent's.
func (f *frames) readOrigin(n *node) string {
	for range 64 {
		if n == nil || n.doc == nil {
			return ""
		}
		if !inherits(n.doc.URL) {
			return n.doc.Origin
		}
		parent := f.nodes[n.parent]
		if parent == nil {
			return n.doc.Origin
		}
		n = parent
	}
	return ""
}

func inherits(address string) bool {
	return address == "" || strings.HasPrefix(address, "about:") || strings.HasPrefix(address, "data:")
}

// originOf is the serialised origin of an address, "null" where it has none.
func originOf(address string) string {
	address = strings.TrimPrefix(address, "blob:")
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "null"
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	return u.Scheme + "://" + host
}
