package main

import "time"

// A scenario is one case: pages/<slug>/ and what is done there. It starts in a tab of its own at index.html on site A.
type scenario struct {
	slug   string
	source string   // the public report that it stands for
	start  string   // another page to start at
	grant  bool     // the owner lets the agent into site B as well, before the first step
	secret []string // stands in no answer of any tool
	waits  string   // what it waits for; it is shown as skipped and counts as nothing

	steps []step

	shows []string // stands on the page at last, as the owner sees it, with single spaces
	got   []string // each is the beginning of exactly one line of the server's log: "A GET /find?q=boots", "A POST /login …body"
	never []string // the beginning of no line of the log: "B", "A GET /transfer"
}

// A step is one call of a tool, or something that the owner's hand does.
type step struct {
	tool   string
	args   args
	code   string        // it fails with this code; "": it succeeds
	lost   bool          // Chrome may detach meanwhile: then it may also fail with outcome unknown
	tells  []string      // stands in the answer
	hides  []string      // does not stand in the answer
	within time.Duration // 0: 10 s
	owner  []answer      // what the owner is asked meanwhile, in this order, and says; nothing else may be asked

	hand func(*play) error // instead of a tool
}

// In arguments {{A}}, {{B}}, {{C}} and {{S}} are the case's addresses, and a ref is looked up.
type args map[string]any

// A ref is found in the latest snapshot: each text stands on the line of the one before or below it, and the ref on the
// line of the last.
type ref []string

type answer struct{ kind, choice string }

func role(role, name string) string { return "role=" + role + `[name="` + name + `"]` }

func click(target any) step { return step{tool: "browser_click", args: args{"target": target}} }

func button(name string) step { return click(role("button", name)) }

func link(name string) step { return click(role("link", name)) }

func fill(target any, text string) step {
	return step{tool: "browser_type", args: args{"target": target, "text": text}}
}

func press(target, key string) step {
	return step{tool: "browser_press_key", args: args{"target": target, "key": key}}
}

func navigate(url string) step { return step{tool: "browser_navigate", args: args{"url": url}} }

func back() step { return step{tool: "browser_navigate_back"} }

func snapshot(tells ...string) step { return step{tool: "browser_snapshot", tells: tells} }

func read(tells ...string) step { return step{tool: "browser_read", tells: tells} }

// waitFor waits for a text.
func waitFor(text string) step {
	return step{tool: "browser_wait_for", args: args{"text": text, "timeout_ms": 9000}, tells: []string{"came true"}}
}

// present waits for an element: a frame is there later than its page.
func present(target string) step {
	return step{tool: "browser_wait_for", args: args{"target": target, "timeout_ms": 9000}, tells: []string{"came true"}}
}

func dialog(accept bool, text string) step {
	a := args{"accept": accept}
	if text != "" {
		a["promptText"] = text
	}
	return step{tool: "browser_handle_dialog", args: a}
}

func choose(list, by string, options ...string) step {
	return step{tool: "browser_select_option", args: args{"target": role("combobox", list), by: options}}
}

func form(fields ...map[string]any) step {
	return step{tool: "browser_fill_form", args: args{"fields": fields}}
}

func field(name string, value any) map[string]any {
	return map[string]any{"name": name, "value": value}
}

// scroll goes to the end of a region.
func scroll(region string) step {
	return step{tool: "browser_scroll", args: args{"target": role("region", region), "to": "bottom"}}
}

func drag(from, to any) step {
	return step{tool: "browser_drag", args: args{"startTarget": from, "endTarget": to}}
}

// answered has the owner answer a question that comes after the call that led to it.
func answered(kind, choice string) step {
	return step{hand: func(p *play) error { return p.answer(p.ctx, answer{kind, choice}) }}
}

// The following give the step with something more said about it.

func (s step) fails(code string) step { s.code = code; return s }

func (s step) telling(words ...string) step {
	s.tells = append(s.tells[:len(s.tells):len(s.tells)], words...)
	return s
}

func (s step) hiding(words ...string) step {
	s.hides = append(s.hides[:len(s.hides):len(s.hides)], words...)
	return s
}

func (s step) detached() step { s.lost = true; return s }

func (s step) soon(d time.Duration) step { s.within = d; return s }

func (s step) asking(kind, choice string) step {
	s.owner = append(s.owner[:len(s.owner):len(s.owner)], answer{kind, choice})
	return s
}

func (s step) with(name string, value any) step {
	a := args{name: value}
	for k, v := range s.args {
		a[k] = v
	}
	s.args = a
	return s
}
