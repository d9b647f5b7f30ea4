package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

const leaving = `<title>home</title><h1>Home</h1>
<a href="/r302">out by 302</a> <a href="/chain">out by a chain</a> <a href="{{B}}/landed">straight out</a>
<form method=post action="/r307" aria-label=Order><input type=hidden name=secret value=s3><button>Send on</button></form>
<form method=post action="/order"><input name=item value=tea><button>Order</button></form>
<button onclick="document.forms[1].submit()">Surprise</button>
<form action="/search"><input name=q aria-label=Search></form>`

func guarded(t *testing.T) (*world, *agent) {
	t.Helper()
	var w *world
	later := func(status int, to string) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, r *http.Request) { w.redirect(status, to)(rw, r) }
	}
	w = newWorld(t, routes{
		"/":       leaving,
		"/r302":   later(302, "{{B}}/landed"),
		"/r307":   later(307, "{{B}}/landed"),
		"/chain":  later(302, "/chain2"),
		"/chain2": later(303, "{{B}}/landed"),
		"/landed": `<title>landed</title><h1>Landed</h1>`,
		"/order":  `<title>ordered</title><h1>Ordered</h1>`,
		"/search": `<title>results</title><h1>Results</h1>`,
	})
	a := w.lend(w.site.A + "/")
	w.site.Forget()
	return w, a
}

func TestRedirectChainIsParkedAndRefused(t *testing.T) {
	for _, name := range []string{"out by 302", "out by a chain"} {
		t.Run(name, func(t *testing.T) {
			w, a := guarded(t)
			r := a.later("browser_click", "target", fmt.Sprintf(`role=link[name=%q]`, name))
			if q := w.asked("navigate", "no"); !strings.Contains(q.Destination, "b.localhost") {
				t.Errorf("asked about %q", q.Destination)
			}
			if got := <-r; got.Code() != "blocked_by_policy" {
				t.Errorf("code %q: %s", got.Code(), got.Text)
			}
			w.hits(0, "B", "", "")
			a.sees("Home")
		})
	}
}

func TestRedirectChainIsParkedAndAllowed(t *testing.T) {
	w, a := guarded(t)
	r := a.later("browser_click", "target", `role=link[name="out by a chain"]`)
	w.asked("navigate", "once")
	if got := <-r; got.IsError {
		t.Fatal(got.Text)
	}
	a.sees("Landed")
	w.hits(1, "A", "GET", "/chain")
	w.hits(1, "A", "GET", "/chain2")
	w.hits(1, "B", "GET", "/landed")
}

func TestRedirectWithBodyIsParkedAndSentOnce(t *testing.T) {
	w, a := guarded(t)
	r := a.later("browser_click", "target", `role=button[name="Send on"]`, "submits", true)
	w.asked("submit", "once")
	if q := w.asked("submit", "once"); q.Destination != w.site.B { // the same body, to another site
		t.Errorf("asked about %q, want %q", q.Destination, w.site.B)
	}
	if got := <-r; got.IsError {
		t.Fatal(got.Text)
	}
	w.hits(1, "A", "POST", "/r307")
	w.hits(1, "B", "POST", "/landed")
	if got := w.site.Requests("B")[0].Body; got != "secret=s3" {
		t.Errorf("body %q", got)
	}
}

func TestRedirectWithBodyIsParkedAndRefused(t *testing.T) {
	w, a := guarded(t)
	r := a.later("browser_click", "target", `role=button[name="Send on"]`, "submits", true)
	w.asked("submit", "once")
	w.asked("submit", "no")
	if got := <-r; got.Code() != "blocked_by_policy" {
		t.Errorf("code %q: %s", got.Code(), got.Text)
	}
	w.hits(1, "A", "POST", "/r307")
	w.hits(0, "B", "", "")
	a.sees("Home")
}

func TestStraightWayOutIsAskedBeforeTheClick(t *testing.T) {
	w, a := guarded(t)
	r := a.later("browser_click", "target", `role=link[name="straight out"]`)
	if q := w.asked("navigate", "while_shared"); !q.Announced {
		t.Error("a link's destination can be foreseen")
	}
	if got := <-r; got.IsError {
		t.Fatal(got.Text)
	}
	a.sees("Landed")
	w.hits(1, "B", "GET", "/landed")
}

func TestFormPostMustBeAnnounced(t *testing.T) {
	w, a := guarded(t)
	a.fails("would_submit", "browser_click", "target", `role=button[name="Order"]`)
	w.nobodyAsked()
	w.hits(0, "A", "POST", "")

	r := a.later("browser_click", "target", `role=button[name="Order"]`, "submits", true)
	q := w.asked("submit", "")
	w.hits(0, "A", "POST", "") // asked before it is dispatched
	if len(q.Fields) != 1 || q.Fields[0] != "item" {
		t.Errorf("fields %q", q.Fields)
	}
	if err := w.owner.Answer(w.ctx, q, "once"); err != nil {
		t.Fatal(err)
	}
	if got := <-r; got.IsError {
		t.Fatal(got.Text)
	}
	w.hits(1, "A", "POST", "/order")
	a.sees("Ordered")
}

func TestSearchByGetIsNotASubmission(t *testing.T) {
	w, a := guarded(t)
	a.ok("browser_type", "target", "label=Search", "text", "tea", "submit", true)
	w.nobodyAsked()
	w.hits(1, "A", "GET", "/search")
	a.sees("Results")
}

func TestPostByScriptIsHeldAskedAndSentOnce(t *testing.T) {
	w, a := guarded(t)
	r := a.later("browser_click", "target", `role=button[name="Surprise"]`)
	q := w.asked("submit", "")
	if q.Announced {
		t.Error("the agent had not announced it")
	}
	w.hits(0, "A", "POST", "")
	if err := w.owner.Answer(w.ctx, q, "once"); err != nil {
		t.Fatal(err)
	}
	if got := <-r; got.IsError {
		t.Fatal(got.Text)
	}
	w.hits(1, "A", "POST", "/order")
}

func TestSlowOwnerIsJoinedByTheSameCall(t *testing.T) {
	w := newWorld(t, routes{"/": leaving, "/order": `<title>ordered</title><h1>Ordered</h1>`})
	a := w.lend(w.site.A+"/", "--call-budget", "2s")
	order := []any{"target", `role=button[name="Order"]`, "submits", true}
	for range 2 {
		r := a.fails("approval_pending", "browser_click", order...)
		if r.Meta["dispatched"] != false {
			t.Errorf("dispatched: %v", r.Meta["dispatched"])
		}
	}
	w.hits(0, "A", "POST", "")
	w.asked("submit", "once")
	a.ok("browser_click", order...)
	w.hits(1, "A", "POST", "/order")
	a.sees("Ordered")
}

func TestHostKilledWhileAQuestionIsOpenSendsNothing(t *testing.T) {
	w, a := guarded(t)
	a.later("browser_click", "target", `role=button[name="Surprise"]`)
	w.asked("submit", "")
	a.Kill()
	if err := w.owner.Desk().WaitFor(w.ctx, `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.value.leases.length === 0)`); err != nil {
		t.Fatal(err)
	}
	w.hits(0, "A", "POST", "")
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := p.Text(w.ctx); !strings.Contains(text, "Home") {
		t.Errorf("the page does not stand: %q", text)
	}
}

// mover is a page that moves itself to another site after a while.
func mover(script string, delay int) string {
	return fmt.Sprintf(`<title>mover</title><h1>Mover</h1><p id=p>before</p><script>
		setTimeout(() => { %s }, %d); setTimeout(() => { p.textContent = 'after' }, %d)</script>`, script, delay, delay+500)
}

var ways = map[string]string{
	"location": `location = '{{B}}/x'`,
	"form":     `const f = document.createElement('form'); f.action = '{{B}}/x'; f.method = 'post'; document.body.append(f); f.submit()`,
	"meta":     `const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = '0;url={{B}}/x'; document.head.append(m)`,
}

func TestPageThatMovesItselfIsRefused(t *testing.T) {
	r := routes{"/": `<title>home</title><h1>Home</h1>`}
	for name, script := range ways {
		r["/"+name] = mover(script, 5500) // no act of the agent is behind it any more
	}
	w := newWorld(t, r)
	a := w.lend(w.site.A + "/")
	for name := range ways {
		a.ok("browser_navigate", "url", w.site.A+"/"+name)
		a.ok("browser_wait_for", "text", "after", "timeout_ms", 10000)
		a.sees("Mover")
		w.nobodyAsked()
	}
	w.hits(0, "B", "", "")
}

func TestPageThatMovesItselfUnderAnActIsAskedAbout(t *testing.T) {
	r := routes{"/": `<title>home</title><h1>Home</h1>`}
	for name, script := range ways {
		r["/"+name] = mover(script, 200)
	}
	w := newWorld(t, r)
	a := w.lend(w.site.A + "/")
	for name := range ways {
		a.call("browser_navigate", "url", w.site.A+"/"+name)
		kind := "navigate"
		if name == "form" {
			kind = "submit"
		}
		w.asked(kind, "no")
		a.sees("Mover")
	}
	w.hits(0, "B", "", "")
}

func TestAgentsNavigationCarriesStrictCookies(t *testing.T) {
	w := newWorld(t, routes{
		"/": func(rw http.ResponseWriter, r *http.Request) {
			http.SetCookie(rw, &http.Cookie{Name: "seen", Value: "1", SameSite: http.SameSiteStrictMode, Path: "/"})
			fmt.Fprint(rw, "<!doctype html><title>home</title><h1>Home</h1>")
		},
		"/in": `<title>in</title><h1>Inside</h1>`,
	})
	other := w.open(w.site.B + "/") // the cookie of B is set by the owner's own visit
	if err := other.WaitFor(w.ctx, `document.title === "home"`); err != nil {
		t.Fatal(err)
	}
	w.open(w.front)
	a := w.lend(w.site.A + "/")
	for _, base := range []string{w.site.A, w.site.B} {
		r := a.later("browser_navigate", "url", base+"/in")
		if base == w.site.B {
			w.asked("navigate", "once")
		}
		if got := <-r; got.IsError {
			t.Fatal(got.Text)
		}
		a.sees("Inside")
	}
	for _, origin := range []string{"A", "B"} {
		w.hits(1, origin, "GET", "/in")
		for _, r := range w.site.Requests(origin) {
			if r.Path != "/in" {
				continue
			}
			if got := r.Header.Get("Sec-Fetch-Site"); got != "none" && got != "same-origin" {
				t.Errorf("%s: Sec-Fetch-Site %q", origin, got)
			}
			if !strings.Contains(r.Header.Get("Cookie"), "seen=1") {
				t.Errorf("%s: the Strict cookie did not go: %q", origin, r.Header.Get("Cookie"))
			}
		}
	}
}

func TestFrameOfAnotherSiteLoadsAndIsNotReadable(t *testing.T) {
	w := newWorld(t, routes{
		"/":    `<title>till</title><h1>Till</h1><iframe title=Card src="{{B}}/pay"></iframe>`,
		"/pay": `<title>pay</title><p>Card number of Robin</p><input aria-label="Card number">`,
	})
	a := w.lend(w.site.A + "/")
	w.hits(1, "B", "GET", "/pay")
	r := a.sees("Till", "another site, not shared")
	if strings.Contains(r.Text, "Card number of Robin") {
		t.Errorf("the frame was read:\n%s", r.Text)
	}
	w.nobodyAsked()
}

func TestReadOnlyLeaseReadsAndDoesNothingElse(t *testing.T) {
	w := newWorld(t, routes{"/": leaving})
	a := w.newAgent()
	a.share(kit.Sharing{URL: w.site.A + "/", Access: "read"})
	a.sees("Home")
	a.fails("read_only", "browser_click", "target", `role=button[name="Order"]`)
	a.fails("read_only", "browser_navigate", "url", w.site.A+"/x")
	w.hits(0, "A", "POST", "")
}
