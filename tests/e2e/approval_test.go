package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

const plain = `<title>plain</title><h1>Plain page</h1><button onclick="n.value = +n.value + 1">Count</button> <output id=n>0</output> <a href="/next">next</a>`

func TestApprovalByLink(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	a.fails("not_connected", "browser_snapshot")
	link := a.link()
	if again := a.link(); again != link {
		t.Errorf("asked again while waiting, the link is %q, not %q", again, link)
	}
	w.background(w.site.A + "/")
	if err := w.owner.Share(w.ctx, link, kit.Sharing{URL: w.site.A + "/"}); err != nil {
		t.Fatal(err)
	}
	w.bringFront()
	a.ok("browser_connect", "wait_ms", 5000)
	a.sees("Plain page")
	w.marked("ON", 1)
}

func TestApprovalLinkWorksOnce(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	link := a.link()
	w.background(w.site.A + "/")
	if err := w.owner.Share(w.ctx, link, kit.Sharing{URL: w.site.A + "/"}); err != nil {
		t.Fatal(err)
	}
	p, err := w.owner.OpenApproval(w.ctx, link)
	if err == nil {
		err = p.WaitFor(w.ctx, `["error", "used"].includes(document.body.dataset.state)`)
	}
	if err != nil {
		t.Fatalf("a used link must say so: %v", err)
	}
	w.bringFront()
}

func TestApprovalRefused(t *testing.T) {
	w := newWorld(t, nil)
	a := w.newAgent()
	r := a.later("browser_connect", "wait_ms", 20000)
	link := a.link()
	if err := w.owner.NotNow(w.ctx, link); err != nil {
		t.Fatal(err)
	}
	w.bringFront()
	if got := <-r; got.Code() != "approval_refused" {
		t.Errorf("code %q: %s", got.Code(), got.Text)
	}
}

func TestApprovalFromThePopup(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	a.link()
	w.background(w.site.A + "/")
	p, err := w.owner.ApproveFromPopup(w.ctx, a.name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.owner.ShareOn(w.ctx, p, kit.Sharing{URL: w.site.A + "/"}); err != nil {
		t.Fatal(err)
	}
	w.bringFront()
	a.ok("browser_connect", "wait_ms", 5000)
	a.sees("Plain page")
}

func TestApprovalOfANewBackgroundTab(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	link := kit.Link(a.call("browser_connect", "reason", "look around", "url", w.site.A+"/").Text)
	if err := w.owner.Share(w.ctx, link, kit.Sharing{}); err != nil {
		t.Fatal(err)
	}
	w.bringFront()
	a.ok("browser_connect", "wait_ms", 5000)
	a.ok("browser_wait_for", "text", "Plain page")
	a.sees("Plain page")
}

func TestApprovalPageInABrowserWithoutTheExtensionSaysWhatToDo(t *testing.T) {
	w := newWorld(t, nil)
	link := w.newAgent().link()
	for range 3 { // a GET has no effect and may be repeated
		r, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "no-store" || !strings.Contains(r.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("status %d, headers %v", r.StatusCode, r.Header)
		}
	}
}

func TestAgentCannotOpenAnApprovalLink(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	waiting := w.newAgent()
	link := waiting.link()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{
		"127.0.0.1", "localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1",
		"[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "localhost.", "127.0.0.1.", "x.localhost",
	} {
		spelled := fmt.Sprintf("http://%s:%s%s", host, u.Port(), u.Path)
		if r := a.call("browser_navigate", "url", spelled); !r.IsError {
			t.Errorf("%s was opened: %s", host, r.Text)
		}
		if r := a.call("browser_tabs", "action", "new", "url", spelled); !r.IsError {
			t.Errorf("%s was opened in a new tab: %s", host, r.Text)
		}
	}
	for _, target := range []string{w.owner.ExtensionURL("approve.html"), "chrome://version/", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "view-source:" + w.site.A} {
		if r := a.call("browser_navigate", "url", target); r.Code() != "scheme_refused" {
			t.Errorf("%s: code %q: %s", target, r.Code(), r.Text)
		}
	}
	w.nobodyAsked()
	a.sees("Plain page")
	w.background(w.site.A + "/other")
	if err := w.owner.Share(w.ctx, link, kit.Sharing{URL: w.site.A + "/other"}); err != nil {
		t.Fatalf("the link must still be unused: %v", err)
	}
	w.bringFront()
	waiting.ok("browser_connect", "wait_ms", 5000)
}

func TestPageOfTheLeaseCannotOpenAnApprovalLink(t *testing.T) {
	var link string
	trap := func(markup string) func(http.ResponseWriter, *http.Request) {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, "<!doctype html><h1>Trap</h1>"+strings.ReplaceAll(markup, "LINK", link))
		}
	}
	w := newWorld(t, routes{
		"/link":   trap(`<a href="LINK">next step</a>`),
		"/script": trap(`<button onclick="location = 'LINK'">next step</button>`),
		"/form":   trap(`<form action="LINK"><button>next step</button></form>`),
		"/later":  trap(`<button>next step</button><script>setTimeout(() => { location = 'LINK' }, 300)</script>`),
	})
	waiting := w.newAgent()
	link = waiting.link()
	a := w.lend(w.site.A + "/link")
	for _, path := range []string{"/link", "/script", "/form", "/later"} {
		a.ok("browser_navigate", "url", w.site.A+path)
		a.call("browser_click", "target", "text=next step")
		a.call("browser_wait_for", "time", 1)
		a.sees("Trap")
		w.leases(1)
	}
	w.nobodyAsked()
	w.background(w.site.A + "/")
	if err := w.owner.Share(w.ctx, link, kit.Sharing{URL: w.site.A + "/"}); err != nil {
		t.Fatalf("the link must still be unused: %v", err)
	}
	w.bringFront()
}

func TestChromeRefusesTheTabAndAnotherIsChosen(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	link := a.link()
	// A certificate warning is a page that Chrome does not let a debugger attach to.
	warned, err := w.owner.OpenWarned(w.ctx, w.site.S+"/")
	if err != nil {
		t.Fatal(err)
	}
	w.background(w.site.A + "/")
	p, err := w.owner.OpenApproval(w.ctx, link)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.owner.ShareOn(w.ctx, p, kit.Sharing{URL: w.site.S + "/"}); err == nil || !strings.Contains(err.Error(), "says") {
		t.Fatalf("sharing a page Chrome refuses: %v", err)
	}
	if r := a.call("browser_connect"); r.Code() != "attach_refused" && !strings.Contains(r.Text, "refused") {
		t.Errorf("the agent was not told: %s", r.Text)
	}
	warned.Close(w.ctx)
	if err := w.owner.ShareAgain(w.ctx, p, kit.Sharing{URL: w.site.A + "/"}); err != nil {
		t.Fatal(err)
	}
	w.bringFront()
	a.ok("browser_connect", "wait_ms", 5000)
	a.sees("Plain page")
}

func TestTwoAgentsSeeOnlyTheirOwnTabs(t *testing.T) {
	w := newWorld(t, routes{"/one": `<h1>First</h1>`, "/two": `<h1>Second</h1>`})
	a, b := w.lend(w.site.A+"/one"), w.lend(w.site.A+"/two")
	a.sees("First")
	b.sees("Second")
	if strings.Contains(a.ok("browser_tabs", "action", "list").Text, "/two") {
		t.Error("the first agent sees the second's tab")
	}
	a.fails("session_not_found", "browser_snapshot", "tab", "t2")
	b.fails("session_not_found", "browser_snapshot", "tab", "t2")
}

// The page is told that ten minutes are nearly over, and then what the host says afterwards.
func TestApprovalThatExpiresWhileItsPageIsOpenSaysSo(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	p, err := w.owner.OpenApproval(w.ctx, a.link())
	if err != nil {
		t.Fatal(err)
	}
	defer w.bringFront()
	defer p.Close(w.ctx)
	if err := p.Eval(w.ctx, `{
		const send = chrome.runtime.sendMessage.bind(chrome.runtime);
		let asked = 0;
		chrome.runtime.sendMessage = async (message) => {
			if (message.type !== "approval.find") return send(message);
			if (asked++ > 0) return {ok: false, error: {code: "approval_expired", message: "this link is older than 10 minutes"}};
			const answer = await send(message);
			answer.value.approval.expires_ms = 100;
			return answer;
		};
		document.dispatchEvent(new Event("visibilitychange"));
	} 1`, nil); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitFor(w.ctx, `document.body.dataset.state === "error" && document.getElementById("gone").checkVisibility()`); err != nil {
		t.Fatal(err)
	}
	text, err := p.Text(w.ctx)
	if err != nil || !strings.Contains(text, "too old") || strings.Contains(text, "Share") {
		t.Errorf("the page says (%v):\n%s", err, text)
	}
}
