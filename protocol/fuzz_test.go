package protocol_test

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// seeds adds the wires of a file of vectors.
func seeds(f *testing.F, name string) {
	f.Helper()
	data, err := os.ReadFile("testdata/vectors/" + name + ".json")
	if err != nil {
		f.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		f.Fatal(err)
	}
	for _, v := range vectors {
		var wire string
		if err := json.Unmarshal(v.Wire, &wire); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(wire))
	}
}

// An error leaves nothing behind; what is read is written as the same message, within the limits.
func FuzzDecode(f *testing.F) {
	seeds(f, "frames")
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := protocol.Decode(data)
		if err != nil {
			if code := protocol.CodeOf(err); code != protocol.BadMessage && code != protocol.TooLarge {
				t.Fatalf("an error without its code: %v", err)
			}
			if !reflect.DeepEqual(m, protocol.Message{}) {
				t.Fatalf("an error left %+v behind", m)
			}
			return
		}
		if depth(data) > protocol.MaxDepth {
			t.Fatalf("%d deep", depth(data))
		}
		text, err := m.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := protocol.Decode(text)
		if err != nil || again.ID != m.ID || again.Method != m.Method || again.Kind() != m.Kind() ||
			!sameJSON(again.Params, m.Params) || !sameJSON(again.Result, m.Result) {
			t.Fatalf("read %+v, then %+v, %v", m, again, err)
		}
	})
}

// depth counts as the parser does.
func depth(data []byte) int {
	dec, deepest := jsontext.NewDecoder(bytes.NewReader(data)), 0
	for {
		if _, err := dec.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, dec.StackDepth())
	}
}

func sameJSON(a, b jsontext.Value) bool {
	a, b = a.Clone(), b.Clone()
	return (len(a) == 0 && len(b) == 0) || (a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b))
}

// What a struct takes it writes again with the same meaning: no member is lost, doubled or made up.
func FuzzUnmarshal(f *testing.F) {
	seeds(f, "messages")
	seeds(f, "native")
	types := []any{protocol.NativeRequest{}}
	for _, m := range protocol.Methods {
		types = append(types, m.Params)
		if m.Result != nil {
			types = append(types, m.Result)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, typ := range types {
			value := reflect.New(reflect.TypeOf(typ))
			if protocol.Unmarshal(data, value.Interface()) != nil {
				continue
			}
			text, err := protocol.Marshal(value.Interface())
			if err != nil {
				t.Fatalf("%T: %v", typ, err)
			}
			again := reflect.New(reflect.TypeOf(typ))
			if err := protocol.Unmarshal(text, again.Interface()); err != nil {
				t.Fatalf("%T: %s became %s: %v", typ, data, text, err)
			}
			if !reflect.DeepEqual(again.Interface(), value.Interface()) && !strings.Contains(string(data), `"params"`) &&
				!strings.Contains(string(data), `"row"`) {
				t.Fatalf("%T: %s became %s", typ, data, text)
			}
		}
	})
}

func FuzzManualCode(f *testing.F) {
	seeds(f, "manual")
	f.Fuzz(func(t *testing.T, data []byte) {
		profile, key, err := protocol.ParseManualCode(string(data))
		if err != nil {
			if profile != "" || key != nil {
				t.Fatal("an error left something behind")
			}
			return
		}
		if p, k, err := protocol.ParseManualCode(protocol.ManualCode(profile, key)); err != nil || p != profile || !bytes.Equal(k, key) {
			t.Fatalf("read %s, then %s, %v", profile, p, err)
		}
	})
}

// Whatever order pieces come in, nothing is put together that was not sent so.
func FuzzJoiner(f *testing.F) {
	f.Add([]byte{1, 0, 0, 1, 1, 1}, "ab")
	f.Add([]byte{1, 0, 0, 2, 0, 1, 1, 2, 1}, "xyz")
	f.Fuzz(func(t *testing.T, script []byte, data string) {
		var j protocol.Joiner
		sent := map[int64]string{}
		for len(script) >= 3 {
			c := protocol.Chunk{ID: int64(script[0]), Seq: int(script[1]), Last: script[2]%2 == 1, Data: data}
			script = script[3:]
			text, err := j.Add(c)
			if err != nil {
				return
			}
			sent[c.ID] += data
			if c.Last {
				if string(text) != sent[c.ID] {
					t.Fatalf("got %q, want %q", text, sent[c.ID])
				}
				delete(sent, c.ID)
			} else if text != nil {
				t.Fatalf("%q came before its last piece", text)
			}
		}
	})
}

// What is split is joined again, in pieces that fit their frames.
func FuzzSplit(f *testing.F) {
	f.Add("x", uint16(1))
	f.Add("\"\\", uint16(20000))
	f.Add("é😀", uint16(60000))
	f.Add("\x00", uint16(60000))
	f.Fuzz(func(t *testing.T, text string, times uint16) {
		text = strings.ToValidUTF8(text, "")
		if len(text) == 0 || len(text) > 64 {
			return
		}
		quoted, err := json.Marshal(strings.Repeat(text, int(times)+1)) // what is split is JSON
		if err != nil {
			t.Fatal(err)
		}
		text = string(quoted)
		var j protocol.Joiner
		for i, c := range protocol.Split(1, []byte(text)) {
			params, err := protocol.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			m := protocol.Message{Method: protocol.MethodChunk, Params: params}
			if frame, err := m.Encode(); err != nil || len(frame) > protocol.MaxFrame {
				t.Fatalf("piece %d: a frame of %d bytes, %v", i, len(frame), err)
			}
			whole, err := j.Add(c)
			if err != nil || (whole != nil) != c.Last {
				t.Fatalf("piece %d: %v", i, err)
			}
			if c.Last && string(whole) != text {
				t.Fatal("it came back as another text")
			}
		}
	})
}

func FuzzCheckCDP(f *testing.F) {
	for _, m := range protocol.CDPMethods {
		f.Add(m.Method, `{"type":"keyUp","url":"https://a.example/","enabled":false}`, true)
	}
	f.Fuzz(func(t *testing.T, method, params string, act bool) {
		kind, err := protocol.CheckCDP(method, jsontext.Value(params), act)
		if (err == nil) == (kind == "") {
			t.Fatalf("kind %q with %v", kind, err)
		}
	})
}
