package guard

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// TestPausedWithoutAnAct: a page on its own moves within its site and loads its frames, and that is all.
func TestPausedWithoutAnAct(t *testing.T) {
	for _, row := range []struct {
		what   string
		pause  func(*desk) Ruling
		action Action
		fate   Fate
	}{
		{"a link of its own", func(d *desk) Ruling { return d.get(shop + "/x") }, Continue, Allowed},
		{"a refresh to a subdomain", func(d *desk) Ruling { return d.get("https://www.shop.test/") }, Continue, Allowed},
		{"another site", func(d *desk) Ruling { return d.get(other) }, Refuse, Refused},
		{"another site, sharing the tab's site with POST", func(d *desk) Ruling { return d.post(other) }, Refuse, Refused},
		{"a form", func(d *desk) Ruling { return d.post(shop + "/order") }, Refuse, Refused},
		{"a method that changes, without a body", func(d *desk) Ruling {
			return d.get(shop+"/order", func(r *Request) { r.Method = "DELETE" })
		}, Refuse, Refused},
		{"a payment frame", func(d *desk) Ruling { return d.get(other+"/pay", in("new")) }, Continue, Allowed},
		{"the ad's own next page", func(d *desk) Ruling { return d.get(evil+"/2", session("s1", "ad")) }, Continue, Allowed},
		{"the ad's form", func(d *desk) Ruling { return d.post(evil+"/x", session("s1", "ad"), from(evil)) }, Refuse, Refused},
		{"an inline frame", func(d *desk) Ruling { return d.get("data:text/html,x", in("new")) }, Continue, Allowed},
		{"an inline page", func(d *desk) Ruling { return d.get("data:text/html,x") }, Refuse, Refused},
		{"a file", func(d *desk) Ruling { return d.get("file:///etc/passwd") }, Refuse, Refused},
		{"a file in a frame", func(d *desk) Ruling { return d.get("file:///etc/passwd", in("new")) }, Refuse, Refused},
		{"an extension's page in a frame", func(d *desk) Ruling { return d.get("chrome-extension://abc/x", in("new")) }, Refuse, Refused},
		{"our own host in a frame", func(d *desk) Ruling { return d.get("http://127.0.0.1:4711/", in("new")) }, Refuse, Refused},
		{"head of the page, hidden behind a front tab", func(d *desk) Ruling { return d.get(other, askedByPage) }, Refuse, Refused},
		{"an address nobody can read", func(d *desk) Ruling { return d.get(`https://shop.test\@evil.test/`) }, Refuse, Refused},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := atShop(t)
			d.want(row.pause(d), row.action, row.fate)
		})
	}
}

// TestPausedDuringAnAct: what the agent set off by a click that announced nothing.
func TestPausedDuringAnAct(t *testing.T) {
	for _, row := range []struct {
		what   string
		pause  func(*desk) Ruling
		action Action
		fate   Fate
		cap    policy.Capability // of the question
		lasts  bool              // … which offers a grant for ten minutes
	}{
		{"a link within the site", func(d *desk) Ruling { return d.get(shop + "/x") }, Continue, Allowed, "", false},
		{"a search", func(d *desk) Ruling { return d.get(shop + "/?q=tea") }, Continue, Allowed, "", false},
		{"another site", func(d *desk) Ruling { return d.get(other) }, Refuse, Asked, policy.Navigate, false},
		{"a form", func(d *desk) Ruling { return d.post(shop + "/order") }, Refuse, Asked, policy.Submit, true},
		{"a form to another site", func(d *desk) Ruling { return d.post(other + "/pay") }, Refuse, Asked, policy.Submit, true},
		{"a form without a referrer", func(d *desk) Ruling { return d.post(shop+"/order", from("null")) }, Refuse, Asked, policy.Submit, false},
		{"a form without an Origin", func(d *desk) Ruling { return d.post(shop+"/order", from("")) }, Refuse, Asked, policy.Submit, false},
		{"the ad's form aimed at the top", func(d *desk) Ruling { return d.post(shop+"/order", from(evil)) }, Refuse, Asked, policy.Submit, false},
		{"the ad's form in its own frame", func(d *desk) Ruling { return d.post(evil+"/x", session("s1", "ad"), from(evil)) }, Refuse, Asked, policy.Submit, true},
		{"the page's form aimed at the ad's frame", func(d *desk) Ruling { return d.post(evil+"/x", in("ad"), from(shop)) }, Refuse, Asked, policy.Submit, false},
		{"a frame", func(d *desk) Ruling { return d.get(other, in("new")) }, Continue, Allowed, "", false},
		{"our own host", func(d *desk) Ruling { return d.get("http://127.1:4711/") }, Refuse, Refused, "", false},
		{"an app link", func(d *desk) Ruling { return d.get("myapp://x") }, Refuse, Refused, "", false},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := atShop(t)
			d.click()
			r := row.pause(d)
			d.want(r, row.action, row.fate)
			if r.Ticket == nil {
				return
			}
			if k := r.Ticket; k.Question.Capability != row.cap || k.Announced || k.Parked || k.Call != "click" || r.Act != "act of click" {
				t.Errorf("ticket %+v", k)
			}
			if lasts := slices.Contains(r.Ticket.Question.Choices(), policy.TenMinutes); lasts != row.lasts {
				t.Errorf("ten minutes offered: %v", lasts)
			}
		})
	}
}

func TestAddressesThatAreNoTargetsSayWhy(t *testing.T) {
	for url, want := range map[string]policy.Code{
		"data:text/html,x": policy.SchemeRefused, "file:///etc/passwd": policy.SchemeRefused, "http://127.1:4711/": policy.BlockedByPolicy, other: policy.BlockedByPolicy,
	} {
		if r := atShop(t).get(url); r.Code != want {
			t.Errorf("%s: %q, want %q", url, r.Code, want)
		}
	}
}

func TestReadOnlyLeaseSetsNothingOff(t *testing.T) {
	d := at(t, policy.AccessRead)
	d.want(d.get(shop+"/x"), Continue, Allowed)
	d.want(d.get(other), Refuse, Refused)
	d.want(d.post(shop+"/x"), Refuse, Refused)
	for _, in := range []Intent{{Kind: Interacts}, order(), {Kind: Navigates, URL: shop}, {Kind: Reloads}, {Kind: Travels, URL: shop}} {
		if f := d.Foresee(in, d.now); f.Verdict != policy.Refuse || f.Code != policy.ReadOnly {
			t.Errorf("%s: %s %s", in.Kind, f.Verdict, f.Code)
		}
	}
}

func TestTimedGrantCountsDuringActsOnly(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	d.want(d.post(shop+"/order"), Refuse, Refused)
	d.click()
	d.want(d.post(shop+"/order"), Continue, Allowed)
	d.want(d.post(shop+"/order", from("null")), Refuse, Asked)
	d.Cancel("click")
	d.end("click")
	d.pass(Tail)
	d.want(d.post(shop+"/order"), Continue, Allowed)
	d.pass(time.Millisecond)
	d.want(d.post(shop+"/order"), Refuse, Refused)
	d.pass(policy.TimedLife)
	d.click()
	d.want(d.post(shop+"/order"), Refuse, Asked)
}

func TestAnAdDoesNotSpendTheBanksGrant(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	d.click()
	d.want(d.post(evil+"/steal", session("s1", "ad"), from(evil)), Refuse, Asked)
	d = at(t, policy.AccessSubmit)
	d.click()
	d.want(d.post(shop+"/transfer", from(evil)), Refuse, Asked)
}

// TestHops: a chain belongs to whoever began it; each hop is judged before it leaves.
func TestHops(t *testing.T) {
	for _, row := range []struct {
		what   string
		access policy.Access
		click  bool
		first  func(*desk) Ruling // loader "C"
		second func(*desk) Ruling
		action Action
		fate   Fate
	}{
		{"302 within the site", policy.AccessAct, true,
			func(d *desk) Ruling { return d.get(shop+"/out", as("C")) },
			func(d *desk) Ruling { return d.get("https://www.shop.test/", hopOf("C")) }, Continue, Allowed},
		{"302 to another site", policy.AccessAct, true,
			func(d *desk) Ruling { return d.get(shop+"/out", as("C")) },
			func(d *desk) Ruling { return d.get(other, hopOf("C")) }, Fail, Parked},
		{"302 to another site, nobody's act", policy.AccessAct, false,
			func(d *desk) Ruling { return d.get(shop+"/out", as("C")) },
			func(d *desk) Ruling { return d.get(other, hopOf("C")) }, Refuse, Refused},
		{"302 to our own host", policy.AccessAct, true,
			func(d *desk) Ruling { return d.get(shop+"/out", as("C")) },
			func(d *desk) Ruling { return d.get("http://[::1]:4711/", hopOf("C")) }, Refuse, Refused},
		{"307 with a body within the site", policy.AccessSubmit, true,
			func(d *desk) Ruling { return d.post(shop+"/order", as("C")) },
			func(d *desk) Ruling { return d.post(shop+"/order2", hopOf("C")) }, Continue, Allowed},
		{"307 with a body to another site", policy.AccessSubmit, true,
			func(d *desk) Ruling { return d.post(shop+"/order", as("C")) },
			func(d *desk) Ruling { return d.post(other+"/order", hopOf("C")) }, Fail, Parked},
		{"303 to another site", policy.AccessSubmit, true,
			func(d *desk) Ruling { return d.post(shop+"/order", as("C")) },
			func(d *desk) Ruling { return d.get(other+"/thanks", hopOf("C")) }, Fail, Parked},
		{"a frame's 302 anywhere", policy.AccessAct, true,
			func(d *desk) Ruling { return d.get(other, as("C"), in("new")) },
			func(d *desk) Ruling { return d.get(evil, hopOf("C"), in("new")) }, Continue, Allowed},
		{"a frame's 307 with a body, granted for ten minutes", policy.AccessSubmit, true,
			func(d *desk) Ruling { return d.post(shop+"/x", as("C"), in("same")) },
			func(d *desk) Ruling { return d.post(evil+"/x", hopOf("C"), in("same")) }, Continue, Allowed},
		{"a hop of a request that was refused is a request of its own", policy.AccessAct, false,
			func(d *desk) Ruling { return d.get(evil, as("C")) },
			func(d *desk) Ruling { return d.get(evil+"/2", hopOf("C")) }, Refuse, Refused},
		{"a hop of a request nobody knows", policy.AccessSubmit, true,
			func(d *desk) Ruling { return Ruling{} },
			func(d *desk) Ruling { return d.post(shop+"/x", hopOf("unknown")) }, Fail, Parked},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := at(t, row.access)
			d.Attached("same", mainFrame)
			d.commit("S0", shop+"/frame", child("same"))
			if row.click {
				d.click()
			}
			row.first(d)
			d.want(row.second(d), row.action, row.fate)
		})
	}
}

// A frame's later hop cannot be sent again by itself: asking for it would promise what cannot be kept.
func TestFrameHopWithABodyIsRefusedWithoutAQuestion(t *testing.T) {
	d := atShop(t)
	d.Attached("same", mainFrame)
	in1 := order()
	in1.Frame = "same"
	k := d.Foresee(in1, d.now).Ticket
	d.Answer(k.ID, policy.Once, d.now)
	d.act("order", in1, k.ID)
	d.want(d.post(shop+"/order", in("same"), as("C")), Continue, Allowed)
	d.want(d.post(evil+"/order", in("same"), hopOf("C")), Refuse, Refused)
}

func TestUpgradeIsNotJudgedAgain(t *testing.T) {
	d := newDesk(t, policy.AccessAct, "http://shop.test")
	d.Start([]Commit{{Frame: mainFrame, Loader: "L0", URL: "http://shop.test/", Origin: "http://shop.test"}}, d.now)
	d.click()
	d.want(d.get("http://shop.test/in", as("C")), Continue, Allowed)
	d.want(d.get("https://shop.test/in", hopOf("C")), Continue, Allowed)
	d.stands(d.commit("C", "https://shop.test/in"), OK)
	d.want(d.get("https://www.shop.test/", as("D")), Refuse, Asked)
}

func TestChainBelongsToWhoeverBeganIt(t *testing.T) {
	d := atShop(t)
	d.click()
	d.get(shop+"/slow", as("C"))
	d.end("click")
	d.pass(time.Minute)
	d.want(d.get(other, hopOf("C")), Fail, Parked) // still the act's

	d = atShop(t)
	d.get(shop+"/slow", as("C"))
	d.click()
	d.want(d.get(other, hopOf("C")), Refuse, Refused) // still the page's
}

// TestAttribution is the order of DESIGN §11, first match wins.
func TestAttribution(t *testing.T) {
	for _, row := range []struct {
		what   string
		before func(*desk)
		how    []func(*Request)
		want   policy.Driver
	}{
		{"nothing at all", func(d *desk) {}, nil, policy.ByPage},
		{"an act", func(d *desk) { d.click() }, nil, policy.ByAgent},
		{"five seconds after an act", func(d *desk) { d.click(); d.end("click"); d.pass(Tail) }, nil, policy.ByAgent},
		{"later", func(d *desk) { d.click(); d.end("click"); d.pass(Tail + 1) }, nil, policy.ByPage},
		{"a long act", func(d *desk) { d.click(); d.pass(time.Minute) }, nil, policy.ByAgent},
		{"the owner's input after the agent's", func(d *desk) { d.click(); d.pass(1); d.OwnerInput(d.now) }, nil, policy.ByOwner},
		{"the agent's input after the owner's", func(d *desk) { d.click(); d.OwnerInput(d.now); d.pass(1); d.AgentInput(d.now) }, nil, policy.ByAgent},
		{"five seconds after the owner's input", func(d *desk) { d.OwnerInput(d.now); d.pass(5 * time.Second) }, nil, policy.ByOwner},
		{"six seconds after it", func(d *desk) { d.OwnerInput(d.now); d.pass(6 * time.Second) }, nil, policy.ByPage},
		{"in front, nothing asked", func(d *desk) {}, []func(*Request){inFront}, policy.ByBrowser},
		{"in front, a sending, nothing asked", func(d *desk) {}, []func(*Request){inFront, func(r *Request) { r.Method = "POST" }}, policy.ByPage},
		{"in front, the page asked", func(d *desk) {}, []func(*Request){askedByPage}, policy.ByPage},
		{"in front during an act", func(d *desk) { d.click() }, []func(*Request){inFront}, policy.ByAgent},
		{"a frame in front, nothing asked", func(d *desk) {}, []func(*Request){inFront, in("frame")}, policy.ByPage},
		{"sealed: in front", func(d *desk) { d.sealed = true }, []func(*Request){inFront}, policy.ByPage},
		{"sealed: the owner's input", func(d *desk) { d.sealed = true; d.OwnerInput(d.now) }, nil, policy.ByPage},
		{"let go by the extension", func(d *desk) { d.click() }, []func(*Request){driving}, policy.ByOwner},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := atShop(t)
			row.before(d)
			if r := d.get(shop+"/x", row.how...); r.Row.Driver != row.want {
				t.Errorf("it is the %s's, want the %s's", r.Row.Driver, row.want)
			}
		})
	}
}

func TestOneQuestionAtATimeAndOneSurpriseAnAct(t *testing.T) {
	d := atShop(t)
	d.click()
	first := d.get(other)
	d.want(first, Refuse, Asked)
	if r := d.get(evil); r.Fate != Refused || r.Code != policy.ApprovalPending {
		t.Errorf("a second question while one is open: %s %s", r.Fate, r.Code)
	}
	d.Answer(first.Ticket.ID, policy.No, d.now)
	if r := d.get(evil); r.Fate != Refused || r.Code != policy.BlockedByPolicy {
		t.Errorf("a second surprise of one act: %s %s", r.Fate, r.Code)
	}
	d.end("click")
	d.click()
	d.want(d.get(evil), Refuse, Asked)
}

func TestTakeoverFailsWhatWasPausedAndLetsTheOwnerGo(t *testing.T) {
	d := atShop(t)
	d.click()
	asked := d.get(other)
	gone := d.TakenOver()
	if len(gone) != 1 || gone[0].ID != asked.Ticket.ID || gone[0].State != Gone {
		t.Errorf("dropped: %+v", gone)
	}
	late := d.post(shop + "/order")
	d.want(late, Fail, Refused)
	if late.Code != policy.OwnerHasControl {
		t.Errorf("code %s", late.Code)
	}
	d.want(d.post(evil, driving, as("U")), Nothing, UserDriven)
	d.stands(d.commit("U", evil), Unread)
	if d.Reading(d.now) != policy.NotSharedSite {
		t.Errorf("the owner's page may be read: %q", d.Reading(d.now))
	}
	d.end("click")
	d.HandedBack()
	if d.Reading(d.now) != policy.NotSharedSite {
		t.Errorf("handed back: %q", d.Reading(d.now))
	}
	d.want(d.get(other), Refuse, Refused) // the act before the takeover excuses nothing
	if next := d.Answer(asked.Ticket.ID, policy.Once, d.now); next.Step != Stand {
		t.Errorf("a dropped ticket answers %s", next.Step)
	}
	if _, ok := d.Book().Holds(policy.Navigate, mustOrigin(other), d.now); ok {
		t.Error("a dropped ticket grants")
	}
}

func TestChainOfAnActTakenOverAsksNothing(t *testing.T) {
	d := atShop(t)
	d.click()
	d.get(shop+"/out", as("C"))
	d.TakenOver()
	d.HandedBack()
	d.want(d.get(other, hopOf("C")), Refuse, Refused)
}

func TestApprovalLinksAreRefusedInTwelveSpellings(t *testing.T) {
	link := "/approve/" + strings.Repeat("x", 43)
	spellings := []string{
		"127.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7f.0.0.1", "2130706433", "017700000001", "127.0.0.1.", "localhost", "LOCALHOST.",
		"x.localhost", "[::1]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:ffff:7f00:1]", "0.0.0.0", "[::]", "１２７.0.0.1",
	}
	for _, host := range spellings {
		for _, url := range []string{"http://" + host + ":4711" + link, "http://u:p@" + host + ":4712" + link, "https://" + host + ":4711/"} {
			d := atShop(t)
			if f := d.Foresee(Intent{Kind: Navigates, URL: url}, d.now); f.Verdict != policy.Refuse || f.Code != policy.BlockedByPolicy {
				t.Errorf("navigate to %s: %s %s", url, f.Verdict, f.Code)
			}
			if f := d.Foresee(Intent{Kind: Follows, URL: url}, d.now); f.Verdict != policy.Refuse {
				t.Errorf("follow a link to %s: %s", url, f.Verdict)
			}
			if f := d.Foresee(Intent{Kind: Follows, URL: url, NewTab: true}, d.now); f.Verdict != policy.Refuse {
				t.Errorf("follow a link into a new tab to %s: %s", url, f.Verdict)
			}
			if f := d.Foresee(Intent{Kind: Submits, Method: "post", Declared: true, URL: url}, d.now); f.Verdict != policy.Refuse {
				t.Errorf("send a form to %s: %s", url, f.Verdict)
			}
			d.click()
			for what, r := range map[string]Ruling{
				"a request":   d.get(url),
				"a form":      d.post(url),
				"a frame":     d.get(url, in("new")),
				"a later hop": func() Ruling { d.get(shop+"/out", as("C")); return d.get(url, hopOf("C")) }(),
			} {
				if r.Action != Refuse || r.Ticket != nil {
					t.Errorf("%s to %s: %s %s", what, url, r.Action, r.Fate)
				}
			}
		}
	}
}

func TestRowNamesOriginsNeverAddresses(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	d.click()
	r := d.post(shop+"/order?secret=1", as("C"))
	hop := d.post(other+"/pay?secret=1", hopOf("C"))
	if r.Row.From != shop || r.Row.To != shop || r.Row.CrossOriginSend || r.Row.Capability != policy.Submit || r.Row.Grant == 0 || r.Row.Act != "act of click" {
		t.Errorf("row %+v", r.Row)
	}
	if hop.Row.From != shop || hop.Row.To != other || !hop.Row.CrossOriginSend || hop.Row.Hop != 1 || hop.Row.Verdict != "parked" {
		t.Errorf("row of the hop %+v", hop.Row)
	}
	if row := d.get("file:///etc/secret").Row; row.To != "" || row.Verdict != "refused" {
		t.Errorf("row of a file %+v", row)
	}
}

func mustOrigin(url string) policy.Origin {
	o, err := policy.ParseOrigin(url)
	if err != nil {
		panic(err)
	}
	return o
}
