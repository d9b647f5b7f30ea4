package js_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/browser/js"
)

// browser is the one Chromium of this package, with one tab for all tests, started by the first that needs it.
var browser struct {
	sync.Once
	ctx   context.Context
	close func()
	err   error
	site  *httptest.Server
	pages sync.Map // HTML by path, beside the files of testdata
	count atomic.Int64
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.close != nil {
		browser.close()
	}
	os.Exit(code)
}

func chromium() (string, error) {
	for _, name := range []string{os.Getenv("TABVALET_TEST_BROWSER"), "chromium", "google-chrome-stable", "google-chrome", "chromium-browser"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no Chromium found; install one or set TABVALET_TEST_BROWSER")
}

func start() {
	path, err := chromium()
	if err != nil {
		browser.err = err
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1000, 700),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-quic", true), chromedp.Flag("lang", "en-US"))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox)
	}
	alloc, cancelAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	browser.ctx = ctx
	files := http.FileServer(http.Dir("testdata"))
	browser.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if html, ok := browser.pages.Load(r.URL.Path); ok {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, html)
			return
		}
		files.ServeHTTP(w, r)
	}))
	browser.close = func() {
		browser.site.Close()
		_ = chromedp.Cancel(ctx)
		cancel()
		cancelAlloc()
	}
	browser.err = chromedp.Do(ctx)
}

// A Page is one tab with the engine in its main frame.
type Page struct {
	t      testing.TB
	ctx    context.Context
	engine runtime.RemoteObjectID
	world  runtime.ExecutionContextID
	tree   []line // see lines
}

// open loads a fixture of testdata, or HTML given as text, and starts the engine.
func open(t testing.TB, what string) *Page {
	t.Helper()
	browser.Do(start)
	if browser.err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(browser.err)
		}
		t.Skip(browser.err)
	}
	path := what
	if strings.Contains(what, "<") {
		path = fmt.Sprintf("page%d.html", browser.count.Add(1))
		browser.pages.Store("/"+path, "<!doctype html><html lang=en><meta charset=utf-8><title>inline</title>"+what)
	}
	ctx, cancel := context.WithTimeout(browser.ctx, 5*time.Minute)
	t.Cleanup(cancel)
	p := &Page{t: t, ctx: ctx}
	if err := chromedp.Do(ctx, chromedp.Navigate(browser.site.URL+"/"+path)); err != nil {
		t.Fatal(err)
	}
	p.load()
	return p
}

// load starts the engine in the document that stands in the tab now.
func (p *Page) load() {
	p.t.Helper()
	tree := do(p, page.GetFrameTree, cdp.Empty{})
	p.world, p.engine = p.install(tree.FrameTree.Frame.ID)
}

// do runs a command of the tab's session.
func do[P, R any](p *Page, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	result, err := chromedp.Call(p.ctx, c, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

func (p *Page) install(frame cdp.FrameID) (runtime.ExecutionContextID, runtime.RemoteObjectID) {
	p.t.Helper()
	world := do(p, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: frame, WorldName: js.World}).ExecutionContextID
	p.evaluate(world, js.Engine())
	return world, p.evaluate(world, "tabvalet").ObjectID
}

func (p *Page) evaluate(world runtime.ExecutionContextID, script string) *runtime.RemoteObject {
	p.t.Helper()
	result := do(p, runtime.Evaluate, runtime.EvaluateParams{Expression: script, ContextID: world})
	if result.ExceptionDetails != nil {
		p.t.Fatal(result.ExceptionDetails)
	}
	return result.Result
}

// An Answer is what the engine says to a call.
type Answer struct {
	Doc struct {
		Nonce, Origin, URL, Title, Ready string
	} `json:"doc"`
	Value jsontext.Value `json:"value"`
	Error *EngineError   `json:"error"`
}

// An EngineError is a refusal.
type EngineError struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Data    map[string]any `json:"data"`
}

func (e *EngineError) Error() string { return e.Code + ": " + e.Message }

// answer calls a method of the engine.
func (p *Page) answer(method string, args any, objects ...runtime.RemoteObjectID) Answer {
	p.t.Helper()
	arguments := []*runtime.CallArgument{{Value: mustJSON(method)}, {Value: mustJSON(string(mustJSON(args)))}}
	for _, id := range objects {
		arguments = append(arguments, &runtime.CallArgument{ObjectID: id})
	}
	yes := true
	result := do(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function(m,a,...x){return this.call(m,a,...x)}", ObjectID: p.engine, Arguments: arguments, ReturnByValue: &yes, AwaitPromise: &yes,
	})
	if result.ExceptionDetails != nil {
		p.t.Fatal(result.ExceptionDetails)
	}
	var text string
	var out Answer
	if err := json.Unmarshal(result.Result.Value, &text); err != nil {
		p.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &out, json.MatchCaseInsensitiveNames(true)); err != nil {
		p.t.Fatal(err)
	}
	return out
}

func mustJSON(v any) jsontext.Value {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// call calls a method that must succeed and decodes its value.
func call[T any](p *Page, method string, args any, objects ...runtime.RemoteObjectID) T {
	p.t.Helper()
	var v T
	a := p.answer(method, args, objects...)
	if a.Error != nil {
		p.t.Fatalf("%s %v: %v %v", method, args, a.Error, a.Error.Data)
	}
	if err := json.Unmarshal(a.Value, &v); err != nil {
		p.t.Fatalf("%s: %v\n%s", method, err, a.Value)
	}
	return v
}

// refused calls a method that must fail with a code.
func refused(p *Page, code, method string, args any) *EngineError {
	p.t.Helper()
	a := p.answer(method, args)
	if a.Error == nil {
		p.t.Fatalf("%s %v answered %s, want %s", method, args, a.Value, code)
	}
	if a.Error.Code != code {
		p.t.Fatalf("%s %v: %v, want %s", method, args, a.Error, code)
	}
	return a.Error
}

// eval runs JavaScript of the page itself.
func eval[T any](p *Page, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

type args map[string]any

type line struct {
	D int    `json:"d"`
	T string `json:"t"`
	R string `json:"r"`
	V int    `json:"v"`
	H int    `json:"h"`
	F string `json:"f"`
	O int    `json:"o"`
	I int    `json:"i"`
}

type snapshot struct {
	Lines      []line         `json:"lines"`
	Capture    int            `json:"capture"`
	Total      int            `json:"total"`
	Chars      int            `json:"chars"`
	HiddenText int            `json:"hidden_text"`
	Unbound    []string       `json:"unbound"`
	Scroll     map[string]any `json:"scroll"`
	Active     string         `json:"active"`
}

func (s snapshot) String() string {
	var b strings.Builder
	for _, l := range s.Lines {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", l.D), l.T)
	}
	return b.String()
}

func (p *Page) snapshot(a args) snapshot {
	p.t.Helper()
	if a == nil {
		a = args{}
	}
	return call[snapshot](p, "snapshot", a)
}

// ref finds the ref of the first line that holds a text.
func (s snapshot) ref(t testing.TB, text string) string {
	t.Helper()
	for _, l := range s.Lines {
		if strings.Contains(l.T, text) && l.R != "" {
			return l.R
		}
	}
	t.Fatalf("no line with a ref holds %q:\n%s", text, s)
	return ""
}

func fixtures(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.html")
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
}

// timed gives the milliseconds a call took inside the page.
func (p *Page) timed(method, args string) float64 {
	p.t.Helper()
	yes := true
	result := do(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "async function(m,a){const t=performance.now();await this.call(m,a);return performance.now()-t}", ObjectID: p.engine,
		Arguments: []*runtime.CallArgument{{Value: mustJSON(method)}, {Value: mustJSON(args)}}, ReturnByValue: &yes, AwaitPromise: &yes,
	})
	var ms float64
	if err := json.Unmarshal(result.Result.Value, &ms); err != nil {
		p.t.Fatal(err)
	}
	return ms
}
