package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/tabvalet/tabvalet/protocol"
)

// tree reads lines as they are drawn: two spaces a level; "|v" on screen, "|h" heading, "|f=K" a frame, "|o=N,I" left out.
func tree(text string) treeAnswer {
	a := treeAnswer{Capture: 1}
	for drawn := range strings.Lines(text) {
		drawn = strings.TrimSuffix(drawn, "\n")
		rest, marks, _ := strings.Cut(drawn, "|")
		l := line{Text: strings.TrimLeft(rest, " ")}
		l.Depth = (len(rest) - len(l.Text)) / 2
		l.Text = strings.TrimRight(l.Text, " ")
		for _, m := range strings.Fields(marks) {
			switch {
			case m == "v":
				l.OnScreen = 1
			case m == "h":
				l.Heading = 1
			case strings.HasPrefix(m, "f="):
				l.Frame = ptr(m[2:])
			default:
				fmt.Sscanf(m, "o=%d,%d", &l.Left, &l.Index)
			}
		}
		a.Lines = append(a.Lines, l)
		a.Chars += 2*l.Depth + len(l.Text) + 1
		a.Total++
	}
	return a
}

func stitch(parts map[string]treeAnswer, readable ...string) *stitching {
	s := &stitching{parts: map[string]*part{}, readable: map[string]bool{}}
	for id, tree := range parts {
		s.parts[id] = &part{place: place{frame: id}, tree: tree}
	}
	for _, id := range readable {
		s.readable[id] = true
	}
	s.frame("M", 0)
	return s
}

func TestFramesAreStitchedWhereTheyStand(t *testing.T) {
	failed := tree("- x")
	s := stitch(map[string]treeAnswer{
		"M":  tree("- heading \"Outer\"|h v\n- main:|h\n  - iframe \"A\" [ref=e3]|f=A v\n  - iframe \"B\"|f=B\n- iframe \"C\"|f=\n- iframe \"D\"|f=D\n- text: end\n"),
		"A":  tree("- button \"In\" [ref=f1e1]|v\n- list:\n  - iframe \"AA\"|f=AA\n"),
		"AA": tree("- text: deep\n"),
		"D":  failed,
	}, "M", "A", "AA", "D")
	s.parts["D"].err = errSilent
	s = func() *stitching { n := &stitching{parts: s.parts, readable: s.readable}; n.frame("M", 0); return n }()
	want := `- heading "Outer"
- main:
  - iframe "A" [ref=e3]:
    - button "In" [ref=f1e1]
    - list:
      - iframe "AA":
        - text: deep
  - iframe "B": frame (another site, not shared)
- iframe "C": the frame is still loading
- iframe "D": the frame cannot be read now
- text: end
`
	if diff := cmp.Diff(want, render(s.lines)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.withheld != 1 {
		t.Errorf("withheld: got %d", s.withheld)
	}
}

func TestBoundKeepsTheScreenThenTheOutline(t *testing.T) {
	var page strings.Builder
	page.WriteString("- banner:|h v\n  - link \"Home\"|v\n")
	for i := range 20 {
		fmt.Fprintf(&page, "- heading \"Part %d\"|h\n  - text: a long paragraph of part %d\n  - link \"More about %d\"\n", i, i, i)
	}
	s := stitch(map[string]treeAnswer{"M": tree(page.String())}, "M")
	for _, limit := range []int{100_000, 700, 300, 120, 60} {
		lines, left := bound(s.lines, limit)
		text := render(lines)
		if len(text) > limit && limit > 100 {
			t.Errorf("limit %d: got %d characters", limit, len(text))
		}
		if limit >= 120 && !strings.HasPrefix(text, "- banner:\n  - link \"Home\"\n") {
			t.Errorf("limit %d: what is on screen is left out:\n%s", limit, text)
		}
		if full := limit == 100_000; full != (len(left) == 0) || !full && !strings.HasSuffix(text, "more lines left out\n") {
			t.Errorf("limit %d: left %v, ends\n%s", limit, left, text)
		}
		for drawn := range strings.Lines(text) {
			if !strings.Contains(page.String(), strings.TrimSpace(drawn)) && !strings.HasPrefix(drawn, "- … ") {
				t.Errorf("limit %d: a line was cut: %q", limit, drawn)
			}
		}
	}
	lines, left := bound(s.lines, 700)
	if text := render(lines); !strings.Contains(text, "Part 19") || strings.Contains(text, "More about 19") || left[0].from <= 2 {
		t.Errorf("limit 700: the outline should stand before details, from the end (%v):\n%s", left, text)
	}
}

func TestBoundGoesOnWhereTheEngineLeftOut(t *testing.T) {
	s := stitch(map[string]treeAnswer{
		"M": tree("- a|v\n- … 5 lines left out|o=5,1\n- iframe|f=A\n- … 9 lines left out|o=9,7\n"),
		"A": tree("- b|v\n- … 3 lines left out|o=3,1\n"),
	}, "M", "A")
	_, left := bound(s.lines, 10_000)
	if diff := cmp.Diff([]window{{"M", 1}, {"A", 1}}, left, cmp.AllowUnexported(window{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCursorGoesThroughTheCaptureToItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		var all []line
		for i := range 50 {
			all = append(all, line{Text: fmt.Sprintf("- text: line %d", i)})
		}
		f.handle("snapshot", func(context.Context, jsontext.Value) (any, error) {
			head := append(all[:3:3], line{Text: "- … 47 lines left out", Left: 47, Index: 3})
			return treeAnswer{Lines: head, Capture: 9, Total: 50, Chars: 1000, Unbound: []string{}}, nil
		})
		f.handle("window", func(_ context.Context, args jsontext.Value) (any, error) {
			var a struct {
				Capture, From int
				MaxChars      int `json:"max_chars"`
			}
			json.Unmarshal(args, &a, json.MatchCaseInsensitiveNames(true))
			if a.Capture != 9 {
				return nil, protocol.Errorf(protocol.StaleRef, "not kept")
			}
			to := min(a.From+20, 50)
			w := windowAnswer{Lines: all[a.From:to]}
			if to < 50 {
				w.Next = to
			}
			return w, nil
		})
		text, cursor := "", ""
		for range 10 {
			s, err := tab.Snapshot(t.Context(), SnapshotOptions{Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			text += s.Text
			if cursor = s.Next; cursor == "" {
				break
			}
		}
		for i := range 50 {
			if n := strings.Count(text, fmt.Sprintf("line %d\n", i)); n != 1 {
				t.Errorf("line %d came %d times", i, n)
			}
		}
		if _, err := tab.Snapshot(t.Context(), SnapshotOptions{Cursor: "c99"}); protocol.CodeOf(err) != protocol.StaleRef {
			t.Errorf("an unknown cursor: got %v", err)
		}
	})
}

func TestReadingIsGivenInWindowsAndSearched(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		var page strings.Builder
		for i := range 200 {
			fmt.Fprintf(&page, "Zeile %03d über Größen 😀\n", i)
		}
		reads := 0
		f.handle("read", func(context.Context, jsontext.Value) (any, error) {
			reads++
			return readAnswer{Text: page.String()}, nil
		})
		var all string
		key := ""
		for start := 0; ; {
			r, err := tab.Read(t.Context(), ReadOptions{Start: start, MaxChars: 500, CaptureChars: 100_000, CacheKey: key})
			if err != nil {
				t.Fatal(err)
			}
			all, key, start = all+r.Text, r.CacheKey, r.Next
			if !strings.HasSuffix(r.Text, "\n") {
				t.Errorf("a window ends inside a line: %q", r.Text[max(0, len(r.Text)-20):])
			}
			if start == 0 {
				break
			}
		}
		if all != page.String() || reads != 1 {
			t.Errorf("the windows do not make the text (%d reads)", reads)
		}
		found, err := tab.Read(t.Context(), ReadOptions{CacheKey: key, Search: "ÜBER GRÖSSEN"})
		if err != nil || found.Matches != 0 {
			t.Errorf("ß is not SS here: got %d, %v", found.Matches, err)
		}
		found, err = tab.Read(t.Context(), ReadOptions{CacheKey: key, Search: "ZEILE 017 ÜBER"})
		if err != nil || found.Matches != 1 || !strings.Contains(found.Text, "Zeile 017 über") || len(found.Text) > 1500 {
			t.Errorf("searching: got %d %q, %v", found.Matches, found.Text, err)
		}
		if _, err := tab.Read(t.Context(), ReadOptions{CacheKey: "r99"}); protocol.CodeOf(err) != protocol.StaleRef {
			t.Errorf("an unknown key: got %v", err)
		}
	})
}

func TestFramesStandInTheText(t *testing.T) {
	r := &text{}
	at := func(at int, key string) struct {
		At  int    `json:"at"`
		Key string `json:"key"`
	} {
		return struct {
			At  int    `json:"at"`
			Key string `json:"key"`
		}{at, key}
	}
	outer := &readAnswer{Text: "é😀 before\n[frame \"A\"]\nbetween\n[frame \"B\"]\nafter"}
	outer.Frames = append(outer.Frames, at(11, "A"), at(31, "B"))
	got := r.join(map[string]*readAnswer{"M": outer, "A": {Text: "inside", Hidden: 2}}, "M", map[string]bool{"A": true})
	want := "é😀 before\n[frame \"A\"]\ninside\nbetween\n[frame \"B\"]\nframe (another site, not shared)\nafter"
	if diff := cmp.Diff(want, got); diff != "" || r.reading.Withheld != 1 || r.reading.HiddenText != 2 {
		t.Errorf("withheld %d, hidden %d (-want +got):\n%s", r.reading.Withheld, r.reading.HiddenText, diff)
	}
}
