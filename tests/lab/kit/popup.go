package kit

import (
	"context"
	"fmt"
)

// What the owner presses in the popup beside the buttons of a leased tab.

// ShareFront presses Share with the agent of that name, which lends it the tab in front, and waits until it is lent.
func (o *Owner) ShareFront(ctx context.Context, name string) error {
	if err := o.pressMarked(ctx, `[...document.querySelectorAll('[data-act="share"]')].find((b) => b.innerText.includes(`+js(name)+`))`); err != nil {
		return fmt.Errorf("sharing the tab in front: %w", err)
	}
	return o.desk.WaitFor(ctx, `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.value.leases.some((l) => l.client === `+js(name)+` && !l.starting))`)
}

// Pause presses Pause of the agent of that name, and Resume its counterpart; both wait until the popup shows the effect.
func (o *Owner) Pause(ctx context.Context, name string) error {
	return o.pause(ctx, name, false)
}

// Resume lets a paused agent go on.
func (o *Owner) Resume(ctx context.Context, name string) error {
	return o.pause(ctx, name, true)
}

func (o *Owner) pause(ctx context.Context, name string, paused bool) error {
	find := func(paused bool) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".agent")].find((r) => r.querySelector(".name").textContent === %s)
			?.querySelector('[data-act="pause"][data-paused="%t"]:not([hidden])')`, js(name), paused)
	}
	if err := o.pressMarked(ctx, find(paused)); err != nil {
		return err
	}
	return o.desk.WaitFor(ctx, find(!paused))
}

// StopEverything presses the button of that name and waits until no tab is lent.
func (o *Owner) StopEverything(ctx context.Context) error {
	if err := o.desk.Click(ctx, `[data-act="stop-all"]:not([hidden])`); err != nil {
		return err
	}
	return o.desk.WaitFor(ctx, `chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.value.leases.length === 0)`)
}

// pressMarked presses what the expression finds in the popup, once it does.
func (o *Owner) pressMarked(ctx context.Context, expression string) error {
	if err := o.desk.WaitFor(ctx, `(() => {
		for (const old of document.querySelectorAll("[data-lab]")) old.removeAttribute("data-lab");
		const button = `+expression+`;
		button?.setAttribute("data-lab", "this");
		return button;
	})()`); err != nil {
		return err
	}
	return o.desk.Click(ctx, `[data-lab="this"]`)
}
