//go:build unix

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

const office = `<!doctype html><title>Office</title>
<form name=order method=post action="/order"><input type=hidden name=csrf value=t0ken>
<label>E-mail <input name=email type=email required value="a@b.example"></label>
<label>Password <input name=pw type=password value="hunter2"></label>
<label>Country <select name=country><option>Norway<option selected>Peru<option disabled>Atlantis</select></label>
<label>VAT <input name=vat disabled></label>
<label><input type=checkbox name=gift checked> Gift</label>
<div contenteditable aria-label=Note>as is</div>
<button>Order</button></form>
<label>Search <input name=q list=l><datalist id=l><option value=pears></datalist></label>
<iframe src="{{FRAME}}"></iframe>
<script>console.log('hello', 7, {a: 1}); console.warn('careful'); setTimeout(() => { throw new Error('went wrong') });
fetch('/data.json?token=x').then((r) => r.json()).then((d) => document.title = d.title)</script>`

func officeSite(t *testing.T) (*site, string) {
	s := serve(t, map[string]string{
		"/":          strings.ReplaceAll(office, "{{FRAME}}", "http://b.localhost:{{PORT}}/other"),
		"/data.json": `{"title":"Office of data"}`,
		"/other":     `<!doctype html><label>Reply <input name=reply></label><p>pears elsewhere</p><script>console.error('from the frame')</script>`,
	})
	return s, s.at("a", "/")
}

func TestFindLooksInAllReadableFrames(t *testing.T) {
	s, url := officeSite(t)
	l := browserFor(t).lease(t, url)
	got, err := l.Find(t.Context(), FindOptions{Role: "textbox"})
	if err != nil || got.Total < 5 {
		t.Fatalf("%+v %v", got, err)
	}
	for _, o := range []FindOptions{{Text: "elsewhere"}, {Regex: "pears? els"}, {Role: "textbox", Name: "Reply"}} {
		if got, err := l.Find(t.Context(), o); err != nil || got.Total != 1 || !strings.HasPrefix(got.Found[0].Ref, "f") {
			t.Errorf("%+v: %+v %v", o, got, err)
		}
		own := func(origin string) bool { return origin == s.at("a", "") }
		if o.Readable = own; o.Text != "" {
			if got, err := l.Find(t.Context(), o); err != nil || got.Total != 0 || got.Withheld != 1 {
				t.Errorf("a frame that may not be read: %+v %v", got, err)
			}
		}
	}
	if _, err := l.Find(t.Context(), FindOptions{Text: "x", Readable: func(string) bool { return false }}); protocol.CodeOf(err) != protocol.NotSharedSite {
		t.Errorf("%v", err)
	}
}

func TestFormIsReadAsItIsToBeFilledIn(t *testing.T) {
	_, url := officeSite(t)
	l := browserFor(t).lease(t, url)
	all, err := l.ReadForm(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, "all forms", all.Text, `- form "order" [ref=`, ": POST /order", `textbox "E-mail" [ref=`, "name=email type=email [required]: a@b.example",
		"[secret] [filled]", "options: Norway | Peru | Atlantis [disabled]", ": Peru", "name=vat [not usable: disabled]", `checkbox "Gift" [ref=`, "[checked]",
		"type=contenteditable: as is", `submit: button "Order" [ref=`, "- fields of no form:", "suggestions: pears", `"Reply" [ref=f`)
	if strings.Contains(all.Text, "hunter2") || strings.Contains(all.Text, "t0ken") || all.Hidden != 1 || all.Fields != 8 {
		t.Errorf("%d fields, %d hidden:\n%s", all.Fields, all.Hidden, all.Text)
	}
	one, err := l.ReadForm(t.Context(), "label=E-mail", nil)
	if err != nil || one.Fields != 6 || strings.Contains(one.Text, "Search") {
		t.Errorf("by one of its fields: %+v %v", one, err)
	}
	if _, err := l.ReadForm(t.Context(), "e99999", nil); protocol.CodeOf(err) != protocol.StaleRef && protocol.CodeOf(err) != protocol.NotFound {
		t.Errorf("%v", err)
	}
}

func TestRequestsAreToldByTheDocumentThatAsked(t *testing.T) {
	s, url := officeSite(t)
	l := browserFor(t).lease(t, "about:blank")
	l.navigate(url, NetworkIdle)
	all, withheld := l.Requests(0, nil)
	var data, frame *Request
	for _, r := range all {
		switch {
		case strings.Contains(r.URL, "/data.json"):
			data = &r
		case strings.HasSuffix(r.URL, "/other"):
			frame = &r
		}
	}
	if data == nil || frame == nil || withheld != 0 || data.Status != 200 || !data.Done || data.Method != "GET" {
		t.Fatalf("%+v", all)
	}
	body, err := l.Body(t.Context(), data)
	if err != nil || string(body) != `{"title":"Office of data"}` {
		t.Errorf("%q %v", body, err)
	}
	if body, err := l.Body(t.Context(), frame); err != nil || !strings.Contains(string(body), "pears elsewhere") {
		t.Errorf("of a frame in another process: %q %v", body, err)
	}
	own := func(origin string) bool { return origin == s.at("a", "") }
	if _, err := l.Request(frame.Number, own); protocol.CodeOf(err) != protocol.NotSharedSite {
		t.Errorf("a frame's request: %v", err)
	}
	if got, withheld := l.Requests(data.Number-1, own); withheld == 0 && len(got) == len(all) {
		t.Errorf("nothing was withheld")
	}
	if _, err := l.Request(data.Number+100, nil); protocol.CodeOf(err) != protocol.NotFound {
		t.Errorf("%v", err)
	}
	if d := l.Document(); d.HTTPStatus != 200 || d.ContentType != "text/html" {
		t.Errorf("%+v", d)
	}
}

func TestRequestsKeptAreBounded(t *testing.T) {
	l := browserFor(t).lease(t, "about:blank")
	for range RequestsKept + 50 {
		l.heardSent("", &heardSent{Request: "r", Loader: "L", Frame: "F"})
	}
	if n := len(l.requests.all); n != RequestsKept || len(l.requests.open) != 1 || l.requests.last != RequestsKept+50 {
		t.Errorf("%d kept, %d open, %d seen", n, len(l.requests.open), l.requests.last)
	}
}

func TestConsoleIsReadWithoutStayingOn(t *testing.T) {
	s, url := officeSite(t)
	l := browserFor(t).lease(t, url)
	before := l.snapshot(SnapshotOptions{})
	own := func(origin string) bool { return origin == s.at("a", "") }
	for range 2 { // what was told is kept, and told again
		got, err := l.Console(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var text string
		for _, m := range got.Messages {
			text += m.Level + " " + m.Text + "\n"
		}
		wantIn(t, "console", text, "info hello 7 Object", "warning careful", "error Uncaught Error: went wrong", "error from the frame")
		if got, err := l.Console(t.Context(), own); err != nil || got.Withheld != 1 || len(got.Messages) != 3 {
			t.Errorf("a frame that may not be read: %+v %v", got, err)
		}
	}
	if after := l.snapshot(SnapshotOptions{}); after.Text != before.Text {
		t.Errorf("the engine is another:\n%s\n%s", before.Text, after.Text)
	}
	l.Tab.mu.Lock()
	defer l.Tab.mu.Unlock()
	if len(l.hearings) != 0 {
		t.Error("it is still listened to")
	}
}

func TestPDFShowsNothingThatMayNotBeRead(t *testing.T) {
	s, url := officeSite(t)
	l := browserFor(t).lease(t, url)
	got, err := l.PDF(t.Context(), nil)
	if err != nil || !strings.HasPrefix(string(got.Data), "%PDF-") {
		t.Fatalf("%v", err)
	}
	if _, err := l.PDF(t.Context(), func(origin string) bool { return origin == s.at("a", "") }); protocol.CodeOf(err) != protocol.NotSharedSite {
		t.Errorf("%v", err)
	}
}

func TestReadingIsWindowed(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Long</title><a href=/next>onwards</a>")
	for i := range 3000 {
		b.WriteString("<p>Paragraph with some words in it, and more of them ")
		if i == 2900 {
			b.WriteString("the Needle is here")
		}
		b.WriteString("</p>")
	}
	s := serve(t, map[string]string{"/": b.String()})
	l := browserFor(t).lease(t, s.at("a", "/"))
	first, err := l.Read(t.Context(), ReadOptions{CaptureChars: 2_000_000, Links: true})
	if err != nil || len(first.Text) > 20_000 || first.Next == 0 || first.Total < 150_000 || len(first.Links) != 1 || first.Captured != first.Total {
		t.Fatalf("%d characters, next %d of %d, %v", len(first.Text), first.Next, first.Total, err)
	}
	calls := l.count()
	whole, at := first.Text, first.Next
	for at != 0 {
		r, err := l.Read(t.Context(), ReadOptions{CacheKey: first.CacheKey, Start: at, MaxChars: 50_000})
		if err != nil || r.Start != at {
			t.Fatalf("%+v %v", r, err)
		}
		whole, at = whole+r.Text, r.Next
	}
	if len([]rune(whole)) != first.Total || strings.Count(whole, "Paragraph") != 3000 {
		t.Errorf("the windows make %d of %d characters", len([]rune(whole)), first.Total)
	}
	found, err := l.Read(t.Context(), ReadOptions{CacheKey: first.CacheKey, Search: "the needle"})
	if err != nil || found.Matches != 1 || !strings.Contains(found.Text, "the Needle is here") || len(found.Text) > 1000 {
		t.Errorf("%+v %v", found, err)
	}
	if n := l.count(); n != calls {
		t.Errorf("the page was asked %d more times", n-calls)
	}
	if _, err := l.Read(t.Context(), ReadOptions{CacheKey: "r999"}); protocol.CodeOf(err) != protocol.StaleRef {
		t.Errorf("%v", err)
	}
}

func TestWaitingForSeveralThings(t *testing.T) {
	s := serve(t, map[string]string{"/": `<!doctype html><title>W</title><p id=p>old news</p><button id=b disabled>Go</button>
<script>onmessage = null; setTimeout(() => { p.textContent = 'fresh bread'; b.disabled = false; history.pushState(0, '', '/done?x=1') }, 150)</script>`})
	l := browserFor(t).lease(t, s.at("a", "/"))
	for _, o := range []WaitOptions{
		{Text: "fresh bread"}, {TextGone: "old news"}, {Target: "#b", State: "enabled"}, {URL: "**/done?x=*"}, {URL: "/done"}, {LoadState: Load}, {Time: time.Millisecond},
		{Text: "fresh", TextGone: "old", Target: "#b", State: "visible", URL: "done", LoadState: DOMContentLoaded},
	} {
		if got, err := l.WaitFor(t.Context(), o); err != nil || !got.Met {
			t.Errorf("%+v: %+v %v", o, got, err)
		}
	}
	for _, o := range []WaitOptions{{Text: "never"}, {TextGone: "fresh bread"}, {Target: "#b", State: "hidden"}, {URL: "/nowhere"}} {
		o.Timeout = 500 * time.Millisecond
		if got, err := l.WaitFor(t.Context(), o); err != nil || got.Met || got.Missing == "" || got.LastSeen == "" {
			t.Errorf("%+v: %+v %v", o, got, err)
		}
	}
}

func TestSnapshotOfTenThousandLinks(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Links</title><h1>Index</h1><main id=m>")
	for i := range 10_000 {
		b.WriteString("<a href=/x>link ")
		b.WriteString(strings.Repeat("i", i%7))
		b.WriteString("</a> ")
	}
	s := serve(t, map[string]string{"/": b.String() + "</main><nav id=n><a href=/y>last</a></nav>"})
	l := browserFor(t).lease(t, s.at("a", "/"))
	snap := l.snapshot(SnapshotOptions{})
	if len(snap.Text) > 20_000 || snap.Next == "" || !strings.Contains(snap.Text, `heading "Index"`) {
		t.Errorf("%d characters, next %q", len(snap.Text), snap.Next)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(snap.Text, "\n"), "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "- ") {
			t.Errorf("a line was cut: %q", line)
		}
	}
	links, pages := strings.Count(snap.Text, "- link"), 1
	for next := snap.Next; next != ""; pages++ {
		more := l.snapshot(SnapshotOptions{Cursor: next, MaxChars: 200_000})
		links += strings.Count(more.Text, "- link")
		next = more.Next
	}
	if links < 10_001 || pages > 20 {
		t.Errorf("%d links in %d pages", links, pages)
	}
	if part := l.snapshot(SnapshotOptions{Target: "#n", Boxes: true}); !strings.Contains(part.Text, `link "last"`) || !strings.Contains(part.Text, "[box=") || strings.Contains(part.Text, "Index") {
		t.Errorf("%s", part.Text)
	}
	if flat := l.snapshot(SnapshotOptions{Depth: 1}); strings.Contains(flat.Text, "link") || flat.Next != "" {
		t.Errorf("%s", flat.Text)
	}
}

// count is how many commands were sent.
func (l *leased) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sent)
}
