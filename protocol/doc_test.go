package protocol_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/protocol"
)

const document = "../PROTOCOL.md"

// Every table of PROTOCOL.md is made from Go: go test ./protocol -run Document -update.
func TestDocumentTables(t *testing.T) {
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	tables := map[string]string{"limits": limitsTable(), "messages": messagesTable(), "codes": codesTable(),
		"close": closeTable(), "cdp": cdpTable(), "events": eventsTable(), "proof": proofTable(t)}
	for name, want := range tables {
		before, rest, ok := strings.Cut(text, "<!-- table: "+name+" -->\n")
		got, after, ok2 := strings.Cut(rest, "<!-- end -->\n")
		if !ok || !ok2 {
			t.Errorf("PROTOCOL.md has no place for the table of %s", name)
			continue
		}
		if got != want && !*update {
			t.Errorf("the table of %s is not what Go makes it: go test ./protocol -run Document -update", name)
		}
		text = before + "<!-- table: " + name + " -->\n" + want + "<!-- end -->\n" + after
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func table(head string, rows []string) string {
	columns := strings.Count(head, "|") - 1
	return head + "\n|" + strings.Repeat("---|", columns) + "\n" + strings.Join(rows, "\n") + "\n"
}

func limitsTable() string {
	size := func(n int) string {
		if n%(1<<20) == 0 {
			return fmt.Sprintf("%d MiB", n>>20)
		}
		if n%(1<<10) == 0 {
			return fmt.Sprintf("%d KiB", n>>10)
		}
		return fmt.Sprint(n)
	}
	var rows []string
	for _, l := range []struct {
		what  string
		value any
	}{
		{"a frame before *proved*, and a native message", protocol.MaxHandshakeFrame},
		{"a frame", protocol.MaxFrame},
		{"a message in pieces, and all that are unfinished", protocol.MaxMessage},
		{"depth of nesting, the frame's own braces included", fmt.Sprint(protocol.MaxDepth)},
		{"unanswered calls, each direction", fmt.Sprint(protocol.MaxInFlight)},
		{"messages in pieces at once", "16"},
		{"sockets that have not proved themselves", fmt.Sprint(protocol.MaxUnproved)},
		{"time for HTTP headers", protocol.HeaderTimeout},
		{"time for each step of the handshake", protocol.HandshakeTimeout},
		{"heartbeat", protocol.Heartbeat},
		{"silence after which a peer is gone", protocol.DeadAfter},
		{"time to answer a probe", protocol.ProbeTimeout},
		{"time for a verdict", protocol.VerdictTimeout},
		{"from the owner's stop to the last command", protocol.StopLimit},
		{"reconnecting after", fmt.Sprintf("%v, doubling to %v", protocol.ReconnectMin, protocol.ReconnectMax)},
		{"life of a pairing window and of a manual code", protocol.PairingWindow},
		{"life of an approval", protocol.ApprovalLife},
	} {
		value := fmt.Sprint(l.value)
		switch v := l.value.(type) {
		case int:
			value = size(v)
		case time.Duration:
			value = strings.TrimSuffix(v.String(), "0s")
			if v < time.Minute {
				value = v.String()
			}
		}
		rows = append(rows, fmt.Sprintf("| %s | %s |", l.what, value))
	}
	return table("| limit | |", rows)
}

func messagesTable() string {
	var rows []string
	shape := func(v any) string {
		if v == nil {
			return ""
		}
		return reflect.TypeOf(v).Name()
	}
	for _, m := range protocol.Methods {
		result := shape(m.Result)
		switch {
		case m.Kind == protocol.Note:
			result = "–"
		case result == "":
			result = "Chrome's"
		}
		rows = append(rows, fmt.Sprintf("| [`%s`](#%s) | %s | %s | %s | %s | %s |", m.Name,
			strings.ReplaceAll(m.Name, ".", ""), m.From, kinds[m.Kind], m.State, shape(m.Params), result))
	}
	return table("| message | from | kind | state | parameters | reply |", rows)
}

func codesTable() string {
	var rows []string
	for _, c := range protocol.Codes {
		retry := ""
		if c.Retry {
			retry = "yes"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", c.Code, c.Meaning, c.Hint, retry))
	}
	return table("| code | meaning | what to do | retry |", rows)
}

func closeTable() string {
	var rows []string
	for _, n := range slices.Sorted(maps.Keys(protocol.CloseCodes)) {
		code := protocol.CloseCodes[n]
		rows = append(rows, fmt.Sprintf("| %d | `%s` | %s |", n, code, protocol.Lookup(code).Meaning))
	}
	return table("| close | code | meaning |", rows)
}

func cdpTable() string {
	var rows []string
	for _, m := range protocol.CDPMethods {
		var params []string
		for _, name := range slices.Sorted(maps.Keys(m.Params)) {
			r := m.Params[name]
			p := name
			if r.Required {
				p += "!"
			}
			if r.Max != 0 {
				p += fmt.Sprintf(" ≤ %d", r.Max)
			}
			if r.Values != nil {
				p += " = " + strings.Join(r.Values, ", ")
			}
			if r.URL {
				p += " url"
			}
			params = append(params, p)
		}
		text := strings.Join(params, "; ")
		if m.AnyOf != nil {
			text += " (one of " + strings.Join(m.AnyOf, ", ") + ")"
		}
		clears := ""
		for name, values := range m.Cleanup {
			clears = strings.Trim(strings.ReplaceAll(fmt.Sprint(name, " = ", values), " = [", " = "), "]")
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", m.Method, m.Kind, text, clears))
	}
	return table("| command | kind | parameters | clears up |", rows)
}

func eventsTable() string {
	var rows []string
	for _, e := range protocol.EventRules {
		where := ""
		for name, values := range e.Where {
			where = name + " is " + strings.Join(values, ", ")
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", e.Method, strings.Join(e.Keep, ", "), where))
	}
	return table("| event | kept | only if |", rows)
}

func proofTable(t *testing.T) string {
	data, err := os.ReadFile("testdata/vectors/proof.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Value map[string]string `json:"value"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	v := rows[0].Value
	return fmt.Sprintf("```\nproof_s  %s\nproof_c  %s\n```\n", v["server_proof"], v["client_proof"])
}

var (
	sections = regexp.MustCompile("(?m)^### `([a-z_.]+)`\n")
	blocks   = regexp.MustCompile("(?s)```json\n(.*?)```\n")
)

// Every message has its section, which names each of its members and all that it must say.
func TestDocumentSections(t *testing.T) {
	text := readDocument(t)
	found := sections.FindAllStringSubmatchIndex(text, -1)
	bodies := map[string]string{}
	var names []string
	for _, at := range found {
		name, body := text[at[2]:at[3]], text[at[1]:]
		names = append(names, name)
		body = body[:regexp.MustCompile("(?m)^##").FindStringIndex(body)[0]]
		bodies[name] = body
	}
	for _, name := range names {
		body := bodies[name]
		m, ok := protocol.LookupMethod(name)
		if !ok {
			t.Errorf("%s: no such message", name)
			continue
		}
		for _, word := range []string{"**Requires**", "**Fields**", "**Reply**", "**Errors**", "**Example**"} {
			if strings.Count(body, word) != 1 {
				t.Errorf("%s: %s is missing, or there twice", name, word)
			}
		}
		prose, _, _ := strings.Cut(strings.Join(strings.Fields(body), " "), "**Example**")
		for _, other := range regexp.MustCompile("as in `([a-z.]+)`").FindAllStringSubmatch(prose, -1) {
			prose += bodies[other[1]]
		}
		for _, part := range []any{m.Params, m.Result} {
			for _, field := range fieldsOf(part) {
				if !strings.Contains(prose, "`"+field+"`") {
					t.Errorf("%s: the field %s is not described", name, field)
				}
			}
		}
		checkExamples(t, m, body)
	}
	var want []string
	for _, m := range protocol.Methods {
		want = append(want, m.Name)
	}
	if !slices.Equal(names, want) {
		t.Errorf("sections in this order: %v, want %v", names, want)
	}
}

// fieldsOf lists the members of a message and of what is within it.
func fieldsOf(v any) []string {
	if v == nil {
		return nil
	}
	var names []string
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Slice:
			if typ.Elem().Kind() != reflect.Uint8 {
				walk(typ.Elem())
			}
		case reflect.Struct:
			for f := range typ.Fields() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				names = append(names, name)
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeOf(v))
	return names
}

// checkExamples decodes each line: the first is the message, those with an id and no method are its answers.
func checkExamples(t *testing.T, m protocol.Method, body string) {
	t.Helper()
	n, answers := 0, 0
	for _, block := range blocks.FindAllStringSubmatch(body, -1) {
		for line := range strings.Lines(block[1]) {
			n++
			message, err := protocol.Decode([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Errorf("%s: example %d: %v", m.Name, n, err)
				continue
			}
			part, data := m.Params, message.Params
			if message.Kind() == protocol.Answer {
				answers++
				part, data = m.Result, message.Result
			} else if message.Method != m.Name || message.Kind() != m.Kind {
				t.Errorf("%s: example %d is another message", m.Name, n)
			}
			switch {
			case message.Error != nil:
				if protocol.Lookup(message.Error.Code).Meaning == "" || !strings.Contains(body, "`"+string(message.Error.Code)+"`") {
					t.Errorf("%s: example %d: the code %s is not in the table, or not under Errors", m.Name, n, message.Error.Code)
				}
			case part != nil:
				if err := protocol.Unmarshal(data, reflect.New(reflect.TypeOf(part)).Interface()); err != nil {
					t.Errorf("%s: example %d: %v", m.Name, n, err)
				}
			}
		}
	}
	if n == 0 || (m.Kind == protocol.Call && answers == 0) {
		t.Errorf("%s: no example of it, or of its answer", m.Name)
	}
}

// The blocks outside the sections are native messages.
func TestDocumentNativeMessages(t *testing.T) {
	text := readDocument(t)
	text = text[:sections.FindStringIndex(text)[0]]
	n := 0
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			n++
			ok := false
			if _, err := protocol.DecodeNativeRequest([]byte(line)); err == nil {
				ok = true
			}
			for _, v := range []any{&protocol.NativePaired{}, &protocol.NativeHosts{}, &protocol.NativeRefused{}} {
				ok = ok || protocol.Unmarshal([]byte(line), v) == nil
			}
			if !ok {
				t.Errorf("no native message: %s", line)
			}
		}
	}
	if n < 6 {
		t.Errorf("%d native messages", n)
	}
}

// Every code that the document names is of the table.
func TestDocumentCodes(t *testing.T) {
	text := readDocument(t)
	for _, m := range regexp.MustCompile(`\*\*Errors\*\*([^*]*)\*\*`).FindAllStringSubmatch(text, -1) {
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(m[1], -1) {
			if code[1] != "supported" && code[1] != "cdp" && protocol.Lookup(protocol.Code(code[1])).Meaning == "" {
				t.Errorf("the code %s is not in the table", code[1])
			}
		}
	}
}

func readDocument(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// protocol.d.ts declares the same shapes as Go.
func TestTypesForJavaScript(t *testing.T) {
	data, err := os.ReadFile("protocol.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	interfaces := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)export interface (\w+) \{(.*?)\}`).FindAllStringSubmatch(text, -1) {
		interfaces[m[1]] = m[2]
	}
	unions := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?s)export type (\w+) =(.*?);`).FindAllStringSubmatch(text, -1) {
		for _, word := range regexp.MustCompile(`"([a-z_]+)"`).FindAllStringSubmatch(m[2], -1) {
			unions[m[1]] = append(unions[m[1]], word[1])
		}
	}
	seen := map[reflect.Type]bool{}
	var compare func(reflect.Type)
	compare = func(typ reflect.Type) {
		for typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map || typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if seen[typ] || typ.PkgPath() != reflect.TypeFor[protocol.Method]().PkgPath() {
			return
		}
		seen[typ] = true
		if typ.Kind() == reflect.String && unions[typ.Name()] != nil {
			for _, word := range unions[typ.Name()] {
				v := reflect.New(typ)
				if err := json.Unmarshal([]byte(`"`+word+`"`), v.Interface()); err != nil {
					t.Errorf("%s: %q is not a value in Go", typ.Name(), word)
				}
			}
			return
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		name := typ.Name()
		if name == "Error" {
			name = "WireError"
		}
		body, ok := interfaces[name]
		if !ok {
			t.Errorf("protocol.d.ts does not declare %s", name)
			return
		}
		var want, got []string
		for f := range typ.Fields() {
			member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if options == "omitzero" {
				member += "?"
			}
			want = append(want, member+": "+typescript(f.Type))
			compare(f.Type)
		}
		for line := range strings.Lines(body) {
			if line = strings.Trim(line, " ;\n"); line != "" {
				got = append(got, strings.Replace(line, ": Bytes", ": string", 1))
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: protocol.d.ts has %q, Go has %q", name, got, want)
		}
	}
	for _, m := range protocol.Methods {
		for _, part := range []any{m.Params, m.Result} {
			if part != nil {
				compare(reflect.TypeOf(part))
			}
		}
	}
	for _, v := range []any{protocol.Error{}, protocol.NativeRequest{}, protocol.NativePaired{}, protocol.NativeHosts{},
		protocol.NativeRefused{}} {
		compare(reflect.TypeOf(v))
	}
}

// typescript spells a Go type. Texts that are bytes are declared as Bytes, which is string.
func typescript(typ reflect.Type) string {
	switch {
	case typ.Name() == "TabID":
		return "TabID"
	case typ.Kind() == reflect.Pointer && typ.Elem().Name() == "Error":
		return "WireError"
	case typ.Name() == "Value":
		return "object"
	case typ.Kind() == reflect.Slice:
		return typescript(typ.Elem()) + "[]"
	case typ.Kind() == reflect.Map:
		return "Record<string, unknown>"
	case typ.Kind() == reflect.Struct, typ.Kind() == reflect.String && typ.Name() != "string" && typ.Name() != "Code":
		return typ.Name()
	case typ.Kind() == reflect.String:
		return "string"
	case typ.Kind() == reflect.Bool:
		return "boolean"
	}
	return "number"
}
