package main

// frames are about elements in frames: of this site and of another, late, turned, and covered by the page above.
var frames = []scenario{
	{slug: "overlay-above-iframe", source: "microsoft/playwright#14752", steps: []step{
		present(role("button", "Keep")),
		snapshot(),
		click(ref{`button "Keep"`}).with("timeout_ms", 300).fails("covered"),
		button("Clear haze"),
		click(ref{`button "Keep"`}),
	}, shows: []string{"Kept: 1. Haze: 0"}},

	{slug: "iframe-created-on-click", source: "leeguooooo/chrome-use#273", grant: true, steps: []step{
		button("Check out"),
		present(role("textbox", "Payer")),
		snapshot(`textbox "Payer"`),
		fill(ref{`textbox "Payer"`}, "R. Vale"),
		click(ref{`button "Pay now"`}),
	}, shows: []string{"Paid by: R. Vale"}},

	{slug: "iframe-cross-origin-typing", source: "anthropics/claude-code#85779", grant: true, steps: []step{
		present(role("textbox", "Voucher")),
		snapshot(),
		click(ref{`textbox "Voucher"`}),
		fill(ref{`textbox "Voucher"`}, "SUMMER").with("slowly", true),
		{tool: "browser_press_key", args: args{"key": "Enter"}},
	}, shows: []string{"The box says: SUMMER after 7 keys"}},

	{slug: "iframe-scaled-and-turned", source: "microsoft/playwright#18926", grant: true, steps: []step{
		present(role("button", "Tile 5")),
		snapshot(),
		click(ref{`button "Tile 5"`}),
		click(ref{`button "Tile 9"`}),
	}, shows: []string{"Hits: 5 9"}},

	{slug: "frame-to-unknown-scheme", waits: "the click after Chrome has detached in the middle of one may be lost; it is told as dispatched only", source: "microsoft/playwright#42221", steps: []step{
		button("Use the app").detached(),
		snapshot("status [ref=e5]: app"),
		button("Stay here"),
	}, shows: []string{"Way: web"}},
}
