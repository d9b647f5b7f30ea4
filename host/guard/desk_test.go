package guard

import (
	"fmt"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

const (
	shop  = "https://shop.test"
	other = "https://other.test"
	evil  = "https://evil.test"

	mainFrame = "F"
)

// A desk is a guard with a clock, and the browser it listens to.
type desk struct {
	*testing.T
	*Guard
	now     time.Time
	loaders int
}

// newDesk is a guard whose tab was just offered: Start has not come.
func newDesk(t *testing.T, access policy.Access, url string) *desk {
	t.Helper()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	o, err := policy.ParseOrigin(url)
	if err != nil {
		t.Fatal(err)
	}
	book := policy.NewBook(policy.Terms{Origin: o, Access: access}, now)
	own := policy.Own{Ports: []int{4711}, Approve: "/approve/"}
	return &desk{T: t, Guard: New(Config{Book: book, Own: own, URL: url + "/"}), now: now}
}

// atShop is a tab shared on the shop, act allowed, with an ad in a frame.
func atShop(t *testing.T) *desk { return at(t, policy.AccessAct) }

func at(t *testing.T, access policy.Access) *desk {
	t.Helper()
	d := newDesk(t, access, shop)
	c := d.Start([]Commit{
		{Frame: mainFrame, Loader: "L0", URL: shop + "/", Origin: shop},
		{Frame: "ad", Parent: mainFrame, Loader: "A0", URL: evil + "/ad", Origin: evil},
	}, d.now)
	if c.Standing != OK {
		t.Fatalf("the shared page stands %s", c.Standing)
	}
	return d
}

func (d *desk) pass(after time.Duration) { d.now = d.now.Add(after) }

func (d *desk) loader() string { d.loaders++; return fmt.Sprintf("L%d", d.loaders) }

// get is a main-frame GET that pauses; how changes it.
func (d *desk) get(url string, how ...func(*Request)) Ruling {
	r := Request{ID: "r", Frame: mainFrame, Loader: d.loader(), URL: url, Method: "GET"}
	for _, h := range how {
		h(&r)
	}
	return d.Paused(r, d.now)
}

// post is a form of the shop's page that pauses, with the fields name and size.
func (d *desk) post(url string, how ...func(*Request)) Ruling {
	form := func(r *Request) {
		r.Method, r.Origin, r.HasBody = "POST", shop, true
		r.Body = ReadBody("application/x-www-form-urlencoded", []byte("name=x&size=2"), true)
	}
	return d.get(url, append([]func(*Request){form}, how...)...)
}

func as(loader string) func(*Request)   { return func(r *Request) { r.Loader = loader } }
func in(frame string) func(*Request)    { return func(r *Request) { r.Frame = frame } }
func from(header string) func(*Request) { return func(r *Request) { r.Origin = header } }
func hopOf(loader string) func(*Request) {
	return func(r *Request) { r.Loader, r.Redirected = loader, true }
}
func driving(r *Request) { r.Driven = true }
func body(text string) func(*Request) {
	return func(r *Request) { r.Body = ReadBody("application/x-www-form-urlencoded", []byte(text), true) }
}
func inFront(r *Request)     { r.Front = true }
func askedByPage(r *Request) { r.Front, r.Asked = true, true }
func session(s, frame string) func(*Request) {
	return func(r *Request) { r.Session, r.Frame = s, frame }
}

// commit is a document of the main frame.
func (d *desk) commit(loader, url string, how ...func(*Commit)) Commitment {
	c := Commit{Frame: mainFrame, Loader: loader, URL: url, Origin: "://"}
	if o, err := policy.ParseOrigin(url); err == nil {
		c.Origin = o.String()
	}
	for _, h := range how {
		h(&c)
	}
	return d.Committed(c, d.now)
}

func restored(c *Commit) { c.Restored = true }
func child(frame string) func(*Commit) {
	return func(c *Commit) { c.Frame, c.Parent = frame, mainFrame }
}
func reporting(origin string) func(*Commit) { return func(c *Commit) { c.Origin = origin } }

// act begins an act of a call; it fails the test when it may not.
func (d *desk) act(call string, in Intent, ticket ...int) {
	d.Helper()
	in.Call = call
	a := Act{ID: "act of " + call, Intent: in}
	if len(ticket) > 0 {
		a.Ticket = ticket[0]
	}
	if code := d.ActBegan(a, d.now); code != "" {
		d.Fatalf("the act of %s may not begin: %s", call, code)
	}
}

func (d *desk) end(call string) { d.ActEnded("act of "+call, d.now) }

// click begins an act nobody expects anything of.
func (d *desk) click() { d.Helper(); d.act("click", Intent{Kind: Interacts}) }

// order is the shop's form, announced.
func order() Intent {
	return Intent{Kind: Submits, Method: "post", URL: shop + "/order", Fields: []string{"name", "size"}, Declared: true, Control: `button "Order"`}
}

func (d *desk) want(r Ruling, action Action, fate Fate) {
	d.Helper()
	if r.Action != action || r.Fate != fate {
		d.Errorf("%s %s (%s, %s), want %s %s", r.Action, r.Fate, r.Code, r.Row.Rule, action, fate)
	}
	if asks := fate == Asked || fate == Parked; (r.Ticket != nil) != asks {
		d.Errorf("%s, ticket: %v", fate, r.Ticket)
	}
}

func (d *desk) stands(c Commitment, want Standing) {
	d.Helper()
	if c.Standing != want {
		d.Errorf("the document stands %s, want %s", c.Standing, want)
	}
}
