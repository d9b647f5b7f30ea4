package js_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWould(t *testing.T) {
	none := would{Kind: "none"}
	const form = `<form id=order action="/send?x=1#y" method=post><input name=q><input type=hidden name=token><input type=checkbox name=off><input type=checkbox name=on checked><input name=dis disabled><button name=act value=go>Go</button><button formaction="/wipe" formmethod=get formtarget=_blank name=wipe>Wipe</button><button type=button id=plain>Plain</button><input type=image alt=Pic name=pic></form>`
	sent := func(w would) would { w.Kind, w.Form = "submit", "order"; return w }
	for _, c := range []struct {
		name, html string
		a          args
		want       would
	}{
		{"link", `<a id=x href="/next?a=1">n</a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "/next?a=1"}},
		{"link in a new tab", `<a id=x href="/n" target=_blank>n</a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "/n", NewTab: true, Target: "_blank"}},
		{"link with control", `<a id=x href="/n">n</a>`, args{"for": "click", "modifiers": []string{"Control"}}, would{Kind: "follow", Method: "GET", URL: "/n", NewTab: true}},
		{"link with Control and Enter", `<a id=x href="/n">n</a>`, args{"for": "press", "key": "Control+Enter"}, would{Kind: "follow", Method: "GET", URL: "/n", NewTab: true}},
		{"submit with Shift", form, args{"target": "text=Go", "for": "click", "modifiers": []string{"Shift"}}, sent(would{Method: "POST", URL: "/send?x=1", Fields: []string{"q", "token", "on", "act"}, NewTab: true})},
		{"link with the middle button", `<a id=x href="/n">n</a>`, args{"for": "click", "button": "middle"}, would{Kind: "follow", Method: "GET", URL: "/n", NewTab: true}},
		{"link with the right button", `<a id=x href="/n">n</a>`, args{"for": "click", "button": "right"}, none},
		{"link to a named frame", `<iframe name=side></iframe><a id=x href="/n" target=side>n</a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "/n", Target: "side"}},
		{"link to a window of some name", `<a id=x href="/n" target=other>n</a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "/n", NewTab: true, Target: "other"}},
		{"link with a base target", `<base target=_blank><a id=x href="/n">n</a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "/n", NewTab: true, Target: "_blank"}},
		{"inside a link", `<a href="/n"><b id=x>n</b></a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "/n"}},
		{"fragment", `<a id=x href="#part">n</a>`, args{"for": "click"}, none},
		{"script link", `<a id=x href="javascript:void 0">n</a>`, args{"for": "click"}, none},
		{"download", `<a id=x href="/f.csv" download>n</a>`, args{"for": "click"}, would{Kind: "download", Method: "GET", URL: "/f.csv"}},
		{"download of another origin is a link", `<a id=x href="http://127.0.0.2:1/f" download>n</a>`, args{"for": "click"}, would{Kind: "follow", Method: "GET", URL: "http://127.0.0.2:1/f"}},
		{"hover", `<a id=x href="/n">n</a>`, args{"for": "hover"}, none},
		{"enter on a link", `<a id=x href="/n">n</a>`, args{"for": "press", "key": "Enter"}, would{Kind: "follow", Method: "GET", URL: "/n"}},
		{"plain text", `<p id=x>n</p>`, args{"for": "click"}, none},

		{"submit", form, args{"target": "text=Go", "for": "click"}, sent(would{Method: "POST", URL: "/send?x=1", Fields: []string{"q", "token", "on", "act"}})},
		{"submit elsewhere", form, args{"target": "text=Wipe", "for": "click"}, sent(would{Method: "GET", URL: "/wipe", Fields: []string{"q", "token", "on", "wipe"}, NewTab: true, Target: "_blank"})},
		{"image button", form, args{"target": "[name=pic]", "for": "click"}, sent(would{Method: "POST", URL: "/send?x=1", Fields: []string{"q", "token", "on", "pic"}})},
		{"plain button", form, args{"target": "#plain", "for": "click"}, none},
		{"space on a button", form, args{"target": "text=Go", "for": "press", "key": " "}, sent(would{Method: "POST", URL: "/send?x=1", Fields: []string{"q", "token", "on", "act"}})},
		{"enter in a field", form, args{"target": "[name=q]", "for": "press", "key": "Enter"}, sent(would{Method: "POST", URL: "/send?x=1", Fields: []string{"q", "token", "on", "act"}})},
		{"type and submit", form, args{"target": "[name=q]", "for": "type", "submit": true}, sent(would{Method: "POST", URL: "/send?x=1", Fields: []string{"q", "token", "on", "act"}})},
		{"type", form, args{"target": "[name=q]", "for": "type"}, none},
		{"a letter", form, args{"target": "[name=q]", "for": "press", "key": "a"}, none},
		{"a button of a form elsewhere", `<form id=far action="/far"><input name=a></form><button id=x form=far>Go</button>`, args{"for": "click"}, would{Kind: "submit", Method: "GET", URL: "/far", Fields: []string{"a"}, Form: "far"}},
		{"a GET form drops the query of its action", `<form name=f action="/find?old=1#x"><input name=q><button id=x>Go</button></form>`, args{"for": "click"}, would{Kind: "submit", Method: "GET", URL: "/find", Fields: []string{"q"}, Form: "f"}},
		{"a button without a form", `<button id=x>Go</button>`, args{"for": "click"}, none},
		{"dialog form", `<form method=dialog><button id=x>Go</button></form>`, args{"for": "click"}, none},
		{"enter with a disabled default button", `<form action="/l"><input id=x name=c><button disabled>Go</button><button>Go anyway</button></form>`, args{"for": "press", "key": "Enter"}, none},
		{"enter in one field without a button", `<form action="/one" name=f><input id=x name=c></form>`, args{"for": "press", "key": "Enter"}, would{Kind: "submit", Method: "GET", URL: "/one", Fields: []string{"c"}, Form: "f"}},
		{"enter in two fields without a button", `<form action="/two"><input id=x name=c><input name=d></form>`, args{"for": "press", "key": "Enter"}, none},
		{"enter in a checkbox", `<form action="/c" name=f><input id=x type=checkbox name=c checked><button>Go</button></form>`, args{"for": "press", "key": "Enter"}, would{Kind: "submit", Method: "GET", URL: "/c", Fields: []string{"c"}, Form: "f"}},
		{"enter in a textarea", `<form action="/t"><textarea id=x name=c></textarea><button>Go</button></form>`, args{"for": "press", "key": "Enter"}, none},
		{"invalid fields", `<form action="/v" name=f><label>Mail <input id=x name=m required></label><button>Go</button></form>`, args{"target": "text=Go", "for": "click"}, would{Kind: "submit", Method: "GET", URL: "/v", Fields: []string{"m"}, Form: "f", Invalid: []string{"Mail"}}},
		{"label of a submit button", `<form action="/l" name=f><label id=x for=b>Send it</label><button id=b>Go</button></form>`, args{"for": "click"}, would{Kind: "submit", Method: "GET", URL: "/l", Form: "f"}},
		{"clobbered form", `<form id=c action="/real" method=post><input name=action value="/fake"><input name=method value=get><input name=target><input name=elements><button id=x>Go</button></form>`, args{"for": "click"}, would{Kind: "submit", Method: "POST", URL: "/real", Fields: []string{"action", "method", "target", "elements"}, Form: "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.html)
			if c.a["target"] == nil {
				c.a["target"] = "#x"
			}
			if c.want.URL != "" && !strings.Contains(c.want.URL, "://") {
				c.want.URL = browser.site.URL + c.want.URL
			}
			got := call[checked](p, "check", c.a).Would
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
