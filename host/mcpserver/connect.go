package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

// maxConnectWait keeps a waiting browser_connect within the time that clients give a call.
const maxConnectWait = 50 * time.Second

func connectTools() []tool {
	return []tool{
		define(manages, "browser_connect", "Ask for a tab",
			"Ask the owner to lend a tab of their own browser. Answers at once with a one-time link: show it to the user, never open it. Asked again it gives the same link; wait_ms waits for the owner.",
			connect),
		define(looks, "browser_state", "Session state", "Lent tabs, grants, open questions to the owner, what is available.", state),
		define(manages, "browser_disconnect", "Give tabs back", "End all leases. Tabs you opened are closed unless keep_tabs.", disconnect),
	}
}

type connectInput struct {
	Reason string `json:"reason,omitzero" doc:"for the owner, one sentence"`
	URL    string `json:"url,omitzero" doc:"page you would like in a new tab"`
	Access string `json:"access,omitzero" enum:"read act"`
	WaitMS int    `json:"wait_ms,omitzero" doc:"at most 50000"`
}

func connect(ctx context.Context, c *call, in *connectInput) (*answer, error) {
	c.placed()
	if in.WaitMS < 0 {
		return nil, protocol.Errorf(protocol.BadArgument, "wait_ms is negative")
	}
	wait := min(time.Duration(in.WaitMS)*time.Millisecond, maxConnectWait)
	if wait > 0 {
		c.waiting("waiting for the owner of the browser")
	}
	got, err := c.server.opt.Session.Connect(ctx, session.ConnectRequest{
		Reason: in.Reason, URL: in.URL, Access: protocol.Access(in.Access), Wait: wait,
	})
	a := &answer{}
	if got == nil {
		return a, err
	}
	a.leases(got.Leases)
	if got.Link != "" {
		a.did = "the owner of the browser has to open this link (it is for them only)"
		a.fact("link", "%s", got.Link)
		a.fact("expires", "in %s", got.Expires.Round(time.Second))
		a.fact("next", "give the link to the user, then call browser_connect with wait_ms")
		a.set("link", got.Link)
		a.set("expires_ms", got.Expires.Milliseconds())
	}
	if got.TabRefused != "" {
		a.fact("attach_refused", "Chrome refused the tab the owner chose (%s); they can choose another", clip(got.TabRefused, 120))
		a.set("attach_refused", clip(got.TabRefused, 120))
	}
	if got.Link == "" {
		a.did = "connected"
	}
	return a, err
}

// leases adds a line for each lent tab.
func (a *answer) leases(leases []session.LeaseInfo) {
	rows := []map[string]any{}
	for _, l := range leases {
		mark := ""
		if l.Current {
			mark = ", current"
		}
		text := fmt.Sprintf("%s, %s%s", l.State, l.Access, mark)
		if l.URL != "" {
			text += ", " + clip(l.URL, 300)
		}
		a.fact(l.Tab, "%s", text)
		rows = append(rows, map[string]any{"tab": l.Tab, "state": l.State, "access": l.Access, "origin": l.Origin,
			"current": l.Current, "opened": l.Opened, "grants": l.Grants, "sealed": l.Sealed})
	}
	a.set("leases", rows)
}

type stateInput struct{}

func state(_ context.Context, c *call, _ *stateInput) (*answer, error) {
	c.placed()
	s := c.server.opt.Session.State()
	a := &answer{did: "host " + string(s.Phase)}
	a.fact("link", "%s", s.Link)
	a.leases(s.Leases)
	for _, l := range s.Leases {
		if len(l.Grants) > 0 {
			a.fact("grants of "+l.Tab, "%s", strings.Join(l.Grants, "; "))
		}
	}
	for _, p := range s.Prompts {
		a.fact("prompt", "%s %s%s, %s, dispatched: %t", p.ID, p.Kind, to(p.To), p.State, p.Dispatched)
	}
	if s.Approval != "" {
		a.fact("approval", "%s", s.Approval)
	}
	if s.Paused {
		a.fact("paused", "the owner paused this agent")
	}
	var missing []string
	for _, p := range s.Capabilities {
		if !p.Available {
			missing = append(missing, p.Name+" ("+p.Why+")")
		}
	}
	if missing != nil {
		a.fact("not available", "%s", strings.Join(missing, "; "))
	}
	a.set("state", s)
	return a, nil
}

type disconnectInput struct {
	KeepTabs bool `json:"keep_tabs,omitzero"`
}

func disconnect(ctx context.Context, c *call, in *disconnectInput) (*answer, error) {
	c.placed()
	ended, err := c.server.opt.Session.Disconnect(ctx, in.KeepTabs)
	a := &answer{did: "disconnected"}
	rows := []map[string]any{}
	for _, e := range ended {
		text := "Chrome confirmed the detach"
		if !e.Detached {
			text = "Chrome did not confirm the detach"
		}
		if e.Closed {
			text += ", tab closed"
		}
		a.fact(e.Tab, "%s", text)
		rows = append(rows, map[string]any{"tab": e.Tab, "detached": e.Detached, "closed": e.Closed})
	}
	if len(ended) == 0 {
		a.did = "disconnected: no tab was lent, nothing to detach"
	}
	a.set("ended", rows)
	return a, err
}
