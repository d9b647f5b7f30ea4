package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/tabvalet/tabvalet/protocol"
)

// How an agent's navigation arrives as the owner's own would, SameSite=Strict cookies included. Measured on Chromium 156
// through chrome.debugger (TestNavigationCarriesStrictCookies):
//
//	Page.navigate, tabs.update                    Sec-Fetch-Site: cross-site, no Strict cookies: the extension is the initiator
//	… blocked by a rule, then Page.reload         the same: a committed error page keeps its initiator
//	… its first request answered with an empty
//	  page, and location.assign from there        same-origin, Strict cookies sent, one history entry, 40 ms more
//	location.assign on the same origin            same-origin, Strict cookies sent
//
// (Blocking and reloading does give "none" in a tab that was made for the address and shows nothing yet, as popups.)
//
// So elsewhere an arrival is used: Page.navigate; its request, once the guard allows it, is answered by the extension
// with an empty page of that very address ([protocol.VerdictArrive], for which the session asks [Tab.Arrives]); and from
// there the engine goes on. Nothing leaves before the second request, which is judged like any other. Where nobody asks
// Arrives, the navigation simply goes out as Chrome sends it.

// An arrival is a navigation on its way to its empty page. It outlives its act: a beforeunload question may stand
// between.
type arrival struct {
	url    string // without fragment
	target string // with it
	loader string // of the empty page, once its request was seen
	landed *document
}

// Arrives tells whether a paused request of the main frame is the agent's own navigation that the act has just asked
// Chrome for. If the guard allows it, its verdict is then [protocol.VerdictArrive]. It says so once.
func (t *Tab) Arrives(loader, address string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.arrival
	if a == nil || a.loader != "" || !upgraded(a.url, address) {
		return false
	}
	a.loader = loader
	a.target = address + fragment(a.target)
	return true
}

// upgraded tells whether Chrome may have made b of a: the same, or https for http.
func upgraded(a, b string) bool {
	return a == b || strings.TrimPrefix(a, "http:") == strings.TrimPrefix(b, "https:") && strings.HasPrefix(a, "http:")
}

func fragment(address string) string {
	if i := strings.IndexByte(address, '#'); i >= 0 {
		return address[i:]
	}
	return ""
}

// arrived notes that a document committed; true: it is the empty page. Callers hold mu.
func (t *Tab) arrived(doc *document) bool {
	a := t.arrival
	if a == nil || doc.Frame != t.frames.main {
		return false
	}
	if a.loader == doc.Loader && a.landed == nil && !doc.unreachable {
		a.landed = doc
		return true
	}
	t.arrival = nil // something else came instead
	return false
}

// Navigate opens an http or https address as the owner's own navigation would, SameSite=Strict cookies included. Settle
// waits until the document has reached until ("" is DOMContentLoaded).
func (a *Act) Navigate(ctx context.Context, address string, until LoadState) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return protocol.Errorf(protocol.BadArgument, "that is not an address").With("hint", "Give a full address, with https://.")
	case u.Scheme != "http" && u.Scheme != "https":
		return protocol.Errorf(protocol.SchemeRefused, "%s: addresses are never opened", u.Scheme)
	case u.Host == "":
		return protocol.Errorf(protocol.BadArgument, "the address has no host")
	}
	address = u.String()
	a.command(until)
	t := a.tab
	t.mu.Lock()
	var doc *document
	if n := t.frames.top(); n != nil && n.doc != nil && !n.doc.unreachable && n.doc.Origin == originOf(address) {
		doc = n.doc
	}
	leave := t.dialogs.armed != nil && t.dialogs.armed.accept
	t.mu.Unlock()
	if leave {
		a.calm(ctx)
	}
	if doc != nil {
		err := a.send(ctx, func(ctx context.Context) error { return t.assign(ctx, doc, address) })
		if !errors.Is(err, errDocumentGone) && protocol.CodeOf(err) != protocol.Internal {
			return wrapped("navigating", err)
		}
	}
	return wrapped("navigating", a.arrive(ctx, address))
}

func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// assign has the engine go to an address from doc.
func (t *Tab) assign(ctx context.Context, doc *document, address string) error {
	_, err := ask[struct{}](ctx, t, doc, "go", struct {
		URL string `json:"url"`
	}{address})
	return err
}

// command notes that a navigation must come from here.
func (a *Act) command(until LoadState) {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	a.until, a.commanded = until, true
}

// calm keeps the page from asking whether to leave, which the caller has answered with yes beforehand.
func (a *Act) calm(ctx context.Context) {
	places, _ := a.tab.places(nil)
	for _, p := range places {
		if _, err := ask[struct{}](ctx, a.tab, p.doc, "calm", struct{}{}); err != nil {
			return
		}
	}
}

// arrive asks Chrome for an address, over an empty page of it.
func (a *Act) arrive(ctx context.Context, address string) error {
	t := a.tab
	way := &arrival{url: strings.TrimSuffix(address, fragment(address)), target: address}
	t.mu.Lock()
	t.arrival = way
	t.spawn(func(ctx context.Context) { t.goOn(ctx, way) })
	t.mu.Unlock()
	return a.send(ctx, func(ctx context.Context) error {
		res, err := cdp.Call(ctx, t.acting(), page.Navigate, page.NavigateParams{URL: address})
		if err == nil && res.ErrorText != "" {
			t.mu.Lock()
			defer t.mu.Unlock()
			if res.ErrorText == "net::ERR_ABORTED" {
				a.settling.end(a.settling.main, Abandoned)
			}
			t.changed()
		}
		return err
	})
}

// goOn waits for the empty page and goes on from there.
func (t *Tab) goOn(ctx context.Context, way *arrival) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.opt.NavTimeout+t.opt.DialogTimeout, errSilent)
	defer cancel()
	err := t.await(ctx, func() bool { return way.landed != nil || t.arrival != way })
	t.mu.Lock()
	landed, target := way.landed, way.target
	t.mu.Unlock()
	if err != nil || landed == nil {
		return
	}
	for range 3 { // a frame that has just changed its process may not be found at once
		if _, err = t.engineOf(ctx, landed); err == nil || protocol.CodeOf(err) == protocol.PageClosed {
			break
		}
	}
	if err == nil {
		err = t.assign(ctx, landed, target)
	}
	if err != nil && !errors.Is(err, errDocumentGone) && ctx.Err() == nil {
		t.opt.Logger.Warn("a navigation does not go on from its empty page", "err", err)
	}
}

// returnFromNothing goes back to the page before when an arrival stands on its empty page and nothing came: a 204, a
// download, a refusal.
func (a *Act) returnFromNothing(ctx context.Context, nav *Navigation) {
	t := a.tab
	t.mu.Lock()
	top := t.frames.top()
	stranded := t.arrival != nil && t.arrival.landed != nil && top != nil && top.doc == t.arrival.landed
	if !stranded || nav == nil || nav.Fate == FateUnknown || nav.Fate == Committed {
		t.mu.Unlock()
		return
	}
	t.arrival = nil
	empty := top.doc
	t.mu.Unlock()
	entries, i, err := t.History(ctx)
	if err != nil || i == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.opt.RequestWait)
	defer cancel()
	if _, err := cdp.Call(ctx, t.acting(), page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: entries[i-1].ID}); err != nil {
		return
	}
	t.await(ctx, func() bool {
		top := t.frames.top()
		return top != nil && top.doc != nil && top.doc != empty && top.doc.Ready != Loading
	})
}

// History goes back, forward, or loads again. [protocol.InvalidTransition] where there is nothing to go to.
func (a *Act) History(ctx context.Context, d Direction, until LoadState) error {
	t := a.tab
	if d == Reload {
		a.command(until)
		return wrapped("reloading", a.send(ctx, func(ctx context.Context) error {
			_, err := cdp.Call(ctx, t.acting(), page.Reload, page.ReloadParams{})
			return err
		}))
	}
	step, ok := map[Direction]int{Back: -1, Forward: 1}[d]
	if !ok {
		return protocol.Errorf(protocol.BadArgument, "there is no direction %q", d).With("hint", "back, forward or reload")
	}
	entries, i, err := t.History(ctx)
	if err != nil {
		return err
	}
	if i+step < 0 || i+step >= len(entries) {
		return protocol.Errorf(protocol.InvalidTransition, "there is no page to go %s to", d)
	}
	a.command(until)
	return wrapped("going "+string(d), a.send(ctx, func(ctx context.Context) error {
		_, err := cdp.Call(ctx, t.acting(), page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: entries[i+step].ID})
		return err
	}))
}
