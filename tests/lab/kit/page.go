package kit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/go-json-experiment/json"
)

// A Page is a tab as the owner sees it, through a debugging session of their own.
type Page struct {
	Session
	TargetID target.ID
	owner    *Owner
}

func (o *Owner) attach(ctx context.Context, id target.ID) (*Page, error) {
	yes := true
	r, err := cdp.Call(ctx, o.browser, target.AttachToTarget, target.AttachToTargetParams{TargetID: id, Flatten: &yes})
	if err != nil {
		return nil, fmt.Errorf("looking at a page: %w", err)
	}
	p := &Page{Session: Session{p: o.browser.pipe, id: string(r.SessionID)}, TargetID: id, owner: o}
	_, err = cdp.Call(ctx, p, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return p, err
}

// Eval runs an expression in the page's own world, awaits it, and decodes its value into out unless that is nil.
func (p *Page) Eval(ctx context.Context, expression string, out any) error {
	yes := true
	r, err := cdp.Call(ctx, p, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, AwaitPromise: &yes, ReturnByValue: &yes, UserGesture: &yes})
	switch {
	case err != nil:
		return err
	case r.ExceptionDetails != nil:
		if e := r.ExceptionDetails.Exception; e != nil && e.Description != "" {
			return errors.New(e.Description)
		}
		return errors.New(r.ExceptionDetails.Text)
	case out == nil:
		return nil
	case len(r.Result.Value) == 0:
		return errors.New("the expression has no value")
	}
	return json.Unmarshal(r.Result.Value, out)
}

// WaitFor waits until the expression, which may be a promise, is truthy; 15 s at most.
func (p *Page) WaitFor(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*time.Second, fmt.Errorf("waited 15 s for %s", expression))
	defer cancel()
	for {
		var yes bool
		// A page that closes meanwhile answers nothing at all.
		once, stop := context.WithTimeout(ctx, 2*time.Second)
		err := p.Eval(once, `Promise.resolve(`+expression+`).then(Boolean)`, &yes)
		stop()
		if yes && err == nil {
			return nil
		}
		if p.Gone(ctx) {
			return errors.New("the page was closed")
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Gone reports whether the tab was closed.
func (p *Page) Gone(ctx context.Context) bool {
	list, err := cdp.Call(ctx, p.owner.browser, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return errors.Is(err, errPipeClosed)
	}
	for _, t := range list.TargetInfos {
		if t.TargetID == p.TargetID {
			return false
		}
	}
	return true
}

// Click presses the middle of the element with the left button, as a hand would: it waits until the element is there,
// enabled, still and uncovered, and scrolls it into view first. When the page moved under the press and the element heard
// nothing of it, it is pressed again.
func (p *Page) Click(ctx context.Context, selector string) error {
	quoted := js(selector)
	for range 5 {
		if err := p.WaitFor(ctx, `(() => {
			const e = document.querySelector(`+quoted+`);
			const box = e?.getBoundingClientRect();
			return e && !e.disabled && e.getAttribute("aria-disabled") !== "true" && box.width > 0 && box.height > 0;
		})()`); err != nil {
			return fmt.Errorf("looking for %s: %w", selector, err)
		}
		var at []float64
		if err := p.Eval(ctx, `(async () => {
			const e = document.querySelector(`+quoted+`);
			e?.scrollIntoView({block: "center", behavior: "instant"});
			for (let i = 0, last = ""; e?.isConnected && i < 20; i++, await new Promise((done) => setTimeout(done, 40))) {
				const box = e.getBoundingClientRect();
				const point = [box.x + box.width / 2, box.y + box.height / 2];
				const top = document.elementFromPoint(...point);
				const now = String(point);
				if (now === last && top && (e.contains(top) || top.contains(e))) {
					globalThis.labHeard = false;
					addEventListener("click", (event) => { labHeard ||= event.composedPath().includes(e); }, {capture: true, once: true});
					return point;
				}
				last = now;
			}
			return [];
		})()`, &at); err != nil {
			return err
		}
		if len(at) != 2 {
			continue
		}
		if err := p.Press(ctx, at[0], at[1]); err != nil {
			return err
		}
		heard := true
		once, stop := context.WithTimeout(ctx, 3*time.Second)
		err := p.Eval(once, `(async () => { // the event may come a little after its acknowledgement
			for (let i = 0; i < 50 && globalThis.labHeard === false; i++) await new Promise((done) => setTimeout(done, 20));
			return globalThis.labHeard ?? true;
		})()`, &heard)
		stop()
		if err != nil || heard {
			return nil // what does not answer any more has moved on
		}
	}
	return fmt.Errorf("%s does not keep still", selector)
}

// Press presses and releases the left button at a point of the viewport.
func (p *Page) Press(ctx context.Context, x, y float64) error {
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved, input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
		params := input.DispatchMouseEventParams{Type: kind, X: x, Y: y}
		if kind != input.DispatchMouseEventTypeMouseMoved {
			params.Button, params.ClickCount = input.MouseButtonLeft, 1
		}
		if _, err := cdp.Call(ctx, p, input.DispatchMouseEvent, params); err != nil {
			if p.Gone(ctx) {
				return nil // the click closed the page
			}
			return err
		}
	}
	return nil
}

// Type sends text to what has the focus.
func (p *Page) Type(ctx context.Context, text string) error {
	_, err := cdp.Call(ctx, p, input.InsertText, input.InsertTextParams{Text: text})
	return err
}

// Fill replaces the text of a field.
func (p *Page) Fill(ctx context.Context, selector, text string) error {
	if err := p.Click(ctx, selector); err != nil {
		return err
	}
	if err := p.Eval(ctx, `document.querySelector(`+js(selector)+`).select()`, nil); err != nil {
		return err
	}
	return p.Type(ctx, text)
}

// Text gives what the page shows.
func (p *Page) Text(ctx context.Context) (string, error) {
	var text string
	return text, p.Eval(ctx, `document.body.innerText`, &text)
}

// Screenshot gives a PNG of what the page shows.
func (p *Page) Screenshot(ctx context.Context) ([]byte, error) {
	r, err := cdp.Call(ctx, p, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	if err != nil {
		return nil, err
	}
	return r.Data, nil
}

// Close closes the tab.
func (p *Page) Close(ctx context.Context) error {
	_, err := cdp.Call(ctx, p.owner.browser, target.CloseTarget, target.CloseTargetParams{TargetID: p.TargetID})
	return err
}
