package e2e

import (
	"strings"
	"testing"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

func TestPopupLendsTheTabInFrontWithoutALink(t *testing.T) {
	w := newWorld(t, routes{"/front": plain})
	a := w.newAgent()
	a.ok("browser_state") // only with its first call a host learns how its client is called
	if err := w.owner.ShareFront(w.ctx, a.name); err != nil {
		t.Fatal(err)
	}
	a.sees("Plain page")
	a.ok("browser_click", "target", `role=button[name="Count"]`)
	w.marked("ON", 1)
	if tabs := a.ok("browser_tabs", "action", "list").Text; strings.Count(tabs, "t1") == 0 || strings.Contains(tabs, "t2") {
		t.Errorf("not exactly one tab was lent: %s", tabs)
	}
}

func TestPopupPausesAndResumesAnAgent(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	if err := w.owner.Pause(w.ctx, a.name); err != nil {
		t.Fatal(err)
	}
	a.fails("agent_paused", "browser_click", "target", `role=button[name="Count"]`)
	a.fails("agent_paused", "browser_navigate", "url", w.site.A+"/next")
	a.sees("Plain page")
	if err := w.owner.Resume(w.ctx, a.name); err != nil {
		t.Fatal(err)
	}
	a.ok("browser_click", "target", `role=button[name="Count"]`)
}

func TestThreeRefusalsPauseTheAgentUntilTheOwnerResumesIt(t *testing.T) {
	w := newWorld(t, routes{"/": plain + `<form method=post action="/order"><button>Order</button></form>`})
	a := w.lend(w.site.A + "/")
	for range 3 {
		r := a.later("browser_click", "target", `role=button[name="Order"]`, "submits", true)
		w.asked("submit", "no")
		if got := <-r; got.Code() != "blocked_by_policy" {
			t.Fatalf("code %q: %s", got.Code(), got.Text)
		}
	}
	a.fails("agent_paused", "browser_click", "target", `role=button[name="Count"]`)
	if err := w.owner.Resume(w.ctx, a.name); err != nil { // which the popup offers only for what it shows as paused
		t.Fatal(err)
	}
	a.ok("browser_click", "target", `role=button[name="Count"]`)
	w.hits(0, "A", "POST", "")
}

func TestStopEverything(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	agents := []*agent{w.lend(w.site.A + "/"), w.lend(w.site.B + "/")}
	w.leases(2)
	if err := w.owner.StopEverything(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.leases(0)
	w.marked("ON", 0)
	w.attached(0)
	for _, a := range agents {
		if r := a.call("browser_snapshot"); !r.IsError {
			t.Errorf("still readable: %s", r.Text)
		}
	}
	for _, url := range []string{w.site.A + "/", w.site.B + "/"} {
		if _, err := w.owner.Page(w.ctx, url); err != nil {
			t.Errorf("the tab stays the owner's: %v", err)
		}
	}
}

// The host hangs, so that the lease stands half made for as long as the owner needs to stop it.
func TestStopWhileATabIsBeingShared(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.newAgent()
	w.background(w.site.A + "/")
	p, err := w.owner.OpenApproval(w.ctx, a.link())
	if err != nil {
		t.Fatal(err)
	}
	a.Signal(stopSignal)
	shared := make(chan error, 1)
	go func() { shared <- w.owner.ShareOn(w.ctx, p, kit.Sharing{URL: w.site.A + "/"}) }()
	w.attached(1)
	if err := w.owner.Stop(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	w.attached(0)
	w.leases(0)
	a.Signal(continueSignal)
	if err := <-shared; err == nil || !strings.Contains(err.Error(), "says") {
		t.Errorf("the approval page does not say that nothing was shared: %v", err)
	}
	p.Close(w.ctx)
	w.bringFront()
	for { // the host hears of the offer and then of its end; nothing may come of it meanwhile
		r := a.call("browser_snapshot")
		if !r.IsError {
			t.Fatalf("the tab is read: %s", r.Text)
		}
		if r.Code() == "not_connected" {
			break
		}
	}
	w.attached(0)
	if _, err := w.owner.Page(w.ctx, w.site.A+"/"); err != nil {
		t.Errorf("the tab stays the owner's: %v", err)
	}
}

// attached waits until the extension's debugger holds so many tabs.
func (w *world) attached(n int) {
	w.t.Helper()
	if err := w.owner.AwaitAttached(w.ctx, n); err != nil {
		w.t.Fatalf("waiting for %d attached tabs: %v", n, err)
	}
}
