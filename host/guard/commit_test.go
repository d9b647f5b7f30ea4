package guard

import (
	"fmt"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// TestSecondGate: what may stand in the tab.
func TestSecondGate(t *testing.T) {
	for _, row := range []struct {
		what   string
		commit func(*desk) Commitment
		want   Standing
	}{
		{"what was allowed", func(d *desk) Commitment { d.get(shop+"/x", as("C")); return d.commit("C", shop+"/x") }, OK},
		{"what was allowed, elsewhere", func(d *desk) Commitment { d.get(shop+"/x", as("C")); return d.commit("C", evil) }, Frozen},
		{"what was refused", func(d *desk) Commitment { d.get(other, as("C")); return d.commit("C", other) }, Frozen},
		{"a form of the site that was refused", func(d *desk) Commitment { d.post(shop+"/x", as("C")); return d.commit("C", shop+"/x") }, Frozen},
		{"what was asked", func(d *desk) Commitment { d.click(); d.get(other, as("C")); return d.commit("C", other) }, Frozen},
		{"what was parked", func(d *desk) Commitment {
			d.click()
			d.get(shop+"/x", as("C"))
			d.get(other, hopOf("C"))
			return d.commit("C", other)
		}, Frozen},
		{"the error page of what was parked", func(d *desk) Commitment {
			d.click()
			d.get(shop+"/x", as("C"))
			d.get(other, hopOf("C"))
			return d.commit("C", "chrome-error://chromewebdata/")
		}, OK},
		{"what nobody asked for", func(d *desk) Commitment { return d.commit("C", other) }, Frozen},
		{"another page of the site that nobody asked for", func(d *desk) Commitment { return d.commit("C", "https://www.shop.test/") }, Frozen},
		{"what the page wrote itself", func(d *desk) Commitment { return d.commit("C", shop+"/") }, OK},
		{"an empty document", func(d *desk) Commitment { return d.commit("C", "about:blank") }, OK},
		{"an empty document of the shop's", func(d *desk) Commitment { return d.commit("C", "about:blank", reporting(shop)) }, OK},
		{"a blob of the shop's", func(d *desk) Commitment { return d.commit("C", "blob:"+shop+"/1f0e") }, OK},
		{"a blob of another site's", func(d *desk) Commitment { return d.commit("C", "blob:"+other+"/1f0e") }, Frozen},
		{"an inline page", func(d *desk) Commitment { return d.commit("C", "data:text/html,x") }, Frozen},
		{"a file", func(d *desk) Commitment { return d.commit("C", "file:///etc/passwd") }, Frozen},
		{"Chrome's settings", func(d *desk) Commitment { return d.commit("C", "chrome://settings/") }, Frozen},
		{"an extension's page", func(d *desk) Commitment { return d.commit("C", "chrome-extension://abc/x.html") }, Frozen},
		{"a page whose origin is another", func(d *desk) Commitment { d.get(shop+"/x", as("C")); return d.commit("C", shop+"/x", reporting(evil)) }, Frozen},
		{"a page that sandboxes itself", func(d *desk) Commitment { d.get(shop+"/x", as("C")); return d.commit("C", shop+"/x", reporting("://")) }, OK},
		{"Chrome's error page", func(d *desk) Commitment { return d.commit("C", "chrome-error://chromewebdata/") }, OK},
		{"out of the cache, within the site", func(d *desk) Commitment { return d.commit("old", "https://www.shop.test/", restored) }, OK},
		{"out of the cache, from before the lease", func(d *desk) Commitment { return d.commit("old", other, restored) }, Frozen},
		{"out of the cache, the owner's Back", func(d *desk) Commitment { d.OwnerInput(d.now); return d.commit("old", other, restored) }, Unread},
		{"out of the cache, where the owner drove to", func(d *desk) Commitment {
			d.TakenOver()
			d.get(other, driving, as("U"))
			d.commit("U", other)
			d.get(shop, driving, as("V"))
			d.commit("V", shop)
			d.HandedBack()
			return d.commit("U", other, restored)
		}, Frozen},
		{"the owner's navigation", func(d *desk) Commitment { d.get(other, driving, as("U")); return d.commit("U", other) }, Unread},
		{"the owner's way to Chrome's settings", func(d *desk) Commitment { d.TakenOver(); return d.commit("U", "chrome://settings/") }, Unread},
		{"the owner's page, whose origin is another", func(d *desk) Commitment { d.TakenOver(); return d.commit("U", shop, reporting(evil)) }, Unread},
		{"an address typed in front", func(d *desk) Commitment { d.get(other, inFront, as("U")); return d.commit("U", other) }, Unread},

		{"a frame that was paused", func(d *desk) Commitment { d.get(other, in("new"), as("C")); return d.commit("C", other, child("new")) }, OK},
		{"a frame that nobody saw", func(d *desk) Commitment { return d.commit("C", other, child("new")) }, OK},
		{"an inline frame", func(d *desk) Commitment { return d.commit("C", "data:text/html,x", child("new")) }, OK},
		{"a frame's form that was refused", func(d *desk) Commitment {
			d.post(evil+"/x", in("ad"), from(evil), as("C"))
			return d.commit("C", evil+"/x", child("ad"))
		}, Frozen},
		{"a frame that is elsewhere than it was let", func(d *desk) Commitment { d.get(other, in("new"), as("C")); return d.commit("C", shop, child("new")) }, Frozen},
		{"a frame's verdict used for the page", func(d *desk) Commitment { d.get(other, in("new"), as("C")); return d.commit("C", other) }, Frozen},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := atShop(t)
			d.stands(row.commit(d), row.want)
			if frozen := d.State() == "frozen"; frozen != (row.want == Frozen) {
				t.Errorf("state %s", d.State())
			}
		})
	}
}

func TestFrozenTabLosesEverythingAndIsLeftToTheOwner(t *testing.T) {
	d := atShop(t)
	d.click()
	d.get(shop+"/slow", as("D")) // under way when it happens
	asked := d.get(other, as("C"))
	c := d.commit("C", other)
	if c.Code != policy.NavigationEscaped || len(c.Gone) != 1 || c.Gone[0].ID != asked.Ticket.ID || c.Row.Verdict != "frozen" {
		t.Errorf("commitment %+v", c)
	}
	if left := d.Book().List(d.now); len(left) != 0 {
		t.Errorf("grants left: %v", left)
	}
	d.want(d.post(evil), Continue, UserDriven)
	d.want(d.get(evil, hopOf("D")), Continue, UserDriven)
	if d.Reads(mainFrame, d.now) || d.ReadsOrigin(shop, d.now) {
		t.Error("a frozen tab may be read")
	}
}

func TestReloadBehindABlockArrives(t *testing.T) {
	d := atShop(t)
	k := d.Foresee(Intent{Call: "go", Kind: Navigates, URL: other + "/x"}, d.now)
	if k.Verdict != policy.Ask {
		t.Fatalf("navigate: %s", k.Verdict)
	}
	d.Answer(k.Ticket.ID, policy.Once, d.now)
	d.act("go", Intent{Kind: Navigates, URL: other + "/x"}, k.Ticket.ID)
	d.stands(d.commit("B", "chrome-error://chromewebdata/", reporting("://")), OK) // blocked by the session rule
	d.want(d.get(other+"/x", as("C")), Continue, Allowed)                          // Page.reload
	c := d.commit("C", other+"/x")
	d.stands(c, OK)
	if !c.Main || c.Act != "act of go" || d.Reading(d.now) != "" {
		t.Errorf("commitment %+v, reading %q", c, d.Reading(d.now))
	}
	d.end("go")

	d.act("back", Intent{Kind: Navigates, URL: shop})
	d.stands(d.commit("B2", "chrome-error://chromewebdata/"), OK)
	d.want(d.get(shop, as("C2")), Continue, Allowed)
	d.stands(d.commit("C2", shop), OK)
}

func TestCommitNeedsAGrantThatStillLives(t *testing.T) {
	d := atShop(t)
	d.visit(other)
	id, _ := d.Book().Holds(policy.Navigate, mustOrigin(other), d.now)
	d.act("next", Intent{Kind: Interacts})
	d.want(d.get(other+"/2", as("C")), Continue, Allowed)
	d.Book().Revoke(id)
	d.stands(d.commit("C", other+"/2"), Frozen)
}

// A site that moves from http to https and on to www asks one question, not two.
func TestGrantFollowsHopsThatStay(t *testing.T) {
	go3 := func(t *testing.T) *desk {
		d := atShop(t)
		in := Intent{Call: "go", Kind: Navigates, URL: "http://old.test/"}
		d.Answer(d.Foresee(in, d.now).Ticket.ID, policy.Once, d.now)
		d.act("go", in, 1)
		d.want(d.get("http://old.test/", as("C")), Continue, Allowed)
		d.want(d.get("https://old.test/", hopOf("C")), Continue, Allowed)
		d.want(d.get("https://www.old.test/", hopOf("C")), Continue, Allowed)
		return d
	}
	d := go3(t)
	d.stands(d.commit("C", "https://www.old.test/"), OK)
	if f := d.Foresee(Intent{Kind: Interacts}, d.now); f.Code == policy.NotSharedSite {
		t.Error("it arrived where it may not act")
	}
	if _, ok := d.Book().Holds(policy.Navigate, mustOrigin("https://www.old.test"), d.now.Add(policy.NavigateLife)); ok {
		t.Error("the grant has grown older than it was given")
	}
	d.pass(policy.NavigateLife)
	if code := d.Reading(d.now); code != "" {
		t.Errorf("reading ends with the grant, the document stands: %s", code)
	}
	d = go3(t)
	id, _ := d.Book().Holds(policy.Navigate, mustOrigin("http://old.test"), d.now)
	d.Book().Revoke(id)
	d.stands(d.commit("C", "https://www.old.test/"), Frozen)
}

func TestStartAgainJudgesTheTabAfresh(t *testing.T) {
	d := atShop(t)
	d.click()
	k := d.get(other).Ticket
	d.end("click")
	c := d.Start([]Commit{
		{Frame: mainFrame, Loader: "W", URL: other, Origin: other},
		{Frame: "x", Parent: mainFrame, Loader: "X", URL: shop, Origin: shop},
	}, d.now)
	d.stands(c, Unread)
	if d.State() != "guarding" || len(c.Gone) != 1 || c.Gone[0].ID != k.ID {
		t.Errorf("state %s, gone %+v", d.State(), c.Gone)
	}
	if _, there := d.frames["ad"]; there {
		t.Error("a frame of the page before is still there")
	}
	d = enter(t, frozen)
	d.Start([]Commit{{Frame: mainFrame, Loader: "W", URL: shop, Origin: shop}}, d.now)
	if d.Reading(d.now) != policy.NavigationEscaped {
		t.Error("a frozen tab thaws when the extension comes back")
	}
}

func TestPageThatReloadsItselfAfterItsGrantIsUnread(t *testing.T) {
	d := atShop(t)
	d.visit(other)
	d.pass(policy.NavigateLife)
	if code := d.Reading(d.now); code != "" {
		t.Errorf("the document that came with the grant answers %q", code)
	}
	if f := d.Foresee(Intent{Kind: Interacts}, d.now); f.Verdict != policy.Ask || f.Ticket.Question.Capability != policy.Navigate {
		t.Errorf("acting on it: %+v", f)
	}
	d.want(d.get(other, as("R")), Continue, Allowed)
	d.stands(d.commit("R", other), Unread)
}

func TestDocumentBeforeStartIsJudgedByItsAddress(t *testing.T) {
	d := newDesk(t, policy.AccessAct, shop)
	d.want(d.get(shop+"/soon", as("C")), Continue, Allowed)
	d.want(d.get(evil), Refuse, Refused)
	c := d.Start([]Commit{{Frame: mainFrame, Loader: "L0", URL: other, Origin: other}}, d.now)
	d.stands(c, Unread)
	if !c.Main || c.Code != policy.NotSharedSite || d.State() != "guarding" {
		t.Errorf("%+v in state %s", c, d.State())
	}
}

func TestReadsFramesByTheirOwnOrigin(t *testing.T) {
	d := atShop(t)
	d.Committed(Commit{Frame: "own", Parent: mainFrame, Loader: "1", URL: "https://www.shop.test/", Origin: "https://www.shop.test"}, d.now)
	d.Committed(Commit{Frame: "doc", Parent: mainFrame, Loader: "2", URL: "about:srcdoc", Origin: shop}, d.now)
	d.Committed(Commit{Frame: "inAd", Parent: "ad", Loader: "3", URL: "about:blank", Origin: evil}, d.now)
	d.Committed(Commit{Frame: "data", Parent: mainFrame, Loader: "4", URL: "data:text/html,x", Origin: "://"}, d.now)
	d.Committed(Commit{Frame: "dataInAd", Parent: "ad", Loader: "5", URL: "data:text/html,x", Origin: "://"}, d.now)
	d.Attached("new", "ad")
	d.Attached("new2", mainFrame)
	for frame, want := range map[string]bool{
		mainFrame: true, "ad": false, "own": true, "doc": true, "inAd": false, "data": true, "dataInAd": false, "new": false, "new2": true, "unknown": false,
	} {
		if got := d.Reads(frame, d.now); got != want {
			t.Errorf("%s may be read: %v", frame, got)
		}
	}
	for origin, want := range map[string]bool{shop: true, "https://www.shop.test": true, evil: false, "null": false, "://": false, "": false} {
		if got := d.ReadsOrigin(origin, d.now); got != want {
			t.Errorf("%s may be read: %v", origin, got)
		}
	}
	d.Attached("ad", mainFrame) // told twice: it holds what it held
	if d.Reads("ad", d.now) {
		t.Error("a frame may be read because it was told again")
	}
	d.Detached("ad")
	if !d.Reads("own", d.now) {
		t.Error("another frame went with it")
	}
	for _, frame := range []string{"ad", "inAd", "new"} {
		if _, there := d.frames[frame]; there {
			t.Errorf("%s outlives the frame it was in", frame)
		}
	}
	if d.Detached(mainFrame); d.front() == nil {
		t.Error("the main frame was forgotten")
	}
}

func TestBlankDocumentIsItsMakers(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	d.commit("1", "about:blank", child("blank"), reporting(shop))
	d.commit("2", "about:srcdoc", child("sandbox"), reporting("://"))
	d.Committed(Commit{Frame: "inAd", Parent: "ad", Loader: "4", URL: "about:blank", Origin: evil}, d.now)
	for frame, want := range map[string]bool{"blank": true, "sandbox": true, "inAd": false} {
		if got := d.Reads(frame, d.now); got != want {
			t.Errorf("%s may be read: %v", frame, got)
		}
	}
	for frame, want := range map[string]Fate{"blank": Allowed, "sandbox": Asked, "inAd": Asked} {
		d.click()
		header := from(shop)
		if frame == "sandbox" {
			header = from("null")
		}
		if r := d.post(shop+"/x", in(frame), header); r.Fate != want {
			t.Errorf("a form of %s: %s", frame, r.Fate)
		}
		d.Cancel("click")
		d.end("click")
	}

	d = at(t, policy.AccessSubmit)
	d.stands(d.commit("B", "about:blank"), OK)
	if o, _ := d.Front(); !o.Same(mustOrigin(shop)) {
		t.Errorf("a blank page after the shop's is %s", o)
	}
	d.get(other, driving, as("U"))
	d.commit("U", other)
	d.stands(d.commit("B2", "about:blank"), Unread)
}

func TestEmptyTabMayBeRead(t *testing.T) {
	now := time.Now()
	g := New(Config{Book: policy.NewBook(policy.Terms{Access: policy.AccessAct}, now), URL: "about:blank"})
	if code := g.Reading(now); code != "" {
		t.Errorf("an empty tab answers %q", code)
	}
	g.Start([]Commit{{Frame: mainFrame, Loader: "0", URL: "about:blank", Origin: "://"}}, now)
	if code := g.Reading(now); code != "" {
		t.Errorf("an empty tab that started answers %q", code)
	}
	if f := g.Foresee(Intent{Kind: Navigates, URL: shop}, now); f.Verdict != policy.Ask {
		t.Errorf("the first address: %s %s", f.Verdict, f.Code)
	}
}

func TestReadOnlyLeaseGoesBackWithinItsSite(t *testing.T) {
	for url, want := range map[string]Standing{"https://www.shop.test/": OK, other: Frozen} {
		d := at(t, policy.AccessRead)
		d.stands(d.commit("old", url, restored), want)
	}
}

func TestEndedLeaseHoldsNothing(t *testing.T) {
	d := atShop(t)
	d.Ended()
	if left := d.Book().List(d.now); len(left) != 0 {
		t.Errorf("grants left: %v", left)
	}
}

func TestFramesComeBackWithTheirPage(t *testing.T) {
	d := atShop(t)
	d.commit("own0", shop+"/f", child("own"))
	d.get(shop+"/2", as("C"))
	d.commit("C", shop+"/2")
	if d.Reads("own", d.now) {
		t.Error("a frame outlives its page")
	}
	d.commit("new0", shop+"/g", child("new"))
	d.commit("L0", shop+"/", restored)
	for frame, want := range map[string]bool{mainFrame: true, "own": true, "ad": false, "new": false} {
		if got := d.Reads(frame, d.now); got != want {
			t.Errorf("%s may be read: %v", frame, got)
		}
	}
	for range 3 * maxShelf {
		l := d.loader()
		d.get(shop, as(l))
		d.commit(l, shop)
	}
	if len(d.shelf) > maxShelf {
		t.Errorf("%d pages on the shelf", len(d.shelf))
	}
	if d.commit("C", shop+"/2", restored); d.Reads("new", d.now) {
		t.Error("a page comes back that was long forgotten")
	}
}

func TestCodeOfACommitIsTheMainFramesOnly(t *testing.T) {
	d := atShop(t)
	d.get(other, driving, as("U"))
	if c := d.commit("U", other); c.Code != policy.NotSharedSite || c.Row.Code != policy.NotSharedSite {
		t.Errorf("main frame: %q", c.Code)
	}
	if c := d.commit("X", evil, child("x")); c.Code != "" || c.Main {
		t.Errorf("child frame: %q", c.Code)
	}
}

func TestMainFrameMayChangeItsID(t *testing.T) {
	d := atShop(t)
	d.get(shop+"/x", as("C"))
	d.stands(d.Committed(Commit{Frame: "F2", Loader: "C", URL: shop + "/x", Origin: shop}, d.now), OK)
	d.want(d.get(other, in("F2")), Refuse, Refused)
	if _, loader := d.Front(); loader != "C" {
		t.Errorf("front loader %q", loader)
	}
}

func TestManyFramesPushOutOnlyFrames(t *testing.T) {
	d := atShop(t)
	d.click()
	d.get(shop+"/slow", as("C"))
	for i := range 5 * childChains {
		d.get(evil, in("new"), as(fmt.Sprint("frame ", i)))
	}
	if n := len(d.chains.byLoader); n > childChains+mainChains {
		t.Errorf("%d navigations remembered", n)
	}
	d.want(d.get(other, hopOf("C")), Fail, Parked)
	d.stands(d.commit("C", "chrome-error://chromewebdata/"), OK)
	for i := range 5 * mainChains {
		d.get(shop, as(fmt.Sprint("page ", i)))
	}
	if n := len(d.chains.main); n > mainChains {
		t.Errorf("%d pages remembered", n)
	}
}

// visit goes to a site as the agent, with the owner's Once.
func (d *desk) visit(url string) {
	d.Helper()
	in := Intent{Call: "visit", Kind: Navigates, URL: url}
	k := d.Foresee(in, d.now)
	if k.Ticket == nil {
		d.Fatalf("going to %s: %s %s", url, k.Verdict, k.Code)
	}
	d.Answer(k.Ticket.ID, policy.Once, d.now)
	d.act("visit", in, k.Ticket.ID)
	loader := d.loader()
	d.want(d.get(url, as(loader)), Continue, Allowed)
	d.stands(d.commit(loader, url), OK)
	d.end("visit")
	d.pass(Tail + time.Second)
}
