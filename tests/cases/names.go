package main

import "time"

// names are about finding the right element: what it is called, whether it is to be seen, which of several it is.
var names = []scenario{
	{slug: "button-name-nested-spans", source: "microsoft/playwright#41985", steps: []step{
		snapshot(`button "Put jar" [ref`, `button "Take jar" [ref`, `link "Ask someone" [ref`),
		button("Put jar"),
		button("Take jar"),
		button("Put jar"),
	}, shows: []string{"Jars: 1. Done: put take put"}},

	{slug: "clickable-without-role", source: "vercel-labs/agent-browser#434", steps: []step{
		snapshot(),
		click(ref{"Berth 2, north"}),
		click(ref{"Crane"}),
	}, shows: []string{"Berth: N2. Tile: crane"}},

	{slug: "visible-child-of-hidden-parent", source: "microsoft/playwright-mcp#597", steps: []step{
		snapshot(`dialog "New label"`).hiding("backstage 5520"),
		fill(ref{"dialog", `textbox "Wording"`}, "Blue tin"),
		click(ref{"dialog", `button "Print"`}),
	}, shows: []string{"Printed: Blue tin"}},

	{slug: "details-closed-content", source: "browseros-ai/BrowserOS#452", steps: []step{
		snapshot("Repair").hiding("Reset lining", "Vent gas"),
		click(ref{"Repair"}),
		snapshot("[expanded]", "Reset lining").hiding("Vent gas"),
		button("Reset lining"),
	}, shows: []string{"Did: Reset lining"}},

	{slug: "duplicate-names-and-ids", source: "openclaw/openclaw#130925", steps: []step{
		snapshot(),
		click(ref{"Teal", `button "Sell"`}),
		click(ref{"Coot", `button [`}),
	}, shows: []string{"Did: sell Teal pin Coot", "Heron"}},

	{slug: "refs-after-click-navigation", source: "vercel-labs/agent-browser#1922", steps: []step{
		snapshot("First page"),
		link("Turn over"),
		click(ref{`button "Wipe"`}).fails("stale_ref"),
	}, shows: []string{"Second page", "Did: nothing"}},

	{slug: "shadow-nested-open", source: "browser-use/browser-use#2336", steps: []step{
		snapshot(),
		fill(ref{"Tickets", `textbox "Seat"`}, "12"),
		click(ref{"Tickets", `button "Buy"`}),
	}, shows: []string{"Sold: seat 12. Lure: 0"}},

	{slug: "combobox-role-on-text-box", source: "ChromeDevTools/chrome-devtools-mcp#1001", steps: []step{
		fill(role("combobox", "Search almanac"), "high water"),
		press(role("combobox", "Search almanac"), "Enter"),
	}, got: []string{"A GET /found?words=high+water"}, shows: []string{"words=high+water"}},

	{slug: "label-with-link-inside", source: "microsoft/playwright#6057", steps: []step{
		click("role=checkbox"),
		link("Why is it shut?"),
	}, never: []string{"A GET /rules"}, shows: []string{"Knows: yes. Asked: shut"}},
}

// moving are about where and when an element can be hit.
var moving = []scenario{
	{slug: "enabled-after-a-while", source: "microsoft/playwright#9617", steps: []step{
		button("Bake"),
		button("Burn").with("timeout_ms", 300).fails("disabled"),
	}, shows: []string{"Baked: yes. Burnt: no"}},

	{slug: "sticky-header-over-target", source: "puppeteer/puppeteer#12726", steps: []step{
		button("Book 20"),
	}, shows: []string{"Booked: 20. Bars pressed: 0"}},

	{slug: "endless-pulse", source: "vercel-labs/agent-browser#1416", steps: []step{
		button("Beat").soon(5 * time.Second),
	}, shows: []string{"Beats: 1. Skin: 0"}},

	{slug: "wrapped-inline-link", source: "vercel-labs/agent-browser#1756", steps: []step{
		link("lantern walk round the lake"),
	}, shows: []string{"Joined: walk. Paragraph: 0"}},

	{slug: "smooth-scroll-then-click", source: "microsoft/playwright#42626", steps: []step{
		button("Seal the scroll"),
	}, shows: []string{"Sealed: yes. Others: 0"}},

	{slug: "node-replaced-on-hover", source: "microsoft/playwright#28595", steps: []step{
		snapshot(),
		click(ref{`button "Tally up"`}),
	}, shows: []string{"Tally: 1"}},

	{slug: "inner-scroll-areas", source: "browser-use/browser-use#3187", steps: []step{
		scroll("Chapters").telling("at_bottom: true"),
		read("Chapters: at the end, Story: start"),
		scroll("Story").telling("at_bottom: true"),
		button("Afterword"),
	}, shows: []string{"Chapters: at the end, Story: at the end, Open: Afterword"}},

	{slug: "html5-drag-and-drop", source: "ChromeDevTools/chrome-devtools-mcp#2182", steps: []step{
		snapshot(),
		drag(ref{"Blue bag"}, role("group", "Rack")).telling("accepted: true"),
		drag(ref{"Red bag"}, role("group", "Shut")).fails("drop_refused"),
	}, shows: []string{"Floor: Red bag Grey bag. Rack: Blue bag. Ends: move none"}},
}
