package js_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

type checked struct {
	found
	Point     *point `json:"point"`
	Rect      box    `json:"rect"`
	Animating bool   `json:"animating"`
	Editable  string `json:"editable"`
	InputType string `json:"input_type"`
	Secret    bool   `json:"secret"`
	Keys      bool   `json:"keys_needed"`
	Length    int    `json:"value_length"`
	Checked   *bool  `json:"checked"`
	Frame     string `json:"frame"`
	Would     would  `json:"would"`
}

type hit struct {
	Hit bool   `json:"hit"`
	By  string `json:"by"`
}

type box struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

type would struct {
	Kind    string   `json:"kind"`
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Fields  []string `json:"fields"`
	NewTab  bool     `json:"new_tab"`
	Target  string   `json:"target"`
	Form    string   `json:"form"`
	Invalid []string `json:"invalid"`
}

// click presses the mouse for real where check says.
func (p *Page) click(target string, more args) checked {
	p.t.Helper()
	a := args{"target": target, "for": "click"}
	for k, v := range more {
		a[k] = v
	}
	c := call[checked](p, "check", a)
	p.press(*c.Point)
	return c
}

func (p *Page) press(at point) {
	p.t.Helper()
	for _, kind := range []input.DispatchMouseEventType{"mouseMoved", "mousePressed", "mouseReleased"} {
		e := input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y}
		if kind != "mouseMoved" {
			e.Button, e.ClickCount = "left", 1
		}
		do(p, input.DispatchMouseEvent, e)
	}
}

// TestCheckRefusals has one page for each code; quick checks do not wait.
func TestCheckRefusals(t *testing.T) {
	for _, c := range []struct{ name, html, target, code, message string }{
		{"nothing matches", `<p>x`, "#missing", "not_found", "#missing"},
		{"two match", `<button>Go</button><button>Go</button>`, `role=button[name="Go"]`, "ambiguous", "2 elements"},
		{"no display", `<button id=b style="display:none">Go</button>`, "#b", "hidden", `button "Go" is not visible`},
		{"no visibility", `<button id=b style="visibility:hidden">Go</button>`, "#b", "hidden", ""},
		{"transparent parent", `<div style="opacity:0"><button id=b>Go</button></div>`, "#b", "hidden", ""},
		{"no size", `<button id=b style="width:0;height:0;border:0;padding:0"></button>`, "#b", "hidden", ""},
		{"closed details", `<details><summary>S</summary><button id=b>Go</button></details>`, "#b", "hidden", ""},
		{"clipped away", `<div style="overflow:hidden;height:0"><button id=b>Go</button></div>`, "#b", "hidden", ""},
		{"slotted into something hidden", `<x-a id=host><button id=b>Go</button></x-a><script>host.attachShadow({mode:'open'}).innerHTML='<div style="display:none"><slot></slot></div>'</script>`, "#b", "hidden", ""},
		{"in no slot", `<x-a id=host><button id=b>Go</button></x-a><script>host.attachShadow({mode:'open'}).innerHTML='<p>shadow</p>'</script>`, "#b", "hidden", ""},
		{"disabled", `<button id=b disabled>Go</button>`, "#b", "disabled", ""},
		{"disabled by fieldset", `<fieldset disabled><legend>L</legend><button id=b>Go</button></fieldset>`, "#b", "disabled", ""},
		{"disabled by ARIA above", `<div aria-disabled=true><div role=button tabindex=0 id=b>Go</div></div>`, "#b", "disabled", ""},
		{"inert", `<div inert><button id=b>Go</button></div>`, "#b", "disabled", "inert"},
		{"covered", `<button id=b>Go</button><div id=veil style="position:fixed;inset:0" aria-label="Cookies" role=dialog></div>`, "#b", "covered", `dialog "Cookies"`},
		{"covered by a plain box", `<button id=b>Go</button><div id=veil style="position:fixed;inset:0"></div>`, "#b", "covered", "veil"},
		{"takes no pointer", `<button id=b style="pointer-events:none">Go</button>`, "#b", "covered", ""},
		{"bad selector", `<p>x`, "p[", "bad_argument", ""},
		{"bad role target", `<p>x`, "role=[name=", "bad_argument", ""},
		{"stale number", `<p>x`, "e99", "stale_ref", "e99"},
		{"other document", `<p>x`, "f2e1", "stale_ref", "another document"},
		{"nothing focused", `<p>x`, "", "not_found", "focus"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.html+"<body>")
			e := refused(p, c.code, "check", args{"target": c.target, "for": "click", "quick": true})
			if !strings.Contains(e.Message, c.message) {
				t.Errorf("message %q does not hold %q", e.Message, c.message)
			}
		})
	}
}

func TestCheckTypeRefusesWhatTakesNoText(t *testing.T) {
	p := open(t, `<button id=b>Go</button><input id=ro readonly><p id=p>x</p><input type=submit id=s>`)
	for _, target := range []string{"#b", "#ro", "#p", "#s"} {
		refused(p, "not_editable", "check", args{"target": target, "for": "type", "quick": true})
	}
}

// TestCheckClicks presses where check says and looks at what the page saw.
func TestCheckClicks(t *testing.T) {
	const log = `<output id=o>nothing</output><script>addEventListener('click', (e) => { o.textContent = e.target.id || e.target.localName; }, true)</script>`
	for _, c := range []struct{ name, html, target, hit string }{
		{"a button", `<button id=b>Go</button>`, "#b", "b"},
		{"by text", `<div id=card>Roof <b>garden</b></div>`, "text=Roof garden", "card"},
		{"by label", `<label for=f>Name</label><input id=f>`, "label=Name", "f"},
		{"by snapshot line", `<button id=b>Go</button><button>Stop</button>`, `button "Go"`, "b"},
		{"far down", `<div style="height:3000px"></div><button id=b>Go</button><div style="height:3000px"></div>`, "#b", "b"},
		{"in nested scrollers", `<div style="height:100px;overflow:auto"><div style="height:900px"></div><div style="height:80px;overflow:auto"><div style="height:900px"></div><button id=b>Go</button></div></div>`, "#b", "b"},
		{"under sticky bars", `<div style="position:sticky;top:0;height:200px;background:#eee">bar</div><div style="height:2000px"></div><button id=b>Go</button><div style="height:2000px"></div><div style="position:sticky;bottom:0;height:200px;background:#eee">bar</div>`, "#b", "b"},
		{"a wrapped link", `<p style="width:120px">some words and <a href="#x" id=a>a link that wraps over</a> lines</p>`, "#a", "a"},
		{"half covered", `<button id=b style="width:200px;height:40px">Go</button><div style="position:absolute;left:0;top:0;width:160px;height:80px;background:red"></div>`, "#b", "b"},
		{"a descendant", `<button id=b><span id=inner>Go</span></button>`, "#b", "inner"},
		{"through open shadow roots", `<x-a id=host></x-a><script>host.attachShadow({mode:'open'}).innerHTML='<button>Deep</button>'</script>`, `role=button[name="Deep"]`, "host"},
		{"a label's control without a box", `<label id=l><input type=checkbox style="display:none">Agree</label>`, `role=checkbox`, "input"},
		{"a label with a link in its middle", `<label id=l style="display:inline-block"><input type=checkbox id=c style="opacity:0;position:absolute;width:0;height:0"> I accept the <a href="#t" style="padding:0 100px">terms of the club</a></label>`, `role=checkbox`, "c"},
		{"rotated", `<div style="transform:rotate(30deg) scale(.6);margin:100px"><button id=b>Go</button></div>`, "#b", "b"},
		{"zoomed", `<div style="zoom:1.7"><button id=b>Go</button></div>`, "#b", "b"},
		{"display contents", `<div style="display:contents" id=c><button id=b>Go</button></div>`, "#c", "b"},
		{"smooth scrolling", `<style>html{scroll-behavior:smooth}</style><div style="height:5000px"></div><button id=b>Go</button>`, "#b", "b"},
		{"endless motion", `<style>@keyframes p{from{transform:none}to{transform:scale(1.25) translateX(24px)}}#b{font-size:20px;animation:p .5s infinite alternate}</style><button id=b>Guess</button>`, "#b", "b"},
		{"an option of a list of links", `<ul><li><a href="#1" id=a1>One</a><li><a href="#2" id=a2>Two</a></ul>`, `role=link[name="Two"]`, "a2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.html+"<div></div>"+log)
			p.click(c.target, nil)
			if got := eval[string](p, "o.textContent"); got != c.hit {
				t.Errorf("the click hit %q, want %q", got, c.hit)
			}
			if hash := eval[string](p, "location.hash"); hash == "#t" {
				t.Error("the click followed the link in the label")
			}
		})
	}
}

func TestCheckWaitsForLateControls(t *testing.T) {
	for _, c := range []struct{ name, html string }{
		{"enabled", `<button id=b disabled>Go</button><script>setTimeout(() => { b.disabled = false }, 400)</script>`},
		{"shown", `<button id=b hidden>Go</button><script>setTimeout(() => { b.hidden = false }, 400)</script>`},
		{"made", `<script>setTimeout(() => { document.body.insertAdjacentHTML('beforeend', '<button id=b>Go</button>') }, 400)</script><p>`},
		{"uncovered", `<button id=b>Go</button><div id=veil style="position:fixed;inset:0"></div><script>setTimeout(() => veil.remove(), 400)</script>`},
		{"shown by a style sheet", `<style id=s>#b{display:none}</style><button id=b>Go</button><script>setTimeout(() => { s.sheet.disabled = true }, 400)</script>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.html)
			call[checked](p, "check", args{"target": "#b", "for": "click", "timeout_ms": 5000})
		})
	}
	p := open(t, `<button id=b disabled>Go</button>`)
	e := refused(p, "disabled", "check", args{"target": "#b", "for": "click", "timeout_ms": 300})
	if ms, _ := e.Data["waited_ms"].(float64); ms < 250 || ms > 3000 {
		t.Errorf("waited %v ms", e.Data["waited_ms"])
	}
}

func TestCheckStillPageCostsNoFrame(t *testing.T) {
	p := open(t, `<button id=b>Go</button>`)
	call[checked](p, "check", args{"target": "#b", "for": "click"})
	eval[bool](p, `globalThis.n = 0; (function f() { n++; requestAnimationFrame(f) })(); true`)
	before := eval[int](p, "n")
	for range 5 {
		call[checked](p, "check", args{"target": "#b", "for": "click"})
	}
	if after := eval[int](p, "n"); after-before > 4 {
		t.Logf("%d frames passed during 5 checks (a busy machine?)", after-before)
	}
}

func TestCheckMovingTargetIsNotMissed(t *testing.T) {
	p := open(t, `<style>#b{position:absolute;left:0;top:40px;transition:left 600ms linear}</style><button id=b>Go</button>`)
	eval[bool](p, `b.getBoundingClientRect(); b.style.left = '500px'; true`)
	c := call[checked](p, "check", args{"target": "#b", "for": "click"})
	if c.Animating || c.Point.X < 500 {
		t.Errorf("aimed at %v while it moved (animating %v)", *c.Point, c.Animating)
	}
}

func TestHitsFollowsAnElementDrawnAnew(t *testing.T) {
	p := open(t, `<div id=slot><button>Count</button></div><button id=r>Reset</button>`)
	ref := p.snapshot(nil).ref(t, `"Count"`)
	c := call[checked](p, "check", args{"target": ref, "for": "click"})
	eval[bool](p, `slot.innerHTML = '<button>Count</button>'; true`)
	at := args{"ref": ref, "x": c.Point.X, "y": c.Point.Y}
	if h := call[hit](p, "hits", at); !h.Hit {
		t.Error("the new node at the same place is not taken for the old one")
	}
	eval[bool](p, `slot.innerHTML = '<button>Reset all</button>'; true`)
	refused(p, "stale_ref", "hits", at)
}

func TestRefsStayStaleWhenTheSurroundingsChange(t *testing.T) {
	p := open(t, `<div id=box><button>Delete</button><i>Maple</i></div>`)
	ref := p.snapshot(nil).ref(t, `"Delete"`)
	call[found](p, "resolve", args{"target": ref})
	eval[bool](p, `box.innerHTML = '<button>Delete</button>'; true`)
	refused(p, "stale_ref", "resolve", args{"target": ref})
}

// A row that goes must never hand its ref to the row that moves up.
func TestRefsNeverMoveToANeighbour(t *testing.T) {
	for _, html := range []string{
		`<div id=box><button>Delete</button><button>Delete</button></div>`,
		`<ul id=box><li><button>Delete</button><li><button>Delete</button></ul>`,
	} {
		p := open(t, html)
		ref := p.snapshot(nil).ref(t, `"Delete"`)
		call[found](p, "resolve", args{"target": ref})
		eval[bool](p, `box.firstElementChild.remove(); true`)
		refused(p, "stale_ref", "resolve", args{"target": ref})
		eval[bool](p, `box.insertAdjacentHTML('beforeend', '<button>Undo</button>'); true`)
		refused(p, "stale_ref", "resolve", args{"target": ref})
	}
}

func TestRefsLiveWithRoleAndName(t *testing.T) {
	p := open(t, `<ul><li id=row>Locker 1</li></ul><button id=b>Save</button><p id=para>text</p>`)
	s := p.snapshot(nil)
	row, button, para := s.ref(t, "Locker 1"), s.ref(t, "Save"), s.ref(t, "text")
	eval[bool](p, `para.textContent = 'other text'; b.style.color = 'red'; true`)
	if again := p.snapshot(nil); again.ref(t, "Save") != button || again.ref(t, "other text") != para {
		t.Error("refs changed without need")
	}
	eval[bool](p, `row.textContent = 'Locker 2'; b.textContent = 'Saved'; true`)
	refused(p, "stale_ref", "resolve", args{"target": row})
	refused(p, "stale_ref", "resolve", args{"target": button})
	if again := p.snapshot(nil); again.ref(t, "Saved") == button {
		t.Error("a renamed button kept its ref")
	}
}

func TestInitSetsThePrefixOfRefs(t *testing.T) {
	p := open(t, `<button>Go</button>`)
	call[struct{}](p, "init", args{"prefix": "f7"})
	ref := p.snapshot(nil).ref(t, "Go")
	if ref != "f7e1" {
		t.Errorf("ref %q", ref)
	}
	if f := call[found](p, "resolve", args{"target": "aria-ref=" + ref}); f.Describe != `button "Go"` {
		t.Errorf("resolved %v", f)
	}
	refused(p, "stale_ref", "resolve", args{"target": "e1"})
}

func TestTargetsNth(t *testing.T) {
	p := open(t, `<button>A</button><button style="display:none">hidden</button><button>B</button>`)
	for i, want := range []string{"A", "B"} {
		if f := call[found](p, "resolve", args{"target": "role=button", "nth": i + 1}); f.Name != want {
			t.Errorf("nth %d is %q", i, f.Name)
		}
	}
	e := refused(p, "ambiguous", "resolve", args{"target": "css=button"})
	if fmt.Sprint(e.Data["total"]) != "2" {
		t.Errorf("data %v", e.Data)
	}
	refused(p, "not_found", "resolve", args{"target": "button", "nth": 9})
}

func TestScrollMovesTheAreaOfTheTarget(t *testing.T) {
	p := open(t, `<style>html,body{height:100%;margin:0;overflow:hidden}nav,main{position:fixed;top:0;bottom:40px;width:200px;overflow:auto}main{left:220px}</style>
<nav aria-label=Contents role=region id=n><p style="height:3000px">n</p></nav><main aria-label=Article role=region id=m><p style="height:3000px">m</p></main>`)
	type moved struct {
		Moved float64 `json:"moved"`
		AtTop bool    `json:"at_top"`
		AtEnd bool    `json:"at_bottom"`
		Area  string  `json:"area"`
	}
	got := call[moved](p, "scroll", args{"target": "#n p", "to": "bottom"})
	if got.Moved == 0 || !got.AtEnd || got.Area != `region "Contents"` {
		t.Errorf("scrolled %+v", got)
	}
	if top := eval[int](p, "m.scrollTop"); top != 0 {
		t.Error("the other area moved too")
	}
	if got := call[moved](p, "scroll", args{"to": "bottom"}); got.Moved != 0 || got.Area != "page" {
		t.Errorf("the page cannot move, but %+v", got)
	}
}
