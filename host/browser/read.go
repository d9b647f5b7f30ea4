package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tabvalet/tabvalet/protocol"
)

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

// Bounds of a reading.
const (
	readChars    = 20_000
	readMax      = 200_000
	readCapture  = 2_000_000
	searchAround = 200 // characters on either side of a match
)

type readAnswer struct {
	Text  string `json:"text"`
	Total int    `json:"total"`
	Links []struct {
		Text string `json:"text"`
		URL  string `json:"url"`
	} `json:"links"`
	Frames []struct {
		At  int    `json:"at"`
		Key string `json:"key"`
	} `json:"frames"`
	Hidden int `json:"hidden_text"`
}

// A text is a captured reading.
type text struct {
	number  int
	runes   []rune
	reading Reading // without its text
}

// Read gives the rendered text in reading order, child frames where they stand.
func (t *Tab) Read(ctx context.Context, o ReadOptions) (*Reading, error) {
	if o.MaxChars <= 0 {
		o.MaxChars = readChars
	}
	o.MaxChars = min(o.MaxChars, readMax)
	if o.CacheKey != "" {
		captured := t.captures.text(o.CacheKey)
		if captured == nil {
			return nil, protocol.Errorf(protocol.StaleRef, "that reading is no longer kept").With("hint", "Read the page again.")
		}
		if o.Readable != nil && !o.Readable(captured.reading.Origin) {
			return nil, protocol.Errorf(protocol.NotSharedSite, "that reading is of a site that is not shared")
		}
		return captured.window(o), nil
	}
	captured, err := retried(func() (*text, error) { return t.readAll(ctx, o) })
	if err != nil {
		return nil, err
	}
	keep := max(o.CaptureChars, o.MaxChars)
	captured.reading.Total = len(captured.runes)
	whole := captured.runes
	captured.runes = whole[:min(len(whole), max(keep, o.Start+o.MaxChars))]
	captured.reading.Captured = len(captured.runes)
	t.captures.keepText(captured)
	return captured.window(o), nil
}

func (t *Tab) readAll(ctx context.Context, o ReadOptions) (*text, error) {
	t.awaitFrames(ctx)
	all, withheld := t.places(o.Readable)
	if len(all) == 0 {
		if withheld > 0 {
			return nil, protocol.Errorf(protocol.NotSharedSite, "the tab shows a site that is not shared")
		}
		return nil, protocol.Errorf(protocol.Unavailable, "the tab shows no document yet")
	}
	root, target := all[0], ""
	if o.Target != "" {
		at, found, _, err := t.locate(ctx, o.Target, 0, o.Readable, patience)
		if err != nil {
			return nil, err
		}
		root, target = at, found
		all = t.below(all, at.frame)
	}
	answers := make(map[string]*readAnswer, len(all))
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failure error
	for _, p := range all {
		wg.Go(func() {
			t.bindChildren(ctx, p)
			t.readopt(ctx, p.doc)
			own := ""
			if p.frame == root.frame {
				own = target
			}
			a, err := ask[readAnswer](ctx, t, p.doc, "read", struct {
				Target   string `json:"target,omitzero"`
				Links    bool   `json:"links,omitzero"`
				MaxChars int    `json:"max_chars"`
			}{own, o.Links, readCapture})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				answers[p.frame] = &a
			} else if p.frame == root.frame {
				failure = err
			}
		})
	}
	wg.Wait()
	if failure != nil {
		return nil, failure
	}
	r := &text{}
	r.runes = []rune(r.join(answers, root.frame, t.readableFrames(all)))
	t.mu.Lock()
	r.reading.Document = root.doc.Document
	r.reading.Origin, r.reading.URL, r.reading.Title = root.doc.Origin, root.doc.URL, root.doc.Title
	t.mu.Unlock()
	return r, nil
}

// join puts the frames' texts where they stand. Places in the engine's text count UTF-16 units.
func (r *text) join(answers map[string]*readAnswer, frame string, readable map[string]bool) string {
	a := answers[frame]
	r.reading.HiddenText += a.Hidden
	for _, l := range a.Links {
		r.reading.Links = append(r.reading.Links, Link{l.Text, l.URL})
	}
	var b strings.Builder
	rest, done := a.Text, 0
	slices.SortFunc(a.Frames, func(x, y struct {
		At  int    `json:"at"`
		Key string `json:"key"`
	}) int {
		return x.At - y.At
	})
	for _, f := range a.Frames {
		before, after := splitUTF16(rest, f.At-done)
		b.WriteString(before)
		line, after, _ := strings.Cut(after, "\n") // the line of the frame itself, and then what is in it
		b.WriteString(line + "\n")
		rest, done = after, f.At+lenUTF16(line)+1
		switch {
		case answers[f.Key] != nil:
			ownLine(&b, r.join(answers, f.Key, readable))
		case f.Key != "" && !readable[f.Key]:
			r.reading.Withheld++
			ownLine(&b, "frame (another site, not shared)")
		}
	}
	b.WriteString(rest)
	return b.String()
}

func ownLine(b *strings.Builder, s string) {
	if s == "" {
		return
	}
	if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(strings.TrimSuffix(s, "\n"))
	b.WriteByte('\n')
}

func lenUTF16(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// splitUTF16 splits s after n UTF-16 units.
func splitUTF16(s string, n int) (before, after string) {
	for i, r := range s {
		if n <= 0 {
			return s[:i], s[i:]
		}
		n -= utf16.RuneLen(r)
	}
	return s, ""
}

// window gives the part of the captured text that o asks for.
func (c *text) window(o ReadOptions) *Reading {
	r := c.reading
	r.CacheKey = fmt.Sprintf("r%d", c.number)
	if o.Search != "" {
		r.Text, r.Matches = c.search(o.Search, o.MaxChars)
		return &r
	}
	r.Start = min(max(o.Start, 0), len(c.runes))
	end := min(r.Start+o.MaxChars, len(c.runes))
	if end < r.Total {
		end = wholeLine(c.runes, r.Start, end)
		r.Next = end
	}
	r.Text = string(c.runes[r.Start:end])
	return &r
}

// wholeLine moves the end of a window back to the end of a line, or of a word, when there is one in its last quarter.
func wholeLine(runes []rune, start, end int) int {
	for _, ends := range []func(rune) bool{func(r rune) bool { return r == '\n' }, unicode.IsSpace} {
		for i := end; i > end-(end-start)/4; i-- {
			if ends(runes[i-1]) {
				return i
			}
		}
	}
	return end
}

// search gives the surroundings of each match, at most max characters, and counts them all.
func (c *text) search(what string, limit int) (string, int) {
	hay, needle := foldCase(c.runes), foldCase([]rune(what))
	var b strings.Builder
	count, shown := 0, 0 // shown: up to where the text stands in b already
	for i := 0; i+len(needle) <= len(hay); i++ {
		if !slices.Equal(hay[i:i+len(needle)], needle) {
			continue
		}
		count++
		from, to := max(i-searchAround, shown), min(i+len(needle)+searchAround, len(hay))
		if to > from && utf8.RuneCountInString(b.String())+to-from <= limit {
			if from > shown || b.Len() == 0 {
				fmt.Fprintf(&b, "[at %d] ", from)
			}
			b.WriteString(string(c.runes[from:to]))
			if to < len(hay) {
				b.WriteString(" …\n")
			}
			shown = to
		}
		i += len(needle) - 1
	}
	return b.String(), count
}

func foldCase(runes []rune) []rune {
	out := make([]rune, len(runes))
	for i, r := range runes {
		out[i] = unicode.ToLower(r)
	}
	return out
}

func (c *captures) keepText(x *text) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil {
		c.texts = map[string]*text{}
	}
	c.count++
	x.number = c.count
	c.texts[fmt.Sprintf("r%d", x.number)] = x
	for len(c.texts) > kept {
		oldest := ""
		for name, other := range c.texts {
			if oldest == "" || other.number < c.texts[oldest].number {
				oldest = name
			}
		}
		delete(c.texts, oldest)
	}
}

func (c *captures) text(key string) *text {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.texts[key]
}
