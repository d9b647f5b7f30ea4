package browser

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/tabvalet/tabvalet/host/browser/js"
	"github.com/tabvalet/tabvalet/protocol"
)

// A Tab is one leased tab. All methods may be called at once from any goroutine, except that at most one [Act] is begun
// at a time.
type Tab struct {
	chrome Chrome
	id     protocol.TabID
	opt    Options

	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc
	work sync.WaitGroup

	cast     screencast
	captures captures
	consoles sync.Mutex // one reading of the console at a time

	mu       sync.Mutex
	pulse    chan struct{} // closed and replaced whenever something below changes
	frames   frames
	opening  map[string]bool // sessions whose frames are still being asked for
	calls    map[*pageCall]struct{}
	plain    bool              // the empty prefix of refs is taken
	prefixes int               // handed out beside it
	nonces   map[string]string // of a document's engine → its prefix: a document may come back out of the cache
	dialogs  dialogs
	act      *Act
	begun    *Checked // the last check, when its page began an act with it
	arrival  *arrival
	closed   bool
	requests netlog
	hearings map[string]*hearing // by session, while the console is read
}

// NewTab makes the Tab of an attached tab. Its events may be handled from now on.
func NewTab(c Chrome, id protocol.TabID, opt Options) *Tab {
	t := &Tab{
		chrome: c, id: id, opt: opt.withDefaults(), pulse: make(chan struct{}), frames: newFrames(),
		opening: map[string]bool{}, calls: map[*pageCall]struct{}{}, nonces: map[string]string{},
	}
	t.ctx, t.stop = context.WithCancelCause(context.Background())
	t.cast.tab = t
	return t
}

var errClosed = protocol.Errorf(protocol.PageClosed, "the tab is no longer shared")

// ID is Chrome's id of the tab.
func (t *Tab) ID() protocol.TabID { return t.id }

// Start reads the frame tree of the tab and of its child sessions and puts the page engine into every frame to come.
// Called again, after a lost link, it starts afresh.
func (t *Tab) Start(ctx context.Context, children []protocol.ChildSession) error {
	t.mu.Lock()
	for _, n := range t.frames.nodes {
		t.frames.end(n)
	}
	ended, seq := t.frames.ended, t.frames.seq
	t.frames = newFrames()
	t.frames.ended, t.frames.seq = ended, seq
	t.changed()
	t.mu.Unlock()
	if err := t.open(ctx, ""); err != nil {
		return fmt.Errorf("starting on tab %d: %w", t.id, err)
	}
	for _, c := range children {
		t.mu.Lock()
		t.frames.childAttached(targetAttached{Session: c.Session, Info: struct {
			Target string `json:"targetId"`
			Type   string `json:"type"`
			URL    string `json:"url"`
		}{Target: c.Frame}})
		t.mu.Unlock()
		if err := t.open(ctx, c.Session); err != nil && !isGone(err) {
			return fmt.Errorf("starting on a frame of tab %d: %w", t.id, err)
		}
	}
	return nil
}

// open puts the engine into a session's frames to come and reads its frame tree.
func (t *Tab) open(ctx context.Context, session string) error {
	ctx, cancel := context.WithTimeout(ctx, t.opt.CallTimeout)
	defer cancel()
	s := t.session(session)
	t.mu.Lock()
	since := t.frames.seq
	t.mu.Unlock()
	script := make(chan error, 1)
	go func() {
		_, err := cdp.Call(ctx, s, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: js.Engine(), WorldName: js.World, RunImmediately: ptr(true)})
		script <- err
	}()
	var answer struct {
		Tree frameTree `json:"frameTree"`
	}
	err := s.Call(ctx, page.CommandGetFrameTree, struct{}{}, &answer)
	if e := <-script; err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames.tree(session, since, answer.Tree)
	t.changed()
	return nil
}

// Close ends every call in flight with [protocol.PageClosed] and waits for them.
func (t *Tab) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop(errClosed)
	t.work.Wait()
}

// spawn runs work that belongs to the tab. Callers hold mu.
func (t *Tab) spawn(work func(ctx context.Context)) {
	if !t.closed {
		t.work.Go(func() { work(t.ctx) })
	}
}

// Handle takes one event of the tab. It must be called in wire order; it is fast and never blocks.
func (t *Tab) Handle(ev protocol.Event) {
	t.overhear(ev)
	e, err := decodeEvent(ev)
	if err != nil {
		t.opt.Logger.Warn("an event of a tab cannot be read", "method", ev.Method, "err", err)
	}
	if e == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.apply(ev.Session, e) && t.act != nil {
		t.act.settling.observe(ev.Session, e)
	}
	t.changed()
}

// apply is what an event means for the tab as such. false: it is none for an act, which should not see the empty page a
// navigation passes through.
func (t *Tab) apply(session string, e any) bool {
	switch e := e.(type) {
	case frameAttached:
		t.frames.attached(session, e)
	case frameDetached:
		t.frames.detached(session, e)
	case frameNavigated:
		doc := t.frames.navigated(session, e)
		if t.arrived(doc) && t.act != nil {
			t.act.settling.forget(doc.Loader)
			return false
		}
		if e.Type == "BackForwardCacheRestore" {
			t.reopen(session) // its frames are announced by nobody
		}
		if t.act != nil && doc.Frame == t.frames.main && !doc.unreachable { // it will be asked soon
			t.spawn(func(ctx context.Context) { t.engineOf(ctx, doc) })
		}
		if doc.Frame == t.frames.main {
			t.dialogs.gone()
		}
	case navigatedWithin:
		t.frames.within(e)
	case lifecycle:
		t.frames.lived(e)
	case targetAttached:
		if e.Info.Type == "iframe" {
			t.frames.childAttached(e)
			t.reopen(e.Session)
		}
	case targetDetached:
		t.frames.childDetached(e)
	case targetCrashed:
		t.frames.crashed(session)
	case dialogOpening:
		t.dialogOpens(session, e)
	case dialogClosed:
		t.dialogs.closed(e.Result)
	case dragIntercepted:
		if t.act != nil {
			t.act.dragged = e.Data
		}
	}
	return true
}

// reopen asks for the frames of a session in the background. Callers hold mu.
func (t *Tab) reopen(session string) {
	if t.opening[session] {
		return
	}
	t.opening[session] = true
	t.spawn(func(ctx context.Context) {
		if err := t.open(ctx, session); err != nil && ctx.Err() == nil && !isGone(err) {
			t.opt.Logger.Debug("the frames of a session cannot be read", "err", err)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.opening, session)
		t.changed()
	})
}

// changed lets everyone who waits look again, and gives up the calls of documents that ended. Callers hold mu.
func (t *Tab) changed() {
	if len(t.frames.ended) > 0 {
		for _, c := range slices.Collect(maps.Keys(t.calls)) {
			if c.doc != nil && c.doc.gone {
				c.cancel(errDocumentGone)
			}
		}
		t.frames.ended = nil
	}
	close(t.pulse)
	t.pulse = make(chan struct{})
}

// await returns when ready says so; ready is called under mu, at once and after every change.
func (t *Tab) await(ctx context.Context, ready func() bool) error {
	for {
		t.mu.Lock()
		done, pulse := ready(), t.pulse
		t.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-pulse:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.ctx.Done():
			return errClosed
		}
	}
}

// watch calls back once, when ready says so before ctx ends.
func (t *Tab) watch(ctx context.Context, ready func() bool, then func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spawn(func(context.Context) {
		if t.await(ctx, ready) == nil {
			then()
		}
	})
}

// Document is what the main frame shows. Its zero value: not known yet.
func (t *Tab) Document() Document {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown()
}

func (t *Tab) shown() Document {
	if n := t.frames.top(); n != nil && n.doc != nil {
		d := n.doc.Document
		d.HTTPStatus = t.requests.answered(d.Loader)
		return d
	}
	return Document{}
}

// Frame gives one frame.
func (t *Tab) Frame(id string) (Frame, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.frames.nodes[id]
	if n == nil {
		return Frame{}, false
	}
	return n.frame(), true
}

// Frames gives all frames, parents before children, in the order they appeared.
func (t *Tab) Frames() []Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []Frame
	for _, n := range t.frames.list() {
		all = append(all, n.frame())
	}
	return all
}

func (n *node) frame() Frame {
	f := Frame{ID: n.id, Parent: n.parent, Session: n.session}
	if n.doc != nil {
		f.Document = n.doc.Document
	}
	return f
}

// History gives the tab's history and the index of the present entry.
func (t *Tab) History(ctx context.Context) (entries []Entry, index int, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.opt.CallTimeout)
	defer cancel()
	h, err := cdp.Call(ctx, t.session(""), page.GetNavigationHistory, cdp.Empty{})
	if err != nil {
		return nil, 0, fmt.Errorf("reading the history of tab %d: %w", t.id, err)
	}
	for _, e := range h.Entries {
		entries = append(entries, Entry{ID: e.ID, URL: e.URL, Title: e.Title})
	}
	return entries, int(h.CurrentIndex), nil
}
