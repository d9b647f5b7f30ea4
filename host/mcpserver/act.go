package mcpserver

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

func actTools() []tool {
	return []tool{
		define(acts, "browser_click", "Click", "Click an element. If that would send a form, say submits: true.", click),
		define(acts, "browser_type", "Type", "Replace the text of a field (append adds to it). submit presses Enter and sends the form.", typeText),
		define(acts, "browser_press_key", "Press a key", `Press a key or combination ("Enter", "Control+a") in the target, or where the focus is.`, pressKey),
	}
}

type targetInput struct {
	tabInput
	Target  string `json:"target" doc:"ref (e12), CSS, text=…, role=button[name=\"Save\"] or label=…"`
	Element string `json:"element,omitzero" doc:"human description of the target"`
	Nth     int    `json:"nth,omitzero" doc:"which of several matches, from 1"`
}

type clickInput struct {
	targetInput
	DoubleClick bool     `json:"doubleClick,omitzero"`
	Button      string   `json:"button,omitzero" enum:"left right middle"`
	Modifiers   []string `json:"modifiers,omitzero" enum:"Alt Control ControlOrMeta Meta Shift"`
	Submits     bool     `json:"submits,omitzero" doc:"this click is meant to send a form"`
	TimeoutMS   int      `json:"timeout_ms,omitzero" doc:"for a late element, default 3000"`
}

func click(ctx context.Context, c *call, in *clickInput) (*answer, error) {
	timeout, err := late(in.TimeoutMS)
	if err != nil {
		return nil, err
	}
	button := browser.Button(in.Button)
	past := "clicked"
	if in.DoubleClick {
		past = "double-clicked"
	}
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past:    past,
		Target:  &browser.CheckOptions{Target: in.Target, Nth: in.Nth, For: browser.Click, Button: button, Modifiers: in.Modifiers, Timeout: timeout},
		Submits: in.Submits,
		Do: func(ctx context.Context, a session.Act, _ *browser.Checked) error {
			return a.Click(ctx, browser.ClickOptions{Button: button, Double: in.DoubleClick, Modifiers: in.Modifiers})
		},
	})
	return &answer{report: r, did: done(r)}, err
}

type typeInput struct {
	targetInput
	Text      string `json:"text"`
	Submit    bool   `json:"submit,omitzero" doc:"press Enter afterwards"`
	Slowly    bool   `json:"slowly,omitzero" doc:"key by key"`
	Append    bool   `json:"append,omitzero"`
	TimeoutMS int    `json:"timeout_ms,omitzero"`
}

func typeText(ctx context.Context, c *call, in *typeInput) (*answer, error) {
	timeout, err := late(in.TimeoutMS)
	if err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(in.Text) > maxWindow {
		return nil, protocol.Errorf(protocol.BadArgument, "text is longer than %d characters", maxWindow)
	}
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past:    "typed into",
		Target:  &browser.CheckOptions{Target: in.Target, Nth: in.Nth, For: browser.Type, Submit: in.Submit, Timeout: timeout},
		Submits: in.Submit,
		Chars:   utf8.RuneCountInString(in.Text),
		Do: func(ctx context.Context, a session.Act, _ *browser.Checked) error {
			return a.Type(ctx, browser.TypeOptions{Text: in.Text, Append: in.Append, Slowly: in.Slowly, Submit: in.Submit})
		},
	})
	return &answer{report: r, did: done(r)}, err
}

type pressInput struct {
	tabInput
	Key     string `json:"key"`
	Target  string `json:"target,omitzero" doc:"default: where the focus is"`
	Element string `json:"element,omitzero" doc:"human description of the target"`
	Submits bool   `json:"submits,omitzero" doc:"this key is meant to send a form"`
}

func pressKey(ctx context.Context, c *call, in *pressInput) (*answer, error) {
	if strings.TrimSpace(in.Key) == "" && in.Key != " " {
		return nil, protocol.Errorf(protocol.BadArgument, "key is empty").With("hint", `A name like "Enter", a character, or "Control+a".`)
	}
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past:    "pressed " + clip(in.Key, 30) + " in",
		Target:  &browser.CheckOptions{Target: in.Target, For: browser.Press, Key: in.Key},
		Submits: in.Submits,
		Do: func(ctx context.Context, a session.Act, _ *browser.Checked) error {
			return a.Press(ctx, in.Key)
		},
	})
	return &answer{report: r, did: done(r)}, err
}

// late is how long an element that is not there yet is waited for.
func late(ms int) (time.Duration, error) {
	d := time.Duration(ms) * time.Millisecond
	if d < 0 || d > maxWait {
		return 0, protocol.Errorf(protocol.BadArgument, "timeout_ms is 0 to %d", maxWait.Milliseconds())
	}
	return d, nil
}
