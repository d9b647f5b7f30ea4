package kit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
)

// An Owner is the person at the browser, scripted.
type Owner struct {
	ExtensionID string

	browser *chromium
	desk    *Page // the extension's popup page in a background tab: the owner's eyes and buttons
}

func newOwner(ctx context.Context, b *chromium, extension string) (*Owner, error) {
	o := &Owner{ExtensionID: extension, browser: b}
	var err error
	o.desk, err = o.OpenBackground(ctx, o.ExtensionURL("popup.html"))
	if err != nil {
		return nil, fmt.Errorf("opening the popup: %w", err)
	}
	return o, o.desk.WaitFor(ctx, `document.body.dataset.state && document.body.dataset.state !== "loading"`)
}

// ExtensionURL is the address of one of the extension's pages.
func (o *Owner) ExtensionURL(page string) string {
	return "chrome-extension://" + o.ExtensionID + "/pages/" + page
}

// PressPair presses Pair this profile in the popup, and waits until the popup says that it is paired.
func (o *Owner) PressPair(ctx context.Context) error {
	if err := o.desk.Click(ctx, `[data-act="pair"]`); err != nil {
		return err
	}
	return o.desk.WaitFor(ctx, isPaired)
}

// PressRenew presses Renew pairing once the popup offers it.
func (o *Owner) PressRenew(ctx context.Context) error {
	if err := o.desk.Click(ctx, `[data-act="renew"]`); err != nil {
		return err
	}
	return o.desk.WaitFor(ctx, isPaired)
}

// TypeCode types a manual pairing code into the popup.
func (o *Owner) TypeCode(ctx context.Context, code string) error {
	if err := o.desk.Click(ctx, `details:has([name="code"]) > summary`); err != nil {
		return err
	}
	if err := o.desk.Fill(ctx, `[name="code"]`, code); err != nil {
		return err
	}
	if err := o.desk.Click(ctx, `[data-act="code"]`); err != nil {
		return err
	}
	if err := o.desk.WaitFor(ctx, isPaired); err != nil {
		text, _ := o.desk.Text(ctx)
		return fmt.Errorf("%w; the popup says: %s", err, text)
	}
	return nil
}

const isPaired = `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.ok && a.value.pairing === "paired")`

// Sharing is what the owner chooses on the approval page. Exactly one of URL and New is set, or neither: then a new tab
// at what the agent asked for.
type Sharing struct {
	URL    string // share the tab that is at this address, opening one in front if there is none
	New    string // open a new background tab there
	Access string // "read", "act" (default) or "submit"
	Exact  bool
	Hour   bool
	Sealed bool
}

// Share opens the approval link as the owner would, chooses, and presses Share. It waits until the page has closed
// itself; when the page says instead that the tab was refused, its words are the error.
func (o *Owner) Share(ctx context.Context, link string, s Sharing) error {
	if s.URL != "" {
		if _, err := o.Page(ctx, s.URL); errors.Is(err, errNoPage) {
			if _, err := o.Open(ctx, s.URL); err != nil {
				return err
			}
		}
	}
	p, err := o.OpenApproval(ctx, link)
	if err != nil {
		return err
	}
	return o.ShareOn(ctx, p, s)
}

// OpenApproval opens the link in a new tab in front and waits for the extension's page in its place.
func (o *Owner) OpenApproval(ctx context.Context, link string) (*Page, error) {
	p, err := o.Open(ctx, link)
	if err != nil {
		return nil, err
	}
	return p, p.WaitFor(ctx, `location.protocol === "chrome-extension:" && document.body.dataset.state && document.body.dataset.state !== "loading"`)
}

// ShareOn chooses on an open approval page and presses Share.
func (o *Owner) ShareOn(ctx context.Context, p *Page, s Sharing) error {
	if err := p.WaitFor(ctx, `document.body.dataset.state === "ready"`); err != nil {
		return err
	}
	if err := o.choose(ctx, p, s); err != nil {
		return err
	}
	if err := p.Click(ctx, `[data-act="share"]`); err != nil {
		return err
	}
	return o.closedOrRefused(ctx, p)
}

func (o *Owner) choose(ctx context.Context, p *Page, s Sharing) error {
	pick := []string{`[name="access"][value="` + or(s.Access, "act") + `"]`}
	switch {
	case s.URL != "":
		if err := p.WaitFor(ctx, fmt.Sprintf(`[...document.querySelectorAll('[name="tab"]')].some((i) => i.dataset.url === %s)`, js(s.URL))); err != nil {
			return fmt.Errorf("no tab at %s is offered: %w", s.URL, err)
		}
		pick = append(pick, `[name="tab"][data-url=`+js(s.URL)+`]`)
	default:
		pick = append(pick, `[name="tab"][value="new"]`)
	}
	if s.Exact {
		pick = append(pick, `[name="exact"]`)
	}
	if s.Hour {
		pick = append(pick, `[name="until"][value="3600"]`)
	}
	if s.Sealed {
		pick = append(pick, `[name="sealed"]`)
	}
	for _, selector := range pick {
		var checked bool
		if err := p.Eval(ctx, `document.querySelector(`+js(selector)+`)?.checked ?? null`, &checked); err != nil {
			return fmt.Errorf("%s: %w", selector, err)
		}
		if checked {
			continue
		}
		if err := p.Click(ctx, selector); err != nil {
			return err
		}
	}
	if s.New != "" {
		return p.Fill(ctx, `[name="url"]`, s.New)
	}
	return nil
}

// closedOrRefused waits for what pressing Share came to.
func (o *Owner) closedOrRefused(ctx context.Context, p *Page) error {
	err := p.WaitFor(ctx, `["refused", "error"].includes(document.body.dataset.state)`)
	if err == nil {
		var text string
		p.Eval(ctx, `[...document.querySelectorAll("[role=alert]")].find((e) => e.checkVisibility())?.innerText ?? document.body.innerText`, &text)
		return fmt.Errorf("the approval page says: %s", text)
	}
	if p.Gone(ctx) {
		return nil
	}
	return err
}

// NotNow opens the link and presses Not now.
func (o *Owner) NotNow(ctx context.Context, link string) error {
	p, err := o.OpenApproval(ctx, link)
	if err != nil {
		return err
	}
	if err := p.WaitFor(ctx, `document.body.dataset.state === "ready"`); err != nil {
		return err
	}
	if err := p.Click(ctx, `[data-act="refuse"]`); err != nil {
		return err
	}
	return o.closedOrRefused(ctx, p)
}

// A Question is an open prompt as the popup lists it.
type Question struct {
	ID          string   `json:"id"`
	Instance    string   `json:"instance"`
	Kind        string   `json:"kind"`
	Site        string   `json:"site"`
	Destination string   `json:"destination"`
	Method      string   `json:"method"`
	Fields      []string `json:"fields"`
	Announced   bool     `json:"announced"`
	Choices     []string `json:"choices"`
}

// Question waits until the owner is asked something.
func (o *Owner) Question(ctx context.Context) (*Question, error) {
	const first = `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.ok && a.value.prompts[0])`
	if err := o.desk.WaitFor(ctx, first); err != nil {
		return nil, fmt.Errorf("nothing was asked: %w", err)
	}
	var q Question
	return &q, o.desk.Eval(ctx, first, &q)
}

// Questions gives the open questions now.
func (o *Owner) Questions(ctx context.Context) ([]Question, error) {
	var q []Question
	return q, o.desk.Eval(ctx, `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.value.prompts)`, &q)
}

// Answer opens the question's page and presses a choice: "once", "ten_minutes", "while_shared" or "no".
func (o *Owner) Answer(ctx context.Context, q *Question, choice string) error {
	p, err := o.OpenBackground(ctx, o.ExtensionURL("prompt.html")+"?instance="+q.Instance+"&id="+q.ID)
	if err != nil {
		return err
	}
	defer p.Close(ctx)
	if err := p.WaitFor(ctx, `document.body.dataset.state === "ready"`); err != nil {
		return err
	}
	if err := p.Click(ctx, `[data-choice="`+choice+`"]`); err != nil {
		return err
	}
	return o.desk.WaitFor(ctx, `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.ok && !a.value.prompts.some((p) => p.id === `+js(q.ID)+`))`)
}

// TakeOver, Private, HandBack and Stop press the popup's buttons for the leased tab whose address starts with url, and
// wait until the popup shows the effect; with one leased tab url may be "".
func (o *Owner) TakeOver(ctx context.Context, url string) error {
	return o.press(ctx, "takeover", url, "l?.driving")
}

// Private takes over in private.
func (o *Owner) Private(ctx context.Context, url string) error {
	return o.press(ctx, "private", url, "l?.private")
}

// HandBack ends a takeover.
func (o *Owner) HandBack(ctx context.Context, url string) error {
	return o.press(ctx, "handback", url, "!l?.driving")
}

// Stop ends the lease.
func (o *Owner) Stop(ctx context.Context, url string) error { return o.press(ctx, "stop", url, "!l") }

func (o *Owner) press(ctx context.Context, act, url, effect string) error {
	tab, err := o.LeasedTab(ctx, url)
	if err != nil {
		return err
	}
	if err := o.desk.Click(ctx, fmt.Sprintf(`[data-tab="%d"] [data-act="%s"]`, tab, act)); err != nil {
		return err
	}
	err = o.desk.WaitFor(ctx, fmt.Sprintf(`chrome.runtime.sendMessage({type: "status.get"}).then((a) => {
		const l = a.value.leases.find((l) => l.tab === %d);
		return %s;
	})`, tab, effect))
	if err != nil {
		text, _ := o.desk.Text(ctx)
		return fmt.Errorf("%w; the popup says: %s", err, text)
	}
	return nil
}

// Leases gives the popup's list of leased tabs.
func (o *Owner) Leases(ctx context.Context) ([]Lease, error) {
	var list []Lease
	return list, o.desk.Eval(ctx, `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.value.leases)`, &list)
}

// A Lease is a leased tab as the popup knows it.
type Lease struct {
	Tab      int      `json:"tab"`
	Title    string   `json:"title"`
	URL      string   `json:"url"`
	Client   string   `json:"client"`
	Instance string   `json:"instance"`
	Driving  bool     `json:"driving"`
	Private  bool     `json:"private"`
	Frozen   bool     `json:"frozen"`
	Grants   []string `json:"grants"`
}

// LeasedTab gives Chrome's id of the leased tab whose address starts with url.
func (o *Owner) LeasedTab(ctx context.Context, url string) (int, error) {
	list, err := o.Leases(ctx)
	if err != nil {
		return 0, err
	}
	for _, l := range list {
		if strings.HasPrefix(l.URL, url) {
			return l.Tab, nil
		}
	}
	return 0, fmt.Errorf("no leased tab at %q among %d", url, len(list))
}

// Desk is an extension page in the background on which the owner's script may run any expression, as a stand-in for what a
// person does to Chrome itself: dragging tabs, looking at groups and badges.
func (o *Owner) Desk() *Page { return o.desk }

// ActiveTab gives the address of the tab in front.
func (o *Owner) ActiveTab(ctx context.Context) (string, error) {
	var url string
	return url, o.desk.Eval(ctx, `(async () => {
		const [tab] = await chrome.tabs.query({active: true, lastFocusedWindow: true});
		const all = await chrome.debugger.getTargets();
		return all.find((t) => t.tabId === tab?.id)?.url ?? "";
	})()`, &url)
}

// StopWorker ends the extension's service worker as Chrome may at any moment. It may be back at once.
func (o *Owner) StopWorker(ctx context.Context) error {
	t, err := o.worker(ctx)
	if err != nil || t == nil {
		return err
	}
	if _, err := cdp.Call(ctx, o.browser, target.CloseTarget, target.CloseTargetParams{TargetID: t.TargetID}); err != nil {
		return err
	}
	for {
		if now, err := o.worker(ctx); err != nil || now == nil || now.TargetID != t.TargetID {
			return err
		}
	}
}

func (o *Owner) worker(ctx context.Context) (*target.Info, error) {
	list, err := cdp.Call(ctx, o.browser, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, err
	}
	for _, t := range list.TargetInfos {
		if t.Type == "service_worker" && strings.Contains(t.URL, o.ExtensionID) {
			return t, nil
		}
	}
	return nil, nil
}

var errNoPage = errors.New("no such page")

// Page finds the page at that address.
func (o *Owner) Page(ctx context.Context, url string) (*Page, error) {
	list, err := cdp.Call(ctx, o.browser, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, err
	}
	for _, t := range list.TargetInfos {
		if t.Type == "page" && t.URL == url {
			return o.attach(ctx, t.TargetID)
		}
	}
	return nil, fmt.Errorf("%w: %s", errNoPage, url)
}

// Open opens a tab in front, as an address typed by the owner.
func (o *Owner) Open(ctx context.Context, url string) (*Page, error) { return o.open(ctx, url, false) }

// OpenBackground opens a tab behind the one in front; it behaves as if it were visible and focused.
func (o *Owner) OpenBackground(ctx context.Context, url string) (*Page, error) {
	return o.open(ctx, url, true)
}

func (o *Owner) open(ctx context.Context, url string, background bool) (*Page, error) {
	r, err := cdp.Call(ctx, o.browser, target.CreateTarget, target.CreateTargetParams{URL: url, Background: &background})
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", url, err)
	}
	p, err := o.attach(ctx, r.TargetID)
	if err != nil {
		return nil, err
	}
	return p, p.WaitFor(ctx, `location.href !== "about:blank" && document.readyState === "complete"`)
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// js spells a text as a JavaScript literal.
func js(s string) string { b, _ := json.Marshal(s); return string(b) }

// pause is how long the owner looks again when nothing can be waited for by an event.
const pause = 25 * time.Millisecond

// Worker attaches to the extension's service worker, for measuring by its own clock.
func (o *Owner) Worker(ctx context.Context) (*Page, error) {
	t, err := o.worker(ctx)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, errors.New("the worker is not running")
	}
	yes := true
	r, err := cdp.Call(ctx, o.browser, target.AttachToTarget, target.AttachToTargetParams{TargetID: t.TargetID, Flatten: &yes})
	if err != nil {
		return nil, fmt.Errorf("looking at the worker: %w", err)
	}
	return &Page{Session: Session{p: o.browser.pipe, id: string(r.SessionID)}, TargetID: t.TargetID, owner: o}, nil
}

// CloseTabs closes every tab but the desk and one empty tab, which comes to front.
func (o *Owner) CloseTabs(ctx context.Context) error {
	list, err := cdp.Call(ctx, o.browser, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return err
	}
	if _, err := cdp.Call(ctx, o.browser, target.CreateTarget, target.CreateTargetParams{URL: "about:blank"}); err != nil {
		return err
	}
	for _, t := range list.TargetInfos {
		if t.Type == "page" && t.TargetID != o.desk.TargetID {
			cdp.Call(ctx, o.browser, target.CloseTarget, target.CloseTargetParams{TargetID: t.TargetID})
		}
	}
	return nil
}
