package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tabvalet/tabvalet/protocol"
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

// snapshotChars bounds a snapshot unless the caller says otherwise.
const snapshotChars = 20_000

type snapshotArgs struct {
	Target      string `json:"target,omitzero"`
	Depth       int    `json:"depth,omitzero"`
	Interactive bool   `json:"interactive,omitzero"`
	Boxes       bool   `json:"boxes,omitzero"`
	MaxChars    int    `json:"max_chars"`
}

// A line is one line of the tree, without indentation.
type line struct {
	Depth    int     `json:"d"`
	Text     string  `json:"t"`
	Ref      string  `json:"r"`
	OnScreen int     `json:"v"`
	Heading  int     `json:"h"` // landmark or heading
	Frame    *string `json:"f"` // a frame element: its key, "" when the engine does not know it
	Left     int     `json:"o"` // stands for so many lines left out
	Index    int     `json:"i"` // of the first of them
}

type treeAnswer struct {
	Lines   []line   `json:"lines"`
	Capture int      `json:"capture"`
	Total   int      `json:"total"`
	Chars   int      `json:"chars"`
	Hidden  int      `json:"hidden_text"`
	Unbound []string `json:"unbound"`
}

type windowAnswer struct {
	Lines []line `json:"lines"`
	Next  int    `json:"next"`
}

// Snapshot reads the tree of all readable frames. The engine bounds each frame's part (what is on screen in full, the rest
// as an outline) and keeps its capture; Go puts the parts together and, where that is still too much, leaves out more.
func (t *Tab) Snapshot(ctx context.Context, o SnapshotOptions) (*Snapshot, error) {
	if o.MaxChars <= 0 {
		o.MaxChars = snapshotChars
	}
	if o.Cursor != "" {
		return t.nextSnapshot(ctx, o)
	}
	return retried(func() (*Snapshot, error) { return t.snapshot(ctx, o) })
}

// A part is one frame's tree.
type part struct {
	place
	tree treeAnswer
	err  error
}

func (t *Tab) snapshot(ctx context.Context, o SnapshotOptions) (*Snapshot, error) {
	t.awaitFrames(ctx)
	all, withheld := t.places(o.Readable)
	root := place{}
	if len(all) > 0 {
		root = all[0]
	}
	args := snapshotArgs{Depth: o.Depth, Interactive: o.Interactive, Boxes: o.Boxes, MaxChars: o.MaxChars}
	if o.Target != "" {
		at, target, nth, err := t.locate(ctx, o.Target, 0, o.Readable, patience)
		if err != nil {
			return nil, err
		}
		if nth != 0 {
			return nil, protocol.Errorf(protocol.Ambiguous, "more than one element matches the target")
		}
		root, args.Target = at, target
		all = t.below(all, at.frame)
	}
	if root.doc == nil {
		if withheld > 0 {
			return nil, protocol.Errorf(protocol.NotSharedSite, "the tab shows a site that is not shared")
		}
		return nil, protocol.Errorf(protocol.Unavailable, "the tab shows no document yet")
	}
	if root.doc.unreachable {
		return t.errorPage(root.doc), nil
	}
	parts := t.captureAll(ctx, all, root, args)
	if err := parts[root.frame].err; err != nil {
		return nil, err
	}
	s := &stitching{parts: parts, readable: t.readableFrames(all)}
	s.frame(root.frame, 0)
	lines, left := bound(s.lines, o.MaxChars)
	snap := &Snapshot{Text: render(lines), Chars: s.chars, HiddenText: s.hidden, Withheld: s.withheld}
	snap.Next = t.captures.keep(left, parts)
	t.describe(snap, root.doc)
	return snap, nil
}

// errorPage stands for Chrome's own error page, which has no engine.
func (t *Tab) errorPage(doc *document) *Snapshot {
	snap := &Snapshot{Text: "- text: Chrome shows an error page: the address could not be loaded\n"}
	t.describe(snap, doc)
	return snap
}

func (t *Tab) describe(snap *Snapshot, doc *document) {
	t.mu.Lock()
	defer t.mu.Unlock()
	snap.Document = doc.Document
	snap.Origin, snap.URL, snap.Title = doc.Origin, doc.URL, doc.Title
}

// below keeps the places in or under a frame.
func (t *Tab) below(all []place, frame string) []place {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(all), func(p place) bool {
		for id := p.frame; id != ""; {
			if id == frame {
				return false
			}
			n := t.frames.nodes[id]
			if n == nil {
				break
			}
			id = n.parent
		}
		return true
	})
}

// captureAll has every frame captured, in parallel; frames are bound to their parents first, so that their lines carry
// their keys.
func (t *Tab) captureAll(ctx context.Context, all []place, root place, args snapshotArgs) map[string]*part {
	parts := map[string]*part{}
	var wg sync.WaitGroup
	for _, p := range all {
		part := &part{place: p}
		parts[p.frame] = part
		wg.Go(func() {
			t.bindChildren(ctx, p)
			t.readopt(ctx, p.doc)
			own := args
			if p.frame != root.frame {
				own.Target, own.MaxChars = "", max(args.MaxChars/2, 1000)
			}
			part.tree, part.err = ask[treeAnswer](ctx, t, p.doc, "snapshot", own)
		})
	}
	wg.Wait()
	return parts
}

// bindChildren binds the child frames of a document. One that cannot be found stays without a key.
func (t *Tab) bindChildren(ctx context.Context, p place) {
	t.mu.Lock()
	var children []string
	if n := t.frames.nodes[p.frame]; n != nil {
		children = slices.Clone(n.children)
	}
	t.mu.Unlock()
	var wg sync.WaitGroup
	for _, c := range children {
		wg.Go(func() {
			if err := t.bind(ctx, p.doc, c); err != nil && ctx.Err() == nil && !errors.Is(err, errDocumentGone) {
				t.opt.Logger.Debug("a frame cannot be bound", "err", err)
			}
		})
	}
	wg.Wait()
}

// readableFrames tells of each frame whether it is among those that may be read.
func (t *Tab) readableFrames(all []place) map[string]bool {
	m := map[string]bool{}
	for _, p := range all {
		m[p.frame] = true
	}
	return m
}

// A stitching puts the frames' lines together.
type stitching struct {
	parts    map[string]*part
	readable map[string]bool
	lines    []placed
	chars    int
	hidden   int
	withheld int
}

// A placed line knows which capture it is from, and where it stands in it.
type placed struct {
	line
	frame string
	index int
}

func (s *stitching) add(l line, frame string, index, indent int) {
	l.Depth += indent
	s.lines = append(s.lines, placed{l, frame, index})
}

// frame adds a frame's lines, indented, with the frames below where they stand.
func (s *stitching) frame(id string, indent int) {
	p := s.parts[id]
	s.hidden += p.tree.Hidden
	s.chars += p.tree.Chars
	index := 0
	for _, l := range p.tree.Lines {
		at := index
		if l.Left > 0 {
			at, index = l.Index, l.Index+l.Left
		} else {
			index++
		}
		if l.Frame == nil {
			s.add(l, id, at, indent)
			continue
		}
		s.child(l, id, at, indent)
	}
}

// child adds the line of a frame element and what is in it.
func (s *stitching) child(l line, frame string, index, indent int) {
	key := *l.Frame
	text := strings.TrimSuffix(l.Text, ":")
	inner := s.parts[key]
	switch {
	case key == "":
		l.Text = text + ": the frame is still loading"
	case !s.readable[key]:
		l.Text = text + ": frame (another site, not shared)"
		s.withheld++
	case inner == nil || inner.err != nil:
		l.Text = text + ": the frame cannot be read now"
	case len(inner.tree.Lines) == 0:
		l.Text = text
	default:
		l.Text = text + ":"
		s.add(l, frame, index, indent)
		s.frame(key, indent+l.Depth+1)
		return
	}
	s.add(l, frame, index, indent)
}

// A window is a run of lines of one frame's capture that was left out.
type window struct {
	frame string
	from  int
}

// bound leaves lines out until the text is within limit characters: first what is neither on screen nor in the outline,
// then the outline from the end, always whole lines. left says where in each capture the first line was left out.
func bound(lines []placed, limit int) (kept []placed, left []window) {
	for _, l := range lines {
		if l.Left > 0 {
			left = leftOut(left, l.frame, l.Index)
		}
	}
	size := sizeOf(lines)
	if size <= limit {
		return lines, left
	}
	drop := make([]bool, len(lines))
	for _, droppable := range []func(placed) bool{
		func(l placed) bool { return l.OnScreen == 0 && l.Heading == 0 && l.Left == 0 && l.Frame == nil },
		func(l placed) bool { return l.OnScreen == 0 },
		func(placed) bool { return true },
	} {
		for i := len(lines) - 1; i >= 0 && size > limit-endRoom; i-- {
			if l := lines[i]; !drop[i] && droppable(l) {
				drop[i] = true
				size -= sizeOf(lines[i : i+1])
				left = leftOut(left, l.frame, l.index)
			}
		}
	}
	count := 0
	for i, l := range lines {
		if !drop[i] {
			kept = append(kept, l)
		} else {
			count += max(l.Left, 1)
		}
	}
	kept = append(kept, placed{line: line{Text: fmt.Sprintf("- … %d more lines left out", count)}})
	return kept, left
}

// endRoom is kept free for the line that tells what was left out.
const endRoom = 48

// leftOut notes the first line left out of a frame's capture.
func leftOut(left []window, frame string, index int) []window {
	for i := range left {
		if left[i].frame == frame {
			left[i].from = min(left[i].from, index)
			return left
		}
	}
	return append(left, window{frame, index})
}

func sizeOf(lines []placed) (n int) {
	for _, l := range lines {
		n += 2*l.Depth + len(l.Text) + 1
	}
	return n
}

func render(lines []placed) string {
	var b strings.Builder
	for _, l := range lines {
		for range l.Depth {
			b.WriteString("  ")
		}
		b.WriteString(l.Text)
		b.WriteByte('\n')
	}
	return b.String()
}
