package mcpserver

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tabvalet/tabvalet/protocol"
)

func tabTools() []tool {
	return []tool{define(acts, "browser_tabs", "Tabs",
		"List the lent tabs, open a new one in the background, choose your current one, or close one you opened. Never changes what the owner sees.", tabs)}
}

type tabsInput struct {
	tabInput
	Action string `json:"action" enum:"list new select close"`
	Index  *int   `json:"index,omitzero" doc:"instead of tab: place in the list, from 0"`
	URL    string `json:"url,omitzero" doc:"for new"`
}

func tabs(ctx context.Context, c *call, in *tabsInput) (*answer, error) {
	m := c.server.opt.Session
	tab := in.Tab
	if in.Index != nil {
		if tab != "" {
			return nil, protocol.Errorf(protocol.BadArgument, "index and tab exclude each other")
		}
		leases := m.State().Leases
		if *in.Index < 0 || *in.Index >= len(leases) {
			return nil, protocol.Errorf(protocol.SessionNotFound, "there is no tab %d; %d are lent", *in.Index, len(leases))
		}
		tab = leases[*in.Index].Tab
	}
	if in.URL != "" && in.Action != "new" {
		return nil, protocol.Errorf(protocol.BadArgument, "url goes with action new only")
	}
	a := &answer{did: "tabs"}
	var err error
	switch in.Action {
	case "list":
		c.placed()
	case "select":
		c.placed()
		if tab == "" {
			return nil, protocol.Errorf(protocol.BadArgument, "select needs tab or index")
		}
		a.did, err = "your current tab is "+tab, m.Select(tab)
	case "new":
		a.report, err = m.OpenTab(ctx, c.on(tab), in.URL)
		a.did = done(a.report)
	case "close":
		a.report, err = m.CloseTab(ctx, c.on(tab))
		a.did = done(a.report)
	}
	for i, l := range m.State().Leases {
		mark := ""
		if l.Current {
			mark = " (current)"
		}
		title := ""
		if l.Title != "" {
			title = " " + strconv.Quote(clip(l.Title, 80))
		}
		a.fact(fmt.Sprintf("%d", i), "%s%s%s %s", l.Tab, mark, title, clip(l.URL, 300))
	}
	return a, err
}
