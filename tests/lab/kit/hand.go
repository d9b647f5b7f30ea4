package kit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
)

// What the owner's hand does to Chrome itself.

// Activate brings the tab at that address to front.
func (o *Owner) Activate(ctx context.Context, url string) error {
	p, err := o.Page(ctx, url)
	if err != nil {
		return err
	}
	_, err = cdp.Call(ctx, o.browser, target.ActivateTarget, target.ActivateTargetParams{TargetID: p.TargetID})
	return err
}

// Ungroup drags a tab out of its group.
func (o *Owner) Ungroup(ctx context.Context, tab int) error {
	return o.desk.Eval(ctx, fmt.Sprintf(`chrome.tabs.ungroup(%d)`, tab), nil)
}

// GroupWith drags the tab at that address into the group of another.
func (o *Owner) GroupWith(ctx context.Context, url string, other int) error {
	return o.desk.Eval(ctx, fmt.Sprintf(`(async () => {
		const tabId = (await chrome.debugger.getTargets()).find((t) => t.url === %s).tabId;
		const {groupId} = await chrome.tabs.get(%d);
		await chrome.tabs.group({tabIds: [tabId], groupId});
	})()`, js(url), other), nil)
}

// Attached counts the tabs that the extension's debugger holds.
func (o *Owner) Attached(ctx context.Context) (int, error) {
	var n int
	return n, o.desk.Eval(ctx, held, &n)
}

// AwaitAttached waits until the extension's debugger holds so many tabs.
func (o *Owner) AwaitAttached(ctx context.Context, n int) error {
	return o.desk.WaitFor(ctx, fmt.Sprintf("%s.then((held) => held === %d)", held, n))
}

// The lab's own sessions show as attached too, so ask by trying: a command works only where the extension is attached.
const held = `(async () => {
	let held = 0;
	for (const tab of await chrome.tabs.query({})) {
		try { await chrome.debugger.sendCommand({tabId: tab.id}, "Page.getNavigationHistory"); held++; } catch { /* not held */ }
	}
	return held;
})()`

// ApproveFromPopup presses Approve… of the agent of that name once it waits, and gives the approval page.
func (o *Owner) ApproveFromPopup(ctx context.Context, name string) (*Page, error) {
	if err := o.pressMarked(ctx, `[...document.querySelectorAll(".agent")].find((r) => r.querySelector(".name").textContent === `+js(name)+`)
		?.querySelector('[data-act="approve"]:not([hidden])')`); err != nil {
		return nil, err
	}
	p, err := o.waitPage(ctx, func(url string) bool { return strings.HasPrefix(url, o.ExtensionURL("approve.html")) })
	if err != nil {
		return nil, err
	}
	if err := p.WaitFor(ctx, `document.body.dataset.state === "ready"`); err != nil {
		text, _ := p.Text(ctx)
		return nil, fmt.Errorf("%w; the page says: %s", err, text)
	}
	return p, nil
}

// ShareAgain goes back to choosing after a refusal and presses Share.
func (o *Owner) ShareAgain(ctx context.Context, p *Page, s Sharing) error {
	if err := o.choose(ctx, p, s); err != nil {
		return err
	}
	if err := p.Click(ctx, `[data-act="share"]`); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for !p.Gone(ctx) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.New("the approval page did not close")
		}
	}
	return nil
}

// OpenWarned opens an address whose certificate is not trusted, behind the tab in front, and waits for Chrome's warning.
func (o *Owner) OpenWarned(ctx context.Context, url string) (*Page, error) {
	yes := true
	r, err := cdp.Call(ctx, o.browser, target.CreateTarget, target.CreateTargetParams{URL: url, Background: &yes})
	if err != nil {
		return nil, err
	}
	p, err := o.attach(ctx, r.TargetID)
	if err != nil {
		return nil, err
	}
	return p, p.WaitFor(ctx, `document.documentURI.startsWith("chrome-error:")`)
}

// WaitPage waits for a page at that address.
func (o *Owner) WaitPage(ctx context.Context, url string) (*Page, error) {
	return o.waitPage(ctx, func(u string) bool { return u == url })
}

func (o *Owner) waitPage(ctx context.Context, match func(string) bool) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for {
		list, err := cdp.Call(ctx, o.browser, target.GetTargets, target.GetTargetsParams{})
		if err != nil {
			return nil, err
		}
		for _, t := range list.TargetInfos {
			if t.Type == "page" && match(t.URL) {
				return o.attach(ctx, t.TargetID)
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, errNoPage
		}
	}
}

// Go types an address into the address bar. It does not wait for the page.
func (p *Page) Go(ctx context.Context, url string) error {
	_, err := cdp.Call(ctx, p, page.Navigate, page.NavigateParams{URL: url})
	return err
}

// CtrlClick opens a link in a new background tab.
func (p *Page) CtrlClick(ctx context.Context, selector string) error {
	var at [2]float64
	if err := p.Eval(ctx, `(() => { const b = document.querySelector(`+js(selector)+`).getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()`, &at); err != nil {
		return err
	}
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
		if _, err := cdp.Call(ctx, p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at[0], Y: at[1], Button: input.MouseButtonLeft, ClickCount: 1, Modifiers: 2}); err != nil {
			return err
		}
	}
	return nil
}

// Grep names the files of the lab, outside the browser's own profile, that contain the text.
func (l *Lab) Grep(text string) []string {
	var found []string
	filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == l.path(l.opt.Profile) {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), text) {
				found = append(found, path)
			}
		}
		return nil
	})
	return found
}
