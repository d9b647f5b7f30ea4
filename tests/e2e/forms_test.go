package e2e

import (
	"strings"
	"testing"
)

const formsPage = `<title>forms</title><h1>Order</h1><form method=post action="/order">
<label>Name <input name=name></label><label>Code <input type=password name=code></label>
<label><input type=checkbox name=gift> Gift</label><label><input type=radio name=size value=l> Large</label>
<label>Tea <select name=tea><option>Assam<option disabled>Oolong<option value=s>Sencha</select></label>
<label>Day <input type=date name=day></label><label>Cups <input type=range name=cups max=9></label>
<div contenteditable role=textbox aria-label=Words style="min-height:20px"></div><button>Order</button></form>
<style>.col{display:inline-block;width:120px;height:80px;background:#eee}</style>
<div class=col id=from aria-label=From role=group><div id=card draggable=true style="padding:8px">Card</div></div>
<div class=col id=to aria-label=To role=group></div><div class=col id=shut aria-label=Shut role=group></div>
<p onmouseenter="this.textContent = 'tip shown'">Hover me</p>
<div id=area aria-label=Terms role=region style="height:80px;width:300px;overflow:auto"><div style="height:900px">Terms</div></div>
<script>
card.ondragstart = (e) => e.dataTransfer.setData('text/plain', 'card');
to.ondragover = (e) => e.preventDefault();
to.ondrop = (e) => { e.preventDefault(); to.append(card); };
</script>`

func TestFormIsFilledThroughTheWholeProduct(t *testing.T) {
	w := newWorld(t, routes{"/": formsPage, "/order": `<title>done</title><h1>Thanks</h1>`})
	a := w.lend(w.site.A + "/")
	r := a.ok("browser_fill_form", "fields", []any{
		map[string]any{"name": "Name", "type": "textbox", "target": "label=Name", "value": "Kim"},
		map[string]any{"name": "Code", "value": "hunter22"},
		map[string]any{"name": "Gift", "type": "checkbox", "value": "true"},
		map[string]any{"target": "label=Large", "value": true},
		map[string]any{"target": "label=Tea", "type": "combobox", "value": "Sencha"},
		map[string]any{"target": "label=Day", "value": "2031-02-28"},
		map[string]any{"target": "label=Cups", "type": "slider", "value": 7},
		map[string]any{"target": `role=textbox[name="Words"]`, "value": "two words"},
	})
	if !strings.Contains(r.Text, "fields: 8 of 8") || strings.Contains(r.Text, "hunter22") {
		t.Fatal(r.Text)
	}
	if r := a.fails("disabled", "browser_select_option", "target", "label=Tea", "values", []any{"Oolong"}); !strings.Contains(r.Text, "Oolong") {
		t.Error(r.Text)
	}
	a.ok("browser_select_option", "target", "label=Tea", "labels", []any{"Assam"})
	r = a.fails("not_found", "browser_fill_form", "fields", []any{
		map[string]any{"target": "#nowhere", "value": "x"}, map[string]any{"target": "label=Name", "value": "Lee"},
	})
	if !strings.Contains(r.Text, "fields: 1 of 2") {
		t.Error(r.Text)
	}
	w.hits(0, "A", "POST", "/order")
	later := a.later("browser_click", "target", `role=button[name="Order"]`, "submits", true)
	w.asked("submit", "once")
	if r := <-later; r.IsError {
		t.Fatal(r.Text)
	}
	w.hits(1, "A", "POST", "/order")
	for _, req := range w.site.Requests("A") {
		if req.Path == "/order" && req.Body != "name=Lee&code=hunter22&gift=on&size=l&tea=Assam&day=2031-02-28&cups=7" {
			t.Errorf("the server got %q", req.Body)
		}
	}
}

func TestPointerThroughTheWholeProduct(t *testing.T) {
	w := newWorld(t, routes{"/": formsPage})
	a := w.lend(w.site.A + "/")
	a.fails("drop_refused", "browser_drag", "startTarget", "#card", "endTarget", "#shut")
	if r := a.ok("browser_drag", "startTarget", "#card", "endTarget", "#to", "startElement", "the card", "endElement", "a column"); r.Meta["accepted"] != "true" {
		t.Error(r.Text)
	}
	if r := a.ok("browser_hover", "target", "text=Hover me"); !strings.Contains(r.Text, "tip shown") {
		t.Error(r.Text)
	}
	r := a.ok("browser_scroll", "target", "#area", "to", "bottom")
	if r.Meta["at_bottom"] != true || r.Meta["moved"] != 820.0 || !strings.Contains(r.Text, "Terms") {
		t.Error(r.Text)
	}
}

func TestOwnerWhoTookOverIsNotFilledOver(t *testing.T) {
	w := newWorld(t, routes{"/": formsPage})
	a := w.lend(w.site.A + "/")
	if err := w.owner.TakeOver(w.ctx, w.site.A+"/"); err != nil {
		t.Fatal(err)
	}
	a.fails("owner_has_control", "browser_fill_form", "fields", []any{map[string]any{"name": "Name", "value": "x"}})
	a.fails("owner_has_control", "browser_drag", "startTarget", "#card", "endTarget", "#to")
	a.fails("owner_has_control", "browser_scroll", "to", "bottom")
}
