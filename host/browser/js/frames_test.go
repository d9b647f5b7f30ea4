package js_test

import (
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// children binds every child frame of the page and gives a Page for each, in tree order.
func (p *Page) children() []*Page {
	p.t.Helper()
	var out []*Page
	for _, child := range do(p, page.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
		owner := do(p, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: child.Frame.ID})
		node := do(p, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: owner.BackendNodeID, ExecutionContextID: p.world})
		call[struct{}](p, "bindFrame", args{"key": string(child.Frame.ID)}, node.Object.ObjectID)
		q := &Page{t: p.t, ctx: p.ctx}
		q.world, q.engine = q.install(child.Frame.ID)
		out = append(out, q)
	}
	return out
}

func (p *Page) keys() []string {
	p.t.Helper()
	var keys []string
	for _, child := range do(p, page.GetFrameTree, cdp.Empty{}).FrameTree.ChildFrames {
		keys = append(keys, string(child.Frame.ID))
	}
	return keys
}

const grid = `<style>body{margin:0}#g{display:grid;grid-template-columns:repeat(3,80px);grid-auto-rows:60px}button{font-size:10px}</style><div id=g></div><script>
for (let i = 1; i <= 9; i++) { const b = document.createElement('button'); b.textContent = 'Cell ' + i; b.onclick = () => { parent.document.getElementById('o').textContent += ' ' + i }; g.append(b) }</script>`

// TestFramePoints presses cells of a grid in a frame that is placed in many ways; the cells touch, so that a small error
// presses a neighbour.
func TestFramePoints(t *testing.T) {
	const size = `width:300px;height:260px;`
	for _, c := range []struct{ name, outer, frame string }{
		{"plain", "", size},
		{"border and padding", "", size + "border:14px solid;padding:9px"},
		{"border-box", "", size + "border:14px solid;padding:9px;box-sizing:border-box"},
		{"scaled", "", size + "border:14px solid;transform:scale(.7)"},
		{"scaled from a corner", "", size + "transform:scale(1.2);transform-origin:0 60%"},
		{"turned", "", size + "padding:9px;border:14px solid #456;transform:scale(.7) rotate(-20deg);transform-origin:0 60%;"},
		{"turned in a turned box", "transform:rotate(7deg);margin:3em", size + "border:14px solid #456;padding:9px;transform:scale(.7) rotate(-20deg);transform-origin:0 60%"},
		{"own properties", "rotate:10deg;scale:.9;margin:4em", size + "rotate:-5deg;translate:10px 20px"},
		{"squeezed around a turn", "transform:scaleX(.6);margin:4em", size + "transform:rotate(25deg)"},
		{"mirrored", "transform:scaleX(-1);width:300px", size},
		{"zoomed", "zoom:1.3", size},
		{"zoomed frame", "", size + "zoom:.8;border:10px solid"},
		{"zoomed and turned", "zoom:1.2;margin:4em", size + "border:6px solid;transform:rotate(15deg)"},
		{"in a scroller", "height:200px;width:320px;overflow:auto;padding-top:500px", size},
		{"far down", "margin-top:2500px;margin-bottom:2000px", size},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, `<body><div style="`+c.outer+`"><iframe title=Grid style="`+c.frame+`" srcdoc="`+strings.ReplaceAll(strings.ReplaceAll(grid, "&", "&amp;"), `"`, "&quot;")+`"></iframe></div><output id=o></output>`)
			q, key := p.children()[0], p.keys()[0]
			for _, cell := range []string{"5", "9", "1", "3"} {
				eval[bool](p, `o.textContent = ''; true`)
				c := call[checked](q, "check", args{"target": `role=button[name="Cell ` + cell + `"]`, "for": "click"})
				at := args{"key": key, "x": c.Point.X, "y": c.Point.Y}
				call[struct{}](p, "reveal", at)
				m := call[mapped](p, "mapPoint", at)
				if !m.Hit {
					t.Fatalf("cell %s at %+v: covered by %s", cell, m, m.By)
				}
				p.press(point{m.X, m.Y})
				if got := eval[string](p, "o.textContent"); got != " "+cell {
					t.Errorf("pressed %q, want %s, at %v", got, cell, m)
				}
			}
		})
	}
}

type mapped struct {
	X   float64 `json:"x"`
	Y   float64 `json:"y"`
	Hit bool    `json:"hit"`
	By  string  `json:"by"`
}

func TestFrameIsCovered(t *testing.T) {
	p := open(t, `<body><div style="position:relative;width:320px"><iframe width=300 height=100 srcdoc="<button>Save</button>"></iframe><div id=veil style="position:absolute;inset:0"></div></div>`)
	q := p.children()[0]
	c := call[checked](q, "check", args{"target": "button", "for": "click"})
	m := call[mapped](p, "mapPoint", args{"key": p.keys()[0], "x": c.Point.X, "y": c.Point.Y})
	if m.Hit || !strings.Contains(m.By, "veil") {
		t.Errorf("%+v", m)
	}
}

func TestFramesInSnapshotAndReading(t *testing.T) {
	p := open(t, `<body><p>before</p><iframe title=Inner srcdoc="<p>inside</p>"></iframe><p>after</p>`)
	s := p.snapshot(nil)
	if len(s.Unbound) != 1 || s.Unbound[0] != s.ref(t, "iframe") {
		t.Errorf("unbound %v in\n%s", s.Unbound, s)
	}
	element := do(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{FunctionDeclaration: "function(r){return this.element(r)}", ObjectID: p.engine, Arguments: []*runtime.CallArgument{{Value: mustJSON(s.Unbound[0])}}}).Result.ObjectID
	if node := do(p, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: element}).Node; string(node.FrameID) != p.keys()[0] {
		t.Errorf("the element of the ref is of frame %s", node.FrameID)
	}
	p.children()
	s = p.snapshot(nil)
	if len(s.Unbound) != 0 || s.Lines[1].F != p.keys()[0] {
		t.Errorf("lines %+v", s.Lines)
	}
	r := call[reading](p, "read", args{})
	if len(r.Frames) != 1 || r.Frames[0].Key != p.keys()[0] || !strings.HasPrefix(r.Text[r.Frames[0].At:], `[frame "Inner"]`) {
		t.Errorf("reading %+v", r)
	}
	refused(p, "not_found", "mapPoint", args{"key": "gone", "x": 1, "y": 1})
}

// TestClosedRoots finds and adopts closed shadow roots as Go does: what hosts() names, deep serialisation, resolve, adopt.
func TestClosedRoots(t *testing.T) {
	p := open(t, "shadow.html")
	do(p, dom.Enable, dom.EnableParams{})
	hidden := func() int64 {
		search := do(p, dom.PerformSearch, dom.PerformSearchParams{Query: "<"})
		return search.ResultCount - int64(call[struct {
			Nodes int `json:"nodes"`
		}](p, "count", args{}).Nodes)
	}
	if n := hidden(); n != 9 {
		t.Errorf("%d hidden nodes, want 9", n)
	}
	if before := p.snapshot(nil).String(); strings.Contains(before, "custom") {
		t.Errorf("closed roots are read before they are adopted:\n%s", before)
	}
	for round := 0; hidden() > 0; round++ {
		if round == 5 {
			t.Fatalf("%d nodes stay hidden", hidden())
		}
		node := do(p, dom.GetDocument, dom.GetDocumentParams{Depth: new(int64(-1)), Pierce: new(true)}).Root
		var roots []runtime.RemoteObjectID
		for _, id := range closedIn(node) {
			roots = append(roots, do(p, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: id, ExecutionContextID: p.world}).Object.ObjectID)
		}
		call[struct{}](p, "adopt", args{}, roots...)
	}
	golden(t, "shadow-adopted.tree", p.snapshot(nil).String())
	p.click(`role=button[name="custom"]`, nil)
	if got := eval[string](p, "o.textContent"); got != "custom" {
		t.Errorf("the click reached %q", got)
	}
	if c := call[checked](p, "check", args{"target": `role=textbox[name="pin"]`, "for": "type"}); !c.Secret {
		t.Error("a password in a closed root is no secret")
	}
	for _, target := range []string{"text=deep", "text=slotted into closed", `css=p > b, x-closed input`, `role=link[name="deep"]`} {
		if a := p.answer("resolve", args{"target": target}); a.Error != nil && !strings.HasPrefix(target, "css") {
			t.Errorf("%s: %v", target, a.Error)
		}
	}
	if text := call[reading](p, "read", args{}).Text; !strings.Contains(text, "custom") || !strings.Contains(text, "slotted into closed") {
		t.Errorf("reading lacks closed roots:\n%s", text)
	}
}

func closedIn(n *cdp.Node) []cdp.BackendNodeID {
	var out []cdp.BackendNodeID
	for _, root := range n.ShadowRoots {
		if root.ShadowRootType == "closed" {
			out = append(out, root.BackendNodeID)
		}
		out = append(out, closedIn(root)...)
	}
	for _, child := range n.Children {
		out = append(out, closedIn(child)...)
	}
	return out
}

// TestHosts holds what hosts() offers against the hosts there are.
func TestHosts(t *testing.T) {
	p := open(t, "shadow.html")
	count := func(all bool) int {
		yes := true
		r := do(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{FunctionDeclaration: "function(all){return this.hosts(all).map(e => e.id || e.localName).sort().join()}", ObjectID: p.engine, Arguments: []*runtime.CallArgument{{Value: mustJSON(all)}}, ReturnByValue: &yes})
		t.Logf("hosts(%v): %s", all, r.Result.Value)
		return strings.Count(string(r.Result.Value), ",") + 1
	}
	if likely, all := count(false), count(true); likely < 3 || all <= likely {
		t.Errorf("%d likely of %d hosts", likely, all)
	}
}

func TestPointsAreFinite(t *testing.T) {
	p := open(t, `<body><iframe style="transform:perspective(400px) rotateY(30deg)" srcdoc="<button>Go</button>"></iframe>`)
	q := p.children()[0]
	c := call[checked](q, "check", args{"target": "button", "for": "click"})
	m := call[mapped](p, "mapPoint", args{"key": p.keys()[0], "x": c.Point.X, "y": c.Point.Y})
	if math.IsNaN(m.X) || math.IsNaN(m.Y) {
		t.Errorf("%+v", m)
	}
}
