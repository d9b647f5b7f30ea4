package main

import "time"

// ways are about leaving a page, by whatever way, and about what comes instead of one.
var ways = []scenario{
	{slug: "redirect-out-of-grant", source: "ChromeDevTools/chrome-devtools-mcp#2502", steps: []step{
		link("Friend, one hop").asking("navigate", "no").fails("blocked_by_policy"),
		link("Friend, two hops").asking("navigate", "no").fails("blocked_by_policy"),
		link("Own room"),
	}, never: []string{"B"}, shows: []string{"Own room, inside"}},

	{slug: "page-moves-by-itself", source: "browser-use/browser-use#5815", steps: []step{
		button("Script"),
		answered("navigate", "no"),
		snapshot("the owner said no"),
		link("Refresh"),
		answered("navigate", "no"),
		snapshot("the owner said no"),
		navigate("{{A}}/index.html"),
		button("Form").asking("submit", "no").fails("blocked_by_policy"),
		button("Count"),
		button("Frame"),
		snapshot("Guest", "not shared").hiding("The other place"),
	}, never: []string{"B POST", "B GET /other.html?script", "B GET /other.html?refresh"},
		got: []string{"B GET /other.html?frame"}, shows: []string{"Count: 1"}},

	{slug: "odd-schemes", source: "browser-use/browser-use#4763", steps: []step{
		link("By script"),
		link("Loose sheet"),
		snapshot("On the loose sheet"),
		back(),
		navigate(`javascript:document.title="x"`).fails("scheme_refused"),
		navigate("data:text/html,<h1>d</h1>").fails("scheme_refused"),
		navigate("chrome://settings").fails("scheme_refused"),
		navigate("file:///etc/hostname").fails("scheme_refused"),
		navigate("view-source:{{A}}/index.html").fails("scheme_refused"),
		button("Count"),
	}, shows: []string{"Count: 1"}},

	{slug: "route-change-without-load", source: "VibiumDev/vibium#126", steps: []step{
		link("Parcels").soon(5 * time.Second).telling("/route-change-without-load/parcels"),
		waitFor("Parcel 31"),
		back(),
		waitFor("Counter"),
	}, shows: []string{"Counter"}},

	{slug: "navigation-without-a-page", waits: "an address that answers 204 is called a failure when it is navigated to", source: "microsoft/playwright#31570", steps: []step{
		link("Ring").telling("204"),
		navigate("{{A}}/ring").telling("204"),
		snapshot("Bell"),
		navigate("{{A}}/lost").telling("404"),
		navigate("{{A}}/crash").telling("500"),
	}, shows: []string{"The bell fell down"}},

	{slug: "streams-and-polling", source: "microsoft/playwright#41513", steps: []step{
		button("Run"),
		waitFor("Turns 3"),
		snapshot(),
	}, shows: []string{"Stream: flows"}},

	{slug: "http-sign-in-question", waits: "the sign-in question of Chrome is not told of yet", source: "vercel-labs/agent-browser#1769", steps: []step{
		link("Safe").telling("401"),
		snapshot(),
	}, got: []string{"A GET /safe"}},

	{slug: "pdf-instead-of-page", waits: "the snapshot does not say yet that it is a PDF", source: "EndeavorYen/chrome-cdp-ex#246", steps: []step{
		link("Tides").detached(),
		snapshot("application/pdf"),
		back(),
	}, shows: []string{"Pier"}},

	{slug: "background-tab-frozen-frames", source: "anthropics/claude-code#84684", steps: []step{
		waitFor("2 things are here"),
		button("More"),
		waitFor("4 things are here"),
	}, shows: []string{"4 things are here"}},
}

// dialogs are about the boxes that stop a page.
var dialogs = []scenario{
	{slug: "alert-while-loading", source: "microsoft/playwright#42817", start: "start.html", steps: []step{
		navigate("{{A}}/index.html").soon(5*time.Second).telling("alert", "Closed at noon"),
		dialog(true, ""),
		snapshot("Shed", "Past the notice"),
	}, shows: []string{"Past the notice"}},

	{slug: "prompt-inside-frames", source: "webdriverio/webdriverio#14211", grant: true, steps: []step{
		waitFor("Knock"),
		snapshot(),
		click(ref{"First", `button "Knock"`}).telling("prompt", "Who is it?"),
		dialog(true, "Kim"),
		click(ref{"Second", `button "Knock"`}).telling("prompt", "Who is it?"),
		dialog(false, ""),
	}, shows: []string{"Told: first Kim; second null;"}},

	{slug: "beforeunload-unsaved", waits: "Chrome brings the tab to front for the question, and the owner's is not put back", source: "ChromeDevTools/chrome-devtools-mcp#788", steps: []step{
		fill(role("textbox", "Verse"), "half a line").with("slowly", true), // Chrome asks only after real keys
		navigate("{{A}}/away.html").telling("dialog: beforeunload"),
		dialog(false, ""),
		snapshot("Poem", "half a line"),
		navigate("{{A}}/away.html").telling("dialog: beforeunload"),
		dialog(true, ""),
		waitFor("Away from it"),
	}, shows: []string{"Away from it"}},

	{slug: "dialog-closed-by-owner", source: "microsoft/playwright#42032", steps: []step{
		{hand: (*play).attend},
		button("Ring").telling("alert", "Ding"),
		{hand: (*play).closeDialog},
		snapshot("rang").hiding("alert"),
		dialog(true, "").telling("armed"),
		button("Carry on"),
	}, shows: []string{"Steps: rang went on"}},
}
