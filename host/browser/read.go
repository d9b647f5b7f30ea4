package browser

import (
	"context"
	"time"
)

// SnapshotOptions choose what of the tree is given.
type SnapshotOptions struct {
	Target      string // only this subtree
	Depth       int    // 0: all
	Interactive bool   // only what can be acted on
	Boxes       bool
	MaxChars    int    // 0: 20,000
	Cursor      string // the Next of an earlier snapshot: goes on in that capture, everything else but MaxChars is ignored
	// Readable tells which origins' frames may be read; nil: all. An unread frame is one line.
	Readable func(origin string) bool
}

// A Snapshot is a piece of a capture of the tree.
type Snapshot struct {
	Text       string
	Next       string // cursor of the rest, "" at the end
	Origin     string
	URL        string
	Title      string
	Chars      int // of the whole capture
	HiddenText int // pieces of hidden text that look like an instruction
	Withheld   int // frames that may not be read
	Document   Document
}

// Snapshot reads the tree of all readable frames.
func (t *Tab) Snapshot(ctx context.Context, o SnapshotOptions) (*Snapshot, error) {
	return nil, errNotBuilt
}

// ReadOptions choose a window of the rendered text.
type ReadOptions struct {
	Target       string
	Start        int // characters
	MaxChars     int // 0: 20,000; at most 200,000
	Links        bool
	Search       string // only the surroundings of this text, ignoring case
	CacheKey     string // the CacheKey of an earlier reading: nothing is read again
	CaptureChars int    // how much is kept for CacheKey; 0: MaxChars
	Readable     func(origin string) bool
}

// A Link is a link of the text that was read.
type Link struct{ Text, URL string }

// A Reading is a window of the rendered text.
type Reading struct {
	Text       string
	Start      int // of the window
	Next       int // start of the next window, 0 at the end
	Total      int // characters there are
	Captured   int // characters that CacheKey keeps
	CacheKey   string
	Matches    int // with Search: how many there are
	Links      []Link
	Origin     string
	URL        string
	Title      string
	HiddenText int
	Withheld   int
	Document   Document
}

// Read gives the rendered text in reading order, child frames where they stand.
func (t *Tab) Read(ctx context.Context, o ReadOptions) (*Reading, error) { return nil, errNotBuilt }

// ScreenshotOptions choose what is captured.
type ScreenshotOptions struct {
	Target   string // only this element
	FullPage bool
	JPEG     bool // else PNG
	// Readable tells which origins' frames may be seen; nil: all. The boxes of others are painted over.
	Readable func(origin string) bool
}

// An Image is an encoded picture of at most 1568 pixels on its long side.
type Image struct {
	Data     []byte
	MIME     string
	W, H     int
	Origin   string
	Masked   int // frames painted over
	Document Document
}

// Screenshot takes a picture, in a background tab too.
func (t *Tab) Screenshot(ctx context.Context, o ScreenshotOptions) (*Image, error) {
	return nil, errNotBuilt
}

// LoadState is how far a navigation is waited for.
type LoadState string

// The values of LoadState.
const (
	Commit           LoadState = "commit"
	DOMContentLoaded LoadState = "domcontentloaded"
	Load             LoadState = "load"
	NetworkIdle      LoadState = "networkidle"
)

// WaitOptions are conditions; all that are given have to hold, one after the other.
type WaitOptions struct {
	Time      time.Duration
	Text      string
	TextGone  string
	Target    string
	State     string // of Target: visible (default), hidden, attached, detached, enabled
	URL       string // substring, or glob with *
	LoadState LoadState
	Timeout   time.Duration // 0: 30 s
	Readable  func(origin string) bool
}

// Waited tells how waiting ended.
type Waited struct {
	Met      bool
	Missing  string // the condition that was not met
	LastSeen string
	Took     time.Duration
	Dialog   *Dialog // a dialog ended the wait
	Document Document
}

// WaitFor waits. Running out is an answer, not an error.
func (t *Tab) WaitFor(ctx context.Context, o WaitOptions) (*Waited, error) { return nil, errNotBuilt }

// FindOptions say what is looked for: text, a regular expression, or a role and name.
type FindOptions struct {
	Text, Regex, Role, Name string
	Limit                   int // 0: 20
	Readable                func(origin string) bool
}

// Found is one element that was found.
type Found struct {
	Ref      string `json:"ref"`
	Role     string `json:"role"`
	Name     string `json:"name"`
	Describe string `json:"describe"`
}

// Find searches all readable frames. total counts what Limit left out.
func (t *Tab) Find(ctx context.Context, o FindOptions) (found []Found, total int, err error) {
	return nil, 0, errNotBuilt
}
