package js_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
)

type delta struct {
	Text string `json:"text"`
	More int    `json:"more"`
}

func TestDeltaTellsWhatCameAndWent(t *testing.T) {
	p := open(t, `<button id=b aria-expanded=false>Menu</button><ul id=u><li>one<li>two</ul>`)
	for _, c := range []struct{ name, script, want string }{
		{"nothing", ``, ""},
		{"a line", `u.insertAdjacentHTML('beforeend', '<li>three')`, "+ listitem [ref=e5]: three"},
		{"a state", `b.setAttribute('aria-expanded', 'true')`, "+ button \"Menu\" [ref=e1] [expanded]\n− button \"Menu\" [ref=e1] [collapsed]"},
		{"a line that went", `u.firstElementChild.remove()`, "− listitem [ref=e3]: one"},
		{"moved only", `u.append(u.firstElementChild)`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.t = t
			call[struct{}](p, "begin", args{})
			eval[bool](p, c.script+`; true`)
			if d := call[delta](p, "delta", args{"max": 2000}); d.Text != c.want || d.More != 0 {
				t.Errorf("delta %q (%d more), want %q", d.Text, d.More, c.want)
			}
		})
	}
}

func TestDeltaBeginsWithTheActAndNotBefore(t *testing.T) {
	p := open(t, `<ul id=u><li>one</ul>`)
	call[struct{}](p, "begin", args{})
	call[delta](p, "delta", args{"max": 2000})
	eval[bool](p, `u.insertAdjacentHTML('beforeend', '<li>by the page itself'); true`)
	call[struct{}](p, "begin", args{})
	eval[bool](p, `u.insertAdjacentHTML('beforeend', '<li>by the act'); true`)
	if d := call[delta](p, "delta", args{"max": 2000}); strings.Contains(d.Text, "itself") || !strings.Contains(d.Text, "by the act") {
		t.Errorf("delta %q", d.Text)
	}
}

func TestDeltaOfAHugePageLooksAtTheScreen(t *testing.T) {
	p := open(t, `<table><tbody id=u></tbody></table><script>u.innerHTML = '<tr><td>row<td><button>Claim</button>'.repeat(15000)</script>`)
	call[struct{}](p, "begin", args{})
	eval[bool](p, `u.rows[2].cells[0].textContent = 'claimed'; u.rows[9000].cells[0].textContent = 'far away'; true`)
	d := call[delta](p, "delta", args{"max": 2000})
	if !strings.Contains(d.Text, `cell "claimed"`) || strings.Contains(d.Text, "far away") {
		t.Errorf("delta %q", d.Text)
	}
}

func TestDeltaIsBoundedByWholeLines(t *testing.T) {
	p := open(t, `<ul id=u></ul>`)
	call[struct{}](p, "begin", args{})
	eval[bool](p, `u.innerHTML = '<li>line</li>'.repeat(500); true`)
	d := call[delta](p, "delta", args{"max": 200})
	if len(d.Text) > 200 || !strings.HasSuffix(d.Text, "line") || d.More < 400 {
		t.Errorf("delta %q, %d more", d.Text, d.More)
	}
}

type quiet struct {
	Quiet     bool           `json:"quiet"`
	Heard     bool           `json:"heard"`
	Delta     *delta         `json:"delta"`
	Mutations int            `json:"mutations"`
	Trusted   map[string]int `json:"trusted"`
}

func TestQuiet(t *testing.T) {
	p := open(t, `<button id=b>Go</button><p id=o></p>`)
	call[struct{}](p, "begin", args{})
	if q := call[quiet](p, "quiet", args{"limit_ms": 1000}); !q.Quiet || q.Mutations != 0 {
		t.Errorf("a still page: %+v", q)
	}
	eval[bool](p, `timer = setInterval(() => { o.textContent += 'x' }, 1); (function f() { o.textContent += 'y'; if (timer) requestAnimationFrame(f) })(); true`)
	busy := false
	for range 10 { // on a starved machine a frame may pass before the page's next turn
		start := time.Now()
		q := call[quiet](p, "quiet", args{"limit_ms": 150})
		busy = busy || !q.Quiet
		if q.Mutations == 0 || time.Since(start) > 10*time.Second {
			t.Errorf("a busy page: %+v after %v", q, time.Since(start))
		}
	}
	if !busy {
		t.Error("a busy page is always quiet")
	}
	eval[bool](p, `clearInterval(timer); timer = 0; true`)
	if q := call[quiet](p, "quiet", args{"limit_ms": 1000}); !q.Quiet || q.Mutations == 0 {
		t.Errorf("after it: %+v", q)
	}
}

func TestTrustedInputIsCountedAndForgedIsNot(t *testing.T) {
	p := open(t, `<input id=f style="position:absolute;left:0;top:0;width:200px;height:40px">`)
	call[struct{}](p, "begin", args{})
	eval[bool](p, `for (const e of [new PointerEvent('pointerdown', {bubbles: true}), new KeyboardEvent('keydown', {key: 'x', bubbles: true}), new WheelEvent('wheel', {bubbles: true})]) f.dispatchEvent(e); f.click(); true`)
	if q := call[quiet](p, "quiet", args{"limit_ms": 500}); len(q.Trusted) != 0 {
		t.Errorf("forged events count: %v", q.Trusted)
	}
	p.press(point{20, 20})
	do(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyDown", Key: "s", Code: "KeyS", Text: "s", WindowsVirtualKeyCode: 83})
	do(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "keyDown", Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13})
	if q := call[quiet](p, "quiet", args{"limit_ms": 500}); q.Trusted["pointerdown"] != 1 || q.Trusted["keydown"] != 2 {
		t.Errorf("counted %v", q.Trusted)
	}
	type events struct {
		Events []struct {
			Seq  int     `json:"seq"`
			Type string  `json:"type"`
			X    float64 `json:"x"`
			Key  string  `json:"key"`
		} `json:"events"`
		Seq int `json:"seq"`
	}
	e := call[events](p, "input", args{"after": 0, "timeout_ms": 1000})
	if e.Seq != 3 || len(e.Events) != 3 || e.Events[0].X != 20 || e.Events[1].Key != "" || e.Events[2].Key != "Enter" {
		t.Errorf("events %+v", e)
	}
	if e := call[events](p, "input", args{"after": 3, "timeout_ms": 50}); len(e.Events) != 0 {
		t.Errorf("events %+v", e)
	}
}

func TestQuietIsAskedBeforeTheClickItIsAbout(t *testing.T) {
	p := open(t, `<button id=b style="position:absolute;left:0;top:100px;width:90px;height:40px" onclick="b.textContent = 'Sent'">Send</button>`)
	checked := call[struct {
		Begun bool  `json:"begun"`
		Point point `json:"point"`
	}](p, "check", args{"target": "#b", "for": "click", "begin": true})
	if !checked.Begun {
		t.Fatal("the check did not begin")
	}
	answers := make(chan quiet)
	go func() { answers <- call[quiet](p, "quiet", args{"limit_ms": 10000, "released": 1, "max": 2000}) }()
	p.press(checked.Point)
	q := <-answers
	if !q.Heard || q.Delta == nil || !strings.Contains(q.Delta.Text, `+ button "Sent"`) {
		t.Errorf("got %+v, %+v", q, q.Delta)
	}
	if q := call[quiet](p, "quiet", args{"limit_ms": 50, "released": 2}); q.Heard {
		t.Error("a second click was heard")
	}
	call[struct{}](p, "begin", args{})
	if q := call[quiet](p, "quiet", args{"limit_ms": 50, "released": 1}); q.Heard {
		t.Error("a click before the act was heard")
	}
}

func TestFillTellsWhatItChanged(t *testing.T) {
	p := open(t, `<input id=f aria-label=Name oninput="Promise.resolve().then(() => { o.textContent = 'Hello ' + f.value })"><p id=o></p>`)
	ref := call[struct {
		Ref string `json:"ref"`
	}](p, "check", args{"target": "#f", "for": "type", "begin": true}).Ref
	f := call[struct {
		Matches bool   `json:"matches"`
		Delta   *delta `json:"delta"`
	}](p, "fill", args{"ref": ref, "text": "Robin", "max": 2000})
	if !f.Matches || f.Delta == nil || !strings.Contains(f.Delta.Text, ": Robin") || !strings.Contains(f.Delta.Text, "Hello Robin") {
		t.Errorf("got %+v, %+v", f, f.Delta)
	}
	if again := call[delta](p, "delta", args{"max": 2000}); again != *f.Delta {
		t.Errorf("asked again: %q, first %q", again.Text, f.Delta.Text)
	}
}

type waited struct {
	Met  bool   `json:"met"`
	Last string `json:"last_seen"`
}

func TestWait(t *testing.T) {
	for _, c := range []struct {
		name, html string
		a          args
		met        bool
	}{
		{"text there", `<p>Ready 6 items`, args{"text": "ready 6 items"}, true},
		{"text comes", `<p id=o></p><script>setTimeout(() => { o.textContent = 'Ready' }, 300)</script>`, args{"text": "Ready"}, true},
		{"text never", `<p>x`, args{"text": "Ready", "timeout_ms": 100}, false},
		{"hidden text is no text", `<p style="display:none">Ready</p>`, args{"text": "Ready", "timeout_ms": 100}, false},
		{"text over inline elements", `<p>Re<b>ady</b> to <i>go</i>`, args{"text": "Ready to go"}, true},
		{"text goes", `<p id=o>Busy</p><script>setTimeout(() => o.remove(), 300)</script>`, args{"text_gone": "Busy"}, true},
		{"text stays", `<p>Busy`, args{"text_gone": "Busy", "timeout_ms": 100}, false},
		{"target visible", `<button id=b hidden>x</button><script>setTimeout(() => { b.hidden = false }, 300)</script>`, args{"target": "#b"}, true},
		{"target hidden", `<button id=b>x</button><script>setTimeout(() => { b.style.opacity = 0 }, 300)</script>`, args{"target": "#b", "state": "hidden"}, true},
		{"target detached", `<button id=b>x</button><script>setTimeout(() => b.remove(), 300)</script>`, args{"target": "#b", "state": "detached"}, true},
		{"target attached", `<script>setTimeout(() => document.body.append(Object.assign(document.createElement('i'), {id: 'b'})), 300)</script><p>`, args{"target": "#b", "state": "attached"}, true},
		{"target enabled", `<button id=b disabled>x</button><script>setTimeout(() => { b.disabled = false }, 300)</script>`, args{"target": "#b", "state": "enabled"}, true},
		{"target never enabled", `<button id=b disabled>x</button>`, args{"target": "#b", "state": "enabled", "timeout_ms": 100}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.html)
			if c.a["timeout_ms"] == nil {
				c.a["timeout_ms"] = 10000
			}
			if w := call[waited](p, "wait", c.a); w.Met != c.met {
				t.Errorf("%+v, want %v", w, c.met)
			}
		})
	}
}
