//go:build unix

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

func (l *leased) form(fields ...string) (out []Filled, s *Settled) {
	l.t.Helper()
	var in []Field
	for i := 0; i < len(fields); i += 2 {
		in = append(in, Field{&CheckOptions{Target: fields[i], Timeout: time.Millisecond}, strings.Split(fields[i+1], "|")})
	}
	s = l.act(nil, func(a *Act) error {
		out = a.FillForm(l.t.Context(), in)
		return nil
	})
	for i, f := range out {
		l.t.Logf("%s: %s %s %q matches %t length %d, %v", fields[2*i], f.Outcome, f.Kind, f.Text, f.Matches, f.Length, f.Err)
	}
	return out, s
}

const everyField = `<!doctype html><title>All</title><form>
<label>Name <input name=name value=old></label><label>Mail <input type=email name=mail></label><label>Secret <input type=password name=pw></label>
<label>Notes <textarea name=notes></textarea></label><label>Age <input type=number name=age></label>
<label><input type=checkbox name=news> News</label><label><input type=checkbox name=ads checked> Ads</label>
<label><input type=radio name=size value=s> Small</label><label><input type=radio name=size value=l> Large</label>
<label>Country <select name=country><option value="">Any<option value=fr>France<option value=de disabled>Germany</select></label>
<label>Colours <select name=colours multiple><option>red<option>green<option>blue</select></label>
<label>Day <input type=date name=day></label><label>Time <input type=time name=time></label><label>Both <input type=datetime-local name=both></label>
<label>Month <input type=month name=month></label><label>Week <input type=week name=week></label>
<label>Ink <input type=color name=ink></label><label>Volume <input type=range name=volume max=11></label>
<div contenteditable role=textbox aria-label=Story id=story>was</div>
<div role=switch aria-checked=false aria-label=Night tabindex=0 onclick="setTimeout(() => this.ariaChecked = this.ariaChecked !== 'true', 30)">Night</div>
<label style="position:relative">Styled <input type=checkbox name=styled style="position:absolute;opacity:0;width:0;height:0"></label>
<button>Send</button></form><p>Heard <output id=heard></output></p>
<script>document.forms[0].addEventListener('change', (e) => heard.textContent += e.target.name + ' ')</script>`

func TestFormOfEveryKindOfField(t *testing.T) {
	s := serve(t, map[string]string{"/": everyField})
	l := browserFor(t).lease(t, s.at("a", "/"))
	fields := []string{
		"label=Name", "Zoë 😀", "label=Mail", "a@b.example", "label=Secret", "hunter22", "label=Notes", "one\ntwo", "label=Age", "41",
		"label=News", "true", "label=Ads", "false", "label=Large", "true", "label=Country", "France", "label=Colours", "red|blue",
		"label=Day", "2031-02-28", "label=Time", "18:55", "label=Both", "2031-02-28T18:55", "label=Month", "2031-02", "label=Week", "2031-W09",
		"label=Ink", "#AA00bb", "label=Volume", "7", "#story", "first\nsecond", "role=switch", "true", "label=Styled", "true",
	}
	out, settled := l.form(fields...)
	for i, f := range out {
		if f.Err != nil || f.Outcome != Confirmed || !f.Matches {
			t.Errorf("%s: %+v", fields[2*i], f)
		}
	}
	if out[2].Text != "" || out[2].Length != 8 {
		t.Errorf("a secret: %q of %d", out[2].Text, out[2].Length)
	}
	if settled.Outcome != Confirmed || settled.Delta == "" || strings.Contains(settled.Delta, "hunter22") {
		t.Errorf("%s, delta %q", settled.Outcome, settled.Delta)
	}
	wantIn(t, "the delta of the first field", settled.Delta, "Zoë")
	sent := l.page("new URLSearchParams(new FormData(document.forms[0])).toString()")
	wantIn(t, "the form", sent, "name=Zo%C3%AB+%F0%9F%98%80", "pw=hunter22", "notes=one%0Atwo", "age=41", "news=on", "size=l", "country=fr",
		"colours=red&colours=blue", "day=2031-02-28", "time=18%3A55", "both=2031-02-28T18%3A55", "month=2031-02", "week=2031-W09", "ink=%23aa00bb", "volume=7", "styled=on")
	if strings.Contains(sent, "ads=") {
		t.Errorf("ads is still ticked: %s", sent)
	}
	wantIn(t, "what the page heard", l.page("heard.textContent"), "name", "age", "news", "ads", "size", "country", "colours", "day", "week", "ink", "volume", "styled")
	wantIn(t, "the story", l.page("story.innerText"), "first", "second")
}

func TestFormGoesOnAfterAFieldThatFails(t *testing.T) {
	s := serve(t, map[string]string{"/": everyField})
	l := browserFor(t).lease(t, s.at("a", "/"))
	out, settled := l.form("#nowhere", "x", "label=Day", "28.02.2031", "label=Country", "Germany", "label=Country", "Spain", "label=Volume", "12",
		"label=Age", "many", "label=News", "maybe", "label=Small", "true", "label=Small", "false", "text=Send", "x", "label=Name", "a|b", "label=Mail", "c@d.example")
	for i, want := range []protocol.Code{protocol.NotFound, protocol.BadArgument, protocol.Disabled, protocol.NotFound, protocol.BadArgument,
		protocol.BadArgument, protocol.BadArgument, "", protocol.BadArgument, protocol.NotEditable, protocol.BadArgument, ""} {
		if got := protocol.CodeOf(out[i].Err); got != want || want != "" && i != 4 && out[i].Outcome != NotDispatched {
			t.Errorf("field %d: %s, %v, want %s", i, out[i].Outcome, out[i].Err, want)
		}
	}
	if !strings.Contains(out[1].Err.Error(), "YYYY-MM-DD") || !strings.Contains(out[2].Err.Error(), "Germany") {
		t.Errorf("%v, %v", out[1].Err, out[2].Err)
	}
	if settled.Outcome == NotDispatched || l.page("document.forms[0].mail.value") == "" {
		t.Errorf("%s", settled.Outcome)
	}
}

func TestFormOfAPageThatHasItsOwnMind(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Mind</title><label>First <input id=f></label><label>Second <input id=s oninput="f.value = ''"></label>
<label>Kind <select id=k onchange="setTimeout(() => extra.hidden = false, 300)"><option>plain<option>gift</select></label>
<label id=extra hidden>Words <input id=w></label>
<iframe src="/in" title=In></iframe><iframe src="http://b.localhost:{{PORT}}/in" title=Out></iframe>`, "/in": `<!doctype html><label>Inner <input></label>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	in := []Field{
		{&CheckOptions{Target: "#f"}, []string{"one"}},
		{&CheckOptions{Target: "#s"}, []string{"two"}},
		{&CheckOptions{Target: "#k"}, []string{"gift"}},
		{&CheckOptions{Target: "#w"}, []string{"late"}},
		{&CheckOptions{Target: "label=Inner", Nth: 1}, []string{"framed"}},
		{&CheckOptions{Target: "label=Inner", Nth: 2, May: func(string) error { return protocol.Errorf(protocol.NotSharedSite, "not here") }}, []string{"x"}},
	}
	var out []Filled
	settled := l.act(nil, func(a *Act) error { out = a.FillForm(t.Context(), in); return nil })
	if out[0].Outcome != Dispatched || out[0].Matches {
		t.Errorf("a field that the page emptied later: %+v", out[0])
	}
	for _, i := range []int{1, 2, 3, 4} {
		if out[i].Outcome != Confirmed {
			t.Errorf("field %d: %+v", i, out[i])
		}
	}
	if protocol.CodeOf(out[5].Err) != protocol.NotSharedSite || out[5].Outcome != NotDispatched {
		t.Errorf("a frame that is not shared: %+v", out[5])
	}
	if settled.Outcome == NotDispatched {
		t.Errorf("of all: %s", settled.Outcome)
	}
}

func TestSelectByWhatIsRead(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>Select</title><label>Country <select id=c><option value=GB-SCT>Scotland</option><option value=GB-WLS>  Wales
</option></select></label><label>Region <select id=r><option value="">Any<option value=n selected>North</select></label>
<label>Vehicle <select id=v><optgroup label=Bikes><option value=b-o>Other</optgroup><optgroup label=Cars><option value=c-o>Other</optgroup><optgroup label=Boats disabled><option>Canoe</optgroup></select></label>
<label>Many <select id=m multiple><option>a<option>b<option>c</select></label><label>Back <select id=k onchange="setTimeout(() => this.selectedIndex = 0)"><option>no<option>yes</select></label>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	choose := func(target string, o SelectOptions) (got Selected, outcome Outcome, err error) {
		t.Helper()
		c, err := l.Check(t.Context(), CheckOptions{Target: target, For: Select})
		if err != nil {
			t.Fatal(err)
		}
		a, err := l.Begin(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer a.End()
		got, err = a.Select(t.Context(), o)
		return got, a.Step(), err
	}
	for _, tt := range []struct {
		target string
		o      SelectOptions
		value  string
	}{
		{"#c", SelectOptions{Values: []string{"Wales"}}, "GB-WLS"},
		{"#c", SelectOptions{Values: []string{"GB-SCT"}}, "GB-SCT"},
		{"#c", SelectOptions{Indexes: []int{1}}, "GB-WLS"},
		{"#r", SelectOptions{Values: []string{""}}, ""},
		{"#v", SelectOptions{Labels: []string{"Cars: Other"}}, "c-o"},
		{"#m", SelectOptions{Labels: []string{"a", "c"}}, "a,c"},
		{"#m", SelectOptions{Values: []string{"b"}}, "b"},
		{"#m", SelectOptions{Values: []string{}}, ""},
	} {
		got, outcome, err := choose(tt.target, tt.o)
		value := strings.Trim(l.page("[...document.querySelector('"+tt.target+"').selectedOptions].map((o) => o.value).join()"), `"`)
		if err != nil || outcome != Confirmed || !got.Matches || value != tt.value {
			t.Errorf("%s %+v: %+v, %s, %v; the page holds %q", tt.target, tt.o, got, outcome, err, value)
		}
	}
	if got, outcome, err := choose("#k", SelectOptions{Labels: []string{"yes"}}); err != nil || got.Matches || outcome != Dispatched {
		t.Errorf("a list that goes back: %+v, %s, %v", got, outcome, err)
	}
	for _, tt := range []struct {
		target string
		o      SelectOptions
		code   protocol.Code
	}{
		{"#v", SelectOptions{Labels: []string{"Other"}}, protocol.Ambiguous},
		{"#v", SelectOptions{Labels: []string{"Canoe"}}, protocol.Disabled},
		{"#c", SelectOptions{Labels: []string{"Mars"}}, protocol.NotFound},
		{"#c", SelectOptions{Indexes: []int{7}}, protocol.NotFound},
		{"#c", SelectOptions{Indexes: []int{0, 1}}, protocol.BadArgument},
	} {
		if _, outcome, err := choose(tt.target, tt.o); protocol.CodeOf(err) != tt.code || outcome != NotDispatched {
			t.Errorf("%s %+v: %s, %v", tt.target, tt.o, outcome, err)
		}
	}
}
