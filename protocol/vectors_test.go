package protocol_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

var update = flag.Bool("update", false, "write the vectors that are made from Go")

// A vector is one row of a file in testdata/vectors; README.md there says what the members are in each file.
type vector struct {
	Comment  string         `json:"comment"`
	Expect   string         `json:"expect"`
	Wire     jsontext.Value `json:"wire"`
	Value    jsontext.Value `json:"value,omitzero"`
	Method   string         `json:"method,omitzero"`
	Part     string         `json:"part,omitzero"`
	Size     int            `json:"size,omitzero"`
	HostOnly bool           `json:"host_only,omitzero"`
}

// runVectors calls decode with each wire of a file and compares what comes out, or the code of the error.
func runVectors[W any](t *testing.T, name string, decode func(v vector, wire W) (any, error)) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	good, seen := 0, map[string]bool{}
	for _, v := range vectors {
		if seen[v.Comment] {
			t.Errorf("%s: two vectors are called %q", name, v.Comment)
		}
		seen[v.Comment] = true
		if v.Expect == "ok" {
			good++
		}
		t.Run(name+"/"+v.Comment, func(t *testing.T) {
			var wire W
			if err := json.Unmarshal(v.Wire, &wire); err != nil {
				t.Fatal(err)
			}
			got, err := decode(v, wire)
			if v.Expect != "ok" {
				if string(protocol.CodeOf(err)) != v.Expect {
					t.Errorf("got %v, %v, want %s", got, err, v.Expect)
				}
				if got != nil && !reflect.ValueOf(got).IsZero() {
					t.Errorf("an error left %v behind", got)
				}
				return
			}
			if err != nil {
				t.Fatalf("got %v, want no error", err)
			}
			if v.Value != nil {
				wantJSON(t, got, v.Value)
			}
		})
	}
	if bad := len(vectors) - good; good == 0 || bad < good {
		t.Errorf("%s: %d good vectors, %d bad; want at least as many bad", name, good, bad)
	}
}

// wantJSON compares as values: the spelling of JSON does not count.
func wantJSON(t *testing.T, got any, want jsontext.Value) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	a, b := jsontext.Value(text), want.Clone()
	if err := errors.Join(a.Canonicalize(), b.Canonicalize()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("got %s\nwant %s", a, b)
	}
}

// frameValue is a message as frames.json spells it.
type frameValue struct {
	Kind   string          `json:"kind"`
	ID     int64           `json:"id,omitzero"`
	Method string          `json:"method,omitzero"`
	Params jsontext.Value  `json:"params,omitzero"`
	Result jsontext.Value  `json:"result,omitzero"`
	Error  *protocol.Error `json:"error,omitzero"`
}

var kinds = map[protocol.Kind]string{protocol.Call: "call", protocol.Note: "note", protocol.Answer: "answer"}

func TestVectorsFrames(t *testing.T) {
	runVectors(t, "frames", func(_ vector, wire string) (any, error) {
		m, err := protocol.Decode([]byte(wire))
		if err != nil {
			return nil, err
		}
		text, err := m.Encode()
		if err != nil {
			return nil, err
		}
		again, err := protocol.Decode(text)
		if err != nil {
			return nil, err
		}
		return frameValue{kinds[again.Kind()], again.ID, again.Method, again.Params, again.Result, again.Error}, nil
	})
}

func TestVectorsMessages(t *testing.T) {
	covered := map[string]bool{}
	runVectors(t, "messages", func(v vector, wire string) (any, error) {
		row, ok := protocol.LookupMethod(v.Method)
		if !ok {
			return nil, fmt.Errorf("no method %s", v.Method)
		}
		part := row.Params
		if v.Part == "result" {
			part = row.Result
		}
		covered[v.Method+" "+v.Part] = true
		value := reflect.New(reflect.TypeOf(part))
		if err := protocol.Unmarshal([]byte(wire), value.Interface()); err != nil {
			return nil, err
		}
		return value.Elem().Interface(), nil
	})
	for _, m := range protocol.Methods {
		if !covered[m.Name+" params"] || (m.Result != nil && !covered[m.Name+" result"]) {
			t.Errorf("%s: no vector of its parameters, or of its result", m.Name)
		}
	}
}

func TestVectorsNative(t *testing.T) {
	runVectors(t, "native", func(_ vector, wire string) (any, error) {
		r, err := protocol.DecodeNativeRequest([]byte(wire))
		if err != nil {
			return nil, err
		}
		return r, nil
	})
}

func TestVectorsManual(t *testing.T) {
	runVectors(t, "manual", func(_ vector, wire string) (any, error) {
		profile, key, err := protocol.ParseManualCode(wire)
		if err != nil {
			if profile != "" || key != nil {
				t.Error("an error left something behind")
			}
			return nil, err
		}
		if again, _, err := protocol.ParseManualCode(protocol.ManualCode(profile, key)); err != nil || again != profile {
			t.Errorf("the code of it is not readable: %v", err)
		}
		return map[string]string{"profile": profile, "key": protocol.EncodeBytes(key)}, nil
	})
}

func TestVectorsBytes(t *testing.T) {
	runVectors(t, "bytes", func(v vector, wire string) (any, error) {
		b, ok := protocol.DecodeBytes(wire, v.Size)
		if !ok {
			return nil, protocol.Errorf(protocol.BadMessage, "not %d bytes", v.Size)
		}
		return hex.EncodeToString(b), nil
	})
}

func TestVectorsChunks(t *testing.T) {
	runVectors(t, "chunks", func(_ vector, wire []protocol.Chunk) (any, error) {
		var j protocol.Joiner
		var texts []string
		for _, c := range wire {
			text, err := j.Add(c)
			if err != nil {
				return nil, err
			}
			if text != nil {
				texts = append(texts, string(text))
			}
		}
		return texts, nil
	})
}

func TestVectorsURLs(t *testing.T) {
	runVectors(t, "urls", func(_ vector, wire string) (any, error) { return nil, protocol.CheckURL(wire) })
}

func TestVectorsCDPCheck(t *testing.T) {
	type command struct {
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
		Act    bool           `json:"act,omitzero"`
	}
	runVectors(t, "cdp_check", func(_ vector, wire command) (any, error) {
		kind, err := protocol.CheckCDP(wire.Method, wire.Params, wire.Act)
		if err != nil {
			return nil, err
		}
		return kind, nil
	})
}

// The proof, with numbers that both languages must come to.
func TestVectorsProof(t *testing.T) {
	seq := func(first byte, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = first + byte(i)
		}
		return b
	}
	type inputs struct {
		Key      string `json:"key"`
		Profile  string `json:"profile"`
		Origin   string `json:"origin"`
		Addr     string `json:"addr"`
		Instance string `json:"instance"`
		Offered  []int  `json:"offered"`
		Chosen   int    `json:"chosen"`
		NonceC   string `json:"nonce_c"`
		NonceS   string `json:"nonce_s"`
	}
	type outputs struct {
		Transcript  string `json:"transcript"` // hex
		ServerProof string `json:"server_proof"`
		ClientProof string `json:"client_proof"`
	}
	type row struct {
		Comment string  `json:"comment"`
		Expect  string  `json:"expect"`
		Wire    inputs  `json:"wire"`
		Value   outputs `json:"value"` // of the first row: only with its inputs
	}
	compute := func(in inputs) outputs {
		key, _ := protocol.DecodeBytes(in.Key, protocol.KeySize)
		nonceC, _ := protocol.DecodeBytes(in.NonceC, protocol.NonceSize)
		nonceS, _ := protocol.DecodeBytes(in.NonceS, protocol.NonceSize)
		h := protocol.Handshake{Profile: in.Profile, Origin: in.Origin, Addr: in.Addr, Instance: in.Instance,
			Offered: in.Offered, Chosen: in.Chosen, NonceC: nonceC, NonceS: nonceS}
		server := h.ServerProof(key)
		return outputs{hex.EncodeToString(h.Bytes()), protocol.EncodeBytes(server),
			protocol.EncodeBytes(h.ClientProof(key, server))}
	}
	base := inputs{Key: protocol.EncodeBytes(seq(0, 32)), Profile: protocol.EncodeBytes(seq(0x40, 16)),
		Origin: protocol.ExtensionOrigin, Addr: "127.0.0.1:47811", Instance: protocol.EncodeBytes(seq(0x60, 16)),
		Offered: []int{1}, Chosen: 1, NonceC: protocol.EncodeBytes(seq(0x80, 32)), NonceS: protocol.EncodeBytes(seq(0xa0, 32))}
	change := func(f func(*inputs)) inputs {
		in := base
		in.Offered = slices.Clone(base.Offered)
		f(&in)
		return in
	}
	rows := []row{{"the known answer", "ok", base, compute(base)}}
	other := change(func(in *inputs) { in.Offered, in.Chosen, in.Addr = []int{1, 2, 17}, 17, "127.0.0.1:1" })
	rows = append(rows, row{"several versions", "ok", other, compute(other)})
	for _, c := range []struct {
		comment string
		change  func(*inputs)
	}{
		{"another key", func(in *inputs) { in.Key = protocol.EncodeBytes(seq(1, 32)) }},
		{"another profile", func(in *inputs) { in.Profile = protocol.EncodeBytes(seq(0x41, 16)) }},
		{"another extension", func(in *inputs) { in.Origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop" }},
		{"an origin with a slash", func(in *inputs) { in.Origin += "/" }},
		{"another port", func(in *inputs) { in.Addr = "127.0.0.1:47812" }},
		{"localhost", func(in *inputs) { in.Addr = "localhost:47811" }},
		{"another instance", func(in *inputs) { in.Instance = protocol.EncodeBytes(seq(0x61, 16)) }},
		{"other versions offered", func(in *inputs) { in.Offered = []int{1, 2} }},
		{"another version chosen", func(in *inputs) { in.Chosen = 2 }},
		{"another nonce of the extension", func(in *inputs) { in.NonceC = in.NonceS }},
		{"another nonce of the host", func(in *inputs) { in.NonceS = in.NonceC }},
		{"nonces changed places", func(in *inputs) { in.NonceC, in.NonceS = in.NonceS, in.NonceC }},
	} {
		rows = append(rows, row{c.comment, "auth_failed", change(c.change), compute(base)})
	}
	for _, r := range rows[2:] {
		if got := compute(r.Wire); got.ServerProof == r.Value.ServerProof || got.ClientProof == r.Value.ClientProof {
			t.Errorf("%s: the proof does not cover it", r.Comment)
		}
	}
	if rows[0].Value.ServerProof == rows[0].Value.ClientProof {
		t.Error("a proof can be reflected")
	}
	golden(t, "proof", rows)
}

// The tables, as JavaScript compares them with its own.
func TestVectorsTables(t *testing.T) {
	golden(t, "cdp", protocol.CDPMethods)
	golden(t, "events", struct {
		Events  []protocol.EventRule `json:"events"`
		Headers []string             `json:"headers"`
		Text    int                  `json:"text"`
		Body    int                  `json:"body"`
		Args    int                  `json:"args"`
		Word    int                  `json:"word"`
	}{protocol.EventRules, protocol.EventHeaders, protocol.EventText, protocol.EventBody, protocol.EventArgs, protocol.EventWord})

	type code struct {
		Code  protocol.Code `json:"code"`
		Hint  string        `json:"hint"`
		Retry bool          `json:"retry"`
	}
	var codes []code
	for _, c := range protocol.Codes {
		codes = append(codes, code{c.Code, c.Hint, c.Retry})
	}
	golden(t, "codes", struct {
		Codes []code                               `json:"codes"`
		Close map[protocol.CloseCode]protocol.Code `json:"close"`
	}{codes, protocol.CloseCodes})

	type method struct {
		Name string `json:"name"`
		From string `json:"from"`
		Kind string `json:"kind"`
	}
	var methods []method
	for _, m := range protocol.Methods {
		methods = append(methods, method{m.Name, m.From.String(), kinds[m.Kind]})
	}
	golden(t, "methods", methods)
}

// golden compares with a file of vectors that is made from Go.
func golden(t *testing.T, name string, v any) {
	t.Helper()
	want, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	path := filepath.Join("testdata", "vectors", name+".json")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what Go makes it (%v): go test ./protocol -run Vectors -update", path, err)
	}
}

func TestTablesAreSound(t *testing.T) {
	seen := map[protocol.Code]bool{}
	for _, c := range protocol.Codes {
		if seen[c.Code] || c.Meaning == "" || !strings.HasSuffix(c.Meaning, ".") {
			t.Errorf("code %s: twice, or without a sentence", c.Code)
		}
		seen[c.Code] = true
	}
	for n, c := range protocol.CloseCodes {
		if !seen[c] {
			t.Errorf("close code %d: no code %s", n, c)
		}
	}
	order := []protocol.CDPKind{protocol.CDPRead, protocol.CDPAct, protocol.CDPCleanup}
	sorted := slices.IsSortedFunc(protocol.CDPMethods, func(a, b protocol.CDPMethod) int {
		if a.Kind != b.Kind {
			return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
		}
		return strings.Compare(a.Method, b.Method)
	})
	if !sorted {
		t.Error("the allow-list is not sorted by kind and method")
	}
	for _, m := range protocol.CDPMethods {
		for name := range m.Cleanup {
			if !m.Params[name].Required {
				t.Errorf("%s clears up by %s, which may be missing", m.Method, name)
			}
		}
	}
	if !slices.IsSortedFunc(protocol.EventRules, func(a, b protocol.EventRule) int { return strings.Compare(a.Method, b.Method) }) {
		t.Error("the forwarded events are not sorted")
	}
}
