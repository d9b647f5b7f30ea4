package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

const desk = `<title>Desk</title><h1>Desk</h1><form method=post action=/send><input type=hidden name=csrf value=t0ken>
<label>E-mail <input name=email required></label><label>Password <input type=password name=pw value=hunter2></label><button>Send</button></form>
<p>Line of the page</p><iframe src="{{B}}/other"></iframe>
<script>console.warn('careful', 7); setTimeout(() => { throw new Error('went wrong') }); fetch('/data.json', {headers: {authorization: 'Bearer s3cret'}})</script>`

func answer(contentType, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret"})
		fmt.Fprint(w, body)
	}
}

func has(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: no %q in\n%.3000s", what, w, text)
		}
	}
}

func hasNot(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(text, w) {
			t.Errorf("%s: %q in\n%.3000s", what, w, text)
		}
	}
}

func TestPageIsReadInEveryWay(t *testing.T) {
	w := newWorld(t, routes{"/": desk, "/other": `<p>of another site</p><label>Card <input name=c></label><script>console.error('theirs')</script>`,
		"/data.json": answer("application/json", `{"ok":true}`)})
	a := w.lend(w.site.A + "/")
	a.ok("browser_navigate", "url", w.site.A+"/", "wait_until", "networkidle")

	found := a.ok("browser_find", "role", "textbox", "name", "e-mail")
	has(t, "find", found.Text, "matches: 1", `- textbox "E-mail" [ref=`, "withheld: 1")
	hasNot(t, "find", a.ok("browser_find", "text", "another").Text, "of another site")
	has(t, "find", a.ok("browser_find", "regex", "line.of").Text, "Line of the page")

	form := a.ok("browser_read_form").Text
	has(t, "form", form, "fields: 2", "hidden inputs: 1", `textbox "E-mail"`, "[required]", "[secret] [filled]", `submit: button "Send"`)
	hasNot(t, "form", form, "hunter2", "t0ken", "Card")

	list := a.ok("browser_network_requests").Text
	has(t, "requests", list, w.site.A+"/ => [200] document", w.site.A+"/data.json => [200] fetch", "withheld:")
	hasNot(t, "requests", list, w.site.B)
	number := 0
	for line := range strings.SplitSeq(list, "\n") {
		if strings.Contains(line, "/data.json") {
			fmt.Sscanf(line, "%d.", &number)
		}
	}
	one := a.ok("browser_network_request", "index", number).Text
	has(t, "request", one, "[GET]", "content-type: application/json", "redacted")
	hasNot(t, "request", one, "s3cret")
	has(t, "body", a.ok("browser_network_request", "index", number, "part", "response-body").Text, `{"ok":true}`)
	a.fails("not_found", "browser_network_request", "index", 9999)

	for range 2 {
		console := a.ok("browser_console_messages").Text
		has(t, "console", console, "[WARNING] careful 7 @ "+w.site.A, "[ERROR] Uncaught Error: went wrong", "withheld: 1", "Runtime")
		hasNot(t, "console", console, "theirs")
	}
	a.ok("browser_click", "target", "label=E-mail") // the engine is still the one that was

	a.fails("not_shared_site", "browser_pdf_save")
	r := a.ok("browser_read", "capture_chars", 1000)
	has(t, "read", r.Text, "Line of the page", "coverage: characters 0 to ", "cache_key: ")
	key, _ := r.Meta["cache_key"].(string)
	has(t, "search", a.ok("browser_read", "cache_key", key, "search", "LINE OF").Text, "matches: 1", "Line of the page")
	has(t, "wait", a.ok("browser_wait_for", "text", "never there", "timeout_ms", 500).Text, "time ran out", "missing: text", "last seen")
}

func TestPageIsPrinted(t *testing.T) {
	w := newWorld(t, routes{"/": `<title>Paper</title><h1>Paper</h1>`})
	a := w.lend(w.site.A + "/")
	r := a.ok("browser_pdf_save", "filename", "paper.pdf")
	file, _ := r.Meta["file"].(string)
	if data, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(data), "%PDF-") {
		t.Fatalf("%v %s", err, r.Text)
	}
}

// The smallest picture there is, and a PDF of one empty page.
const (
	picture = "GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
	paper   = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/MediaBox[0 0 99 99]/Parent 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
)

func TestDocumentThatIsNoPageIsToldAsWhatItIs(t *testing.T) {
	gone := func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(rw, "<h1>Broken</h1>")
	}
	w := newWorld(t, routes{"/": `<h1>Start</h1>`, "/d.json": answer("application/json", `{"answer":42}`), "/d.xml": answer("application/xml", `<list><item>pears</item></list>`),
		"/d.txt": answer("text/plain", "plain words"), "/d.gif": answer("image/gif", picture), "/d.pdf": answer("application/pdf", paper), "/500": gone})
	a := w.lend(w.site.A + "/")
	for _, tt := range []struct{ path, status, kind, text string }{
		{"/d.json", "200", "application/json", `{"answer":42}`},
		{"/d.xml", "200", "application/xml", "pears"},
		{"/d.txt", "200", "text/plain", "plain words"},
		{"/d.gif", "200", "image/gif", ""},
		{"/500", "500", "text/html", "Broken"},
		{"/missing", "404", "text/html", "GET /missing"},
		{"/d.pdf", "200", "application/pdf", ""},
	} {
		nav := a.call("browser_navigate", "url", w.site.A+tt.path)
		// Chrome throws the debugger off a tab that goes to a PDF: how the navigation ended is not known, what stands there is.
		if nav.IsError && (tt.kind != "application/pdf" || nav.Code() != "transport_lost" || nav.Meta["outcome"] != "unknown") {
			t.Errorf("%s: %s", tt.path, nav.Text)
		} else if !nav.IsError {
			has(t, tt.path, nav.Text, "HTTP "+tt.status, tt.kind)
		}
		for _, tool := range []string{"browser_snapshot", "browser_read"} {
			r := a.ok(tool)
			if r.Meta["content_type"] != tt.kind || fmt.Sprint(r.Meta["http_status"]) != tt.status {
				t.Errorf("%s %s: %v", tool, tt.path, r.Meta)
			}
			if tt.kind != "text/html" {
				has(t, tool, r.Text, "content_type: "+tt.kind)
			}
			if tt.status != "200" {
				has(t, tool, r.Text, "http_status: "+tt.status)
			}
			if tool == "browser_read" {
				has(t, tt.path, r.Text, tt.text)
			}
		}
	}
}
