package e2e

import (
	"strings"
	"testing"
	"time"
)

func TestTakeoverStopsActsAndKeepsReads(t *testing.T) {
	w := newWorld(t, routes{"/": plain + `<input aria-label=Note id=note>`})
	a := w.lend(w.site.A + "/")
	before := a.sees("Plain page").Ref(`button "Count"`)
	if err := w.owner.TakeOver(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	a.fails("owner_has_control", "browser_click", "target", `role=button[name="Count"]`)
	a.fails("owner_has_control", "browser_navigate", "url", w.site.A+"/next")
	a.sees("Plain page")
	w.marked("‖", 1)

	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Click(w.ctx, "#note"); err != nil {
		t.Fatal(err)
	}
	if err := p.Type(w.ctx, "mine"); err != nil {
		t.Fatal(err)
	}
	if err := p.Eval(w.ctx, `location.assign("/next")`, nil); err != nil { // the guard stands aside for the owner
		t.Fatal(err)
	}
	if err := p.WaitFor(w.ctx, `location.pathname === "/next"`); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.HandBack(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	r := a.ok("browser_snapshot")
	if !strings.Contains(r.Text, "owner") {
		t.Errorf("the next result does not say that the owner was there:\n%s", r.Text)
	}
	a.fails("stale_ref", "browser_click", "target", before)
	w.marked("ON", 1)
}

func TestPrivateTakeoverHidesEverything(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	if err := w.owner.Private(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	r := a.fails("owner_private", "browser_snapshot")
	if strings.Contains(r.Text, w.site.A) {
		t.Errorf("the address leaked: %s", r.Text)
	}
	a.fails("owner_private", "browser_take_screenshot")
	if err := w.owner.HandBack(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	a.sees("Plain page")
}

func TestTakeoverWhileAClickWaits(t *testing.T) {
	w := newWorld(t, routes{"/": `<button id=b disabled>Later</button><output id=out></output><script>b.onclick = () => { out.value = "pressed" }</script>`})
	a := w.lend(w.site.A + "/")
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	r := a.later("browser_click", "target", `role=button[name="Later"]`, "timeout_ms", 20000)
	if err := w.owner.TakeOver(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	if err := p.Eval(w.ctx, `b.disabled = false`, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-r; got.Code() != "owner_has_control" || got.Outcome() != "not_dispatched" {
		t.Errorf("code %q, outcome %q: %s", got.Code(), got.Outcome(), got.Text)
	}
	if text, _ := p.Text(w.ctx); strings.Contains(text, "pressed") {
		t.Error("the click went out after the takeover")
	}
}

func TestOwnerStopsSharing(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	if err := w.owner.Stop(w.ctx, w.site.A); err != nil {
		t.Fatal(err)
	}
	r := a.call("browser_snapshot")
	if c := r.Code(); c != "not_connected" && c != "page_closed" && c != "session_not_found" {
		t.Errorf("code %q: %s", c, r.Text)
	}
	w.marked("ON", 0)
	if _, err := w.owner.Page(w.ctx, w.site.A+"/"); err != nil {
		t.Errorf("the tab stays the owner's: %v", err)
	}
}

func TestTabDraggedOutOfTheGroupEndsTheLease(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	tab, err := w.owner.LeasedTab(w.ctx, w.site.A)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.owner.Ungroup(w.ctx, tab); err != nil {
		t.Fatal(err)
	}
	w.leases(0)
	if r := a.call("browser_snapshot"); !r.IsError {
		t.Errorf("still readable: %s", r.Text)
	}
}

func TestTabDraggedIntoTheGroupIsNotLent(t *testing.T) {
	w := newWorld(t, routes{"/": plain, "/mine": `<h1>Mine</h1>`})
	a := w.lend(w.site.A + "/")
	tab, err := w.owner.LeasedTab(w.ctx, w.site.A)
	if err != nil {
		t.Fatal(err)
	}
	w.background(w.site.A + "/mine")
	if err := w.owner.GroupWith(w.ctx, w.site.A+"/mine", tab); err != nil {
		t.Fatal(err)
	}
	time.Sleep(700 * time.Millisecond) // longer than the grace of a drag; nothing may happen, so there is no event to wait for
	w.leases(1)
	if strings.Contains(a.ok("browser_tabs", "action", "list").Text, "/mine") {
		t.Error("dragging a tab in lent it")
	}
}

func TestOwnersNewTabFromALeasedTabIsNotLent(t *testing.T) {
	w := newWorld(t, routes{"/": plain, "/next": `<title>next</title><h1>Next</h1>`})
	a := w.lend(w.site.A + "/")
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CtrlClick(w.ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.owner.WaitPage(w.ctx, w.site.A+"/next"); err != nil {
		t.Fatal(err)
	}
	w.leases(1)
	if strings.Contains(a.ok("browser_tabs", "action", "list").Text, "/next") {
		t.Error("the owner's new tab was lent")
	}
}

func TestClosedTabEndsTheLease(t *testing.T) {
	w := newWorld(t, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.leases(0)
	if r := a.call("browser_click", "target", "text=Count"); !r.IsError {
		t.Errorf("an act in a closed tab: %s", r.Text)
	}
}

func TestOwnersAddressInFrontLoadsAndIsNotRead(t *testing.T) {
	w := newWorld(t, routes{"/": plain, "/secret": `<title>Secret title</title><h1>Secret</h1>`})
	a := w.lend(w.site.A + "/")
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer w.bringFront()
	if err := w.owner.Activate(w.ctx, w.site.A+"/"); err != nil {
		t.Fatal(err)
	}
	if err := p.Go(w.ctx, w.site.B+"/secret"); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitFor(w.ctx, `document.title === "Secret title"`); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][]any{{"browser_snapshot"}, {"browser_take_screenshot"}, {"browser_click", "target", "text=Secret"}, {"browser_tabs", "action", "list"}} {
		r := a.call(call[0].(string), call[1:]...)
		if call[0] != "browser_tabs" && r.Code() != "not_shared_site" {
			t.Errorf("%v: code %q: %s", call, r.Code(), r.Text)
		}
		if strings.Contains(r.Text, "b.localhost") || strings.Contains(r.Text, "Secret t") || strings.Contains(r.Text, "/secret") {
			t.Errorf("%v tells where the owner is: %s", call, r.Text)
		}
	}
	if err := p.Go(w.ctx, w.site.A+"/"); err != nil {
		t.Fatal(err)
	}
	if err := p.WaitFor(w.ctx, `location.pathname === "/" && document.readyState === "complete"`); err != nil {
		t.Fatal(err)
	}
	a.sees("Plain page")
}

func TestPageThatLeavesByItselfInFrontIsRefused(t *testing.T) {
	w := newWorld(t, routes{"/": plain + `<a id=away href="{{B}}/away">Away</a><form id=form action="{{B}}/away"></form>`})
	a := w.lend(w.site.A + "/")
	p, err := w.owner.Page(w.ctx, w.site.A+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer w.bringFront()
	if err := w.owner.Activate(w.ctx, w.site.A+"/"); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		`location.assign(away.href)`, `location.assign(away.href + "?1"); location.assign(away.href)`, `location.replace(away.href)`, `away.click()`, `form.submit()`, `window.open(away.href, "_self")`,
		`document.head.insertAdjacentHTML("beforeend", '<meta http-equiv=refresh content="0;url=' + away.href + '">')`,
	} {
		for range 5 {
			if err := p.Eval(w.ctx, `setTimeout(() => { `+script+` }, 0); new Promise((done) => setTimeout(done, 80))`, nil); err != nil {
				t.Fatalf("%s: %v", script, err)
			}
		}
	}
	w.hits(0, "B", "", "")
	a.sees("Plain page")
}
