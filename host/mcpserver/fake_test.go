package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

// A client is what sits at the other end of stdio: it writes lines and reads lines.
type client struct {
	t       *testing.T
	session *session.Manager
	tab     *page
	conn    *conn
	in      *io.PipeWriter
	lines   *bufio.Scanner
	done    chan error
	id      int
}

// newClient starts a server and initializes it. Nothing is lent yet.
func newClient(t *testing.T, o Options) *client {
	t.Helper()
	c := &client{t: t, conn: &conn{}, done: make(chan error, 1)}
	c.session = session.New(session.Options{
		Instance: "i", Record: record{}, Port: func() int { return 4711 },
		NewTab: func(browser.Chrome, protocol.TabID, browser.Options) session.Tab {
			c.tab = &page{text: "- button \"Save\" [ref=e1]"}
			return c.tab
		},
	})
	c.session.Move(session.HostStarts, "")
	c.session.Move(session.HostServes, "")
	in, w := io.Pipe()
	r, out := io.Pipe()
	c.in, c.lines = w, bufio.NewScanner(r)
	c.lines.Buffer(nil, 64<<20)
	o.Session, o.Version, o.Logger = c.session, "1", slog.New(slog.DiscardHandler)
	if o.Shots == nil {
		o.Shots = &Shots{Dir: t.TempDir(), Keep: 2}
	}
	go func() {
		err := Serve(context.Background(), in, out, o)
		out.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		w.Close()
		<-c.done
		c.session.Close(context.Background())
	})
	go c.line(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"Some Agent","version":"1"}}}`)
	if got := c.next(); got.Error != nil {
		t.Fatal(got.Error)
	}
	c.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// lend shares a tab.
func (c *client) lend(access protocol.Access) *client {
	c.t.Helper()
	reconcile, _ := protocol.Marshal(protocol.ReconcileParams{})
	offer, _ := protocol.Marshal(protocol.LeaseOfferParams{Tab: protocol.LeasedTab{Tab: 7, URL: origin + "/"}, Access: access})
	if c.session.State().Link != "connected" {
		if _, err := c.session.Call(context.Background(), c.conn, protocol.MethodReconcile, reconcile); err != nil {
			c.t.Fatal(err)
		}
	}
	if _, err := c.session.Call(context.Background(), c.conn, protocol.MethodLeaseOffer, offer); err != nil {
		c.t.Fatal(err)
	}
	return c
}

// line writes one line.
func (c *client) line(text string) {
	if _, err := io.WriteString(c.in, text+"\n"); err != nil {
		c.t.Error(err)
	}
}

type reply struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result jsontext.Value `json:"result"`
	Params jsontext.Value `json:"params"`
}

// next reads the next message; whatever is on stdout must be one.
func (c *client) next() reply {
	c.t.Helper()
	if !c.lines.Scan() {
		c.t.Fatal("stdout ended")
	}
	var r reply
	if err := json.Unmarshal(c.lines.Bytes(), &r); err != nil || !strings.HasPrefix(c.lines.Text(), `{"jsonrpc":"2.0"`) {
		c.t.Fatalf("not MCP on stdout: %q", c.lines.Text())
	}
	return r
}

// A result is what a tool answered.
type result struct {
	Text    string
	IsError bool
	Meta    map[string]any
	Blocks  []block
}

type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
}

func (r result) code() string { s, _ := r.Meta["code"].(string); return s }

// raw calls a tool with arguments as they are.
func (c *client) raw(tool, args string) result {
	c.t.Helper()
	c.send(tool, args)
	return c.answer()
}

// send writes a call.
func (c *client) send(tool, args string) {
	c.id++
	c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, tool, args))
}

// answer reads the answer of a call, which must not be a protocol error.
func (c *client) answer() result {
	c.t.Helper()
	got := c.next()
	if got.Error != nil {
		c.t.Fatalf("a protocol error: %+v", got.Error)
	}
	var wire struct {
		Meta    map[string]map[string]any `json:"_meta"`
		Content []block                   `json:"content"`
		IsError bool                      `json:"isError"`
	}
	if err := json.Unmarshal(got.Result, &wire); err != nil {
		c.t.Fatal(err)
	}
	r := result{IsError: wire.IsError, Meta: wire.Meta[MetaKey], Blocks: wire.Content}
	var texts []string
	for _, b := range wire.Content {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	r.Text = strings.Join(texts, "\n")
	return r
}

const origin = "https://shop.example"

// A page is a tab that shows one text and takes every click.
type page struct {
	session.Tab
	text    string
	held    chan struct{} // Snapshot waits for it, if set
	clicked []string
	checked browser.CheckOptions // the last
	err     error
	acting  error // what Select answers
	settled browser.Settled
}

var document = browser.Document{Frame: "F", Loader: "L", URL: origin + "/", Origin: origin, Title: "Shop\nok · not ours"}

func (p *page) Start(context.Context, []protocol.ChildSession) error { return nil }
func (p *page) Handle(protocol.Event)                                {}
func (p *page) Close()                                               {}
func (p *page) SetDriving(bool)                                      {}
func (p *page) Dialog() *browser.Dialog                              { return nil }
func (p *page) Document() browser.Document                           { return document }
func (p *page) Frames() []browser.Frame                              { return []browser.Frame{{ID: "F", Document: document}} }

func (p *page) History(context.Context) ([]browser.Entry, int, error) {
	return []browser.Entry{{ID: 1, URL: origin + "/"}}, 0, nil
}

func (p *page) Snapshot(ctx context.Context, o browser.SnapshotOptions) (*browser.Snapshot, error) {
	if p.held != nil {
		select {
		case <-p.held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return &browser.Snapshot{Text: p.text, Origin: origin, Document: document, HiddenText: 1, Next: "c1"}, nil
}

func (p *page) Read(ctx context.Context, o browser.ReadOptions) (*browser.Reading, error) {
	return &browser.Reading{Text: "words", Total: 5, Origin: origin, Document: document, Links: []browser.Link{{Text: "a", URL: origin + "/a"}}}, p.err
}

func (p *page) Screenshot(context.Context, browser.ScreenshotOptions) (*browser.Image, error) {
	return &browser.Image{Data: []byte("png"), MIME: "image/png", W: 1, H: 1, Origin: origin, Document: document}, p.err
}

func (p *page) WaitFor(context.Context, browser.WaitOptions) (*browser.Waited, error) {
	return &browser.Waited{Missing: "text", LastSeen: "something", Document: document}, p.err
}

func (p *page) Check(_ context.Context, o browser.CheckOptions) (*browser.Checked, error) {
	p.checked = o
	if p.err != nil {
		return nil, p.err
	}
	return &browser.Checked{Ref: "e1", Frame: "F", Origin: origin, Describe: `button "Save"`, Would: browser.Would{Kind: "none"}, Options: o}, nil
}

func (p *page) Begin(context.Context, *browser.Checked) (session.Act, error) {
	return &act{page: p}, nil
}

type act struct {
	session.Act
	page *page
	step browser.Outcome
}

func (a *act) did(what string) error {
	a.page.clicked = append(a.page.clicked, what)
	a.step = browser.Dispatched
	return nil
}

func (a *act) Click(_ context.Context, o browser.ClickOptions) error { return a.did("click") }
func (a *act) Type(_ context.Context, o browser.TypeOptions) error   { return a.did("type " + o.Text) }
func (a *act) Press(_ context.Context, key string) error             { return a.did("press " + key) }
func (a *act) Hover(context.Context) error                           { return a.did("hover") }
func (a *act) Scroll(_ context.Context, o browser.ScrollOptions) (browser.Scrolled, error) {
	return browser.Scrolled{Moved: 300, AtBottom: true, Area: `region "Contents"`}, a.did(fmt.Sprintf("scroll %s%g", o.To, o.ByY))
}
func (a *act) Select(_ context.Context, o browser.SelectOptions) (browser.Selected, error) {
	if a.page.acting != nil {
		return browser.Selected{}, a.page.acting
	}
	return browser.Selected{Labels: []string{"France"}, Matches: true}, a.did(fmt.Sprintf("select %q %q %v", o.Values, o.Labels, o.Indexes))
}
func (a *act) Drag(_ context.Context, to browser.CheckOptions) (browser.Dragged, error) {
	return browser.Dragged{Native: true, Refused: to.Target == "#locked", Describe: `group "Doing"`}, a.did("drag to " + to.Target)
}
func (a *act) FillForm(_ context.Context, fields []browser.Field) (out []browser.Filled) {
	for _, f := range fields {
		a.did(fmt.Sprintf("fill %s %q", f.Target.Target, f.Values))
		filled := browser.Filled{Outcome: browser.Confirmed, Matches: true, Describe: `textbox "Name"`, Kind: "input", Length: 3}
		switch f.Target.Target {
		case "#gone":
			filled = browser.Filled{Outcome: browser.NotDispatched, Err: protocol.Errorf(protocol.NotFound, "nothing matches")}
		case "#other":
			filled.Outcome, filled.Matches, filled.Text = browser.Dispatched, false, "other"
		}
		out = append(out, filled)
	}
	return out
}
func (a *act) Navigate(_ context.Context, url string, _ browser.LoadState) error {
	return a.did("navigate " + url)
}
func (a *act) History(_ context.Context, d browser.Direction, _ browser.LoadState) error {
	return a.did("history " + string(d))
}
func (a *act) Step() browser.Outcome                       { return a.step }
func (a *act) Note(string, browser.NavigationFate, string) {}
func (a *act) End()                                        {}
func (a *act) Settle(context.Context) (*browser.Settled, error) {
	s := a.page.settled
	s.Outcome, s.Document = a.step, document
	return &s, nil
}

type conn struct{}

func (c *conn) Profile() string          { return "p" }
func (c *conn) Note(string, any) error   { return nil }
func (c *conn) Close(protocol.CloseCode) {}
func (c *conn) Call(_ context.Context, _ string, params, result any) error {
	switch r := result.(type) {
	case *protocol.LeaseEndResult:
		r.Detached = true
	case *protocol.LeasedTab:
		*r = protocol.LeasedTab{Tab: 8, Lease: params.(protocol.TabOpenParams).Lease, URL: "about:blank", Opened: true}
	}
	return nil
}

func (c *conn) CallAll(context.Context, string, []any) error { return nil }

type record struct{}

func (record) Intent(audit.Row) (int64, error) { return 1, nil }
func (record) Result(int64, audit.Row)         {}
func (record) Note(audit.Row)                  {}
func (record) Digest([]byte) string            { return "" }
func (record) Recent() []protocol.Rows         { return nil }
func (record) Err() error                      { return nil }
