package mcpserver

import (
	"context"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
)

func navigateTools() []tool {
	return []tool{
		define(acts, "browser_navigate", "Open an address", "Open an http or https address in the tab. Another site needs the owner's yes.", navigate),
		define(acts, "browser_navigate_back", "Back, forward, reload", "Step in the tab's history.", navigateBack),
	}
}

type tabInput struct {
	Tab string `json:"tab,omitzero" doc:"t1; default: your current tab"`
}

type navigateInput struct {
	tabInput
	URL       string `json:"url"`
	WaitUntil string `json:"wait_until,omitzero" enum:"commit domcontentloaded load networkidle"`
}

func navigate(ctx context.Context, c *call, in *navigateInput) (*answer, error) {
	r, err := c.server.opt.Session.Navigate(ctx, c.on(in.Tab), in.URL, browser.LoadState(in.WaitUntil))
	return &answer{report: r, did: "opened"}, err
}

type navigateBackInput struct {
	tabInput
	Direction string `json:"direction,omitzero" enum:"back forward reload"`
	WaitUntil string `json:"wait_until,omitzero" enum:"commit domcontentloaded load networkidle"`
}

func navigateBack(ctx context.Context, c *call, in *navigateBackInput) (*answer, error) {
	d := browser.Direction(in.Direction)
	if d == "" {
		d = browser.Back
	}
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past: map[browser.Direction]string{browser.Back: "went back", browser.Forward: "went forward", browser.Reload: "loaded the page again"}[d],
		Step: d,
		Do: func(ctx context.Context, a session.Act, _ *browser.Checked) error {
			return a.History(ctx, d, browser.LoadState(in.WaitUntil))
		},
	})
	return &answer{report: r, did: done(r)}, err
}

// done is the headline of an act that succeeded.
func done(r *session.Report) string {
	if r == nil || r.Did == "" {
		return "done"
	}
	return r.Did
}
