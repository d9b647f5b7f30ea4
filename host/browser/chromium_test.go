//go:build unix

package browser

import (
	"bytes"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// do checks the target, acts, and gives what it set off.
func (l *leased) do(o CheckOptions, step func(*Act) error) *Settled {
	l.t.Helper()
	c, err := l.Check(l.t.Context(), o)
	if err != nil {
		l.t.Fatalf("checking %s: %v", o.Target, err)
	}
	return l.act(c, step)
}

func (l *leased) act(c *Checked, step func(*Act) error) *Settled {
	l.t.Helper()
	a, err := l.Begin(l.t.Context(), c)
	if err != nil {
		l.t.Fatalf("beginning: %v", err)
	}
	defer a.End()
	if err := step(a); err != nil {
		l.t.Fatalf("acting: %v", err)
	}
	s, err := a.Settle(l.t.Context())
	if err != nil {
		l.t.Fatalf("settling: %v", err)
	}
	return s
}

func (l *leased) click(target string) *Settled {
	l.t.Helper()
	return l.do(CheckOptions{Target: target, For: Click}, func(a *Act) error { return a.Click(l.t.Context(), ClickOptions{}) })
}

func (l *leased) typeIn(target string, o TypeOptions) *Settled {
	l.t.Helper()
	return l.do(CheckOptions{Target: target, For: Type, Submit: o.Submit}, func(a *Act) error { return a.Type(l.t.Context(), o) })
}

func (l *leased) press(target, key string) *Settled {
	l.t.Helper()
	return l.do(CheckOptions{Target: target, For: Press, Key: key}, func(a *Act) error { return a.Press(l.t.Context(), key) })
}

func (l *leased) navigate(url string, until LoadState) *Settled {
	l.t.Helper()
	return l.act(nil, func(a *Act) error { return a.Navigate(l.t.Context(), url, until) })
}

func (l *leased) snapshot(o SnapshotOptions) *Snapshot {
	l.t.Helper()
	s, err := l.Snapshot(l.t.Context(), o)
	if err != nil {
		l.t.Fatalf("taking a snapshot: %v", err)
	}
	return s
}

func wantIn(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s: %q is not in\n%s", what, p, text)
		}
	}
}

func wantNav(t *testing.T, what string, s *Settled, fate NavigationFate, path string) {
	t.Helper()
	switch {
	case s.Navigation == nil:
		t.Errorf("%s: no navigation, outcome %s", what, s.Outcome)
	case s.Navigation.Fate != fate || !strings.HasSuffix(s.Navigation.URL, path):
		t.Errorf("%s: got %s of %s (%s), want %s of %s", what, s.Navigation.Fate, s.Navigation.URL, s.Navigation.Error, fate, path)
	}
}

const shop = `<!doctype html><title>Shop</title><h1>Little shop</h1>
<nav><a href="/cart">Cart</a> <a href="http://b.localhost:{{PORT}}/other">Elsewhere</a></nav>
<form action="/search"><label>Search <input name=q></label><button>Go</button></form>
<form method=post action="/order"><label>Name <input name=name></label><button>Order</button></form>
<p id=out>nothing</p>
<button onclick="out.textContent = 'clicked ' + (++count)">Count</button>
<button onclick="fetch('/slow').then((r) => r.text()).then((t) => out.textContent = t)">Load</button>
<button onclick="history.pushState(0, '', '/route')">Route</button>
<script>count = 0</script>`

func shopSite(t testing.TB) *site {
	return serve(t, map[string]string{
		"/": shop, "/cart": "<!doctype html><title>Cart</title><h1>Cart</h1>", "/other": "<!doctype html><title>Other</title><h1>Elsewhere</h1>",
		"/search": "<!doctype html><title>Found</title><h1>Results</h1>", "/order": "<!doctype html><title>Ordered</title><h1>Thanks</h1>",
		"/slow": "loaded",
	})
}

func TestShopIsReadAndUsed(t *testing.T) {
	s := shopSite(t)
	l := browserFor(t).lease(t, s.at("a", "/"))
	snap := l.snapshot(SnapshotOptions{})
	wantIn(t, "snapshot", snap.Text, `- heading "Little shop" [ref=e1] [level=1]`, "  - link \"Cart\" [ref=e3]:\n    - /url: /cart\n", `textbox "Search"`)
	if snap.Next != "" || snap.Title != "Shop" || snap.Origin != s.at("a", "") {
		t.Errorf("snapshot: got cursor %q, title %q, origin %q", snap.Next, snap.Title, snap.Origin)
	}

	got := l.click(`role=button[name="Count"]`)
	wantIn(t, "delta of a click", got.Delta, "+ paragraph", "clicked 1")
	if got.Outcome != Confirmed || got.Navigation != nil {
		t.Errorf("click: got %s, %v", got.Outcome, got.Navigation)
	}
	wantIn(t, "delta of a click that fetches", l.click("text=Load").Delta, "loaded")
	wantNav(t, "click that changes the address", l.click("text=Route"), SameDocument, "/route")

	typed := l.typeIn("label=Search", TypeOptions{Text: "blue (hat)"})
	if typed.Outcome != Confirmed || typed.Value == nil || typed.Value.Text != "blue (hat)" {
		t.Errorf("typing: got %s, %+v", typed.Outcome, typed.Value)
	}
	wantNav(t, "Enter", l.press("label=Search", "Enter"), Committed, "/search?q=blue+%28hat%29")
	wantNav(t, "back", l.act(nil, func(a *Act) error { return a.History(t.Context(), Back, "") }), Committed, "/route")
	wantNav(t, "reload", l.navigate(s.at("a", "/"), Load), Committed, "/")

	c, err := l.Check(t.Context(), CheckOptions{Target: `role=button[name="Order"]`, For: Click})
	if err != nil || c.Would.Kind != "submit" || c.Would.Method != "POST" || !strings.HasSuffix(c.Would.URL, "/order") || !slices.Contains(c.Would.Fields, "name") {
		t.Fatalf("checking Order: got %+v, %v", c, err)
	}
	if _, err := l.Recheck(t.Context(), c); err != nil {
		t.Errorf("rechecking: %v", err)
	}
	wantNav(t, "submitting", l.act(c, func(a *Act) error { return a.Click(t.Context(), ClickOptions{}) }), Committed, "/order")
	if _, err := l.Recheck(t.Context(), c); protocol.CodeOf(err) != protocol.TabChanged {
		t.Errorf("rechecking on the next page: got %v", err)
	}
	if _, err := l.Check(t.Context(), CheckOptions{Target: c.Ref, For: Click}); protocol.CodeOf(err) != protocol.StaleRef {
		t.Errorf("a ref of the page before: got %v", err)
	}
	wantIn(t, "snapshot of another document", l.snapshot(SnapshotOptions{}).Text, `- heading "Thanks" [ref=f`)
}

func TestNavigationCarriesStrictCookies(t *testing.T) {
	s := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/set":
			http.SetCookie(w, &http.Cookie{Name: "strict", Value: "1", SameSite: http.SameSiteStrictMode, Path: "/"})
		case "/none":
			w.WriteHeader(http.StatusNoContent)
			return
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>%s</title>here", r.URL.Path)
	})
	l := browserFor(t).lease(t, s.at("a", "/set"))
	l.debug()
	wantNav(t, "away", l.navigate(s.at("b", "/away"), ""), Committed, "/away")
	entries, _, _ := l.History(t.Context())

	for _, path := range []string{"/back", "/back?again", "/back?third"} {
		got := l.navigate(s.at("a", path), Load)
		wantNav(t, "navigating", got, Committed, path)
		if got.Navigation != nil && (got.Navigation.Status != 200 || got.Navigation.ContentType != "text/html") {
			t.Errorf("%s: got status %d, type %s", path, got.Navigation.Status, got.Navigation.ContentType)
		}
	}
	for _, r := range s.reqs[1:] {
		strict, _ := r.Cookie("strict")
		site := r.Header.Get("Sec-Fetch-Site")
		if onA := strings.HasPrefix(r.Host, "a."); onA && strict == nil || site != "same-origin" || r.Header.Get("Referer") != "" && strings.HasPrefix(r.Host, "b.") {
			t.Errorf("%s%s: got Sec-Fetch-Site %s, cookies %v, referrer %q", r.Host, r.URL, site, r.Header["Cookie"], r.Header.Get("Referer"))
		}
	}
	if after, _, _ := l.History(t.Context()); len(after) != len(entries)+3 {
		t.Errorf("three navigations made the history %d entries long, from %d", len(after), len(entries))
	}

	wantNav(t, "to a fragment of the page", l.navigate(s.at("a", "/back?third#part"), ""), SameDocument, "#part")
	l.navigate(s.at("c", "/#part"), "")
	if r := s.last(); r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		t.Errorf("an address with a fragment on another site: got Sec-Fetch-Site %s", r.Header.Get("Sec-Fetch-Site"))
	}
	if got := l.page("location.href"); got != s.at("c", "/#part") {
		t.Errorf("an address with a fragment: arrived at %s", got)
	}

	none := l.navigate(s.at("b", "/none"), "")
	wantNav(t, "204", none, Abandoned, "/none")
	if none.Navigation != nil && none.Navigation.Status != 204 {
		t.Errorf("204: got status %d", none.Navigation.Status)
	}
	if got := l.page("location.href"); got != s.at("c", "/#part") {
		t.Errorf("after a 204 the tab shows %s", got)
	}
	gone := l.navigate(s.at("b", "/gone"), "")
	if gone.Navigation == nil || gone.Navigation.Status != 404 {
		t.Errorf("an empty 404: got %+v", gone.Navigation)
	}
	if dead := l.navigate("http://a.localhost:1/", ""); dead.Navigation == nil || dead.Navigation.Fate != Abandoned || dead.Navigation.Error == "" {
		t.Errorf("a closed port: got %+v", dead.Navigation)
	}
	wantNav(t, "from an error page", l.navigate(s.at("a", "/after"), ""), Committed, "/after")
}

func TestFramesAreReadAndUsed(t *testing.T) {
	s := serve(t, map[string]string{
		"/": `<!doctype html><title>Outer</title><h1>Outer</h1><div style="height:900px">tall</div>
			<iframe title=Same src="/same" style="width:300px;height:120px"></iframe>
			<iframe title=Other src="http://b.localhost:{{PORT}}/other" style="width:500px;height:300px;border:7px solid;padding:3px;transform:rotate(7deg) scale(.9)"></iframe>
			<iframe title=Inline srcdoc="<p>inline text"></iframe>`,
		"/same":  `<!doctype html><p>same</p><button onclick="this.textContent = 'pressed'">Same</button>`,
		"/other": `<!doctype html><p>other</p><label>Code <input></label><iframe title=Inner src="http://c.localhost:{{PORT}}/inner" style="width:300px;height:150px"></iframe>`,
		"/inner": `<!doctype html><div style="height:400px">inner</div><button onclick="this.textContent = 'deep'">Deep</button>`,
	})
	l := browserFor(t).lease(t, s.at("a", "/"))
	if w, err := l.WaitFor(t.Context(), WaitOptions{Target: `role=button[name="Deep"]`, State: "attached", Timeout: 5 * time.Second}); err != nil || !w.Met {
		t.Fatalf("waiting for the inner frame: %+v, %v", w, err)
	}
	text := l.snapshot(SnapshotOptions{}).Text
	wantIn(t, "frames", text, `heading "Outer"`, `button "Same" [ref=f`, `textbox "Code" [ref=f`, `button "Deep" [ref=f`, "inline text")
	if frames := l.Frames(); len(frames) != 5 || frames[0].Parent != "" || !slices.ContainsFunc(frames, func(f Frame) bool { return f.Session != "" }) {
		t.Errorf("frames: got %+v", frames)
	}

	wantIn(t, "delta in a frame of the same site", l.click(`role=button[name="Same"]`).Delta, "pressed")
	wantIn(t, "delta in a nested frame of a third site", l.click(`role=button[name="Deep"]`).Delta, "deep")
	if typed := l.typeIn("label=Code", TypeOptions{Text: "abc", Slowly: true}); typed.Outcome != Confirmed || typed.Value.Text != "abc" {
		t.Errorf("typing into a frame: got %s, %+v", typed.Outcome, typed.Value)
	}

	onlyA := func(origin string) bool { return origin == s.at("a", "") }
	unread := l.snapshot(SnapshotOptions{Readable: onlyA})
	wantIn(t, "unread frame", unread.Text, "frame (another site, not shared)", "inline text")
	if strings.Contains(unread.Text, "Code") || strings.Contains(unread.Text, "Deep") || unread.Withheld != 1 {
		t.Errorf("an unread frame is read (withheld %d):\n%s", unread.Withheld, unread.Text)
	}
	if _, err := l.Check(t.Context(), CheckOptions{Target: "text=Deep", For: Click, Readable: onlyA, Timeout: 50 * time.Millisecond}); protocol.CodeOf(err) != protocol.NotFound {
		t.Errorf("looking in unread frames: got %v", err)
	}
	read, err := l.Read(t.Context(), ReadOptions{Readable: onlyA})
	if err != nil || strings.Contains(read.Text, "Deep") || read.Withheld != 1 {
		t.Errorf("reading text: got %+v, %v", read, err)
	}
	if read, err = l.Read(t.Context(), ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	wantIn(t, "text of all frames", read.Text, "Outer", "same", "other", "deep", "inline text")
}

func TestOverlayCoversAFrame(t *testing.T) {
	s := serve(t, map[string]string{
		"/":   `<!doctype html><iframe src="/in" style="width:300px;height:100px"></iframe><div id=veil style="position:fixed;inset:0" role=dialog aria-label=Veil onclick="this.remove()">veil</div>`,
		"/in": `<!doctype html><button onclick="this.textContent = 'saved'">Save</button>`,
	})
	l := browserFor(t).lease(t, s.at("a", "/"))
	_, err := l.Check(t.Context(), CheckOptions{Target: "text=Save", For: Click, Timeout: 100 * time.Millisecond})
	if protocol.CodeOf(err) != protocol.Covered {
		t.Errorf("a button under a veil of the parent: got %v", err)
	}
	l.click("text=veil")
	wantIn(t, "without the veil", l.click("text=Save").Delta, "saved")
}

func TestClicksInABackgroundTabStayFast(t *testing.T) {
	s := shopSite(t)
	l := browserFor(t).lease(t, s.at("a", "/"))
	var times []time.Duration
	for range 20 {
		start := time.Now()
		l.click(`role=button[name="Count"]`)
		times = append(times, time.Since(start))
	}
	if got := l.page("count"); got != "20" {
		t.Errorf("20 clicks: %s arrived", got)
	}
	slices.Sort(times)
	t.Logf("median %v, slowest %v", times[10], times[19])
	if times[10] > 250*time.Millisecond || times[19] > 900*time.Millisecond {
		t.Errorf("clicks are slow: %v", times)
	}
}

func TestDialogs(t *testing.T) {
	s := serve(t, map[string]string{
		"/": `<!doctype html><title>Ask</title><p id=out>-</p><button onclick="out.textContent = 'said ' + prompt('Name?', 'x')">Ask</button>
			<iframe src="http://b.localhost:{{PORT}}/in"></iframe>`,
		"/in":    `<!doctype html><button onclick="this.textContent = 'said ' + confirm('Sure?')">Sure</button>`,
		"/alert": `<!doctype html><title>Alert</title><script>alert('Look')</script><h1>After</h1>`,
		"/draft": `<!doctype html><title>Draft</title><label>Draft <input></label><script>onbeforeunload = (e) => e.preventDefault()</script>`,
		"/next":  `<!doctype html><title>Next</title><h1>Next</h1>`,
	})
	l := browserFor(t).lease(t, s.at("a", "/"))

	got := l.click("text=Ask")
	if got.Dialog == nil || got.Dialog.Type != "prompt" || got.Dialog.Message != "Name?" || got.Dialog.Answered != "" {
		t.Fatalf("a prompt: got %+v", got.Dialog)
	}
	if _, err := l.Snapshot(t.Context(), SnapshotOptions{}); protocol.CodeOf(err) != protocol.DialogOpen {
		t.Errorf("reading behind a prompt: got %v", err)
	}
	if err := l.HandleDialog(t.Context(), true, "Kim"); err != nil {
		t.Fatalf("answering: %v", err)
	}
	wantIn(t, "answered", l.snapshot(SnapshotOptions{}).Text, "said Kim")
	if err := l.HandleDialog(t.Context(), true, ""); protocol.CodeOf(err) != protocol.InvalidTransition {
		t.Errorf("answering what is not open: got %v", err)
	}

	l.ArmDialog(true, "Lee")
	if got := l.click("text=Ask"); got.Dialog == nil || !got.Dialog.Armed || got.Dialog.Answered != Accepted {
		t.Errorf("an armed prompt: got %+v", got.Dialog)
	}
	wantIn(t, "armed", l.snapshot(SnapshotOptions{}).Text, "said Lee")

	if got := l.click("text=Sure"); got.Dialog == nil || got.Dialog.Type != "confirm" {
		t.Errorf("a confirm in a frame: got %+v", got.Dialog)
	}
	if err := l.HandleDialog(t.Context(), false, ""); err != nil {
		t.Errorf("dismissing: %v", err)
	}
	wantIn(t, "dismissed", l.snapshot(SnapshotOptions{}).Text, "said false")

	if got := l.navigate(s.at("a", "/alert"), Load); got.Dialog == nil || got.Dialog.Message != "Look" {
		t.Errorf("an alert while loading: got %+v", got.Dialog)
	}
	if err := l.HandleDialog(t.Context(), true, ""); err != nil {
		t.Errorf("accepting: %v", err)
	}
	wantIn(t, "after the alert", l.snapshot(SnapshotOptions{}).Text, "After")

	l.navigate(s.at("a", "/draft"), Load)
	l.typeIn("label=Draft", TypeOptions{Text: "half a poem", Slowly: true})
	if got := l.navigate(s.at("b", "/next"), ""); got.Dialog == nil || got.Dialog.Type != "beforeunload" {
		t.Fatalf("leaving a draft: got %+v, %+v", got.Dialog, got.Navigation)
	}
	if err := l.HandleDialog(t.Context(), false, ""); err != nil {
		t.Errorf("staying: %v", err)
	}
	wantIn(t, "stayed", l.snapshot(SnapshotOptions{}).Text, "half a poem")
	l.ArmDialog(true, "")
	wantNav(t, "leaving", l.navigate(s.at("b", "/next"), ""), Committed, "/next")
}

func TestScreenshotsOfABackgroundTab(t *testing.T) {
	s := serve(t, map[string]string{
		"/": `<!doctype html><body style="margin:0;background:#fff"><div style="height:3000px;background:#0f0"></div><button style="position:absolute;left:10px;top:10px;width:100px;height:40px">B</button><iframe src="http://b.localhost:{{PORT}}/in" style="position:absolute;left:200px;top:0;width:300px;height:300px;border:0"></iframe>
			<div id=below style="position:absolute;left:30px;top:2500px;width:60px;height:50px;background:#f00">x</div>`,
		"/in": `<!doctype html><body style="background:#f00">`,
	})
	l := browserFor(t).lease(t, s.at("a", "/"))
	shoot := func(o ScreenshotOptions) (*Image, image.Image) {
		t.Helper()
		start := time.Now()
		img, err := l.Screenshot(t.Context(), o)
		if err != nil {
			t.Fatalf("taking a picture: %v", err)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("a picture took %v", took)
		}
		decoded, _, err := image.Decode(bytes.NewReader(img.Data))
		if err != nil {
			t.Fatalf("decoding: %v", err)
		}
		if b := decoded.Bounds(); b.Dx() != img.W || b.Dy() != img.H || max(img.W, img.H) > imageSide {
			t.Errorf("got %d×%d, said %d×%d", b.Dx(), b.Dy(), img.W, img.H)
		}
		return img, decoded
	}
	red := func(i image.Image, x, y int) bool { r, g, _, _ := i.At(x, y).RGBA(); return r > 0xe000 && g < 0x2000 }
	_, whole := shoot(ScreenshotOptions{})
	if !red(whole, 300, 100) {
		t.Error("the frame is not in the picture")
	}
	masked, hidden := shoot(ScreenshotOptions{Readable: func(origin string) bool { return origin == s.at("a", "") }})
	if red(hidden, 300, 100) || red(hidden, 201, 1) || red(hidden, 498, 298) || masked.Masked != 1 {
		t.Error("the frame of another site is not painted over")
	}
	if img, _ := shoot(ScreenshotOptions{FullPage: true, JPEG: true}); img.H != imageSide || img.MIME != "image/jpeg" {
		t.Errorf("the full page: got %d×%d %s", img.W, img.H, img.MIME)
	}
	if img, _ := shoot(ScreenshotOptions{Target: "role=button"}); img.W != 100 || img.H != 40 {
		t.Errorf("an element: got %d×%d", img.W, img.H)
	}
	if img, below := shoot(ScreenshotOptions{Target: "#below"}); img.W != 60 || img.H != 50 || !red(below, 5, 5) || !red(below, 55, 45) {
		t.Errorf("an element below the fold: got %d×%d", img.W, img.H)
	}
}

// An editor that keeps a model of its own and draws it later, a chat box that sends on Enter, and a frame that comes late.
func TestTypingIntoWhatIsNoPlainField(t *testing.T) {
	s := serve(t, map[string]string{
		"/editor": `<!doctype html><div id=ed contenteditable role=textbox aria-label=Post></div><p id=out></p><script>
			let model = '';
			ed.addEventListener('beforeinput', (e) => {
				e.preventDefault();
				if (!e.isTrusted) return;
				if (e.inputType === 'insertText') model += e.data ?? '';
				else if (e.inputType === 'insertLineBreak' || e.inputType === 'insertParagraph') model += '\n';
				setTimeout(() => { ed.innerText = model; out.textContent = 'model: ' + model.replace('\n', ' / '); }, 40);
			});</script>`,
		"/chat": `<!doctype html><textarea aria-label=Message></textarea><p id=out></p><script>
			const box = document.querySelector('textarea');
			box.onkeydown = (e) => { if (e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); out.textContent = 'sent: ' + box.value.replace('\n', ' / '); } };</script>`,
		"/late": `<!doctype html><button onclick="setTimeout(() => { const f = document.createElement('iframe'); f.src = 'http://b.localhost:{{PORT}}/pay'; document.body.append(f); }, 300)">Pay</button>`,
		"/pay":  `<!doctype html><label>Card <input></label>`,
	})
	l := browserFor(t).lease(t, s.at("a", "/editor"))
	if got := l.typeIn("label=Post", TypeOptions{Text: "Hello team\nSecond line"}); got.Outcome != Confirmed {
		t.Errorf("a rich editor: got %s, %+v", got.Outcome, got.Value)
	}
	if got := l.page("out.textContent"); got != "model: Hello team / Second line" {
		t.Errorf("a rich editor has %q", got)
	}
	l.navigate(s.at("a", "/chat"), "")
	l.typeIn("label=Message", TypeOptions{Text: "one\ntwo", Slowly: true})
	l.press("label=Message", "Enter")
	if got := l.page("out.textContent"); got != "sent: one / two" {
		t.Errorf("a chat box: %q", got)
	}
	l.navigate(s.at("a", "/late"), "")
	l.click("text=Pay")
	if got := l.typeIn("label=Card", TypeOptions{Text: "4000"}); got.Outcome != Confirmed {
		t.Errorf("a field in a frame that comes late: got %s", got.Outcome)
	}
}

func TestClosedShadowRootsAreReadAndUsed(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><script>
		customElements.define('x-card', class extends HTMLElement {
			constructor() {
				super();
				const root = this.attachShadow({mode: 'closed'});
				root.innerHTML = '<button>Outer</button><p></p>';
				root.querySelector('p').attachShadow({mode: 'closed'}).innerHTML = '<button onclick="this.textContent = \'pressed\'">Inner</button>';
			}
		});
		</script><h1>Cards</h1><x-card></x-card>
		<button onclick="document.body.append(document.createElement('x-card'))">More</button>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	wantIn(t, "closed roots", l.snapshot(SnapshotOptions{}).Text, `heading "Cards"`, `button "Outer"`, `button "Inner"`)
	wantIn(t, "pressing inside", l.click(`role=button[name="Inner"]`).Delta, "pressed")
	l.click("text=More")
	if n := strings.Count(l.snapshot(SnapshotOptions{}).Text, `button "Outer"`); n != 2 {
		t.Errorf("a closed root that came later: %d buttons", n)
	}
}

func TestRefusedNavigationLeavesThePageStanding(t *testing.T) {
	s := shopSite(t)
	l := browserFor(t).lease(t, s.at("a", "/"))
	for target, step := range map[string]func(a *Act) error{
		"text=Elsewhere":            func(a *Act) error { return a.Click(t.Context(), ClickOptions{}) },
		`role=button[name="Order"]`: func(a *Act) error { return a.Click(t.Context(), ClickOptions{}) },
		"":                          func(a *Act) error { return a.Navigate(t.Context(), s.at("c", "/cart"), "") },
	} {
		var c *Checked
		if target != "" {
			var err error
			if c, err = l.Check(t.Context(), CheckOptions{Target: target, For: Click}); err != nil {
				t.Fatalf("checking %s: %v", target, err)
			}
		}
		start := time.Now()
		got := l.act(c, func(a *Act) error {
			l.setJudge(func(r pausedRequest) string {
				go a.Note("", Refused, r.Request.URL)
				return "refuse"
			})
			return step(a)
		})
		l.setJudge(nil)
		if got.Navigation == nil || got.Navigation.Fate != Refused || time.Since(start) > 4*time.Second {
			t.Errorf("%q: got %+v after %v", target, got.Navigation, time.Since(start))
		}
		if where := l.page("location.pathname + document.title"); where != "/Shop" {
			t.Errorf("%q: the tab shows %s", target, where)
		}
		wantIn(t, "reading goes on", l.snapshot(SnapshotOptions{}).Text, "Little shop")
	}
	if r := s.last(); r.URL.Path != "/" {
		t.Errorf("%s %s reached the server", r.Method, r.URL)
	}
}
