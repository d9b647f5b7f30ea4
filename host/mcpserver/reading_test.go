package mcpserver

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/protocol"
)

func (p *page) Find(_ context.Context, o browser.FindOptions) (*browser.Finding, error) {
	return &browser.Finding{Found: []browser.Found{{Ref: "e3", Describe: `button "Save"`, Line: `- button "Save" [ref=e3]`}, {Ref: "e1", Describe: "main", Line: "- text: " + o.Text + o.Regex}},
		Total: 60, Withheld: 1, Origin: origin, Document: document}, p.err
}

func (p *page) ReadForm(context.Context, string, func(string) bool) (*browser.FormReading, error) {
	return &browser.FormReading{Text: "- form [ref=e1]: POST /x\n", Fields: 3, Hidden: 2, More: 1, Origin: origin, Document: document}, p.err
}

var requests = []browser.Request{
	{Number: 1, Method: "GET", URL: origin + "/", Type: "Document", Status: 200, Done: true, ContentType: "text/html", Bytes: 7},
	{Number: 2, Method: "GET", URL: origin + "/a.css", Type: "Stylesheet", Status: 200, Done: true},
	{Number: 3, Method: "POST", URL: origin + "/api?x=1\nforged", Type: "Fetch", Status: 500, Done: true, Posted: true, RequestHeaders: map[string]string{"content-type": "application/json"}},
	{Number: 4, Method: "GET", URL: origin + "/a.png", Type: "Image", Error: "net::ERR_FAILED", ContentType: "image/png"},
}

func (p *page) Requests(after int, _ func(string) bool) ([]browser.Request, int) {
	return requests[after:], 5
}

func (p *page) Request(n int, _ func(string) bool) (*browser.Request, error) {
	if n > len(requests) {
		return nil, protocol.Errorf(protocol.NotFound, "there is no request %d", n)
	}
	return &requests[n-1], nil
}

func (p *page) Body(_ context.Context, r *browser.Request) ([]byte, error) {
	if r.Type == "Image" {
		return []byte{0x89, 'P', 'N', 'G', 0}, nil
	}
	return []byte(strings.Repeat("ä", 30_000)), nil
}

func (p *page) Console(context.Context, func(string) bool) (*browser.Console, error) {
	at := time.UnixMicro(1000)
	return &browser.Console{Withheld: 2, Document: document, Messages: []browser.Message{
		{Level: "debug", Text: "quiet", Time: at}, {Level: "warning", Text: "two\nlines", URL: origin + "/a.js", Line: 7, Time: at.Add(time.Second)}, {Level: "error", Text: "loud", Time: at.Add(2 * time.Second)}}}, p.err
}

func (p *page) PDF(context.Context, func(string) bool) (*browser.Printout, error) {
	return &browser.Printout{Data: []byte("%PDF-1"), Document: document}, p.err
}

func TestReadingToolsAnswer(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessRead)
	for _, tt := range []struct {
		tool, args string
		want, not  []string
	}{
		{"browser_find", `{"text":"Save"}`, []string{"matches: 60", "not shown: 58", "withheld: 1", `- button "Save" [ref=e3]`, `- text: Save (in main [ref=e1])`}, []string{`[ref=e3] (in`}},
		{"browser_find", `{"regex":"/a+b/i"}`, []string{"- text: a+b (in"}, nil},
		{"browser_read_form", `{}`, []string{"fields: 3", "hidden inputs: 2", "not shown: 1", "form from " + origin}, nil},
		{"browser_network_requests", `{}`, []string{"1. [GET] " + origin + "/ => [200] document", "3. [POST] " + origin + "/api?x=1 forged => [500] fetch", "[failed: net::ERR_FAILED] image", "static: 1", "withheld: 5", "next: since=4"}, []string{"a.css"}},
		{"browser_network_requests", `{"static":true,"filter":"css$"}`, []string{"a.css"}, []string{"api"}},
		{"browser_network_requests", `{"since":3}`, []string{"4. "}, []string{"3. "}},
		{"browser_network_request", `{"index":3}`, []string{"it had a body, which is not given", "content-type: application/json", "redacted"}, nil},
		{"browser_network_request", `{"index":3,"part":"request-headers"}`, []string{"content-type: application/json"}, []string{"response headers"}},
		{"browser_network_request", `{"index":1,"part":"response-body"}`, []string{"cut: the first 20000 of 30000", "body from " + origin}, nil},
		{"browser_console_messages", `{}`, []string{"3 of this page (1 errors, 1 warnings); 2 fit", "[WARNING] two lines @ " + origin + "/a.js:7", "[ERROR] loud", "withheld: 2", "Runtime"}, []string{"quiet"}},
		{"browser_console_messages", `{"level":"debug"}`, []string{"quiet"}, nil},
		{"browser_console_messages", `{"level":"error","all":true}`, []string{"loud"}, []string{"two lines"}},
		{"browser_console_messages", `{"since":1001000}`, []string{"loud", "next: since=2001000"}, []string{"two lines"}},
	} {
		r := c.raw(tt.tool, tt.args)
		for _, w := range tt.want {
			if r.IsError || !strings.Contains(r.Text, w) {
				t.Errorf("%s %s: no %q in\n%.1500s", tt.tool, tt.args, w, r.Text)
			}
		}
		for _, w := range tt.not {
			if strings.Contains(r.Text, w) {
				t.Errorf("%s %s: %q in\n%.1500s", tt.tool, tt.args, w, r.Text)
			}
		}
	}
	r := c.raw("browser_network_request", `{"index":4,"part":"response-body"}`)
	if len(r.Blocks) != 2 || r.Blocks[1].Type != "image" {
		t.Errorf("a picture: %+v", r.Blocks)
	}
	for _, tool := range []string{"browser_pdf_save", "browser_network_requests", "browser_console_messages"} {
		r := c.raw(tool, `{"filename":"named.out"}`)
		if data, err := os.ReadFile(r.Meta["file"].(string)); err != nil || len(data) == 0 || len(r.Blocks) != 1 {
			t.Errorf("%s: %v %s", tool, err, r.Text)
		}
	}
}

func TestReadingToolsRefuse(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessRead)
	for _, tt := range []struct{ tool, args, code string }{
		{"browser_find", `{}`, "bad_argument"},
		{"browser_find", `{"regex":"("}`, "bad_argument"},
		{"browser_find", `{"regex":"(a+)+$"}`, "bad_argument"},
		{"browser_find", `{"regex":"(a|ab)*c"}`, "bad_argument"},
		{"browser_find", `{"regex":"(?=a)"}`, "bad_argument"},
		{"browser_read_form", `{"tab":"t9"}`, "session_not_found"},
		{"browser_network_requests", `{"filter":"("}`, "bad_argument"},
		{"browser_network_requests", `{"since":-1}`, "bad_argument"},
		{"browser_network_requests", `{"filename":"a/b"}`, "bad_argument"},
		{"browser_network_request", `{"index":0}`, "bad_argument"},
		{"browser_network_request", `{"index":99}`, "not_found"},
		{"browser_network_request", `{"index":3,"part":"request-body"}`, "unavailable"},
		{"browser_console_messages", `{"since":-1}`, "bad_argument"},
		{"browser_pdf_save", `{"filename":"../x"}`, "bad_argument"},
	} {
		if r := c.raw(tt.tool, tt.args); r.code() != tt.code || !strings.Contains(r.Text, "\nhint: ") {
			t.Errorf("%s %s: %s", tt.tool, tt.args, r.Text)
		}
	}
}
