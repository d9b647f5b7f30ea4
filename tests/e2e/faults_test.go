package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWorkerKilledBetweenTwoCalls(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	a.ok("browser_click", "target", `role=button[name="Count"]`)
	if err := w.owner.StopWorker(w.ctx); err != nil {
		t.Fatal(err)
	}
	a.ok("browser_click", "target", `role=button[name="Count"]`)
	if text := a.ok("browser_read").Text; !strings.Contains(text, "2") {
		t.Errorf("two clicks, and the page says:\n%s", text)
	}
}

func TestWorkerKilledDuringACall(t *testing.T) {
	w := newWorld(t, routes{"/": `<h1>Slow</h1><button disabled>Later</button><output></output><script>
		setTimeout(() => { b.disabled = false }, 1500); const b = document.querySelector("button"); let n = 0;
		b.onclick = () => { document.querySelector("output").value = "pressed " + ++n }</script>`})
	a := w.lend(w.site.A + "/")
	r := a.later("browser_click", "target", `role=button[name="Later"]`)
	if err := w.owner.StopWorker(w.ctx); err != nil {
		t.Fatal(err)
	}
	got := <-r
	text := a.ok("browser_read").Text
	switch {
	case got.IsError && strings.Contains(text, "pressed") && got.Outcome() == "not_dispatched":
		t.Errorf("said not dispatched, but it was: %s", text)
	case !got.IsError && !strings.Contains(text, "pressed 1"):
		t.Errorf("said done, and the page says: %s", text)
	case strings.Contains(text, "pressed 2"):
		t.Errorf("pressed twice: %s", text)
	}
}

func TestWorkerKilledWhileARequestIsPaused(t *testing.T) {
	w := newWorld(t, routes{"/": plain + `<form method=post action="/order"><button>Order</button></form>`})
	a := w.lend(w.site.A + "/")
	a.Signal(stopSignal) // the host gives no verdict now
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Eval(w.ctx, `setTimeout(() => document.forms[0].submit(), 0); 1`, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.StopWorker(w.ctx); err != nil {
		t.Fatal(err)
	}
	a.Signal(continueSignal)
	a.sees("Plain page")
	w.hits(0, "A", "POST", "")
}

func TestHostStoppedIsNoVerdict(t *testing.T) {
	w := newWorld(t, routes{"/": plain + `<form method=post action="/order"><button>Order</button></form>`})
	a := w.lend(w.site.A + "/")
	a.Signal(stopSignal)
	defer a.Signal(continueSignal)
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Eval(w.ctx, `setTimeout(() => document.forms[0].submit(), 0); 1`, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3500 * time.Millisecond) // the extension's own 2.5 s; nothing may reach the server
	w.hits(0, "A", "POST", "")
}

func TestHostKilledDetachesAndClearsTheBadge(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	w.marked("ON", 1)
	a.Kill()
	w.leases(0)
	w.marked("ON", 0)
	if attached, err := w.owner.Attached(w.ctx); err != nil || attached != 0 {
		t.Errorf("%d tabs still attached (%v)", attached, err)
	}
}

func TestHostExitsSoonAfterStdinEnds(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	if took := a.Close(); took > 2*time.Second {
		t.Errorf("the host took %v", took)
	}
	w.leases(0)
	out, err := w.lab.CLI(w.ctx, "status", "--json")
	if err != nil || strings.Contains(out, fmt.Sprint(a.PID())) {
		t.Errorf("the registry still has the host (%v): %s", err, out)
	}
}

func TestTabThatLoopsDoesNotDelayAnother(t *testing.T) {
	w := newWorld(t, routes{"/": plain, "/loop": `<h1>Loop</h1><button onclick="for (;;);">Hang</button>`})
	stuck := w.lend(w.site.B + "/loop")
	a := w.lend(w.site.A + "/")
	hung := stuck.later("browser_click", "target", "text=Hang")
	for range 5 {
		if r := a.ok("browser_click", "target", `role=button[name="Count"]`); r.Took > 2*time.Second {
			t.Errorf("a click beside a looping tab took %v", r.Took)
		}
	}
	<-hung
}

func TestTwentyClicksInABackgroundTabStayFast(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	var slow int
	for range 20 {
		if r := a.ok("browser_click", "target", `role=button[name="Count"]`); r.Took > 500*time.Millisecond {
			slow++
		}
	}
	if slow > 2 {
		t.Errorf("%d of 20 clicks took more than 500 ms: the tab's frames have dropped to 1 Hz", slow)
	}
	if text := a.ok("browser_read").Text; !strings.Contains(text, "20") {
		t.Errorf("20 clicks, and the page says:\n%s", text)
	}
}

func TestScreenshotOfABackgroundTab(t *testing.T) {
	w := newWorld(t, routes{"/": plain + strings.Repeat("<p>tall</p>", 200)})
	a := w.lend(w.site.A + "/")
	for _, args := range [][]any{nil, {"fullPage", true}, {"target", "text=Count"}, {"type", "jpeg"}} {
		if r := a.ok("browser_take_screenshot", args...); len(r.Images) != 1 || len(r.Images[0].Data) < 200 {
			t.Errorf("%v: %d images: %s", args, len(r.Images), r.Text)
		}
	}
}

func TestBadInputIsAToolErrorWithAHint(t *testing.T) {
	w := newWorld(t, routes{"/": plain, "/slow": func(rw http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	a := w.lend(w.site.A + "/")
	for _, c := range []struct {
		code, tool string
		args       []any
	}{
		{"bad_argument", "browser_click", []any{"target", "text=Count", "force", true}},
		{"bad_argument", "browser_click", []any{"target", 7}},
		{"bad_argument", "browser_click", nil},
		{"bad_argument", "browser_navigate", []any{"url", "http://[:::1"}},
		{"bad_argument", "browser_type", []any{"target", "text=Count"}},
		{"not_found", "browser_click", []any{"target", "#nowhere", "timeout_ms", 200}},
		{"stale_ref", "browser_click", []any{"target", "e99999"}},
		{"not_editable", "browser_type", []any{"target", "text=Count", "text", "x"}},
		{"scheme_refused", "browser_navigate", []any{"url", "file:///etc/passwd"}},
		{"scheme_refused", "browser_navigate", []any{"url", "chrome://settings/"}},
		{"session_not_found", "browser_snapshot", []any{"tab", "t99"}},
		{"bad_argument", "browser_press_key", []any{"key", "NoSuchKey"}},
		{"bad_argument", "browser_tabs", []any{"action", "burn"}},
	} {
		r := a.call(c.tool, c.args...)
		if !r.IsError || r.Code() != c.code {
			t.Errorf("%s %v: code %q, want %q: %s", c.tool, c.args, r.Code(), c.code, r.Text)
		}
		if !strings.Contains(r.Text, "hint: ") {
			t.Errorf("%s %v: no hint: %s", c.tool, c.args, r.Text)
		}
	}
	a.sees("Plain page")
}

func TestCutTailOfTheLastSessionIsFound(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	a.ok("browser_click", "target", `role=button[name="Count"]`)
	a.ok("browser_disconnect")
	a.Close()
	out, err := w.lab.CLI(w.ctx, "audit", "verify")
	if err != nil || strings.Contains(out, "; 0 ends attested") {
		t.Fatalf("audit verify right after the session: %v\n%s", err, out)
	}
	path, rows := w.lastRecord()
	cut := rows[:bytes.LastIndexByte(rows[:len(rows)-1], '\n')+1]
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = w.lab.CLI(w.ctx, "audit", "verify")
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 2 || !strings.Contains(out, filepath.Base(path)) {
		t.Errorf("the last row was cut, and audit verify says %v:\n%s", err, out)
	}
	if err := os.WriteFile(path, rows, 0o600); err != nil { // for the other tests
		t.Fatal(err)
	}
}

func TestRecordVerifiesAndHoldsNoSecrets(t *testing.T) {
	w := newWorld(t, routes{"/": `<h1>Sign in</h1><input aria-label=User><input type=password aria-label=Password>`})
	a := w.lend(w.site.A + "/?token=sentinel-url")
	a.ok("browser_type", "target", "label=User", "text", "sentinel-user")
	a.ok("browser_type", "target", "label=Password", "text", "sentinel-password")
	if strings.Contains(a.ok("browser_snapshot").Text, "sentinel-password") {
		t.Error("the password is in the snapshot")
	}
	a.ok("browser_disconnect")
	a.Close()
	if out, err := w.lab.CLI(w.ctx, "audit", "verify"); err != nil {
		t.Errorf("audit verify: %v\n%s", err, out)
	}
	out, err := w.lab.CLI(w.ctx, "audit", "show")
	if err != nil {
		t.Fatalf("audit show: %v\n%s", err, out)
	}
	if !strings.Contains(out, "browser_type") {
		t.Errorf("the acts are not on the record:\n%s", out)
	}
	for _, sentinel := range []string{"sentinel-url", "sentinel-user", "sentinel-password"} {
		if found := w.lab.Grep(sentinel); len(found) > 0 {
			t.Errorf("%s stands in %v", sentinel, found)
		}
	}
}
