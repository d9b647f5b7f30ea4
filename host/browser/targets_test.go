package browser

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

func TestParseRef(t *testing.T) {
	for target, want := range map[string][2]string{
		"e12": {"e12", ""}, "aria-ref=e12": {"e12", ""}, "f2e7": {"f2e7", "f2"}, "aria-ref=f10e7": {"f10e7", "f10"}, " e1 ": {"e1", ""},
	} {
		if ref, prefix, ok := parseRef(target); !ok || ref != want[0] || prefix != want[1] {
			t.Errorf("%q: got %q, %q, %v", target, ref, prefix, ok)
		}
	}
	for _, target := range []string{"", "e", "f2", "e1 e2", "fe1", "text=e1", "#e1", "e1.x", "E1", "ref=e1"} {
		if _, _, ok := parseRef(target); ok {
			t.Errorf("%q is taken for a ref", target)
		}
	}
}

func TestPickOverFrames(t *testing.T) {
	in := func(frame string, count int) resolution { return resolution{place: place{frame: frame}, count: count} }
	for _, tt := range []struct {
		name  string
		all   []resolution
		nth   int
		frame string
		n     int
		code  protocol.Code
	}{
		{"one", []resolution{in("M", 0), in("A", 1)}, 0, "A", 0, ""},
		{"none", []resolution{in("M", 0), in("A", 0)}, 0, "", 0, protocol.NotFound},
		{"two frames", []resolution{in("M", 1), in("A", 1)}, 0, "", 0, protocol.Ambiguous},
		{"two in one frame", []resolution{in("M", 0), in("A", 2)}, 0, "", 0, protocol.Ambiguous},
		{"first of two frames", []resolution{in("M", 1), in("A", 1)}, 1, "M", 0, ""},
		{"second of two frames", []resolution{in("M", 1), in("A", 1)}, 2, "A", 0, ""},
		{"second in the second frame", []resolution{in("M", 2), in("A", 3)}, 4, "A", 2, ""},
		{"one too many", []resolution{in("M", 1), in("A", 1)}, 3, "", 0, protocol.NotFound},
		{"a bad selector", []resolution{{err: protocol.Errorf(protocol.BadArgument, "no")}, in("A", 0)}, 0, "", 0, protocol.BadArgument},
		{"a frame that does not answer", []resolution{in("M", 1), {err: errSilent}}, 0, "M", 0, ""},
	} {
		at, n, err := pick(tt.all, tt.nth)
		if at.frame != tt.frame || n != tt.n || protocol.CodeOf(err) != tt.code {
			t.Errorf("%s: got %q, %d, %v", tt.name, at.frame, n, err)
		}
	}
}

func TestReadAfterALostLinkWaitsForTheFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tab, f := newFake(t)
		f.handle("Page.getFrameTree", func(context.Context, jsontext.Value) (any, error) {
			time.Sleep(framesLimit / 2)
			return jsontext.Value(`{"frameTree":{"frame":{"id":"M","loaderId":"L1","url":"https://shop.test/"}}}`), nil
		})
		go tab.Start(t.Context(), nil)
		synctest.Wait()
		tab.awaitFrames(t.Context())
		if _, err := tab.main(); err != nil {
			t.Error(err)
		}
	})
}

func TestMatchesURL(t *testing.T) {
	for _, tt := range []struct {
		pattern, address string
		want             bool
	}{
		{"/cart", "https://shop.test/cart?x=1", true}, {"/cart", "https://shop.test/", false},
		{"https://*.test/c*", "https://shop.test/cart", true}, {"**/cart", "https://shop.test/a/cart", true},
		{"*/cart", "https://shop.test/cart/", false}, {"*?x=1", "https://shop.test/?x=1", true}, {"*[1]", "https://shop.test/[1]", true},
	} {
		if got := matchesURL(tt.pattern, tt.address); got != tt.want {
			t.Errorf("%s of %s: got %v", tt.pattern, tt.address, got)
		}
	}
}

func TestCandidatesOfAnAmbiguousAnswer(t *testing.T) {
	err := protocol.Errorf(protocol.Ambiguous, "two").With("total", 7.0).With("candidates", []any{map[string]any{"ref": "e1", "role": "button", "name": "Go", "describe": `button "Go"`}, "odd"})
	total, found := candidates(err)
	if total != 7 || len(found) != 2 || found[0].Ref != "e1" || found[1].Ref != "" {
		t.Errorf("got %d, %+v", total, found)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for method := range decoders {
		f.Add(method, []byte(`{"frameId":"M","frame":{"id":"M"}}`))
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		tab := NewTab(&fakeChrome{}, 1, Options{})
		defer tab.Close()
		tab.frames.navigated("", commitOf("M", "", "L"))
		tab.Handle(protocol.Event{Method: method, Params: params})
		tab.Frames()
	})
}
