// Package browser is what can be done in one leased tab: reading it, pointing at things in it, acting in it, and waiting
// for what an act set off. It judges nothing: who may do what is decided by packages guard and session before they call.
//
// A [Tab] is made for a tab that the extension has attached and guarded. It is fed with every event of that tab in wire
// order by [Tab.Handle], which never blocks, and talks to Chrome through the [Chrome] it was given:
//
//	tab := browser.NewTab(chrome, id, browser.Options{})
//	err := tab.Start(ctx, sessions)        // the frame tree and the page engine
//	snap, err := tab.Snapshot(ctx, browser.SnapshotOptions{Readable: mayRead})
//
// An act has three steps, so that the owner can be asked in between and everything be checked again:
//
//	checked, err := tab.Check(ctx, browser.CheckOptions{Target: "e12", For: browser.Click})
//	act, err := tab.Begin(ctx, checked)    // from here on events are counted to the act
//	defer act.End()
//	err = act.Click(ctx, browser.ClickOptions{})
//	settled, err := act.Settle(ctx)        // what became of it
//
// # Documents
//
// A frame shows one document after the other. Everything the page engine (folder js) says carries the nonce of its
// document, and an answer of another document than the one that was asked is dropped. Refs name an element and its
// document: "e12" belongs to the tab's first document, "f3e12" to the third that was read; a document that is gone takes
// its refs along, so that a ref never hits a new page.
//
// # Waiting
//
// Nothing here sleeps or polls. Every call into a page has a deadline, and is given up when the document, the tab or the
// frame's process goes. While Chrome holds a document request back, or a dialog is open, a page answers nothing at all:
// so an act never waits for one answer alone, but for whichever comes first of the answer, the tab's events, a dialog
// and what the caller knows ([Act.Note]).
package browser

import (
	"context"
	"log/slog"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// Chrome is the way to Chrome, as the session has it over its link. Errors are *[protocol.Error].
type Chrome interface {
	// Send runs a CDP command on the tab (session "") or on one of its child sessions. act marks what changes something.
	Send(ctx context.Context, tab protocol.TabID, session string, act bool, method string, params, result any) error
}

// Options of a tab. The zero value is good.
type Options struct {
	Logger        *slog.Logger  // nil: none
	CallTimeout   time.Duration // of one call into a page; 0: 5 s
	ReadTimeout   time.Duration // of one call that goes through a whole page; 0: 15 s
	NavTimeout    time.Duration // until a navigation has settled; 0: 10 s
	RequestWait   time.Duration // for the requests an act started; 0: 2 s
	DialogTimeout time.Duration // after which an unanswered dialog is answered by its default; 0: 60 s
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.CallTimeout, 5 * time.Second},
		{&o.ReadTimeout, 15 * time.Second},
		{&o.NavTimeout, 10 * time.Second},
		{&o.RequestWait, 2 * time.Second},
		{&o.DialogTimeout, 60 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return o
}

// Outcome is what became of one step of the agent.
type Outcome string

// The values of Outcome.
const (
	Observed      Outcome = "observed"       // read
	NotDispatched Outcome = "not_dispatched" // nothing was sent
	Dispatched    Outcome = "dispatched"     // sent, the effect was not checked
	Confirmed     Outcome = "confirmed"      // the effect was read back
	Unknown       Outcome = "unknown"        // it may have happened; never send it again
)

// A Document is one document of one frame.
type Document struct {
	Frame  string
	Loader string // Chrome's id of the load that made it; the same document keeps it
	URL    string
	Origin string // serialised, "null" when opaque
	Title  string // of the last answer of the engine, "" before
	Seq    int    // grows with each commit in the tab
	Ready  Ready
	// HTTPStatus and ContentType are the server's answer; 0 and "" where it is not known.
	HTTPStatus  int
	ContentType string
}

// Ready is how far a document has been loaded.
type Ready string

// The values of Ready.
const (
	Loading     Ready = "loading"
	Interactive Ready = "interactive"
	Complete    Ready = "complete"
)

// A Frame is a frame and the document in it.
type Frame struct {
	ID       string
	Parent   string // "" for the main frame
	Session  string // "" for the tab's own
	Document Document
}

// An Entry is one entry of the tab's history.
type Entry struct {
	ID    int64
	URL   string
	Title string
}
