//go:build unix

package browser

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// A disposable Chromium over --remote-debugging-pipe, one for all tests of the package. It stands in for extension and
// link: the same attach sequence, the same slimmed events, the same verdicts. A helper extension is loaded for what only
// chrome.debugger does.

var shared struct {
	once sync.Once
	c    *chromium
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.c != nil {
		shared.c.close()
	}
	os.Exit(code)
}

// browserFor gives the shared browser, or skips the test where there is none.
func browserFor(t testing.TB) *chromium {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	shared.once.Do(func() { shared.c, shared.err = startChromium() })
	if shared.err != nil {
		t.Skipf("no browser: %v", shared.err)
	}
	return shared.c
}

type chromium struct {
	cmd    *exec.Cmd
	in     *os.File
	dir    string
	worker string // session of the helper extension's worker
	done   chan struct{}

	mu       sync.Mutex
	next     int
	pending  map[int]chan reply
	handlers map[string]func(method string, params jsontext.Value) // by session
}

type reply struct {
	result jsontext.Value
	err    *protocol.Error
}

type frame struct {
	ID        int            `json:"id,omitzero"`
	SessionID string         `json:"sessionId,omitzero"`
	Method    string         `json:"method,omitzero"`
	Params    jsontext.Value `json:"params,omitzero"`
	Result    jsontext.Value `json:"result,omitzero"`
	Error     *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitzero"`
	} `json:"error,omitzero"`
}

const helperManifest = `{"manifest_version":3,"name":"helper","version":"1","permissions":["debugger"],"background":{"service_worker":"w.js"}}`

func startChromium() (*chromium, error) {
	name := os.Getenv("CHROME")
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(n); err == nil && name == "" {
			name = path
		}
	}
	if name == "" {
		return nil, fmt.Errorf("set CHROME")
	}
	dir, err := os.MkdirTemp("", "tabvalet-browser-*")
	if err != nil {
		return nil, err
	}
	helper := filepath.Join(dir, "helper")
	os.Mkdir(helper, 0o700)
	os.WriteFile(filepath.Join(helper, "manifest.json"), []byte(helperManifest), 0o600)
	os.WriteFile(filepath.Join(helper, "w.js"), []byte("chrome.runtime.onInstalled.addListener(() => {})"), 0o600)
	toRead, toWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	fromRead, fromWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	args := []string{"--headless=new", "--remote-debugging-pipe", "--enable-unsafe-extension-debugging", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1000,700",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "about:blank"}
	if os.Getuid() == 0 {
		args = append([]string{"--no-sandbox"}, args...)
	}
	c := &chromium{in: toWrite, dir: dir, done: make(chan struct{}), pending: map[int]chan reply{},
		handlers: map[string]func(string, jsontext.Value){}, cmd: exec.Command(name, args...)}
	c.cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	toRead.Close()
	fromWrite.Close()
	go c.read(fromRead)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := c.startHelper(ctx, helper); err != nil {
		c.close()
		return nil, fmt.Errorf("starting the helper extension: %w", err)
	}
	return c, nil
}

func (c *chromium) startHelper(ctx context.Context, path string) error {
	if err := c.call(ctx, "", "Extensions.loadUnpacked", map[string]any{"path": path}, nil); err != nil {
		return err
	}
	for ctx.Err() == nil {
		var targets struct {
			TargetInfos []struct {
				TargetID string `json:"targetId"`
				Type     string `json:"type"`
				URL      string `json:"url"`
			} `json:"targetInfos"`
		}
		if err := c.call(ctx, "", "Target.getTargets", map[string]any{}, &targets); err != nil {
			return err
		}
		for _, info := range targets.TargetInfos {
			if info.Type == "service_worker" && strings.HasSuffix(info.URL, "/w.js") {
				c.worker = c.attach(ctx, info.TargetID)
				return c.helperReady(ctx)
			}
		}
	}
	return ctx.Err()
}

// helperReady waits until the worker answers: an extension call made while it starts is lost.
func (c *chromium) helperReady(ctx context.Context) error {
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		err := c.eval(once, c.worker, "chrome.debugger.getTargets().then(() => 1)", nil)
		cancel()
		if err == nil {
			return nil
		}
	}
	return ctx.Err()
}

func (c *chromium) close() {
	syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	c.cmd.Wait()
	c.in.Close()
	<-c.done
	os.RemoveAll(c.dir)
}

func (c *chromium) read(from *os.File) {
	defer close(c.done)
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		data, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var f frame
		if err := json.Unmarshal(bytes.TrimRight(data, "\x00"), &f); err != nil {
			panic(err)
		}
		c.mu.Lock()
		answer, handler := c.pending[f.ID], c.handlers[f.SessionID]
		delete(c.pending, f.ID)
		c.mu.Unlock()
		switch {
		case f.Method != "" && handler != nil:
			handler(f.Method, f.Params)
		case answer != nil && f.Error != nil:
			answer <- reply{err: protocol.Errorf(protocol.ChromeError, "%s", f.Error.Message)}
		case answer != nil:
			answer <- reply{result: f.Result}
		}
	}
}

// start sends a command and does not wait.
func (c *chromium) start(session, method string, params any) (int, chan reply) {
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	id, answer := c.next, make(chan reply, 1)
	c.pending[id] = answer
	data, err := json.Marshal(frame{ID: id, SessionID: session, Method: method, Params: raw})
	if err != nil {
		panic(err)
	}
	c.in.Write(append(data, 0))
	return id, answer
}

func (c *chromium) call(ctx context.Context, session, method string, params, result any) error {
	id, answer := c.start(session, method, params)
	select {
	case a := <-answer:
		if a.err != nil {
			return a.err
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.result, result)
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return ctx.Err()
	}
}

func (c *chromium) handle(session string, h func(string, jsontext.Value)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers[session] = h
}

func (c *chromium) attach(ctx context.Context, target string) string {
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := c.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &attached); err != nil {
		return ""
	}
	return attached.SessionID
}

// eval runs an expression in the main world of a session and decodes its value.
func (c *chromium) eval(ctx context.Context, session, expression string, result any) error {
	var answer struct {
		Result struct {
			Value jsontext.Value `json:"value"`
		} `json:"result"`
		ExceptionDetails jsontext.Value `json:"exceptionDetails"`
	}
	err := c.call(ctx, session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": false}, &answer)
	if err != nil {
		return err
	}
	if answer.ExceptionDetails != nil {
		return fmt.Errorf("evaluating: %s", answer.ExceptionDetails)
	}
	if result == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// A leased is a background tab, attached and guarded as the extension does it; it implements Chrome.
type leased struct {
	*Tab
	t      testing.TB
	c      *chromium
	target string
	root   string // session of the tab itself
	owner  string // a second session: the test's own view of the page

	extension int // the tab's id in the helper extension, which then sends Page.navigate; 0: the pipe does

	mu     sync.Mutex
	judge  func(request pausedRequest) string // continue, refuse, fail, hold; nil: continue
	sent   []string                           // methods of commands, in order
	paused []pausedRequest
}

type pausedRequest struct {
	session   string
	RequestID string `json:"requestId"`
	FrameID   string `json:"frameId"`
	NetworkID string `json:"networkId"`
	Request   struct {
		URL    string `json:"url"`
		Method string `json:"method"`
	} `json:"request"`
}

// slim cuts an event to what the worker forwards of it, nil when it forwards nothing.
func slim(method string, params jsontext.Value) jsontext.Value {
	i := slices.IndexFunc(protocol.EventRules, func(r protocol.EventRule) bool { return r.Method == method })
	if i < 0 {
		return nil
	}
	rule := protocol.EventRules[i]
	var all map[string]any
	json.Unmarshal(params, &all)
	for name, values := range rule.Where {
		if !slices.Contains(values, fmt.Sprint(all[name])) {
			return nil
		}
	}
	kept := map[string]any{}
	for _, path := range rule.Keep {
		outer, inner, nested := strings.Cut(path, ".")
		value, ok := all[outer]
		if !nested && ok {
			kept[outer] = value
			continue
		}
		if from, _ := value.(map[string]any); from[inner] != nil {
			to, _ := kept[outer].(map[string]any)
			if to == nil {
				to = map[string]any{}
				kept[outer] = to
			}
			to[inner] = from[inner]
		}
	}
	text, _ := json.Marshal(kept)
	return text
}

// lease opens url in a background tab and leases it.
func (c *chromium) lease(t testing.TB, url string) *leased {
	t.Helper()
	ctx := t.Context()
	var created struct {
		TargetID string `json:"targetId"`
	}
	if err := c.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank", "background": true}, &created); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	l := &leased{t: t, c: c, target: created.TargetID}
	l.owner = c.attach(ctx, created.TargetID)
	l.root = c.attach(ctx, created.TargetID)
	if url != "about:blank" {
		c.call(ctx, l.owner, "Page.enable", map[string]any{}, nil)
		loaded := make(chan struct{})
		var once sync.Once
		c.handle(l.owner, func(method string, _ jsontext.Value) {
			if method == "Page.loadEventFired" {
				once.Do(func() { close(loaded) })
			}
		})
		if err := c.call(ctx, l.owner, "Page.navigate", map[string]any{"url": url}, nil); err != nil {
			t.Fatalf("opening %s: %v", url, err)
		}
		select {
		case <-loaded:
		case <-time.After(30 * time.Second):
			t.Fatalf("opening %s: no load event", url)
		}
		c.handle(l.owner, nil)
		c.call(ctx, l.owner, "Page.disable", map[string]any{}, nil)
	}
	l.Tab = NewTab(l, protocol.TabID(1), Options{Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	l.guard(l.root, "")
	t.Cleanup(func() {
		l.Tab.Close()
		c.handle(l.root, nil)
		c.call(context.Background(), "", "Target.closeTarget", map[string]any{"targetId": l.target}, nil)
	})
	if err := l.Start(ctx, nil); err != nil {
		t.Fatalf("starting: %v", err)
	}
	return l
}

// guard runs the worker's attach sequence on a session; session names it to the Tab.
func (l *leased) guard(cdp, session string) {
	l.c.handle(cdp, func(method string, params jsontext.Value) { l.event(cdp, session, method, params) })
	for _, step := range []struct {
		method string
		params any
	}{
		{"Page.enable", map[string]any{}},
		{"Network.enable", map[string]any{}},
		{"Network.setBypassServiceWorker", map[string]any{"bypass": true}},
		{"Fetch.enable", map[string]any{"patterns": []any{map[string]any{"resourceType": "Document", "requestStage": "Request"}}}},
		{"Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}},
		{"Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}},
		{"Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}},
	} {
		l.c.start(cdp, step.method, step.params)
	}
	if session != "" {
		l.c.start(cdp, "Runtime.runIfWaitingForDebugger", map[string]any{})
	}
}

func (l *leased) event(cdp, session, method string, params jsontext.Value) {
	switch method {
	case "Page.screencastFrame":
		var f struct {
			SessionID int `json:"sessionId"`
		}
		json.Unmarshal(params, &f)
		l.c.start(cdp, "Page.screencastFrameAck", map[string]any{"sessionId": f.SessionID})
	case "Target.attachedToTarget":
		var a struct {
			SessionID  string `json:"sessionId"`
			TargetInfo struct {
				Type string `json:"type"`
			} `json:"targetInfo"`
		}
		json.Unmarshal(params, &a)
		if a.TargetInfo.Type != "iframe" {
			l.c.start(a.SessionID, "Runtime.runIfWaitingForDebugger", map[string]any{})
			l.c.start(cdp, "Target.detachFromTarget", map[string]any{"sessionId": a.SessionID})
			return
		}
		l.guard(a.SessionID, a.SessionID)
	}
	kept := slim(method, params)
	if kept == nil {
		return
	}
	l.Tab.Handle(protocol.Event{Tab: 1, Session: session, Method: method, Params: kept})
	if method == "Fetch.requestPaused" {
		l.pause(cdp, session, params)
	}
}

func (l *leased) pause(cdp, session string, params jsontext.Value) {
	r := pausedRequest{session: session}
	json.Unmarshal(params, &r)
	l.mu.Lock()
	l.paused = append(l.paused, r)
	judge := l.judge
	l.mu.Unlock()
	action := "continue"
	if judge != nil {
		action = judge(r)
	}
	if action == "continue" && session == "" && l.Tab.Arrives(r.NetworkID, r.Request.URL) {
		action = "arrive"
	}
	switch action {
	case "arrive":
		header := func(name, value string) any { return map[string]any{"name": name, "value": value} }
		l.c.start(cdp, "Fetch.fulfillRequest", map[string]any{"requestId": r.RequestID, "responseCode": 200, "responseHeaders": []any{
			header("Content-Type", "text/html"), header("Referrer-Policy", "no-referrer"), header("Cache-Control", "no-store")}})
	case "continue":
		l.c.start(cdp, "Fetch.continueRequest", map[string]any{"requestId": r.RequestID})
	case "refuse":
		l.c.start(cdp, "Fetch.fulfillRequest", map[string]any{"requestId": r.RequestID, "responseCode": 204})
	case "fail":
		l.c.start(cdp, "Fetch.failRequest", map[string]any{"requestId": r.RequestID, "errorReason": "BlockedByClient"})
	}
}

func (l *leased) setJudge(judge func(pausedRequest) string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.judge = judge
}

// Send implements Chrome.
func (l *leased) Send(ctx context.Context, _ protocol.TabID, session string, act bool, method string, params, result any) error {
	l.note(method, params, act)
	if method == "Page.navigate" && l.extension != 0 {
		text, _ := json.Marshal(params)
		return l.c.eval(ctx, l.c.worker, fmt.Sprintf("chrome.debugger.sendCommand({tabId: %d}, %q, %s)", l.extension, method, text), result)
	}
	if session == "" {
		session = l.root
	}
	return l.c.call(ctx, session, method, params, result)
}

// debug has the helper extension attach to the tab, as the product's does: what it navigates has it as initiator.
func (l *leased) debug() {
	l.t.Helper()
	attach := fmt.Sprintf(`(async () => {
		const tab = (await chrome.debugger.getTargets()).find((t) => t.id === %q).tabId;
		await chrome.debugger.attach({tabId: tab}, '1.3');
		return tab;
	})()`, l.target)
	if err := l.c.eval(l.t.Context(), l.c.worker, attach, &l.extension); err != nil {
		l.t.Fatalf("attaching from the extension: %v", err)
	}
}

// SendAll implements Batcher.
func (l *leased) SendAll(ctx context.Context, _ protocol.TabID, session string, act bool, commands []Command) error {
	if session == "" {
		session = l.root
	}
	answers := make([]chan reply, len(commands))
	for i, c := range commands {
		l.note(c.Method, c.Params, act)
		_, answers[i] = l.c.start(session, c.Method, c.Params)
	}
	for _, answer := range answers {
		select {
		case a := <-answer:
			if a.err != nil {
				return a.err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// note holds a command against the allow-list.
func (l *leased) note(method string, params any, act bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, method)
	text, err := json.Marshal(params)
	if err != nil {
		l.t.Errorf("%s: %v", method, err)
	}
	if kind, err := protocol.CheckCDP(method, text, act); err != nil || kind == protocol.CDPAct && !act {
		l.t.Errorf("sending %s as act %v: kind %s, %v", method, act, kind, err)
	}
}

// page evaluates in the page's own world, as the page sees itself.
func (l *leased) page(expression string) string {
	l.t.Helper()
	var value any
	if err := l.c.eval(l.t.Context(), l.owner, expression, &value); err != nil {
		l.t.Fatalf("evaluating %s: %v", expression, err)
	}
	return fmt.Sprint(value)
}

// A site is one server under several names, which Chrome takes for different sites.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	hits []string // "METHOD host path"
	reqs []*http.Request
}

func serve(t testing.TB, pages map[string]string) *site {
	return serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, strings.NewReplacer("{{PORT}}", r.Host[strings.LastIndex(r.Host, ":")+1:]).Replace(body))
	})
}

func serveFunc(t testing.TB, h http.HandlerFunc) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/favicon.ico" {
			http.NotFound(w, r)
			return
		}
		s.mu.Lock()
		s.hits = append(s.hits, r.Method+" "+strings.SplitN(r.Host, ":", 2)[0]+" "+r.URL.Path)
		s.reqs = append(s.reqs, r)
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// at gives the address of path under a name (a, b, c: different sites).
func (s *site) at(name, path string) string {
	return strings.Replace(s.URL, "127.0.0.1", name+".localhost", 1) + path
}

func (s *site) last() *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.reqs) == 0 {
		return nil
	}
	return s.reqs[len(s.reqs)-1]
}
