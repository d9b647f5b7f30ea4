//go:build unix

package guard

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// TestChromium holds the guard to what a real Chromium does: its ids, its origins, its order of events. The lease is the
// site "a"; "b" is a stranger whose server counts what arrives.
func TestChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Chromium")
	}
	c := newChromium(t)

	t.Run("frames are the page's, and read by their own origin", func(t *testing.T) {
		c.evaluate(t, `location.href = "/frames"`)
		c.until(t, "five frames and the stranger's document", func() bool {
			return len(c.guard.frames) == 6 && slices.ContainsFunc(slices.Collect(maps.Values(c.guard.frames)), func(d *document) bool {
				return d.origin.String() == c.b
			})
		})
		readable := 0
		for id := range c.guard.frames {
			if c.guard.Reads(id, time.Now()) {
				readable++
			}
		}
		if readable != 5 { // the page, its child, srcdoc, blank and data; not the stranger's
			t.Errorf("%d of %d frames may be read", readable, len(c.guard.frames))
		}
	})
	t.Run("a page does not leave or send on its own", func(t *testing.T) {
		c.open(t, "/form")
		c.evaluate(t, `location.href = stranger + "/no"`)
		c.until(t, "a refusal", func() bool { return c.fates[Refused] == 1 })
		c.evaluate(t, `document.forms[0].submit()`)
		c.until(t, "two refusals", func() bool { return c.fates[Refused] == 2 })
		c.stands(t, "/form")
	})
	t.Run("a form that nobody foresaw is asked about, then sent once", func(t *testing.T) {
		c.open(t, "/form")
		c.act(t, Intent{Call: "form", Kind: Interacts}, 0, `document.forms[0].submit()`)
		ticket := c.ticket(t, Asked)
		c.stands(t, "/form")
		c.answer(ticket.ID, policy.Once)
		c.act(t, Intent{Call: "form", Kind: Interacts}, ticket.ID, `document.forms[0].submit()`)
		c.until(t, "the form's answer", func() bool { return c.on("/done") })
		if n := c.arrived("a POST /done"); n != 1 {
			t.Errorf("it arrived %d times", n)
		}
	})
	for _, hop := range []string{"302", "307"} {
		t.Run("a "+hop+" out of the site is parked, and goes back after a no", func(t *testing.T) {
			c.open(t, "/form")
			c.evaluate(t, `document.title = "kept"`)
			c.act(t, Intent{Call: "out", Kind: Submits, Method: "POST", URL: c.a + "/out" + hop, Fields: []string{"name"}, Declared: true}, -1,
				`document.forms[0].action = "/out`+hop+`"; document.forms[0].submit()`)
			ticket := c.ticket(t, Parked)
			c.until(t, "the error page", func() bool { return c.loaded && c.guard.front().kind == policy.TargetError })
			if next := c.answer(ticket.ID, policy.No); next.Step != Back {
				t.Fatalf("after a no: %s", next.Step)
			}
			c.evaluate(t, `history.back()`)
			c.until(t, "the page before", func() bool { return c.on("/form") })
			if n := c.arrived("b "); n != 0 {
				t.Errorf("%d requests reached the stranger", n)
			}
		})
		t.Run("a "+hop+" out of the site is sent again after a yes, exactly", func(t *testing.T) {
			c.open(t, "/form")
			c.act(t, Intent{Call: "out", Kind: Submits, Method: "POST", URL: c.a + "/out" + hop, Fields: []string{"name"}, Declared: true}, -1,
				`document.forms[0].action = "/out`+hop+`"; document.forms[0].submit()`)
			ticket := c.ticket(t, Parked)
			c.until(t, "the error page", func() bool { return c.loaded && c.guard.front().kind == policy.TargetError })
			c.answer(ticket.ID, policy.Once)
			c.begin(t, Intent{Call: "out", Kind: Reloads}, ticket.ID)
			c.send("Page.reload", nil)
			c.until(t, "the stranger's page", func() bool { return c.on("/landed") })
			want := map[string]string{"302": "b GET /landed ", "307": "b POST /landed name=x"}[hop]
			if c.arrived("b ") != 1 || c.arrived(want) != 1 {
				t.Errorf("the stranger saw %q", c.requests)
			}
			c.end()
			c.guard.Book().Revoke(slices.MaxFunc(c.guard.Book().List(time.Now()), func(x, y policy.Grant) int { return int(x.ID - y.ID) }).ID)
		})
	}
	t.Run("Back restores frames that Chrome does not tell again", func(t *testing.T) {
		c.open(t, "/frames")
		c.until(t, "five frames", func() bool { return len(c.guard.frames) >= 6 })
		before := slices.Sorted(maps.Keys(c.guard.frames))
		c.open(t, "/form")
		c.evaluate(t, `history.back()`)
		c.until(t, "the frames", func() bool { return c.on("/frames") && len(c.guard.frames) >= 6 })
		if after := slices.Sorted(maps.Keys(c.guard.frames)); !slices.Equal(before, after) {
			t.Errorf("frames %v, before %v", after, before)
		}
	})
	if c.guard.State() == "frozen" {
		t.Error("an ordinary life froze the tab")
	}
}

// chromium is a tab of a real browser with a guard at its requests.
type chromium struct {
	mu       sync.Mutex
	guard    *Guard
	fates    map[Fate]int
	tickets  []Ticket
	requests []string // what servers saw: "a POST /done name=x"
	current  string   // address of the main frame
	loaded   bool

	a, b  string // the two sites
	in    *os.File
	last  int
	main  string // session
	ready int    // id of the command whose answer says that main is under guard
	acts  int
}

func newChromium(t *testing.T) *chromium {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-for-testing", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium here")
	}
	c := &chromium{fates: map[Fate]int{}}
	c.a, c.b = c.serve(t, "a"), c.serve(t, "b")
	o, _ := policy.ParseOrigin(c.a)
	c.guard = New(Config{Book: policy.NewBook(policy.Terms{Origin: o, Access: policy.AccessAct}, time.Now()), URL: c.a})

	theirs, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in = in
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--site-per-process", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, ours}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	ours.Close()
	done := make(chan struct{})
	go func() { defer close(done); c.listen(out) }()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		in.Close()
		<-done
		out.Close()
	})
	c.send("Target.setDiscoverTargets", map[string]any{"discover": true})
	c.until(t, "a tab", func() bool { return c.ready == -1 })
	c.send("Page.navigate", map[string]any{"url": c.a + "/form"})
	c.until(t, "the first page", func() bool { return c.on("/form") })
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.guard.front()
	c.guard.Start([]Commit{{Frame: d.frame, Loader: d.loader, URL: c.current, Origin: c.a}}, time.Now())
	return c
}

func (c *chromium) serve(t *testing.T, name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		if r.URL.Path != "/favicon.ico" {
			c.mu.Lock()
			c.requests = append(c.requests, fmt.Sprintf("%s %s %s %s", name, r.Method, r.URL.Path, r.PostForm.Encode()))
			c.mu.Unlock()
		}
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/out302", "/out307":
			status := map[string]int{"/out302": 302, "/out307": 307}[r.URL.Path]
			http.Redirect(w, r, c.b+"/landed", status)
		case "/frames":
			fmt.Fprintf(w, `<iframe src=/child></iframe><iframe src=%s/frame></iframe><iframe srcdoc=x></iframe><iframe src=about:blank></iframe><iframe src="data:text/html,x"></iframe>`, c.b)
		default:
			fmt.Fprintf(w, `<form method=post action=/done><input name=name value=x></form><script>stranger = %q</script>`, c.b)
		}
	}))
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "127.0.0.1", name+".localhost", 1)
}

// message is a CDP message, as far as this test reads it.
type message struct {
	ID        int
	Method    string
	SessionID string
	Params    struct {
		SessionID           string
		TargetInfo          struct{ TargetID, Type, URL string }
		RequestID           string
		NetworkID           string
		FrameID             string
		ParentFrameID       string
		RedirectedRequestID string
		Reason              string
		Type                string
		Request             struct {
			URL, Method string
			Headers     map[string]string
			HasPostData bool
			PostData    *string
		}
		Frame struct{ ID, ParentID, LoaderID, URL, SecurityOrigin string }
	}
}

func (c *chromium) listen(out *os.File) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			c.mu.Lock()
			c.hear(m)
			c.mu.Unlock()
		}
	}
}

// hear does what the extension and the session do with an event.
func (c *chromium) hear(m message) {
	p, now := m.Params, time.Now()
	session := m.SessionID
	if session == c.main {
		session = ""
	}
	if m.ID != 0 && m.ID == c.ready {
		c.ready = -1
	}
	switch m.Method {
	case "Target.targetCreated":
		if p.TargetInfo.Type == "page" && c.main == "" {
			c.write("", "Target.attachToTarget", map[string]any{"targetId": p.TargetInfo.TargetID, "flatten": true})
		}
	case "Target.attachedToTarget":
		if p.TargetInfo.Type == "page" {
			c.main = p.SessionID
		}
		for _, method := range []string{"Page.enable", "Network.enable"} {
			c.write(p.SessionID, method, nil)
		}
		c.write(p.SessionID, "Fetch.enable", map[string]any{"patterns": []any{map[string]any{"resourceType": "Document", "requestStage": "Request"}}})
		c.write(p.SessionID, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true})
		c.write(p.SessionID, "Runtime.runIfWaitingForDebugger", nil)
		if p.SessionID == c.main {
			c.ready = c.last
		}
	case "Page.frameAttached":
		c.guard.Attached(p.FrameID, p.ParentFrameID)
	case "Page.frameDetached":
		if p.Reason == "remove" {
			c.guard.Detached(p.FrameID)
		}
	case "Page.frameNavigated":
		f := p.Frame
		c.guard.Committed(Commit{Session: session, Frame: f.ID, Parent: f.ParentID, Loader: f.LoaderID, URL: f.URL, Origin: f.SecurityOrigin, Restored: p.Type == "BackForwardCacheRestore"}, now)
		if session == "" && f.ParentID == "" {
			c.current, c.loaded = f.URL, p.Type == "BackForwardCacheRestore"
		}
	case "Page.loadEventFired":
		c.loaded = c.loaded || session == ""
	case "Fetch.requestPaused":
		r := Request{Session: session, ID: p.RequestID, Loader: p.NetworkID, Frame: p.FrameID, Redirected: p.RedirectedRequestID != "", URL: p.Request.URL,
			Method: p.Request.Method, Origin: p.Request.Headers["Origin"], HasBody: p.Request.HasPostData}
		if r.HasBody && p.Request.PostData != nil {
			r.Body = ReadBody(p.Request.Headers["Content-Type"], []byte(*p.Request.PostData), true)
		}
		ruling := c.guard.Paused(r, now)
		switch ruling.Action {
		case Continue:
			c.write(m.SessionID, "Fetch.continueRequest", map[string]any{"requestId": p.RequestID})
		case Refuse:
			c.write(m.SessionID, "Fetch.fulfillRequest", map[string]any{"requestId": p.RequestID, "responseCode": 204})
		case Fail:
			c.write(m.SessionID, "Fetch.failRequest", map[string]any{"requestId": p.RequestID, "errorReason": "BlockedByClient"})
		}
		c.fates[ruling.Fate]++
		if ruling.Ticket != nil {
			c.tickets = append(c.tickets, *ruling.Ticket)
		}
	}
}

func (c *chromium) write(session, method string, params any) {
	c.last++
	m := map[string]any{"id": c.last, "method": method}
	if session != "" {
		m["sessionId"] = session
	}
	if params != nil {
		m["params"] = params
	}
	text, _ := json.Marshal(m)
	c.in.Write(append(text, 0))
}

func (c *chromium) send(method string, params any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write(c.main, method, params)
}

func (c *chromium) evaluate(t *testing.T, js string) {
	t.Helper()
	c.send("Runtime.evaluate", map[string]any{"expression": js, "userGesture": true})
}

// until waits for what Chromium has still to do.
func (c *chromium) until(t *testing.T, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // a browser, polled
		c.mu.Lock()
		ok := met()
		c.mu.Unlock()
		if ok {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Fatalf("%s never came: on %s, state %s, fates %v, servers saw %q", what, c.current, c.guard.State(), c.fates, c.requests)
}

// open has the page go to one of its own, and forgets what was counted.
func (c *chromium) open(t *testing.T, path string) {
	t.Helper()
	c.end()
	c.send("Page.navigate", map[string]any{"url": c.a + path + "?" + t.Name()})
	c.until(t, path, func() bool {
		return c.loaded && strings.HasSuffix(c.current, "?"+strings.ReplaceAll(t.Name(), " ", "%20"))
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fates, c.tickets, c.requests = map[Fate]int{}, nil, nil
}

func (c *chromium) on(path string) bool {
	_, rest, _ := strings.Cut(c.current, "localhost:")
	return c.loaded && strings.Contains(rest, path)
}

func (c *chromium) stands(t *testing.T, path string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on(path) || c.guard.Reading(time.Now()) != "" {
		t.Errorf("the tab is on %s, reading answers %q", c.current, c.guard.Reading(time.Now()))
	}
}

func (c *chromium) arrived(prefix string) int {
	n := 0
	for _, r := range c.requests {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

// begin begins an act; ticket −1 has the owner asked, who says yes once.
func (c *chromium) begin(t *testing.T, in Intent, ticket int) {
	t.Helper()
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acts++
	if ticket == -1 {
		f := c.guard.Foresee(in, time.Now())
		if f.Ticket == nil {
			t.Fatalf("foresee: %s %s", f.Verdict, f.Code)
		}
		ticket = f.Ticket.ID
		c.guard.Answer(ticket, policy.Once, time.Now())
	}
	if code := c.guard.ActBegan(Act{ID: fmt.Sprint(c.acts), Intent: in, Ticket: ticket}, time.Now()); code != "" {
		t.Fatalf("the act may not begin: %s", code)
	}
}

func (c *chromium) act(t *testing.T, in Intent, ticket int, js string) {
	t.Helper()
	c.begin(t, in, ticket)
	c.evaluate(t, js)
}

func (c *chromium) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.guard.ActEnded(fmt.Sprint(c.acts), time.Now())
	if c.guard.act != nil {
		c.guard.act.ended = time.Time{}.Add(time.Second) // its tail is over too
	}
}

func (c *chromium) ticket(t *testing.T, fate Fate) Ticket {
	t.Helper()
	c.until(t, string(fate), func() bool { return len(c.tickets) > 0 })
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fates[fate] != 1 {
		t.Errorf("fates %v, want one %s", c.fates, fate)
	}
	return c.tickets[0]
}

func (c *chromium) answer(ticket int, choice policy.Choice) Next {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.guard.Answer(ticket, choice, time.Now())
}
