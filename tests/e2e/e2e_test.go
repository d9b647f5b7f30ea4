// Package e2e sees the main job working: a real Chromium with the real extension, real native messaging, a real host as
// an MCP client sees it, and a scripted owner. One browser serves all tests that do not ask for their own.
package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

var shared *kit.Lab

func TestMain(m *testing.M) {
	code := 1
	func() {
		if _, err := kit.FindBrowser(); err != nil && os.Getenv("CI") == "" {
			fmt.Println("e2e tests are skipped:", err)
			code = 0
			return
		}
		lab, err := kit.Start(context.Background(), kit.Options{})
		if err != nil {
			fmt.Fprintln(os.Stderr, "starting the lab:", err)
			return
		}
		defer lab.Close()
		shared = lab
		code = m.Run()
	}()
	os.Exit(code)
}

// A world is what one test plays in: a site of its own, the browser, and a tab of the owner that stays in front.
type world struct {
	t     *testing.T
	ctx   context.Context
	lab   *kit.Lab
	owner *kit.Owner
	site  *kit.Site
	front string
}

// routes maps a path, or "METHOD path", to its page; texts are served as HTML.
type routes map[string]any

// newWorld serves the routes. After the test the tab in front must still be the owner's: nothing of ours may ever bring
// a tab up.
func newWorld(t *testing.T, r routes) *world {
	t.Helper()
	return newWorldIn(t, shared, r)
}

func newWorldIn(t *testing.T, lab *kit.Lab, r routes) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, lab: lab, owner: lab.Owner}
	site, err := kit.NewSite(w.serve(r))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.Close)
	w.site = site
	w.front = site.C + "/front"
	w.open(w.front)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if active, err := lab.Owner.ActiveTab(ctx); err != nil || (active != w.front && !t.Failed()) {
			t.Errorf("the tab in front is %q (%v), want the owner's %q", active, err, w.front)
		}
		if err := lab.Owner.CloseTabs(ctx); err != nil {
			t.Errorf("closing the test's tabs: %v", err)
		}
	})
	return w
}

func (w *world) serve(r routes) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		page, ok := r[req.Method+" "+req.URL.Path]
		if !ok {
			page, ok = r[req.URL.Path]
		}
		switch page := page.(type) {
		case string:
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			rw.Header().Set("Cache-Control", "no-store")
			fmt.Fprint(rw, "<!doctype html><meta charset=utf-8>"+strings.NewReplacer("{{A}}", w.site.A, "{{B}}", w.site.B, "{{C}}", w.site.C, "{{S}}", w.site.S).Replace(page))
		case func(http.ResponseWriter, *http.Request):
			page(rw, req)
		default:
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			if !ok && req.URL.Path != "/front" {
				rw.WriteHeader(http.StatusNotFound)
			}
			fmt.Fprintf(rw, "<!doctype html><title>%s</title><h1>%s %s</h1>", req.URL.Path, req.Method, req.URL.Path)
		}
	})
}

// redirect answers with status to another place; {{B}} and the like are filled in.
func (w *world) redirect(status int, to string) func(http.ResponseWriter, *http.Request) {
	return func(rw http.ResponseWriter, req *http.Request) {
		to := strings.NewReplacer("{{A}}", w.site.A, "{{B}}", w.site.B, "{{C}}", w.site.C).Replace(to)
		rw.Header().Set("Location", to)
		rw.WriteHeader(status)
	}
}

func (w *world) open(url string) *kit.Page {
	w.t.Helper()
	p, err := w.owner.Open(w.ctx, url)
	if err != nil {
		w.t.Fatalf("opening %s: %v", url, err)
	}
	return p
}

// An agent is a host and what a model would do with it.
type agent struct {
	*kit.Host
	w    *world
	name string
}

var agents atomic.Int32

// newAgent starts a host that has no tab yet.
func (w *world) newAgent(flags ...string) *agent {
	w.t.Helper()
	// The popup may still show an agent that has just gone: each has a name of its own.
	name := fmt.Sprintf("Agent %d", agents.Add(1))
	h, err := w.lab.StartHost(w.ctx, name, flags...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { h.Close() })
	return &agent{h, w, name}
}

// lend starts a host, opens the page in a tab behind the one in front, and shares it.
func (w *world) lend(url string, flags ...string) *agent {
	w.t.Helper()
	a := w.newAgent(flags...)
	a.share(kit.Sharing{URL: url})
	return a
}

// share lends a tab to the agent as the owner would by the approval link.
func (a *agent) share(s kit.Sharing) {
	a.w.t.Helper()
	if s.URL != "" {
		if _, err := a.w.owner.Page(a.w.ctx, s.URL); err != nil {
			if _, err := a.w.owner.OpenBackground(a.w.ctx, s.URL); err != nil {
				a.w.t.Fatal(err)
			}
		}
	}
	if err := a.w.owner.Share(a.w.ctx, a.link(), s); err != nil {
		a.w.t.Fatalf("sharing: %v", err)
	}
	a.w.bringFront() // the approval page has closed itself; which tab came up instead is Chrome's choice
	a.ok("browser_connect", "wait_ms", 10000)
}

// link asks for a tab and gives the approval link.
func (a *agent) link() string {
	a.w.t.Helper()
	link := kit.Link(a.call("browser_connect", "reason", "testing").Text)
	if link == "" {
		a.w.t.Fatal("browser_connect gave no link")
	}
	return link
}

// call calls a tool with name, value, name, value, …
func (a *agent) call(tool string, args ...any) *kit.Result {
	a.w.t.Helper()
	m := map[string]any{}
	for i := 0; i+1 < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	r, err := a.Call(a.w.ctx, tool, m)
	if err != nil {
		a.w.t.Fatal(err)
	}
	return r
}

// ok calls a tool that must succeed.
func (a *agent) ok(tool string, args ...any) *kit.Result {
	a.w.t.Helper()
	r := a.call(tool, args...)
	if r.IsError {
		a.w.t.Fatalf("%s %v: %s", tool, args, r.Text)
	}
	return r
}

// fails calls a tool that must fail with that code and give a hint.
func (a *agent) fails(code, tool string, args ...any) *kit.Result {
	a.w.t.Helper()
	r := a.call(tool, args...)
	if !r.IsError || r.Code() != code {
		a.w.t.Fatalf("%s %v: code %q, want %q: %s", tool, args, r.Code(), code, r.Text)
	}
	return r
}

// sees takes a snapshot in which all of the words must stand.
func (a *agent) sees(words ...string) *kit.Result {
	a.w.t.Helper()
	r := a.ok("browser_snapshot")
	for _, word := range words {
		if !strings.Contains(r.Text, word) {
			a.w.t.Fatalf("%q is not in the snapshot:\n%s", word, r.Text)
		}
	}
	return r
}

// later runs a call beside the test and hands its result over.
func (a *agent) later(tool string, args ...any) <-chan *kit.Result {
	c := make(chan *kit.Result, 1)
	go func() {
		m := map[string]any{}
		for i := 0; i+1 < len(args); i += 2 {
			m[args[i].(string)] = args[i+1]
		}
		r, err := a.Call(a.w.ctx, tool, m)
		if err != nil {
			r = &kit.Result{IsError: true, Text: err.Error(), Meta: map[string]any{"code": "protocol error"}}
		}
		c <- r
	}()
	return c
}

// asked waits for the owner to be asked about kind and answers.
func (w *world) asked(kind, choice string) *kit.Question {
	w.t.Helper()
	q, err := w.owner.Question(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	if q.Kind != kind {
		w.t.Fatalf("the owner was asked about %q, want %q", q.Kind, kind)
	}
	if choice != "" {
		if err := w.owner.Answer(w.ctx, q, choice); err != nil {
			w.t.Fatal(err)
		}
	}
	return q
}

// nobodyAsked fails the test when a question is open.
func (w *world) nobodyAsked() {
	w.t.Helper()
	q, err := w.owner.Questions(w.ctx)
	if err != nil || len(q) > 0 {
		w.t.Fatalf("questions open: %v %v", q, err)
	}
}

// hits fails the test unless the server got exactly n of these requests.
func (w *world) hits(n int, origin, method, path string) {
	w.t.Helper()
	if got := w.site.Count(origin, method, path); got != n {
		w.t.Fatalf("%s got %d of %s %s, want %d: %+v", origin, got, method, path, n, w.site.Requests(origin))
	}
}
