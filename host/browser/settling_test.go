package browser

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every event in every phase of the main frame's navigation: what phase it is in afterwards, "-" for no navigation.
const transitions = `
                    | none      requested started   arrived   ready     over
asked here          | requested requested started   requested requested requested
asked for a tab     | -         requested started   arrived   ready     over
asked, mailto       | -         requested started   arrived   ready     over
started             | started   started   started   arrived   ready     over
started again       | started   started   started   started   started   started
started, same doc   | -         requested started   arrived   ready     over
paused              | started   started   started   arrived   ready     over
document sent       | started   started   started   arrived   ready     over
answered            | -         requested started   arrived   ready     over
aborted             | -         requested over      arrived   ready     over
refused connection  | -         requested started   arrived   ready     over
committed           | arrived   arrived   arrived   arrived   arrived   arrived
committed another   | arrived   arrived   arrived   arrived   arrived   arrived
committed error     | over      over      over      over      over      over
restored            | ready     ready     ready     ready     ready     ready
address changed     | over      over      started   over      over      over
parsed              | -         requested ready     ready     ready     over
loaded              | -         requested ready     ready     ready     over
idle                | -         requested started   arrived   ready     over
other frame started | -         requested started   arrived   ready     over
other frame commits | -         requested started   arrived   ready     over
download begins     | -         over      over      arrived   ready     over
frame removed       | -         over      over      arrived   ready     over
frame swapped       | -         requested started   arrived   ready     over
crashed             | -         requested started   arrived   ready     over
noted refused       | over      over      over      over      over      over
`

func TestSettlingEveryEventInEveryPhase(t *testing.T) {
	events := map[string]any{
		"asked here":          requestedNavigation{Frame: "M", URL: "https://a/2", Disposition: "currentTab"},
		"asked for a tab":     requestedNavigation{Frame: "M", URL: "https://a/2", Disposition: "newTab"},
		"asked, mailto":       requestedNavigation{Frame: "M", URL: "mailto:a", Disposition: "currentTab"},
		"started":             startedNavigating{Frame: "M", Loader: "L1", Type: "differentDocument"},
		"started again":       startedNavigating{Frame: "M", Loader: "L2", Type: "differentDocument"},
		"started, same doc":   startedNavigating{Frame: "M", Loader: "L2", Type: "sameDocument"},
		"paused":              requestPaused{Frame: "M", Loader: "L1"},
		"document sent":       requestSent{Request: "L1", Loader: "L1", Frame: "M", Type: "Document"},
		"answered":            responseReceived{Request: "L1"},
		"aborted":             loadingFailed{Request: "L1", Error: "net::ERR_ABORTED"},
		"refused connection":  loadingFailed{Request: "L1", Error: "net::ERR_CONNECTION_REFUSED"},
		"committed":           frameNavigated{Frame: frameInfo{ID: "M", Loader: "L1"}},
		"committed another":   frameNavigated{Frame: frameInfo{ID: "M", Loader: "L2"}},
		"committed error":     frameNavigated{Frame: frameInfo{ID: "M", Loader: "L1", Unreachable: "https://a/"}},
		"restored":            frameNavigated{Frame: frameInfo{ID: "M", Loader: "L0"}, Type: "BackForwardCacheRestore"},
		"address changed":     navigatedWithin{Frame: "M", URL: "https://a/#x"},
		"parsed":              lifecycle{Frame: "M", Loader: "L1", Name: "DOMContentLoaded"},
		"loaded":              lifecycle{Frame: "M", Loader: "L1", Name: "load"},
		"idle":                lifecycle{Frame: "M", Loader: "L1", Name: "networkIdle"},
		"other frame started": startedNavigating{Frame: "X", Loader: "L9", Type: "differentDocument"},
		"other frame commits": frameNavigated{Frame: frameInfo{ID: "X", Loader: "L9"}},
		"download begins":     downloadBegins{Frame: "M"},
		"frame removed":       frameDetached{Frame: "M", Reason: "remove"},
		"frame swapped":       frameDetached{Frame: "M", Reason: "swap"},
		"crashed":             targetCrashed{},
	}
	rows := strings.Split(strings.TrimSpace(transitions), "\n")
	_, head, _ := strings.Cut(rows[0], "|")
	from := strings.Fields(head)
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		name, want, _ := strings.Cut(row, "|")
		name = strings.TrimSpace(name)
		seen[name] = true
		for i, w := range strings.Fields(want) {
			s := newSettling("M", "M")
			if from[i] != "none" {
				s.moves["M"] = &move{frame: "M", loader: "L1", phase: phase(from[i])}
				if from[i] == "requested" {
					s.moves["M"].loader = ""
				}
			}
			if name == "noted refused" {
				s.note("", Refused, "https://b/")
			} else {
				s.observe("", events[name])
			}
			got := "-"
			if m := s.last(); m != nil {
				got = string(m.phase)
			}
			if got != w {
				t.Errorf("%s while %s: got %s, want %s", name, from[i], got, w)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if !seen[name] {
			t.Errorf("%s stands in no row", name)
		}
	}
}

func TestSettlingStages(t *testing.T) {
	start := startedNavigating{Frame: "M", Loader: "L", URL: "https://a/", Type: "differentDocument"}
	commit := frameNavigated{Frame: frameInfo{ID: "M", Loader: "L", URL: "https://a/"}}
	parsed := lifecycle{Frame: "M", Loader: "L", Name: "DOMContentLoaded"}
	loaded := lifecycle{Frame: "M", Loader: "L", Name: "load"}
	fetch := requestSent{Request: "r1", Frame: "M", Type: "Fetch"}
	for _, tt := range []struct {
		name      string
		events    []any
		until     LoadState
		commanded bool
		want      stage
	}{
		{"nothing", nil, "", false, still},
		{"commanded and nothing", nil, "", true, expecting},
		{"asked", []any{requestedNavigation{Frame: "M", URL: "https://a/", Disposition: "currentTab"}}, "", false, asking},
		{"started", []any{start}, "", false, moving},
		{"committed", []any{start, commit}, "", false, moving},
		{"committed is enough", []any{start, commit}, Commit, true, settled},
		{"parsed", []any{start, commit, parsed}, "", false, settled},
		{"parsed, load wanted", []any{start, commit, parsed}, Load, true, moving},
		{"loaded", []any{start, commit, parsed, loaded}, Load, true, settled},
		{"loaded, idle wanted", []any{start, commit, loaded}, NetworkIdle, true, moving},
		{"address changed", []any{navigatedWithin{Frame: "M"}}, "", false, still},
		{"address changed as commanded", []any{navigatedWithin{Frame: "M"}}, "", true, settled},
		{"fetching", []any{fetch}, "", false, fetching},
		{"fetched", []any{fetch, loadingFinished{Request: "r1"}}, "", false, still},
		{"fetch failed", []any{fetch, loadingFailed{Request: "r1"}}, "", false, still},
		{"fetching in a page that goes", []any{fetch, start, commit, parsed}, "", false, settled},
		{"fetching in a frame that goes", []any{requestSent{Request: "r", Frame: "X", Type: "XHR"}, frameDetached{Frame: "X", Reason: "remove"}}, "", false, still},
		{"a picture", []any{requestSent{Request: "r1", Frame: "M", Type: "Image"}}, "", false, still},
		{"a stream", []any{requestSent{Request: "r1", Frame: "M", Type: "EventSource"}}, "", false, still},
		{"a frame loads", []any{requestSent{Request: "L9", Loader: "L9", Frame: "X", Type: "Document"}}, "", false, fetching},
		{"another frame starts", []any{startedNavigating{Frame: "X", Loader: "L9", Type: "differentDocument"}}, "", false, still},
		{"crashed", []any{start, targetCrashed{}}, "", true, cut},
		{"a frame's process crashed", []any{start}, "", true, moving},
	} {
		s := newSettling("M", "M")
		s.counting = true
		for _, e := range tt.events {
			s.observe("", e)
		}
		if got := s.stage(tt.until, tt.commanded); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSettlingCountsNoRequestFromBeforeTheAct(t *testing.T) {
	s := newSettling("M", "M")
	s.observe("", requestSent{Request: "r1", Frame: "M", Type: "Fetch"})
	if got := s.stage("", false); got != still {
		t.Errorf("got %s", got)
	}
}

func TestSettlingTellsOfTheMainFrameFirst(t *testing.T) {
	s := newSettling("M", "X")
	s.observe("c", startedNavigating{Frame: "X", Loader: "LX", Type: "differentDocument"})
	if m := s.last(); m == nil || m.frame != "X" {
		t.Errorf("the act's own frame moves: got %+v", m)
	}
	s.observe("", startedNavigating{Frame: "M", Loader: "LM", Type: "differentDocument"})
	s.observe("", responseReceived{Request: "LM", Response: struct {
		Status   int    `json:"status"`
		MimeType string `json:"mimeType"`
	}{404, "text/html"}})
	if m := s.last(); m == nil || m.frame != "M" || m.status != 404 {
		t.Errorf("the main frame moves too: got %+v", m)
	}
}

func TestSettlingForgetsTheEmptyPage(t *testing.T) {
	s := newSettling("M", "M")
	s.observe("", startedNavigating{Frame: "M", Loader: "L1", Type: "differentDocument"})
	s.forget("L1")
	s.observe("", lifecycle{Frame: "M", Loader: "L1", Name: "load"})
	if got := s.stage("", true); got != expecting {
		t.Errorf("on the empty page: got %s", got)
	}
}

func TestFurther(t *testing.T) {
	order := []LoadState{"", Commit, DOMContentLoaded, Load, NetworkIdle}
	for i, a := range order {
		for j, b := range order {
			if got := further(a, b); got != order[max(i, j)] {
				t.Errorf("further(%q, %q): got %q", a, b, got)
			}
		}
	}
}

// treeText draws the frames for a comparison.
func treeText(f *frames) string {
	var b strings.Builder
	for _, n := range f.list() {
		loader := "-"
		if n.doc != nil {
			loader = n.doc.Loader
		}
		fmt.Fprintf(&b, "%s<%s %s@%s\n", n.id, n.parent, loader, n.session)
	}
	return b.String()
}

func commitOf(id, parent, loader string) frameNavigated {
	return frameNavigated{Frame: frameInfo{ID: id, Parent: parent, Loader: loader, URL: "https://" + strings.ToLower(loader) + ".test/"}}
}

func attachedTo(session, target string) targetAttached {
	e := targetAttached{Session: session}
	e.Info.Target, e.Info.Type = target, "iframe"
	return e
}

func TestFrameTree(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps func(f *frames)
		want  string
	}{
		{"children", func(f *frames) {
			f.attached("", frameAttached{"A", "M"})
			f.navigated("", commitOf("A", "M", "LA"))
			f.attached("", frameAttached{"B", "M"})
		}, "M< LM@\nA<M LA@\nB<M -@\n"},
		{"a child that goes", func(f *frames) {
			f.attached("", frameAttached{"A", "M"})
			f.attached("", frameAttached{"B", "A"})
			f.detached("", frameDetached{"A", "remove"})
		}, "M< LM@\n"},
		{"the main frame navigates", func(f *frames) {
			f.attached("", frameAttached{"A", "M"})
			f.navigated("", commitOf("M", "", "LN"))
		}, "M< LN@\n"},
		{"a child moves to another process", func(f *frames) {
			f.attached("", frameAttached{"A", "M"})
			f.attached("", frameAttached{"B", "A"})
			f.detached("", frameDetached{"A", "swap"})
			f.childAttached(attachedTo("S", "A"))
			f.navigated("S", commitOf("A", "M", "LA"))
		}, "M< LM@\nA<M LA@S\n"},
		{"its session is heard of before the swap", func(f *frames) {
			f.attached("", frameAttached{"A", "M"})
			f.childAttached(attachedTo("S", "A"))
			f.navigated("S", commitOf("A", "M", "LA"))
			f.detached("", frameDetached{"A", "swap"})
		}, "M< LM@\nA<M LA@S\n"},
		{"it comes back", func(f *frames) {
			f.childAttached(attachedTo("S", "A"))
			f.navigated("S", commitOf("A", "M", "LA"))
			f.attached("", frameAttached{"A", "M"})
			f.navigated("", commitOf("A", "M", "LB"))
			f.childDetached(targetDetached{"S"})
		}, "M< LM@\nA<M LB@\n"},
		{"its session ends", func(f *frames) {
			f.childAttached(attachedTo("S", "A"))
			f.navigated("S", commitOf("A", "M", "LA"))
			f.childAttached(attachedTo("T", "B"))
			f.navigated("T", commitOf("B", "A", "LB"))
			f.childDetached(targetDetached{"S"})
		}, "M< LM@\n"},
		{"nested sessions in any order", func(f *frames) {
			f.tree("T", f.seq, frameTree{Frame: frameInfo{ID: "B", Parent: "A", Loader: "LB"}})
			f.tree("S", f.seq, frameTree{Frame: frameInfo{ID: "A", Parent: "M", Loader: "LA"}})
		}, "M< LM@\nA<M LA@S\nB<A LB@T\n"},
		{"a tree that is older than a commit", func(f *frames) {
			since := f.seq
			f.navigated("", commitOf("M", "", "LN"))
			f.tree("", since, frameTree{Frame: frameInfo{ID: "M", Loader: "LM"}, Children: []frameTree{{Frame: frameInfo{ID: "A", Loader: "LA"}}}})
		}, "M< LN@\n"},
		{"a tree that is newer", func(f *frames) {
			f.tree("", f.seq, frameTree{Frame: frameInfo{ID: "M", Loader: "LN"}, Children: []frameTree{{Frame: frameInfo{ID: "A", Loader: "LA"}}}})
		}, "M< LN@\nA<M LA@\n"},
		{"a process crashes", func(f *frames) {
			f.childAttached(attachedTo("S", "A"))
			f.navigated("S", commitOf("A", "M", "LA"))
			f.crashed("S")
		}, "M< LM@\nA<M -@S\n"},
		{"a document reports an old life", func(f *frames) {
			f.navigated("", commitOf("M", "", "LN"))
			f.lived(lifecycle{Frame: "M", Loader: "LM", Name: "load"})
		}, "M< LN@\n"},
	} {
		f := newFrames()
		f.navigated("", commitOf("M", "", "LM"))
		tt.steps(&f)
		if diff := cmp.Diff(tt.want, treeText(&f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDocumentsGrowAndEnd(t *testing.T) {
	f := newFrames()
	first := f.navigated("", commitOf("M", "", "L1"))
	if again := f.navigated("", commitOf("M", "", "L1")); again != first {
		t.Error("the same loader made another document")
	}
	f.lived(lifecycle{Frame: "M", Loader: "L1", Name: "DOMContentLoaded"})
	if first.Ready != Interactive {
		t.Errorf("parsed: got %s", first.Ready)
	}
	second := f.navigated("", commitOf("M", "", "L2"))
	if second.Seq <= first.Seq || !first.gone || second.gone || len(f.ended) != 1 {
		t.Errorf("the next document: got %+v after %+v, ended %v", second.Document, first.Document, f.ended)
	}
	back := f.navigated("", frameNavigated{Frame: frameInfo{ID: "M", Loader: "L1"}, Type: "BackForwardCacheRestore"})
	if back == first || back.Seq <= second.Seq || back.Ready != Complete {
		t.Errorf("out of the cache: got %+v", back.Document)
	}
}

func TestReadOriginOfInlineContentIsItsParents(t *testing.T) {
	f := newFrames()
	f.navigated("", frameNavigated{Frame: frameInfo{ID: "M", Loader: "L", URL: "https://bank.test/x"}})
	for id, tt := range map[string]struct{ url, want string }{
		"A": {"about:srcdoc", "https://bank.test"}, "B": {"about:blank", "https://bank.test"}, "C": {"data:text/html,x", "https://bank.test"},
		"D": {"https://ads.test:443/", "https://ads.test"}, "E": {"http://ads.test:80/", "http://ads.test"}, "F": {"blob:https://ads.test/1", "https://ads.test"},
		"G": {"file:///etc/passwd", "null"}, "H": {"https://ADS.test:8443/", "https://ads.test:8443"},
	} {
		f.navigated("", frameNavigated{Frame: frameInfo{ID: id, Parent: "M", Loader: id, URL: tt.url}})
		if got := f.readOrigin(f.nodes[id]); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.url, got, tt.want)
		}
	}
}
