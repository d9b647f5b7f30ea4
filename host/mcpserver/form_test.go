package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tabvalet/tabvalet/protocol"
)

func TestFormTakesPlaywrightsFieldsAndOurs(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	r := c.raw("browser_fill_form", `{"fields":[{"name":"Name","type":"textbox","target":"e1","value":"Kim"}, {"name":"News","type":"checkbox","ref":"e2","value":"true"}, {"name":"Mail","value":"a@b.example"}, {"target":"#ads","value":false},{"target":"#age","value":41},{"target":"#colours","value":["red","blue"]}]}`)
	want := []string{`fill e1 ["Kim"]`, `fill e2 ["true"]`, `fill label=Mail ["a@b.example"]`, `fill #ads ["false"]`, `fill #age ["41"]`, `fill #colours ["red" "blue"]`}
	if r.IsError || !slices.Equal(c.tab.clicked, want) {
		t.Fatalf("%s\n%q", r.Text, c.tab.clicked)
	}
	if !strings.HasPrefix(r.Text, "ok · filled in a form of 6 fields") || !strings.Contains(r.Text, "fields: 6 of 6 hold what was meant") {
		t.Errorf("%s", r.Text)
	}
	if strings.Contains(r.Blocks[0].Text, `textbox "Name"`) || strings.Contains(fmt.Sprint(r.Meta), "Name") {
		t.Errorf("page text among our own words: %s %v", r.Blocks[0].Text, r.Meta)
	}
}

func TestFormTellsOfEachFieldThatFailed(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	r := c.raw("browser_fill_form", `{"fields":[{"target":"#gone","value":"a"},{"target":"#other","value":"b"},{"target":"e1","value":"c"}]}`)
	if r.code() != "not_found" || r.Meta["outcome"] != "dispatched" || len(c.tab.clicked) != 3 {
		t.Fatalf("%s\n%v %q", r.Text, r.Meta, c.tab.clicked)
	}
	for _, want := range []string{"2 of 3 fields do not hold", "\nhint: ", "act: filled in a form", "fields: 1 of 3", "- fields[0] : not_dispatched, error not_found: nothing matches",
		`- fields[1] textbox "Name": dispatched, but it holds 3 characters`, `- fields[2] textbox "Name": confirmed, 3 characters`} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q in\n%s", want, r.Text)
		}
	}
	fields, _ := r.Meta["fields"].([]any)
	if len(fields) != 3 || fields[0].(map[string]any)["code"] != "not_found" {
		t.Errorf("%v", r.Meta["fields"])
	}
}

func TestFormSaysWhichFieldIsWrong(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	r := c.raw("browser_fill_form", `{"fields":[{"target":"e1","value":"x"},{"target":"e2","valve":"y"}]}`)
	if r.code() != "bad_argument" || !strings.Contains(r.Text, `fields[1]: there is no argument "valve"`) || !strings.Contains(r.Text, "value") || len(c.tab.clicked) != 0 {
		t.Errorf("%s", r.Text)
	}
}

func TestSelectTellsWhatIsChosen(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	r := c.raw("browser_select_option", `{"element":"country","target":"e1","values":["France"],"labels":["Any"],"indexes":[2]}`)
	if r.IsError || !slices.Equal(c.tab.clicked, []string{`select ["France"] ["Any"] [2]`}) || !strings.Contains(r.Text, "chosen: 1 options, as asked: true") || strings.Contains(r.Blocks[0].Text, "France") {
		t.Fatalf("%s %q", r.Text, c.tab.clicked)
	}
	c.tab.acting = protocol.Errorf(protocol.Ambiguous, "2 options read that").With("options", []any{map[string]any{"index": 1.0, "group": "Cars", "value": "c"}})
	if r := c.raw("browser_select_option", `{"target":"e1","labels":["Other"]}`); r.code() != "ambiguous" || !strings.Contains(r.Text, `- index 1, group "Cars", value "c"`) {
		t.Errorf("%s", r.Text)
	}
	c.tab.acting = protocol.Errorf(protocol.NotFound, "no such option").With("options", []any{"France"})
	if r := c.raw("browser_select_option", `{"target":"e1","labels":["Mars"]}`); r.code() != "not_found" || !strings.Contains(r.Text, `- "France"`) {
		t.Errorf("%s", r.Text)
	}
}

func TestPointerTools(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	if r := c.raw("browser_hover", `{"target":"e1","element":"menu"}`); r.IsError || !strings.HasPrefix(r.Text, "ok · moved the mouse onto") {
		t.Errorf("%s", r.Text)
	}
	r := c.raw("browser_scroll", `{"to":"bottom","target":"e1"}`)
	if r.IsError || r.Meta["moved"] != 300.0 || r.Meta["at_bottom"] != true || !strings.Contains(r.Text, `region "Contents"`) || strings.Contains(r.Blocks[0].Text, "Contents") {
		t.Errorf("%s %v", r.Text, r.Meta)
	}
	if r := c.raw("browser_scroll", `{"by_y":-120.5}`); r.IsError || !strings.HasPrefix(r.Text, "ok · scrolled") {
		t.Errorf("%s", r.Text)
	}
	drag := `{"startTarget":"e1","endTarget":%q,"startElement":"a card","endElement":"a column"}`
	if r := c.raw("browser_drag", fmt.Sprintf(drag, "#doing")); r.IsError || r.Meta["accepted"] != "true" {
		t.Errorf("%s", r.Text)
	}
	if r := c.raw("browser_drag", fmt.Sprintf(drag, "#locked")); r.code() != "drop_refused" || r.Meta["outcome"] != "dispatched" {
		t.Errorf("%s", r.Text)
	}
	if want := []string{"hover", "scroll bottom0", "scroll -120.5", "drag to #doing", "drag to #locked"}; !slices.Equal(c.tab.clicked, want) {
		t.Errorf("%q", c.tab.clicked)
	}
}
