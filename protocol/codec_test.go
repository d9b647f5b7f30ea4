package protocol_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

func TestEncodeKeepsTheLimits(t *testing.T) {
	deep := func(n int) jsontext.Value {
		return jsontext.Value(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	for name, result := range map[string]jsontext.Value{
		"too deep":  deep(protocol.MaxDepth - 1),
		"too large": jsontext.Value(`{"a":"` + strings.Repeat("x", protocol.MaxMessage) + `"}`),
	} {
		m := protocol.Message{ID: 1, Result: result}
		if _, err := m.Encode(); protocol.CodeOf(err) != protocol.TooLarge {
			t.Errorf("%s: got %v, want too_large", name, err)
		}
	}
	m := protocol.Message{ID: 1, Result: deep(protocol.MaxDepth - 2)}
	if _, err := m.Encode(); err != nil {
		t.Errorf("as deep as may be: %v", err)
	}
	for name, m := range map[string]protocol.Message{
		"a method in broken text": {ID: 1, Method: "\xff", Params: jsontext.Value("{}")},
		"params that are no JSON": {Method: "x", Params: jsontext.Value("{")},
		"an error in broken text": {ID: 1, Error: protocol.Errorf(protocol.Busy, "\xff")},
	} {
		if text, err := m.Encode(); err == nil {
			t.Errorf("%s was written: %s", name, text)
		}
	}
}

// What has been put together counts no more.
func TestJoinerIsNeverFull(t *testing.T) {
	var j protocol.Joiner
	data := strings.Repeat("x", protocol.ChunkSize)
	for i := range 2 * protocol.MaxMessage / protocol.ChunkSize {
		if _, err := j.Add(protocol.Chunk{ID: 1, Last: true, Data: data}); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
}

func TestJoinerIsBounded(t *testing.T) {
	var j protocol.Joiner
	data := strings.Repeat("x", 1<<20)
	for i := range 64 {
		if _, err := j.Add(protocol.Chunk{ID: int64(1 + i%16), Seq: i / 16, Data: data}); err != nil {
			t.Fatalf("piece %d of 1 MiB: %v", i, err)
		}
	}
	if _, err := j.Add(protocol.Chunk{ID: 1, Seq: 4, Data: "x"}); protocol.CodeOf(err) != protocol.TooLarge {
		t.Errorf("a byte over 64 MiB: got %v, want too_large", err)
	}
}

func TestErrorsAreToldByTheirCode(t *testing.T) {
	err := protocol.Errorf(protocol.Busy, "wait").With("hint", "later")
	if !err.Is(protocol.Errorf(protocol.Busy, "")) || err.Is(protocol.Errorf(protocol.Timeout, "")) {
		t.Error("Is goes by more, or by less, than the code")
	}
	if err.Hint() != "later" || protocol.Errorf(protocol.Busy, "").Hint() != protocol.Lookup(protocol.Busy).Hint {
		t.Error("the hint is not the nearest one")
	}
	for want, err := range map[protocol.Code]error{"": nil, protocol.Busy: err, protocol.Internal: strangers{}, "odd": coded{}} {
		if got := protocol.CodeOf(err); got != want {
			t.Errorf("CodeOf(%v) = %s, want %s", err, got, want)
		}
	}
}

type strangers struct{}

func (strangers) Error() string { return "x" }

type coded struct{ strangers }

func (coded) ErrorCode() string { return "odd" }
