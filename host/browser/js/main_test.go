package js_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/tabvalet/tabvalet/host/browser/js"
)

// Every script is in the bundle, and each stands in jsconfig.json for the type check.
func TestEngineHoldsEveryScript(t *testing.T) {
	config, err := os.ReadFile("jsconfig.json")
	if err != nil {
		t.Fatal(err)
	}
	scripts, _ := filepath.Glob("*.js")
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(js.Engine(), string(text)) {
			t.Errorf("%s is not in the bundle", name)
		}
		if !strings.Contains(string(config), `"`+name+`"`) {
			t.Errorf("%s is not type-checked", name)
		}
	}
}

// TestTypes runs tsc where the JavaScript tools are installed (npm ci in tests/js).
func TestTypes(t *testing.T) {
	tsc, err := filepath.Abs("../../../tests/js/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("no tsc: run npm ci in tests/js")
	}
	if out, err := exec.Command(tsc, "-p", "jsconfig.json").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestEngineIsInstalledOnce(t *testing.T) {
	p := open(t, `<p id=tabvalet>named like the global</p>`)
	first := p.answer("ping", args{})
	p.load()
	if second := p.answer("ping", args{}); second.Doc.Nonce != first.Doc.Nonce {
		t.Error("a second bundle made a second engine")
	}
	if first.Doc.Title != "inline" || first.Doc.Origin != browser.site.URL || first.Doc.Ready != "complete" || len(first.Doc.Nonce) != 24 {
		t.Errorf("doc %+v", first.Doc)
	}
	if kind := eval[string](p, `typeof tabvalet.call`); kind != "undefined" {
		t.Error("the page sees the engine")
	}
}

func TestDocumentsHaveTheirOwnNonce(t *testing.T) {
	p := open(t, `<p>one</p>`)
	first := p.answer("ping", args{}).Doc.Nonce
	if err := chromedp.Do(p.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	p.load()
	if second := p.answer("ping", args{}).Doc.Nonce; second == first {
		t.Error("two documents share a nonce")
	}
}

func TestUnknownMethodIsRefused(t *testing.T) {
	p := open(t, `<p>x`)
	for _, method := range []string{"nothing", "constructor", "__proto__", "toString"} {
		refused(p, "bad_argument", method, args{})
	}
}

// What pages do to prototypes of their own world, to forms and to the document must not reach the engine.
func TestHostilePage(t *testing.T) {
	p := open(t, `<script>
for (const proto of [Element.prototype, Node.prototype, Array.prototype, Document.prototype]) for (const name of Object.getOwnPropertyNames(proto)) {
  try { if (typeof proto[name] === 'function' && name !== 'constructor') proto[name] = () => { throw new Error('mine') } } catch {}
}
JSON.stringify = () => '{"doc":{},"value":"forged"}';
</script><img name=body alt=x src="data:,"><img name=documentElement alt=y src="data:,"><form name=activeElement><input name=getRootNode aria-label=In><input name=nodeType><input name=matches><button>Go</button></form><form name=title></form>`)
	s := p.snapshot(nil)
	for _, want := range []string{`textbox "In"`, `button "Go"`, `img "x"`} {
		s.ref(t, want)
	}
	if c := call[checked](p, "check", args{"target": `role=button[name="Go"]`, "for": "click"}); c.Would.Kind != "submit" {
		t.Errorf("would %+v", c.Would)
	}
	for _, method := range []string{"read", "begin", "delta", "count", "find"} {
		if a := p.answer(method, args{"text": "x", "max": 100}); a.Error != nil {
			t.Errorf("%s: %v", method, a.Error)
		}
	}
}

func TestGoNavigatesAsThePage(t *testing.T) {
	p := open(t, `<p>x`)
	call[struct{}](p, "go", args{"url": "#there"})
	if hash := eval[string](p, "location.hash"); hash != "#there" {
		t.Errorf("hash %q", hash)
	}
}

func TestSnapshotOptions(t *testing.T) {
	p := open(t, "text.html")
	t.Run("target", func(t *testing.T) {
		if s := p.snapshot(args{"target": "table"}); len(s.Lines) == 0 || !strings.HasPrefix(s.Lines[0].T, `- table "Prices"`) {
			t.Errorf("\n%s", s)
		}
	})
	t.Run("depth", func(t *testing.T) {
		s := p.snapshot(args{"target": "table", "depth": 2})
		for _, l := range s.Lines {
			if l.D > 1 {
				t.Errorf("line at depth %d: %s", l.D, l.T)
			}
		}
		if !strings.Contains(s.String(), "…") {
			t.Errorf("nothing says that more is inside:\n%s", s)
		}
	})
	t.Run("interactive", func(t *testing.T) {
		golden(t, "text-interactive.tree", p.snapshot(args{"interactive": true}).String())
	})
	t.Run("boxes", func(t *testing.T) {
		if s := p.snapshot(args{"boxes": true, "target": "h1"}); !strings.Contains(s.String(), " [box=") {
			t.Errorf("\n%s", s)
		}
	})
}

func TestSnapshotIsBoundedAndPaged(t *testing.T) {
	p := open(t, `<h1>Lockers</h1><table><tbody id=u></tbody></table><h2 id=end>The end</h2><button>Export</button><script>
u.innerHTML = Array.from({length: 3000}, (_, i) => '<tr><td>Locker ' + (i + 1) + '</td><td><button>Claim</button></td></tr>').join('')</script>`)
	s := p.snapshot(args{"max_chars": 20000})
	if chars := len(s.String()); chars > 22000 {
		t.Errorf("%d characters", chars)
	}
	s.ref(t, `"The end"`)
	s.ref(t, `"Locker 1"`)
	var left line
	for _, l := range s.Lines {
		if l.O > 0 {
			left = l
		}
	}
	if left.O == 0 || !strings.Contains(left.T, "lines left out") {
		t.Fatalf("nothing says what was left out:\n%.2000s", s)
	}
	type window struct {
		Lines []line `json:"lines"`
		Next  *int   `json:"next"`
		Total int    `json:"total"`
	}
	seen := 0
	for from := 0; ; {
		w := call[window](p, "window", args{"capture": s.Capture, "from": from, "max_chars": 20000})
		seen += len(w.Lines)
		chars := 0
		for _, l := range w.Lines {
			chars += 2*l.D + len(l.T) + 1
		}
		if chars > 20000 {
			t.Errorf("a window of %d characters", chars)
		}
		if w.Next == nil {
			break
		}
		from = *w.Next
	}
	if seen != s.Total || seen < 9000 {
		t.Errorf("%d lines in windows, %d in all", seen, s.Total)
	}
	for range 5 {
		p.snapshot(nil)
	}
	refused(p, "stale_ref", "window", args{"capture": s.Capture, "from": 0, "max_chars": 10})
}

func TestFind(t *testing.T) {
	p := open(t, "text.html")
	type finds struct {
		Matches []struct {
			found
			Line string `json:"line"`
		} `json:"matches"`
		Total int `json:"total"`
	}
	for _, c := range []struct {
		name string
		a    args
		want string
	}{
		{"text", args{"text": "green tea"}, "Green tea"},
		{"regex", args{"regex": `^- heading.*article`}, "Title of an article"},
		{"role", args{"role": "heading"}, `heading "Text"`},
		{"role and name", args{"role": "textbox", "name": "Name"}, `textbox "Name"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := call[finds](p, "find", c.a)
			if f.Total == 0 || !strings.Contains(f.Matches[0].Line, c.want) || f.Matches[0].Ref == "" {
				t.Errorf("found %+v", f)
			}
		})
	}
	refused(p, "bad_argument", "find", args{"regex": "("})
}
