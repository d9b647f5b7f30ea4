package guard

import (
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

func TestTouchesAsksNobody(t *testing.T) {
	d := atShop(t)
	for frame, want := range map[string]policy.Code{"": "", "ad": policy.NotSharedSite, "?": policy.NotSharedSite} {
		if got := d.Touches(frame, d.now); got != want {
			t.Errorf("frame %q: %q, want %q", frame, got, want)
		}
	}
}

// TestForesee: what an act is told before anything is dispatched.
func TestForesee(t *testing.T) {
	type told struct {
		verdict policy.Verdict
		code    policy.Code
		asks    policy.Capability
	}
	var (
		allow  = told{verdict: policy.Allow}
		ask    = func(c policy.Capability) told { return told{policy.Ask, "", c} }
		refuse = func(code policy.Code) told { return told{policy.Refuse, code, ""} }
	)
	quiet := order()
	quiet.Declared = false
	toOther := order()
	toOther.URL = other + "/pay"
	inAd := order()
	inAd.Frame = "ad"
	for _, row := range []struct {
		what   string
		intent Intent
		want   told
	}{
		{"a click", Intent{Kind: Interacts}, allow},
		{"a click in the ad", Intent{Kind: Interacts, Frame: "ad"}, refuse(policy.NotSharedSite)},
		{"a click in a frame nobody knows", Intent{Kind: Interacts, Frame: "?"}, refuse(policy.NotSharedSite)},
		{"a link within the site", Intent{Kind: Follows, URL: shop + "/x"}, allow},
		{"a link to another site", Intent{Kind: Follows, URL: other}, ask(policy.Navigate)},
		{"a link to another site in a new tab", Intent{Kind: Follows, URL: other, NewTab: true}, ask(policy.Navigate)},
		{"a link to another site in a frame of the page", Intent{Kind: Follows, URL: other, Into: "ad"}, allow},
		{"a link that runs a script", Intent{Kind: Follows, URL: "javascript:void 0"}, allow},
		{"a link to an app", Intent{Kind: Follows, URL: "myapp://x"}, refuse(policy.SchemeRefused)},
		{"a link nobody can read", Intent{Kind: Follows, URL: "https://a b/"}, refuse(policy.BadArgument)},
		{"a search", Intent{Kind: Submits, Method: "get", URL: shop + "/search"}, allow},
		{"a search on another site", Intent{Kind: Submits, Method: "get", URL: other + "/search"}, ask(policy.Navigate)},
		{"a dialog's form", Intent{Kind: Submits, Method: "dialog", URL: shop}, allow},
		{"a form, unannounced", quiet, refuse(policy.WouldSubmit)},
		{"a form", order(), ask(policy.Submit)},
		{"a form to another site", toOther, ask(policy.Submit)},
		{"the ad's form", inAd, refuse(policy.NotSharedSite)},
		{"to the site", Intent{Kind: Navigates, URL: shop + "/x"}, allow},
		{"to another site", Intent{Kind: Navigates, URL: other}, ask(policy.Navigate)},
		{"to nowhere", Intent{Kind: Navigates, URL: "about:blank"}, allow},
		{"to a file", Intent{Kind: Navigates, URL: "file:///etc/passwd"}, refuse(policy.SchemeRefused)},
		{"to an inline page", Intent{Kind: Navigates, URL: "data:text/html,x"}, refuse(policy.SchemeRefused)},
		{"to a script", Intent{Kind: Navigates, URL: "javascript:alert(1)"}, refuse(policy.SchemeRefused)},
		{"to a page's source", Intent{Kind: Navigates, URL: "view-source:" + shop}, refuse(policy.SchemeRefused)},
		{"to the settings", Intent{Kind: Navigates, URL: "chrome://settings"}, refuse(policy.SchemeRefused)},
		{"to an extension", Intent{Kind: Navigates, URL: "chrome-extension://abc/x"}, refuse(policy.SchemeRefused)},
		{"to no address", Intent{Kind: Navigates, URL: "shop.test"}, refuse(policy.BadArgument)},
		{"back within the site", Intent{Kind: Travels, URL: shop + "/before"}, allow},
		{"back to another site", Intent{Kind: Travels, URL: other}, ask(policy.Navigate)},
		{"back to the new-tab page", Intent{Kind: Travels, URL: "chrome://newtab/"}, refuse(policy.SchemeRefused)},
		{"reload", Intent{Kind: Reloads}, allow},
		{"nothing that is known", Intent{}, refuse(policy.BadArgument)},
	} {
		t.Run(row.what, func(t *testing.T) {
			d := atShop(t)
			f := d.Foresee(row.intent, d.now)
			got := told{verdict: f.Verdict, code: f.Code}
			if f.Ticket != nil {
				got.asks = f.Ticket.Question.Capability
				if !f.Ticket.Announced || f.Ticket.Document != "L0" {
					t.Errorf("ticket %+v", f.Ticket)
				}
			}
			if got != row.want {
				t.Errorf("told %+v, want %+v", got, row.want)
			}
			if row.want.verdict != policy.Allow { // nothing may begin without the owner's yes
				d.Cancel("")
				if code := d.ActBegan(Act{ID: "a", Intent: row.intent}, d.now); code == "" {
					t.Error("the act begins all the same")
				}
			}
		})
	}
}

func TestForeseeOnAPageThatIsNotShared(t *testing.T) {
	d := atShop(t)
	d.get(other, driving, as("U"))
	d.commit("U", other)
	if f := d.Foresee(Intent{Kind: Interacts}, d.now); f.Code != policy.NotSharedSite {
		t.Errorf("a click: %s %s", f.Verdict, f.Code)
	}
	if f := d.Foresee(Intent{Kind: Navigates, URL: shop}, d.now); f.Verdict != policy.Allow {
		t.Errorf("back to what is shared: %s %s", f.Verdict, f.Code)
	}
	if f := d.Foresee(Intent{Kind: Reloads}, d.now); f.Verdict != policy.Ask {
		t.Errorf("reload: %s %s", f.Verdict, f.Code)
	}
}

func TestForeseenFormIsSentOnceAsItWasShown(t *testing.T) {
	d := atShop(t)
	k := d.Foresee(order(), d.now).Ticket
	if k.Question.Site() != mustOrigin(shop) || k.Method != "POST" || k.Control != `button "Order"` {
		t.Errorf("ticket %+v", k)
	}
	d.want(d.post(shop+"/order"), Refuse, Refused) // no act yet
	if code := d.ActBegan(Act{ID: "a", Intent: order(), Ticket: k.ID}, d.now); code != policy.ApprovalPending {
		t.Errorf("an act before the answer: %q", code)
	}
	d.Answer(k.ID, policy.Once, d.now)
	d.want(d.post(shop+"/order"), Refuse, Refused) // still no act
	d.act("order", order(), k.ID)
	r := d.post(shop + "/order")
	d.want(r, Continue, Allowed)
	if r.Row.Grant == 0 || r.Row.Capability != policy.Submit {
		t.Errorf("row %+v", r.Row)
	}
	d.want(d.post(shop+"/order"), Refuse, Asked) // a second one was not paid for
	d.Cancel("order")
	d.end("order")
	if code := d.ActBegan(Act{ID: "b", Intent: order(), Ticket: k.ID}, d.now); code != policy.InvalidTransition {
		t.Errorf("the ticket is used twice: %q", code)
	}
	if code := d.ActBegan(Act{ID: "b", Intent: order()}, d.now); code != policy.BlockedByPolicy {
		t.Errorf("the grant is used twice: %q", code)
	}
}

func TestFormThatDiffersFromWhatWasShownIsASurprise(t *testing.T) {
	for what, r := range map[string][]func(*Request){
		"another address":   {func(r *Request) { r.URL = shop + "/delete" }},
		"another field":     {body("name=x&size=2&card=3")},
		"no known fields":   {func(r *Request) { r.Body.Fields = nil }},
		"another frame":     {in("own")},
		"another sender":    {from(evil)},
		"a sender in doubt": {from("null")},
		"another site":      {func(r *Request) { r.URL = other + "/order" }},
	} {
		d := atShop(t)
		d.commit("own0", shop+"/frame", child("own"))
		k := d.Foresee(order(), d.now).Ticket
		d.Answer(k.ID, policy.Once, d.now)
		d.act("order", order(), k.ID)
		got := d.post(shop+"/order", r...)
		if got.Fate != Asked || got.Ticket.Announced {
			t.Errorf("%s: %s", what, got.Fate)
		}
	}
}

func TestUnusedGrantIsTakenBackTwoSecondsAfterTheCall(t *testing.T) {
	for after, want := range map[time.Duration]Fate{
		policy.ReleaseGrace - time.Millisecond: Allowed,
		policy.ReleaseGrace:                    Asked,
	} {
		d := atShop(t)
		k := d.Foresee(order(), d.now).Ticket
		d.Answer(k.ID, policy.Once, d.now)
		d.act("order", order(), k.ID)
		d.pass(time.Minute)
		d.end("order")
		d.pass(after)
		if r := d.post(shop + "/order"); r.Fate != want {
			t.Errorf("%s after the call: %s", after, r.Fate)
		}
	}
}

func TestTimedGrantNeedsTheDeclarationAllTheSame(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	quiet := order()
	quiet.Declared = false
	if f := d.Foresee(quiet, d.now); f.Code != policy.WouldSubmit {
		t.Errorf("unannounced: %s %s", f.Verdict, f.Code)
	}
	if f := d.Foresee(order(), d.now); f.Verdict != policy.Allow {
		t.Errorf("announced: %s %s", f.Verdict, f.Code)
	}
}

func TestSandboxedPageSendsAsNobody(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	d.get(shop+"/x", as("C"))
	d.commit("C", shop+"/x", reporting("://"))
	f := d.Foresee(order(), d.now)
	if f.Verdict != policy.Ask || len(f.Ticket.Question.Choices()) != 2 {
		t.Errorf("%s, choices %v", f.Verdict, f.Ticket.Question.Choices())
	}
	d.Answer(f.Ticket.ID, policy.Once, d.now)
	d.act("order", order(), f.Ticket.ID)
	d.want(d.post(shop+"/order", from("null")), Continue, Allowed)
}

func TestForeseenSenderIsWhatTheDocumentCallsItself(t *testing.T) {
	for self, want := range map[string]bool{"": true, shop: true, "null": false, evil: false} {
		d := at(t, policy.AccessSubmit)
		in := order()
		in.Origin = self
		if f := d.Foresee(in, d.now); (f.Verdict == policy.Allow) != want {
			t.Errorf("a document that calls itself %q spends the shop's grant: %s", self, f.Verdict)
		}
	}
}

func TestActEndedOfAnotherActChangesNothing(t *testing.T) {
	d := atShop(t)
	d.click()
	d.ActEnded("somebody's", d.now)
	if d.State() != "acting" {
		t.Errorf("state %s", d.State())
	}
	d.end("click")
	if d.State() != "guarding" {
		t.Errorf("state %s", d.State())
	}
}
