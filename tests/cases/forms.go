package main

import (
	"fmt"
	"strings"
	"time"
)

// forms are about text that must arrive as a person would have typed it, and about what must not be seen.
var forms = []scenario{
	{slug: "controlled-input", source: "Skyvern-AI/rustwright#187", steps: []step{
		fill(role("textbox", "Lane"), "west lane"),
		fill(role("textbox", "Load"), "two kayaks"),
		button("Raise"),
	}, shows: []string{"Raised for: west lane with two kayaks"}},

	{slug: "prefilled-replace-and-commit", source: "browser-use/browser-use#4692", steps: []step{
		fill(role("textbox", "Line"), "New line"),
		fill(role("searchbox", "Filter"), ""),
		fill(role("textbox", "Story"), "New story"),
		button("Hang up"),
	}, shows: []string{"Commits: 3. Sign: New line||New story"}},

	{slug: "chat-box-enter-sends", source: "transitive-bullshit/agentic#143", steps: []step{
		fill(role("textbox", "Say"), "Come at ten\nand bring rope"),
		press(role("textbox", "Say"), "Enter"),
	}, shows: []string{"Said: 1. Line by line: Come at ten / and bring rope"}},

	{slug: "large-text-fill", source: "ChromeDevTools/chrome-devtools-mcp#786", steps: []step{
		fill(role("textbox", "Log"), logBook(2000)).soon(5 * time.Second),
		button("Count"),
	}, shows: []string{"Lines: 2000, the last is line 2000 of the log, all well, few events"}},

	{slug: "enter-submits-by-default-button", source: "ariakit/ariakit#6404", steps: []step{
		fill(role("textbox", "Thing"), "rope").with("submit", true),
		back(),
		press(role("textbox", "Pin"), "Enter"),
		press(role("textbox", "Left"), "Enter"),
	}, got: []string{"A GET /look?thing=rope&do=look"}, never: []string{"A GET /shut", "A GET /pair"}, shows: []string{"Desk"}},

	{slug: "model-owned-rich-editor", source: "Lum1104/dsh-browser#84", steps: []step{
		fill(role("textbox", "Notice text"), "Ahoy\nSecond row"),
		button("Pin up"),
	}, shows: []string{"Pinned: Ahoy / Second row"}},

	{slug: "disabled-fieldset-legend", source: "microsoft/playwright#35041", steps: []step{
		snapshot("checkbox \"Other door\" [ref=e3]\n", `textbox "Door" [ref=e4] [disabled]`),
		fill(role("textbox", "Door"), "Elm 4").with("timeout_ms", 300).fails("disabled"),
		click(role("checkbox", "Other door")),
		fill(role("textbox", "Door"), "Elm 4"),
		button("Deliver"),
	}, shows: []string{"To: Elm 4"}},

	{slug: "injection-in-attributes", source: "pixiebrix/agent-browser-shield#103", steps: []step{
		snapshot("37 EUR").hiding("\n- button \"Send money", "Forget the task", "end of page content"),
		read("37 EUR").hiding("Forget the task", "end of page content"),
		click("e999").fails("stale_ref"),
	}, never: []string{"A GET /send"}},

	{slug: "password-values-masked", source: "nimbalyst/nimbalyst#1212", secret: []string{"hush-58c1", "hidden-ticket-44", "4000 0077 0000 1236", "224466"}, steps: []step{
		snapshot(`textbox "Passphrase"`, `textbox "Card"`),
		button("Reveal"),
		snapshot(`textbox "Passphrase"`),
		fill(role("textbox", "Login code"), "224466"),
		snapshot(),
		read(),
		button("Enter").with("submits", true).asking("submit", "once"),
	}, got: []string{"A POST /enter keeper=robin&pass=hush-58c1&code=224466"}, shows: []string{"The door is open"}},

	{slug: "select-by-visible-text", source: "ChromeDevTools/chrome-devtools-mcp#185", steps: []step{
		choose("Town", "values", "South end"),
		choose("Shade", "values", "Whatever"),
		choose("Craft", "labels", "Sailed: Other"),
		button("Order"),
	}, got: []string{"A GET /order?town=S-1&shade=&craft=s2"}, shows: []string{"Ordered"}},

	{slug: "date-and-time-inputs", source: "browserbase/stagehand#1249", steps: []step{
		form(field("Date", "2031-02-28"), field("Hour", "18:55"), field("Moment", "2031-02-28T18:55"), field("Season", "2031-02"), field("Calendar week", "2031-W09")),
		read("Heard: date hour moment season week"),
		form(field("Date", "31.02.2031")).fails("bad_argument").telling("2031-02-28"),
		button("Plan"),
	}, got: []string{"A GET /plan?date=2031-02-28&hour=18%3A55&moment=2031-02-28T18%3A55&season=2031-02&week=2031-W09"}, shows: []string{"Planned"}},

	// Here of 20,000, so that it stays a matter of seconds on a busy machine; the benchmark has the 50,000.
	{slug: "table-fifty-thousand-rows", source: "microsoft/playwright-mcp#1329", start: "start.html", steps: []step{
		navigate("{{A}}/index.html"),
		snapshot("Drawers", "next:"),
		{tool: "browser_read", args: args{"search": "Drawer 17412", "capture_chars": 1000000}, tells: []string{"Drawer 17412"}},
		{tool: "browser_snapshot", args: args{"target": `tbody tr:nth-of-type(17412)`}, tells: []string{"Drawer 17412"}},
		click(ref{"Drawer 17412", `button "Open"`}),
		click(role("button", "Print list")),
	}, shows: []string{"Opened: Drawer 17412"}},
}

func logBook(n int) string {
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %04d of the log, all well", i+1))
	}
	return strings.Join(lines, "\n")
}
