//go:build unix

package browser

import (
	"strings"
	"testing"

	"github.com/tabvalet/tabvalet/protocol"
)

const board = `<!doctype html><title>Board</title>
<style>.col{display:inline-block;vertical-align:top;width:150px;min-height:160px;background:#eee;margin:4px}.card{background:#fff;padding:8px;margin:4px}</style>
<div class=col id=todo aria-label=Todo role=group><div class=card draggable=true id=a>Card A</div><div class=card draggable=true id=b>Card B</div></div>
<div class=col id=doing aria-label=Doing role=group></div><div class=col id=locked aria-label=Locked role=group></div>
<div style="height:1200px"></div><div class=col id=far aria-label=Far role=group></div>
<p>Heard: <output id=heard></output></p>
<script>
const say = (t) => heard.textContent += t + ' ';
for (const c of document.querySelectorAll('.card')) {
  c.ondragstart = (e) => { e.dataTransfer.setData('text/x-card', c.id); e.dataTransfer.effectAllowed = 'move'; };
  c.ondragend = (e) => say('end:' + e.dataTransfer.dropEffect);
}
for (const d of [doing, far]) {
  d.ondragover = (e) => { if (e.dataTransfer.types.includes('text/x-card')) { e.preventDefault(); e.dataTransfer.dropEffect = 'move'; } };
  d.ondrop = (e) => { e.preventDefault(); d.append(document.getElementById(e.dataTransfer.getData('text/x-card'))); say('drop:' + d.id); };
}
</script>`

func (l *leased) drag(from, to string) (d Dragged, s *Settled) {
	l.t.Helper()
	s = l.do(CheckOptions{Target: from, For: Hover}, func(a *Act) (err error) {
		d, err = a.Drag(l.t.Context(), CheckOptions{Target: to, For: Hover})
		return err
	})
	return d, s
}

func TestDragOfTheBrowsersOwn(t *testing.T) {
	s := serve(t, map[string]string{"/": board})
	l := browserFor(t).lease(t, s.at("a", "/"))
	d, got := l.drag("#b", "#doing")
	if !d.Native || d.Refused || got.Outcome != Confirmed || l.page("doing.textContent") != `"Card B"` && l.page("doing.textContent") != "Card B" {
		t.Errorf("to a column that takes it: %+v, %s, %s", d, got.Outcome, l.page("heard.textContent"))
	}
	d, _ = l.drag("#a", "#locked")
	if !d.Native || !d.Refused || !strings.Contains(l.page("heard.textContent"), "end:none") {
		t.Errorf("to a column that takes nothing: %+v, %s", d, l.page("heard.textContent"))
	}
	d, _ = l.drag("#a", "#far")
	if d.Refused || !strings.Contains(l.page("heard.textContent"), "drop:far") {
		t.Errorf("to a column out of sight: %+v, %s", d, l.page("heard.textContent"))
	}
	l.click("#a") // the browser drags nothing any more
}

func TestDragOfThePagesOwn(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Slider</title>
<div id=track style="position:relative;width:400px;height:40px;background:#ddd"><button id=thumb style="position:absolute;left:0;width:40px;height:40px">T</button><i id=end style="position:absolute;right:0;width:20px;height:40px;background:#aaa"></i></div>
<output id=out></output>
<script>
let down = false, moves = 0;
thumb.onpointerdown = (e) => { down = true; thumb.setPointerCapture(e.pointerId); };
thumb.onpointermove = (e) => { if (down) { moves++; thumb.style.left = (e.clientX - 28) + 'px'; } };
thumb.onpointerup = () => { down = false; out.textContent = moves > 3 ? 'dropped at ' + (parseInt(thumb.style.left) > 300 ? 'end' : 'start') : 'jumped'; };
</script>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	d, got := l.drag("#thumb", "#end")
	if d.Native || d.Refused || got.Outcome != Confirmed {
		t.Errorf("%+v, %s", d, got.Outcome)
	}
	wantIn(t, "a slider", l.page("out.textContent"), "dropped at end")
}

func TestDragToWhatIsNotThereDoesNotBegin(t *testing.T) {
	s := serve(t, map[string]string{"/": board + `<script>onpointerdown = () => say('down')</script>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	c, err := l.Check(t.Context(), CheckOptions{Target: "#a", For: Hover})
	if err != nil {
		t.Fatal(err)
	}
	a, err := l.Begin(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.End()
	if _, err := a.Drag(t.Context(), CheckOptions{Target: "#nowhere", For: Hover, Timeout: 1}); protocol.CodeOf(err) != protocol.NotFound || a.Step() != NotDispatched {
		t.Errorf("got %v, %s", err, a.Step())
	}
	refused := protocol.Errorf(protocol.NotSharedSite, "not here")
	if _, err := a.Drag(t.Context(), CheckOptions{Target: "#doing", For: Hover, May: func(string) error { return refused }}); protocol.CodeOf(err) != protocol.NotSharedSite || a.Step() != NotDispatched {
		t.Errorf("got %v, %s", err, a.Step())
	}
	if heard := l.page("heard.textContent"); strings.Contains(heard, "down") {
		t.Errorf("the button went down: %s", heard)
	}
}

func TestScrollTellsWhatMoved(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Docs</title><style>html,body{height:100%;margin:0;overflow:hidden}nav,main{position:fixed;top:0;bottom:40px;overflow:auto}nav{left:0;width:200px}main{left:200px;right:0}</style>
<nav id=n aria-label=Contents role=region></nav><main id=m aria-label=Article></main>
<script>for (let i = 1; i <= 90; i++) { const b = document.createElement('button'); b.textContent = 'Part ' + i; b.style.display = 'block'; n.append(b); const p = document.createElement('p'); p.textContent = 'Paragraph ' + i; m.append(p); }</script>`,
		"/long": `<!doctype html><title>Long</title><style>html{scroll-behavior:smooth}</style><div style="height:5000px">top</div><button id=low>Low</button><div style="height:3000px"></div>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	scroll := func(target string, o ScrollOptions) (got Scrolled) {
		t.Helper()
		step := func(a *Act) (err error) { got, err = a.Scroll(t.Context(), o); return err }
		var settled *Settled
		if target == "" {
			settled = l.act(nil, step)
		} else {
			settled = l.do(CheckOptions{Target: target, For: Aim}, step)
		}
		if settled.Outcome != Confirmed {
			t.Errorf("scrolling %q: %s", target, settled.Outcome)
		}
		return got
	}
	if got := scroll(`role=button[name="Part 3"]`, ScrollOptions{To: "bottom"}); got.Moved <= 0 || !got.AtBottom || got.AtTop || !strings.Contains(got.Area, "Contents") {
		t.Errorf("the area around an element: %+v", got)
	}
	if at := l.page("m.scrollTop"); at != "0" {
		t.Errorf("the other area moved to %s", at)
	}
	if got := scroll("", ScrollOptions{ByY: 100}); got.Moved != 100 || !strings.Contains(got.Area, "Article") {
		t.Errorf("a page that cannot move: %+v", got)
	}
	if got := scroll("#m", ScrollOptions{To: "top"}); got.Moved != -100 || !got.AtTop || got.AtBottom {
		t.Errorf("back to the top: %+v", got)
	}
	l.navigate(s.at("a", "/long"), Load)
	if got := scroll("", ScrollOptions{}); got.Moved < 100 || got.Area != "page" || got.AtTop {
		t.Errorf("on by a screen: %+v", got)
	}
	if got := scroll("#low", ScrollOptions{}); got.Moved < 3000 || got.AtBottom {
		t.Errorf("to an element: %+v", got)
	}
	if got := scroll("", ScrollOptions{To: "bottom"}); !got.AtBottom || l.page("Math.round(scrollY + innerHeight) >= document.documentElement.scrollHeight - 1") != "true" {
		t.Errorf("to the end: %+v", got)
	}
}

func TestHoverOpensMenus(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Menu</title><style>ul{display:none}li:hover>ul{display:block}</style>
<nav><li style="width:100px">Products<ul><li><button onclick="document.title='Lamps'">Lamps</button></ul></li></nav>
<button id=s onmouseenter="tip.textContent='Saves all'" onmousemove="moved = (self.moved ?? 0) + 1">Save</button><p id=tip></p>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	hover := func(target string) *Settled {
		t.Helper()
		return l.do(CheckOptions{Target: target, For: Hover}, func(a *Act) error { return a.Hover(t.Context()) })
	}
	got := hover("#s")
	wantIn(t, "a tip", got.Delta, "Saves all")
	if got.Outcome != Confirmed || l.page("moved") == "undefined" {
		t.Errorf("%s, moved %s", got.Outcome, l.page("moved"))
	}
	got = hover("nav > li")
	wantIn(t, "a menu of style alone", got.Delta, "Lamps")
	l.click("text=Lamps")
	if l.page("document.title") != "Lamps" {
		t.Errorf("the menu's item was not pressed: %s", l.page("document.title"))
	}
}

func TestButtonsAndModifiersArrive(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Mouse</title><button id=b>Press</button><output id=out></output>
<script>for (const type of ['click', 'dblclick', 'auxclick', 'contextmenu']) b.addEventListener(type, (e) => { e.preventDefault(); out.textContent += [type, e.button, e.detail, e.ctrlKey && 'ctrl', e.altKey && 'alt', e.shiftKey && 'shift', e.metaKey && 'meta', e.isTrusted].filter((x) => x !== false).join(':') + ' '; });</script>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	for _, tt := range []struct {
		o    ClickOptions
		want string
	}{
		{ClickOptions{}, "click:0:1:true "},
		{ClickOptions{Double: true}, "click:0:1:true click:0:2:true dblclick:0:2:true "},
		{ClickOptions{Button: Right}, "contextmenu:2:"},
		{ClickOptions{Button: Middle}, "auxclick:1:1:true "},
		{ClickOptions{Modifiers: []string{"Shift", "Alt"}}, "click:0:1:alt:shift:true "},
		{ClickOptions{Modifiers: []string{"ControlOrMeta"}}, "click:0:1:ctrl:true "},
	} {
		l.page("out.textContent = ''")
		l.do(CheckOptions{Target: "#b", For: Click, Button: tt.o.Button, Modifiers: tt.o.Modifiers}, func(a *Act) error { return a.Click(t.Context(), tt.o) })
		if got := l.page("out.textContent"); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: heard %q, want %q", tt.o, got, tt.want)
		}
	}
}

func TestCombinationsOfKeysEdit(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Keys</title><label>One <input id=one value="red green"></label><label>Two <textarea id=two>abc</textarea></label><output id=out></output>
<script>onkeydown = (e) => { out.textContent += [e.ctrlKey && 'C', e.altKey && 'A', e.shiftKey && 'S', e.key, e.code].filter(Boolean).join('+') + ' '; if (e.ctrlKey && e.key === 'k') e.preventDefault(); }</script>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	l.press("#one", "Control+a")
	if got := l.page("one.selectionEnd - one.selectionStart"); got != "9" {
		t.Errorf("Control+a selected %s", got)
	}
	l.press("#one", "End")
	l.press("#one", "Control+Shift+ArrowLeft")
	l.press("#one", "Shift+X")
	if got := l.page("one.value"); got != "red X" && got != `"red X"` {
		t.Errorf("typed over a word: %s", got)
	}
	l.press("", "Tab")
	if got := l.page("document.activeElement.id"); !strings.Contains(got, "two") {
		t.Errorf("Tab went to %s", got)
	}
	l.press("", "Shift+Tab")
	if got := l.page("document.activeElement.id"); !strings.Contains(got, "one") {
		t.Errorf("Shift+Tab went to %s", got)
	}
	l.press("", "Control+k")
	l.press("", "Alt+Shift+F10")
	wantIn(t, "what was heard", l.page("out.textContent"), "C+S+ArrowLeft+ArrowLeft", "S+X+KeyX", "C+k+KeyK", "A+S+F10+F10")
	l.press("#two", "Control+End")
	l.press("#two", "Enter")
	if got := l.page("two.value.length"); got != "4" {
		t.Errorf("Enter in a text area: %s", got)
	}
}
