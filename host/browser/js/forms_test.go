package js_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
)

type filled struct {
	Matches  bool     `json:"matches"`
	Length   int      `json:"length"`
	Value    *string  `json:"value"`
	Checked  *bool    `json:"checked"`
	Selected []string `json:"selected"`
}

func (p *Page) fill(target, text string, more args) filled {
	p.t.Helper()
	a := args{"ref": call[found](p, "resolve", args{"target": target}).Ref, "text": text}
	for k, v := range more {
		a[k] = v
	}
	return call[filled](p, "fill", a)
}

func TestFill(t *testing.T) {
	for _, c := range []struct{ name, html, text, value string }{
		{"input", `<input id=f>`, "north gate", "north gate"},
		{"replaces", `<input id=f value=old>`, "new", "new"},
		{"empties", `<input id=f type=search value=old>`, "", ""},
		{"textarea", `<textarea id=f>old</textarea>`, "one\ntwo", "one\ntwo"},
		{"textarea with returns", `<textarea id=f></textarea>`, "one\r\ntwo", "one\ntwo"},
		{"emoji and RTL", `<input id=f>`, "Grüße 👩‍👩‍👧 שלום", "Grüße 👩‍👩‍👧 שלום"},
		{"email", `<input id=f type=email>`, "a@b.example", "a@b.example"},
		{"number", `<input id=f type=number>`, "3.50", "3.50"},
		{"date", `<input id=f type=date>`, "2031-02-28", "2031-02-28"},
		{"time", `<input id=f type=time>`, "18:55", "18:55"},
		{"date and time", `<input id=f type=datetime-local>`, "2031-02-28T18:55", "2031-02-28T18:55"},
		{"month", `<input id=f type=month>`, "2031-02", "2031-02"},
		{"week", `<input id=f type=week>`, "2031-W09", "2031-W09"},
		{"colour", `<input id=f type=color>`, "#AABBCC", "#aabbcc"},
		{"range", `<input id=f type=range max=9>`, "4", "4"},
		{"select by text", `<select id=f><option value=1>One<option value=2>  Two </select>`, "Two", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, `<script>heard = []; for (const type of ['input', 'change']) addEventListener(type, (e) => heard.push(type + ' ' + e.bubbles), true)</script>`+c.html)
			r := p.fill("#f", c.text, nil)
			if !r.Matches {
				t.Errorf("read back %+v", r)
			}
			if got := eval[string](p, "f.value"); got != c.value {
				t.Errorf("the field holds %q, want %q", got, c.value)
			}
			if got := eval[[]string](p, "heard"); !slices.Equal(got, []string{"input true", "change true"}) {
				t.Errorf("events %v", got)
			}
		})
	}
}

func TestFillAppends(t *testing.T) {
	p := open(t, `<input id=f value="one ">`)
	if r := p.fill("#f", "two", args{"append": true}); !r.Matches || *r.Value != "one two" {
		t.Errorf("read back %+v", r)
	}
}

// A field that a framework watches through its own property must hear of the edit (React's way).
func TestFillReachesWatchedFields(t *testing.T) {
	p := open(t, `<input id=f><script>
const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
let known = '', state = '';
Object.defineProperty(f, 'value', {get() { return own.get.call(this) }, set(v) { known = v; own.set.call(this, v) }});
f.addEventListener('input', () => { const now = own.get.call(f); if (now !== known) { known = now; state = now } });
setInterval(() => { if (own.get.call(f) !== state) { known = state; own.set.call(f, state) } }, 10);
</script>`)
	p.fill("#f", "kept", nil)
	if got := eval[string](p, `new Promise(r => setTimeout(() => r(f.value), 60))`); got != "kept" {
		t.Errorf("the framework put back %q", got)
	}
}

func TestFillRefusals(t *testing.T) {
	for _, c := range []struct{ name, html, text, code, message string }{
		{"a date in words", `<input id=f type=date value=2020-01-01>`, "31.02.2031", "bad_argument", "YYYY-MM-DD"},
		{"no number", `<input id=f type=number value=1>`, "many", "bad_argument", "number"},
		{"checkbox", `<input id=f type=checkbox>`, "true", "not_editable", "click"},
		{"button", `<button id=f>x</button>`, "x", "not_editable", "no text"},
		{"read-only", `<input id=f readonly value=x>`, "y", "not_editable", "read-only"},
		{"disabled", `<input id=f disabled>`, "y", "disabled", ""},
		{"no such option", `<select id=f><option>One</select>`, "Three", "not_found", "Three"},
		{"two such options", `<select id=f><optgroup label=A><option>Other</optgroup><optgroup label=B><option>Other</optgroup></select>`, "Other", "ambiguous", "2 options"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.html)
			before := eval[string](p, "String(f.value) + f.checked")
			e := refused(p, c.code, "fill", args{"ref": call[found](p, "resolve", args{"target": "#f"}).Ref, "text": c.text})
			if !strings.Contains(e.Message, c.message) {
				t.Errorf("message %q", e.Message)
			}
			if after := eval[string](p, "String(f.value) + f.checked"); after != before {
				t.Errorf("changed from %q to %q", before, after)
			}
		})
	}
}

func TestFillLargeTextAtOnce(t *testing.T) {
	p := open(t, `<textarea id=f></textarea><script>n = 0; f.oninput = () => n++</script>`)
	text := strings.Repeat("line of the report, nothing more\n", 2000)
	if r := p.fill("#f", text, nil); !r.Matches || r.Value != nil {
		t.Errorf("read back %+v", r)
	}
	if n := eval[int](p, "n"); n != 1 {
		t.Errorf("%d input events", n)
	}
}

func TestFillContenteditable(t *testing.T) {
	p := open(t, `<div id=f contenteditable>old <b>text</b></div><script>trusted = 0; f.addEventListener('input', (e) => { if (e.isTrusted) trusted++ })</script>`)
	if r := p.fill("#f", "new text", nil); !r.Matches {
		t.Errorf("read back %+v", r)
	}
	if got := eval[string](p, "f.textContent + ' ' + (trusted > 0)"); got != "new text true" {
		t.Errorf("the editor holds %q", got)
	}
	if r := p.fill("#f", "", nil); !r.Matches {
		t.Errorf("read back %+v", r)
	}
}

func TestSelect(t *testing.T) {
	const html = `<select id=f><option value="">Any<optgroup label=Bikes><option value=b1>City<option value=b2>Other</optgroup><optgroup label=Cars><option value=c1 disabled>Van<option value=c2>Other</optgroup></select>
<select id=m multiple><option>red<option>blue<option>green</select><script>heard = 0; f.onchange = () => heard++</script>`
	for _, c := range []struct {
		name  string
		more  args
		value string
	}{
		{"by text", args{"labels": []string{"City"}}, "b1"},
		{"by value", args{"values": []string{"b2"}}, "b2"},
		{"by group and text", args{"labels": []string{"Cars: Other"}}, "c2"},
		{"by index", args{"indexes": []int{2}}, "b2"},
		{"text given as value", args{"values": []string{"City"}}, "b1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, html)
			c.more["ref"] = call[found](p, "resolve", args{"target": "#f"}).Ref
			call[filled](p, "select", c.more)
			if got := eval[string](p, "f.value + ' ' + heard"); got != c.value+" 1" {
				t.Errorf("chose %q, want %q", got, c.value)
			}
		})
	}
	p := open(t, html)
	ref := call[found](p, "resolve", args{"target": "#f"}).Ref
	call[filled](p, "select", args{"ref": ref, "values": []string{"b1"}})
	if got := call[filled](p, "select", args{"ref": ref, "values": []string{""}}); !slices.Equal(got.Selected, []string{"Any"}) {
		t.Errorf("an empty value chose %v", got.Selected)
	}
	refused(p, "disabled", "select", args{"ref": ref, "labels": []string{"Van"}})
	refused(p, "bad_argument", "select", args{"ref": ref, "values": []string{"b1", "b2"}})
	many := call[found](p, "resolve", args{"target": "#m"}).Ref
	if got := call[filled](p, "select", args{"ref": many, "labels": []string{"red", "green"}}); !slices.Equal(got.Selected, []string{"red", "green"}) {
		t.Errorf("chose %v", got.Selected)
	}
}

func TestCommitFiresChangeOnce(t *testing.T) {
	p := open(t, `<input id=f><script>n = 0; f.onchange = () => n++</script>`)
	ref := call[found](p, "resolve", args{"target": "#f"}).Ref
	call[struct{}](p, "focus", args{"ref": ref, "select": "all"})
	do(p, input.InsertText, input.InsertTextParams{Text: "typed"})
	call[struct{}](p, "commit", args{"ref": ref})
	if got := eval[string](p, "f.value + ' ' + n"); got != "typed 1" {
		t.Errorf("%q", got)
	}
	p.fill("#f", "filled", nil)
	call[struct{}](p, "commit", args{"ref": ref})
	if n := eval[int](p, "n"); n != 2 {
		t.Errorf("%d change events after a fill and a commit", n)
	}
}

// No answer of the engine may carry what a secret field holds.
func TestSecretsNeverLeave(t *testing.T) {
	const sentinel = "sentinel-7f3a"
	p := open(t, `<form><label>User <input id=user value=robin></label>
<label>Password <input id=pw type=password value=`+sentinel+`></label>
<label>Code <input id=otp autocomplete="section-a one-time-code" value=`+sentinel+`></label>
<label>Card <input id=card autocomplete=cc-number value=`+sentinel+`></label>
<label>PIN <input id=pin name=passcode value=`+sentinel+`></label>
<label>Masked <input id=masked style="-webkit-text-security:disc" value=`+sentinel+`></label>
<label>Pay <input type=checkbox id=c> with <input id=inner type=password value=`+sentinel+`></label>
<input type=hidden name=token value=`+sentinel+`><button>Go</button></form>
<button id=lb aria-labelledby=pw>x</button>`)
	for _, id := range []string{"#pw", "#otp", "#card", "#pin", "#masked", "#inner"} {
		if c := call[checked](p, "check", args{"target": id, "for": "type"}); !c.Secret || c.Length != 1 {
			t.Errorf("%s is no secret: %+v", id, c)
		}
	}
	eval[bool](p, `pw.type = 'text'; document.getElementById('inner').type = 'text'; true`)
	look := func(what string) {
		t.Helper()
		for _, call := range []struct {
			method string
			a      args
		}{
			{"snapshot", args{}}, {"read", args{"links": true}}, {"find", args{"regex": "."}}, {"begin", args{}}, {"delta", args{"max": 9999}},
			{"resolve", args{"target": "#pw"}}, {"resolve", args{"target": "#lb"}}, {"check", args{"target": "#pw", "for": "type", "submit": true}},
			{"readback", args{"ref": "#pw"}}, {"readback", args{"ref": "#card"}}, {"resolve", args{"target": "input"}}, {"check", args{"target": "role=button[name=Go]", "for": "click"}},
		} {
			a := p.answer(call.method, call.a)
			if text := string(mustJSON(a)); strings.Contains(text, sentinel) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(sentinel))) {
				t.Errorf("%s: %s carries the secret: %s", what, call.method, text)
			}
		}
	}
	look("shown")
	p2 := open(t, `<input id=pw type=password value=`+sentinel+`>`)
	eval[bool](p2, `pw.type = 'text'; true`) // before the engine ever looked at it
	p = p2
	if c := call[checked](p, "check", args{"target": "#pw", "for": "type"}); !c.Secret {
		t.Error("a field that was a password before the engine looked is no secret")
	}
	look("flipped")
	s := p.snapshot(nil)
	if !strings.Contains(s.String(), "[secret] [filled]") {
		t.Errorf("the snapshot does not say that it is filled:\n%s", s)
	}
	if r := p.fill("#pw", "given by the agent", nil); !r.Matches || r.Value != nil {
		t.Errorf("read back %+v", r)
	}
}
