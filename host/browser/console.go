package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Message is one line of the console, or an exception that nothing caught.
type Message struct {
	Level string // error, warning, info, debug
	Text  string
	URL   string // of the script
	Line  int    // from 1; 0: not known
	Time  time.Time
}

// A Console is what the present documents have said.
type Console struct {
	Messages []Message // oldest first
	Withheld int       // of documents that may not be read
	Document Document
}

// A hearing takes what the console of one session says.
type hearing struct {
	frames map[int]string // of the page's own worlds, by context
	said   []said
}

type said struct {
	context int
	Message
}

type heardWorld struct {
	Context struct {
		ID  int `json:"id"`
		Aux struct {
			Default bool   `json:"isDefault"`
			Frame   string `json:"frameId"`
		} `json:"auxData"`
	} `json:"context"`
}

type heardValue struct {
	Type        string `json:"type"`
	Subtype     string `json:"subtype"`
	Value       any    `json:"value"`
	Number      string `json:"unserializableValue"`
	Description string `json:"description"`
}

type heardConsole struct {
	Type    string       `json:"type"`
	Context int          `json:"executionContextId"`
	Time    float64      `json:"timestamp"` // ms
	Args    []heardValue `json:"args"`
	At      struct {
		URL  string `json:"url"`
		Line int    `json:"lineNumber"`
	} `json:"stackTrace"`
}

type heardException struct {
	Time    float64 `json:"timestamp"`
	Details struct {
		Text      string     `json:"text"`
		URL       string     `json:"url"`
		Line      int        `json:"lineNumber"`
		Context   int        `json:"executionContextId"`
		Exception heardValue `json:"exception"`
	} `json:"exceptionDetails"`
}

// Console reads the console. Chrome keeps the last thousand messages of each page and tells them when Runtime is enabled,
// which it is for this moment only: a page can notice it.
func (t *Tab) Console(ctx context.Context, readable func(origin string) bool) (*Console, error) {
	t.consoles.Lock()
	defer t.consoles.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, t.opt.ReadTimeout, errSilent)
	defer cancel()
	doc, err := t.main()
	if err != nil {
		return nil, err
	}
	var sessions []string
	for _, f := range t.Frames() {
		if !slices.Contains(sessions, f.Session) {
			sessions = append(sessions, f.Session)
		}
	}
	c := &Console{}
	for _, session := range sessions {
		h, err := t.hear(ctx, session)
		switch {
		case err == nil:
			t.judge(h, readable, c)
		case session == "" || !isGone(err):
			return nil, cause(ctx, err)
		}
	}
	slices.SortStableFunc(c.Messages, func(a, b Message) int { return a.Time.Compare(b.Time) })
	t.mu.Lock()
	defer t.mu.Unlock()
	if doc.gone {
		return nil, errDocumentGone
	}
	c.Document = doc.Document
	return c, nil
}

// hear has a session tell its console.
func (t *Tab) hear(ctx context.Context, session string) (*hearing, error) {
	h := &hearing{frames: map[int]string{}}
	t.mu.Lock()
	if t.hearings == nil {
		t.hearings = map[string]*hearing{}
	}
	t.hearings[session] = h
	t.mu.Unlock()
	s := t.session(session)
	err := s.Call(ctx, "Runtime.enable", struct{}{}, nil)
	t.mu.Lock()
	delete(t.hearings, session)
	t.mu.Unlock()
	// Whatever became of it, also when ctx has ended meanwhile, it must not stay on.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.opt.CallTimeout)
	defer cancel()
	if off := s.Call(after, "Runtime.disable", struct{}{}, nil); err == nil && off != nil {
		err = off
	}
	s.Call(after, "Runtime.releaseObjectGroup", map[string]string{"objectGroup": "console"}, nil)
	return h, err
}

// judge adds what may be read.
func (t *Tab) judge(h *hearing, readable func(string) bool, c *Console) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range h.said {
		frame, own := h.frames[m.context]
		if n := t.frames.nodes[frame]; own && n != nil && (readable == nil || readable(t.frames.readOrigin(n))) {
			c.Messages = append(c.Messages, m.Message)
		} else if frame != otherWorld {
			c.Withheld++
		}
	}
}

// otherWorld stands for the frame of a world that is not the page's: of an extension, or ours.
const otherWorld = "-"

func (t *Tab) heardWorld(session string, e *heardWorld) {
	if h := t.hearings[session]; h != nil {
		h.frames[e.Context.ID] = otherWorld
		if e.Context.Aux.Default {
			h.frames[e.Context.ID] = e.Context.Aux.Frame
		}
	}
}

func (t *Tab) heardConsole(session string, e *heardConsole) {
	h := t.hearings[session]
	if h == nil || e.Type == "endGroup" || e.Type == "clear" {
		return
	}
	level := "info"
	switch e.Type {
	case "error", "assert":
		level = "error"
	case "warning", "debug":
		level = e.Type
	}
	var words []string
	for _, a := range e.Args {
		words = append(words, a.String())
	}
	m := Message{Level: level, Text: strings.Join(words, " "), URL: e.At.URL, Time: time.UnixMicro(int64(e.Time * 1000))}
	if m.URL != "" {
		m.Line = e.At.Line + 1
	}
	h.said = append(h.said, said{e.Context, m})
}

func (t *Tab) heardException(session string, e *heardException) {
	h := t.hearings[session]
	if h == nil {
		return
	}
	d := e.Details
	text, _, _ := strings.Cut(d.Exception.String(), "\n    at ") // the stack of it
	text = strings.TrimSpace(d.Text + " " + text)
	h.said = append(h.said, said{d.Context, Message{Level: "error", Text: text, URL: d.URL, Line: d.Line + 1, Time: time.UnixMicro(int64(e.Time * 1000))}})
}

// String is the value as a console shows it in one line.
func (v heardValue) String() string {
	switch {
	case v.Number != "":
		return v.Number
	case v.Value != nil:
		return fmt.Sprint(v.Value)
	case v.Description != "":
		return v.Description
	case v.Subtype != "":
		return v.Subtype
	}
	return v.Type
}
