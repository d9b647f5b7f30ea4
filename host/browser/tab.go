package browser

import (
	"context"

	"github.com/tabvalet/tabvalet/protocol"
)

// A Tab is one leased tab. All methods may be called at once from any goroutine, except that at most one [Act] is begun
// at a time.
type Tab struct {
	chrome Chrome
	id     protocol.TabID
	opt    Options
}

// NewTab makes the Tab of an attached tab. Its events may be handled from now on.
func NewTab(c Chrome, id protocol.TabID, opt Options) *Tab {
	return &Tab{chrome: c, id: id, opt: opt.withDefaults()}
}

// ID is Chrome's id of the tab.
func (t *Tab) ID() protocol.TabID { return t.id }

// Start reads the frame tree of the tab and of its child sessions and puts the page engine into every frame to come.
// Called again, after a lost link, it starts afresh.
func (t *Tab) Start(ctx context.Context, children []protocol.ChildSession) error { return errNotBuilt }

// Handle takes one event of the tab. It must be called in wire order; it is fast and never blocks.
func (t *Tab) Handle(ev protocol.Event) {}

// Close ends every call in flight with [protocol.PageClosed] and waits for them.
func (t *Tab) Close() {}

// Document is what the main frame shows. Its zero value: not known yet.
func (t *Tab) Document() Document { return Document{} }

// Frame gives one frame.
func (t *Tab) Frame(id string) (Frame, bool) { return Frame{}, false }

// Frames gives all frames, parents before children, in the order they appeared.
func (t *Tab) Frames() []Frame { return nil }

// History gives the tab's history and the index of the present entry.
func (t *Tab) History(ctx context.Context) (entries []Entry, index int, err error) {
	return nil, 0, errNotBuilt
}
