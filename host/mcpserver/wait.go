package mcpserver

import (
	"context"
	"time"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

// maxWait keeps a wait within the budget of a call.
const maxWait = 50 * time.Second

func waitTools() []tool {
	return []tool{define(looks, "browser_wait_for", "Wait",
		"Wait for text to appear or go, a target's state, an address, a load state or a time. Running out is an answer, not an error.", waitFor)}
}

type waitInput struct {
	tabInput
	Time      float64 `json:"time,omitzero" doc:"seconds, at most 30"`
	Text      string  `json:"text,omitzero"`
	TextGone  string  `json:"textGone,omitzero"`
	Target    string  `json:"target,omitzero"`
	State     string  `json:"state,omitzero" enum:"visible hidden attached detached enabled" doc:"of target"`
	URL       string  `json:"url,omitzero" doc:"part of it, or with *"`
	LoadState string  `json:"load_state,omitzero" enum:"domcontentloaded load networkidle"`
	TimeoutMS int     `json:"timeout_ms,omitzero" doc:"default 30000, at most 50000"`
}

func waitFor(ctx context.Context, c *call, in *waitInput) (*answer, error) {
	switch {
	case in.Time == 0 && in.Text == "" && in.TextGone == "" && in.Target == "" && in.URL == "" && in.LoadState == "":
		return nil, protocol.Errorf(protocol.BadArgument, "nothing to wait for").With("hint", "Give time, text, textGone, target, url or load_state.")
	case in.State != "" && in.Target == "":
		return nil, protocol.Errorf(protocol.BadArgument, "state needs a target")
	case in.Time < 0 || in.Time > 30:
		return nil, protocol.Errorf(protocol.BadArgument, "time is 0 to 30 seconds")
	case in.TimeoutMS < 0 || time.Duration(in.TimeoutMS)*time.Millisecond > maxWait:
		return nil, protocol.Errorf(protocol.BadArgument, "timeout_ms is 0 to %d", maxWait.Milliseconds())
	}
	var got *browser.Waited
	r, err := c.server.opt.Session.Read(ctx, c.on(in.Tab), session.Reading{Do: func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		got, err = t.WaitFor(ctx, browser.WaitOptions{Time: time.Duration(in.Time * float64(time.Second)), Text: in.Text, TextGone: in.TextGone,
			Target: in.Target, State: in.State, URL: in.URL, LoadState: browser.LoadState(in.LoadState),
			Timeout: time.Duration(in.TimeoutMS) * time.Millisecond, Readable: may})
		if err != nil {
			return doc, 0, err
		}
		return got.Document, 0, nil
	}})
	a := &answer{report: r}
	if err != nil {
		return a, err
	}
	a.did = "it came true"
	if !got.Met {
		a.did = "time ran out"
		a.fact("missing", "%s", got.Missing)
	}
	a.fact("waited", "%d ms", got.Took.Milliseconds())
	a.set("met", got.Met)
	a.set("waited_ms", got.Took.Milliseconds())
	if got.Dialog != nil {
		meta := map[string]any{}
		a.dialog(got.Dialog, meta)
		a.set("dialog", meta["dialog"])
	}
	if !got.Met && got.LastSeen != "" {
		a.page(a.origin(), "last seen,", got.LastSeen)
	}
	return a, nil
}
