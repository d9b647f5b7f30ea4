package js_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json"
)

var update = flag.Bool("update", false, "write the golden files anew")

// chromeRoles are Chrome's own roles, and what stands for them in ARIA.
var chromeRoles = map[string]string{
	"DisclosureTriangle": "button", "DisclosureTriangleGrouped": "button", "Date": "textbox", "DateTime": "textbox", "InputTime": "textbox", "ColorWell": "textbox",
	"Iframe": "iframe", "IframePresentational": "iframe", "Details": "group", "image": "img", "SvgRoot": "img", "LabelText": "generic", "Legend": "generic", "Figcaption": "generic",
	"DescriptionList": "generic", "Section": "generic", "Pre": "generic", "sectionheader": "generic", "sectionfooter": "generic", "Canvas": "generic", "Abbr": "generic",
	"LayoutTable": "none", "LayoutTableRow": "generic", "LayoutTableCell": "generic", "MenuListPopup": "listbox", "ListGrid": "grid", "EmbeddedObject": "generic",
}

// differences are where the engine and Chrome disagree on purpose, by role and fact.
var differences = map[string]string{
	"combobox expanded": "Chrome tells of each native select that its list is closed: no news, and one state more on each line",
	"row name":          "ARIA names rows by their contents, Chrome does not; targets like role=row[name=…] need it",
	"figure name":       "HTML-AAM names a figure by its caption, Chrome does not",
	"group disabled":    "a disabled fieldset is worth telling; Chrome tells it of the controls only",
	"textbox role":      "a contenteditable region without a role takes text; Chrome calls it generic and editable",
	"#b13 name":         "Chrome's name is in the capitals of text-transform; the words as written are what targets and forms use",
}

type fact struct{ Role, Name, Checked, Disabled, Expanded string }

// TestOracle compares every element that has an id or a ref with Chrome's own accessibility tree.
func TestOracle(t *testing.T) {
	used := map[string]bool{}
	for _, fixture := range []string{"controls.html", "names.html", "structure.html", "states.html"} {
		t.Run(fixture, func(t *testing.T) {
			p := open(t, fixture)
			refs := p.snapshot(nil)
			seen := map[string]bool{}
			for _, l := range refs.Lines {
				if l.R != "" {
					seen[l.R] = true
				}
			}
			for _, id := range eval[[]string](p, `[...document.querySelectorAll("[id]")].map(e => "#" + e.id)`) {
				seen[call[found](p, "resolve", args{"target": id, "nth": 1}).Ref] = true
			}
			keys := make([]string, 0, len(seen))
			for ref := range seen {
				keys = append(keys, ref)
			}
			slices.Sort(keys)
			compared := 0
			for _, ref := range keys {
				id, ours, chrome, ignored := p.facts(ref)
				if ignored {
					continue
				}
				compared++
				for _, f := range []struct{ what, ours, chrome string }{
					{"role", ours.Role, chrome.Role}, {"name", ours.Name, chrome.Name}, {"checked", ours.Checked, chrome.Checked},
					{"disabled", ours.Disabled, chrome.Disabled}, {"expanded", ours.Expanded, chrome.Expanded},
				} {
					if f.ours == f.chrome {
						continue
					}
					key := ours.Role + " " + f.what
					if _, ok := differences["#"+id+" "+f.what]; ok {
						key = "#" + id + " " + f.what
					}
					if _, ok := differences[key]; !ok {
						t.Errorf("#%s: %s: ours %q, Chrome's %q", id, key, f.ours, f.chrome)
					}
					used[key] = true
				}
			}
			t.Logf("%d elements compared", compared)
		})
	}
	for key := range differences {
		if !used[key] && !t.Failed() {
			t.Errorf("%s no longer differs: remove it from the table", key)
		}
	}
}

type found struct {
	Ref      string `json:"ref"`
	Role     string `json:"role"`
	Name     string `json:"name"`
	Describe string `json:"describe"`
}

// facts gives what the engine and Chrome say about one element. Chrome ignores what is hidden or says nothing.
func (p *Page) facts(ref string) (id string, ours, chrome fact, ignored bool) {
	p.t.Helper()
	f := call[found](p, "resolve", args{"target": ref})
	element := do(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{FunctionDeclaration: "function(r){return this.element(r)}", ObjectID: p.engine, Arguments: []*runtime.CallArgument{{Value: mustJSON(ref)}}}).Result.ObjectID
	yes := true
	result := do(p, runtime.CallFunctionOn, runtime.CallFunctionOnParams{FunctionDeclaration: "function(e){return e.id || e.localName}", ObjectID: p.engine, Arguments: []*runtime.CallArgument{{ObjectID: element}}, ReturnByValue: &yes})
	if err := json.Unmarshal(result.Result.Value, &id); err != nil {
		p.t.Fatal(err)
	}
	ours = fact{Role: f.Role, Name: f.Name}
	line := ""
	for _, l := range p.lines() {
		if l.R == ref {
			line = l.T
		}
	}
	ours.Checked, ours.Disabled, ours.Expanded = stated(line, "checked", "false"), stated(line, "disabled", ""), stated(line, "expanded", "")
	if strings.Contains(line, " [collapsed]") {
		ours.Expanded = "false"
	}
	nodes := do(p, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: element, FetchRelatives: new(bool)}).Nodes
	if len(nodes) != 1 {
		p.t.Fatalf("%s: %d nodes", ref, len(nodes))
	}
	n := nodes[0]
	if n.Ignored {
		return id, ours, chrome, true
	}
	chrome.Role = axText(n.Role)
	if ours, ok := chromeRoles[chrome.Role]; ok {
		chrome.Role = ours
	}
	chrome.Name = axText(n.Name)
	for _, property := range n.Properties {
		value := axText(property.Value)
		switch property.Name {
		case accessibility.PropertyNameChecked:
			chrome.Checked = value
		case accessibility.PropertyNameDisabled:
			if value == "true" {
				chrome.Disabled = "true"
			}
		case accessibility.PropertyNameExpanded:
			chrome.Expanded = value
		}
	}
	if line == "" { // not in the tree: only role and name are told
		ours.Checked, ours.Disabled, ours.Expanded = chrome.Checked, chrome.Disabled, chrome.Expanded
	} else if chrome.Checked == "" {
		ours.Checked = strings.TrimPrefix(ours.Checked, "false")
	}
	return id, ours, chrome, false
}

func axText(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var s string
	if json.Unmarshal(v.Value, &s) == nil {
		return strings.Join(strings.Fields(strings.NewReplacer("\u00ad", "", "\u200b", "").Replace(s)), " ")
	}
	return string(v.Value)
}

// stated reads a state from a line.
func stated(line, name, absent string) string {
	switch {
	case strings.Contains(line, " ["+name+"]"):
		return "true"
	case strings.Contains(line, " ["+name+"=mixed]"):
		return "mixed"
	}
	return absent
}

// lines are those of one snapshot of the page, taken once.
func (p *Page) lines() []line {
	if p.tree == nil {
		s := p.snapshot(nil)
		p.tree = s.Lines
	}
	return p.tree
}
