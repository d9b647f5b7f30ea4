package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/protocol"
)

const shop = "https://shop.example"

// A world is a session with an extension and a browser that do what the test says.
type world struct {
	t    *testing.T
	m    *Manager
	conn *fakeConn
	log  *fakeRecord
	tab  *fakeTab // of the lease made last

	mu    sync.Mutex
	steps []string // what reached disk and Chrome, in order
}

func (w *world) did(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *world) happened() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.steps)
}

// inWorld runs a test on a clock of its own, with one tab of the shop lent for acting.
func inWorld(t *testing.T, o Options, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, o)
		w.lend(7, protocol.AccessAct)
		f(w)
		w.end()
	})
}

func newWorld(t *testing.T, o Options) *world {
	w := &world{t: t}
	w.log = &fakeRecord{w: w}
	o.Instance, o.Record = "instance", w.log
	o.Port = func() int { return 4711 }
	o.NewTab = func(c browser.Chrome, id protocol.TabID, _ browser.Options) Tab {
		w.tab = &fakeTab{w: w, id: id, url: shop + "/", loader: "L1", checked: &browser.Checked{Ref: "e1", Role: "button", Name: "Go", Describe: `button "Go"`, Would: browser.Would{Kind: "none"}}}
		return w.tab
	}
	w.m = New(o)
	w.m.Move(HostStarts, "")
	w.m.Move(HostServes, "")
	w.connect()
	return w
}

func (w *world) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.m.Close(ctx)
	synctest.Wait()
}

// connect links an extension that holds the tabs named.
func (w *world) connect(tabs ...protocol.LeasedTab) protocol.ReconcileResult {
	w.conn = &fakeConn{w: w}
	w.m.Connected(w.conn)
	r, err := w.m.reconcile(w.conn, protocol.ReconcileParams{Tabs: tabs})
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return r
}

func (w *world) disconnect() {
	w.m.Disconnected(w.conn, protocol.Errorf(protocol.TransportLost, "gone"))
	synctest.Wait()
}

// lend shares a tab as from the popup.
func (w *world) lend(id protocol.TabID, access protocol.Access) *lease {
	w.t.Helper()
	_, err := w.m.offer(w.conn, protocol.LeaseOfferParams{Tab: protocol.LeasedTab{Tab: id, URL: shop + "/"}, Access: access})
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	return w.m.byTab(id)
}

func (w *world) lease() *lease { return w.m.byTab(w.tab.id) }

// event feeds one event of the tab.
func (w *world) event(method string, params any) {
	text, err := json.Marshal(params)
	if err != nil {
		w.t.Error(err)
	}
	raw, _ := protocol.Marshal(protocol.Event{Tab: w.tab.id, Method: method, Params: text})
	w.m.Note(w.conn, protocol.MethodEvent, raw)
}

func (w *world) note(method string, params any) {
	raw, err := protocol.Marshal(params)
	if err != nil {
		w.t.Fatal(err)
	}
	w.m.Note(w.conn, method, raw)
	synctest.Wait()
}

// paused feeds a document request of the main frame.
func (w *world) paused(id, loader, method, url string, more map[string]any) {
	request := map[string]any{"url": url, "method": method, "headers": map[string]any{}}
	params := map[string]any{"requestId": id, "networkId": loader, "frameId": "F", "request": request}
	if method == "POST" {
		request["hasPostData"], request["postData"] = true, "item=1"
		request["headers"] = map[string]any{"origin": shop, "content-type": "application/x-www-form-urlencoded"}
	}
	for k, v := range more {
		params[k] = v
	}
	w.event("Fetch.requestPaused", params)
}

// commits feeds a commit of the main frame, which the tab has from then on.
func (w *world) commits(loader, url string) {
	w.tab.mu.Lock()
	w.tab.loader, w.tab.url = loader, url
	w.tab.mu.Unlock()
	w.event("Page.frameNavigated", map[string]any{"frame": map[string]any{"id": "F", "loaderId": loader, "url": url, "securityOrigin": shop}})
}

// act calls a tool that clicks; the answer comes over the channel.
func (w *world) act(tool string, plan Plan) <-chan answered {
	c := make(chan answered, 1)
	go func() {
		r, err := w.m.Act(context.Background(), Call{Tool: tool, Args: []byte(`{"target":"e1"}`)}, plan)
		c <- answered{r, err}
	}()
	return c
}

type answered struct {
	*Report
	err error
}

// click is a plan that clicks, with what happens in the page meanwhile.
func (w *world) click(during ...func(*fakeAct)) Plan {
	return Plan{Past: "clicked", Target: &browser.CheckOptions{Target: "e1", For: browser.Click}, Do: func(ctx context.Context, a Act, _ *browser.Checked) error {
		w.did("click")
		act := a.(*fakeAct)
		act.step = browser.Dispatched
		for _, f := range during {
			f(act)
		}
		return ctx.Err()
	}}
}

// prompt is the question that the extension shows, the last one of several.
func (w *world) prompt() protocol.Prompt {
	w.t.Helper()
	synctest.Wait()
	shown := notesOf[protocol.Prompt](w.conn, protocol.MethodPromptShow)
	if len(shown) == 0 {
		w.t.Fatal("nobody was asked")
	}
	return shown[len(shown)-1]
}

func (w *world) answer(id string, c protocol.PromptChoice) {
	w.t.Helper()
	if err := w.m.answer(id, c); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) code(got answered, want protocol.Code) {
	w.t.Helper()
	if c := protocol.CodeOf(got.err); c != want {
		w.t.Errorf("code %q (%v), want %q", c, got.err, want)
	}
}

func (w *world) clicks() (n int) {
	for _, s := range w.happened() {
		if s == "click" {
			n++
		}
	}
	return n
}

// A fakeConn is a link whose other end answers everything and writes down what it is told.
type fakeConn struct {
	w     *world
	mu    sync.Mutex
	notes []noted
}

type noted struct {
	method string
	params any
}

func (c *fakeConn) Profile() string          { return "profile" }
func (c *fakeConn) Close(protocol.CloseCode) {}

func (c *fakeConn) Note(method string, params any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, noted{method, params})
	return nil
}

func (c *fakeConn) Call(ctx context.Context, method string, params, result any) error {
	c.w.did("%s", method)
	switch r := result.(type) {
	case *protocol.LeaseEndResult:
		r.Detached = true
	case *protocol.LeasedTab:
		*r = protocol.LeasedTab{Tab: 99, Lease: params.(protocol.TabOpenParams).Lease, URL: "about:blank", Opened: true}
	}
	return nil
}

func (c *fakeConn) CallAll(ctx context.Context, method string, params []any) error {
	return c.Call(ctx, method, params, nil)
}

func notesOf[T any](c *fakeConn, method string) (out []T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.notes {
		if n.method == method {
			out = append(out, n.params.(T))
		}
	}
	return out
}

// verdicts are those the extension got, in order.
func (w *world) verdicts() (out []protocol.VerdictAction) {
	for _, v := range notesOf[protocol.Verdict](w.conn, protocol.MethodVerdict) {
		out = append(out, v.Action)
	}
	return out
}

// A fakeRecord is a record whose disk can fail.
type fakeRecord struct {
	w    *world
	mu   sync.Mutex
	full bool
	rows []audit.Row
}

func (r *fakeRecord) Intent(row audit.Row) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full {
		return 0, protocol.Errorf(protocol.AuditUnavailable, "no space left")
	}
	row.Kind = audit.Intent
	r.rows = append(r.rows, row)
	r.w.did("intent %s %s", row.Tool, row.Target)
	return int64(len(r.rows)), nil
}

func (r *fakeRecord) Result(of int64, row audit.Row) {
	r.w.did("result %s %s", row.Outcome, row.Code)
	row.Kind, row.Of = audit.Result, of
	r.Note(row)
}

func (r *fakeRecord) Note(row audit.Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row)
}

func (r *fakeRecord) Digest([]byte) string    { return "digest" }
func (r *fakeRecord) Recent() []protocol.Rows { return nil }
func (r *fakeRecord) Err() error              { return nil }

// A fakeTab is a page that holds what it is told.
type fakeTab struct {
	Tab // what no test here reads

	w  *world
	id protocol.TabID

	mu       sync.Mutex
	url      string
	loader   string
	checked  *browser.Checked
	checkErr error
	recheck  error
	driving  bool
	dialog   *browser.Dialog
	arrives  bool
	read     func(ctx context.Context) error
	settled  browser.Settled
}

func (t *fakeTab) Start(context.Context, []protocol.ChildSession) error { return nil }
func (t *fakeTab) Handle(protocol.Event)                                {}
func (t *fakeTab) Close()                                               {}
func (t *fakeTab) Arrives(string, string) bool                          { return t.arrives }
func (t *fakeTab) Dialog() *browser.Dialog                              { return t.dialog }
func (t *fakeTab) ArmDialog(accept bool, text string)                   { t.w.did("arm %t", accept) }

func (t *fakeTab) HandleDialog(_ context.Context, accept bool, text string) error {
	t.w.did("dialog %t %s", accept, text)
	t.dialog = nil
	return nil
}

func (t *fakeTab) SetDriving(d bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.driving = d
}

func (t *fakeTab) Document() browser.Document {
	t.mu.Lock()
	defer t.mu.Unlock()
	return browser.Document{Frame: "F", Loader: t.loader, URL: t.url, Origin: originOf(t.url), Title: "Shop"}
}

func originOf(url string) string {
	var scheme, rest string
	fmt.Sscanf(url, "%5s", &scheme)
	if i := len("https://"); len(url) > i {
		rest = url[i:]
		for j := range rest {
			if rest[j] == '/' {
				return url[:i+j]
			}
		}
	}
	return url
}

func (t *fakeTab) Frames() []browser.Frame {
	return []browser.Frame{{ID: "F", Document: t.Document()}}
}

func (t *fakeTab) History(context.Context) ([]browser.Entry, int, error) {
	return []browser.Entry{{ID: 1, URL: shop + "/before"}, {ID: 2, URL: shop + "/"}}, 1, nil
}

func (t *fakeTab) Snapshot(ctx context.Context, o browser.SnapshotOptions) (*browser.Snapshot, error) {
	if t.read != nil {
		if err := t.read(ctx); err != nil {
			return nil, err
		}
	}
	d := t.Document()
	return &browser.Snapshot{Text: "- button", Origin: d.Origin, Document: d}, nil
}

func (t *fakeTab) Read(context.Context, browser.ReadOptions) (*browser.Reading, error) {
	return nil, protocol.Errorf(protocol.Internal, "not faked")
}

func (t *fakeTab) Screenshot(context.Context, browser.ScreenshotOptions) (*browser.Image, error) {
	return nil, protocol.Errorf(protocol.Internal, "not faked")
}

func (t *fakeTab) WaitFor(context.Context, browser.WaitOptions) (*browser.Waited, error) {
	return nil, protocol.Errorf(protocol.Internal, "not faked")
}

func (t *fakeTab) Check(ctx context.Context, o browser.CheckOptions) (*browser.Checked, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checkErr != nil {
		return nil, t.checkErr
	}
	c := *t.checked
	c.Frame, c.Origin = "F", originOf(t.url)
	return &c, nil
}

func (t *fakeTab) Recheck(_ context.Context, c *browser.Checked) (*browser.Checked, error) {
	t.w.did("recheck")
	t.mu.Lock()
	defer t.mu.Unlock()
	return c, t.recheck
}

func (t *fakeTab) Begin(_ context.Context, c *browser.Checked) (Act, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &fakeAct{t: t, step: browser.NotDispatched, fate: make(chan browser.NavigationFate, 8)}, nil
}

// A fakeAct settles at once, or, once told to, when the guard has spoken.
type fakeAct struct {
	Act
	t     *fakeTab
	step  browser.Outcome
	waits bool // Settle waits for Note
	fate  chan browser.NavigationFate
}

func (a *fakeAct) Click(context.Context, browser.ClickOptions) error { return nil }
func (a *fakeAct) Type(context.Context, browser.TypeOptions) error   { return nil }
func (a *fakeAct) Press(context.Context, string) error               { return nil }
func (a *fakeAct) Step() browser.Outcome                             { return a.step }
func (a *fakeAct) End()                                              {}

func (a *fakeAct) Navigate(ctx context.Context, url string, _ browser.LoadState) error {
	a.t.w.did("navigate %s", url)
	a.step = browser.Dispatched
	return nil
}

func (a *fakeAct) History(ctx context.Context, d browser.Direction, _ browser.LoadState) error {
	a.t.w.did("history %s", d)
	a.step = browser.Dispatched
	return nil
}

func (a *fakeAct) Note(frame string, fate browser.NavigationFate, url string) { a.fate <- fate }

func (a *fakeAct) Settle(ctx context.Context) (*browser.Settled, error) {
	s := a.t.settled
	s.Outcome, s.Document = a.step, a.t.Document()
	if a.waits {
		select {
		case fate := <-a.fate:
			s.Navigation = &browser.Navigation{Fate: fate}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return &s, nil
}
