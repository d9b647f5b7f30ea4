package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

func pointerTools() []tool {
	return []tool{
		extra(define(acts, "browser_hover", "Hover", "Move the mouse over an element.", hover)),
		extra(define(acts, "browser_scroll", "Scroll", "Scroll the page or the area around the target; a target alone is brought into view.", scroll)),
		extra(define(acts, "browser_drag", "Drag and drop", "Drag one element onto another.", drag)),
	}
}

func hover(ctx context.Context, c *call, in *targetInput) (*answer, error) {
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past:   "moved the mouse onto",
		Target: &browser.CheckOptions{Target: in.Target, Nth: in.Nth, For: browser.Hover},
		Do:     func(ctx context.Context, a session.Act, _ *browser.Checked) error { return a.Hover(ctx) },
	})
	return &answer{report: r, did: done(r)}, err
}

type scrollInput struct {
	tabInput
	To     string  `json:"to,omitzero" enum:"top bottom"`
	ByY    float64 `json:"by_y,omitzero" doc:"pixels, down is positive; default: a screen"`
	Target string  `json:"target,omitzero" doc:"in the area to scroll; default: the page"`
	Nth    int     `json:"nth,omitzero"`
}

func scroll(ctx context.Context, c *call, in *scrollInput) (*answer, error) {
	if in.To != "" && in.ByY != 0 {
		return nil, protocol.Errorf(protocol.BadArgument, "to and by_y exclude one another").With("hint", "Give one of them.")
	}
	plan := session.Plan{Past: "scrolled"}
	if in.Target != "" {
		plan.Past = "scrolled at"
		plan.Target = &browser.CheckOptions{Target: in.Target, Nth: in.Nth, For: browser.Aim}
	}
	var s *browser.Scrolled
	plan.Do = func(ctx context.Context, a session.Act, _ *browser.Checked) error {
		got, err := a.Scroll(ctx, browser.ScrollOptions{To: in.To, ByY: in.ByY})
		s = &got
		return err
	}
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), plan)
	a := &answer{report: r, did: done(r)}
	if err == nil && s != nil {
		a.fact("moved", "%.0f px, at_top: %t, at_bottom: %t", s.Moved, s.AtTop, s.AtBottom)
		a.set("moved", s.Moved)
		a.set("at_top", s.AtTop)
		a.set("at_bottom", s.AtBottom)
		if s.Area != "page" {
			a.page(a.origin(), "what was scrolled,", s.Area)
		}
	}
	return a, err
}

type dragInput struct {
	tabInput
	StartTarget  string `json:"startTarget" doc:"as target of browser_click"`
	EndTarget    string `json:"endTarget"`
	StartElement string `json:"startElement,omitzero"`
	EndElement   string `json:"endElement,omitzero"`
}

func drag(ctx context.Context, c *call, in *dragInput) (*answer, error) {
	for name, target := range map[string]string{"startTarget": in.StartTarget, "endTarget": in.EndTarget} {
		if strings.TrimSpace(target) == "" {
			return nil, protocol.Errorf(protocol.BadArgument, "%s is empty", name)
		}
	}
	to := &browser.CheckOptions{Target: in.EndTarget, For: browser.Hover}
	var d browser.Dragged
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past:   "dragged",
		Target: &browser.CheckOptions{Target: in.StartTarget, For: browser.Hover},
		Also:   []*browser.CheckOptions{to},
		Do: func(ctx context.Context, a session.Act, _ *browser.Checked) (err error) {
			d, err = a.Drag(ctx, *to)
			return err
		},
	})
	a := &answer{report: r, did: done(r)}
	if d.Describe != "" && err == nil {
		how := map[bool]string{true: "the browser's own drag", false: "the mouse"}[d.Native]
		a.fact("drag", "by %s, accepted: %s", how, accepted(d))
		a.set("accepted", accepted(d))
	}
	if err == nil && d.Refused {
		err = protocol.Errorf(protocol.DropRefused, "it was dropped, and what it was dropped on did not take it")
	}
	return a, err
}

// accepted tells whether the page took a drop; a drag with the mouse does not say.
func accepted(d browser.Dragged) string {
	if !d.Native {
		return "unknown"
	}
	return fmt.Sprint(!d.Refused)
}
