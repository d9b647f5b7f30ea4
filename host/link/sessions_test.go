package link_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/tabvalet/tabvalet/host/link"
	"github.com/tabvalet/tabvalet/host/link/linktest"
	"github.com/tabvalet/tabvalet/protocol"
)

// TestSessions plays the extension's side of every session against the real host. Their form is described in
// protocol/testdata/README.md.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("../../protocol/testdata/sessions/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d sessions, %v", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(archive.Comment), "Extension only.") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playSession(t, archive) })
		})
	}
}

// A player is a session in the middle of being played.
type player struct {
	t     *testing.T
	h     *host
	sock  *linktest.Socket
	conn  *link.Conn
	names map[string]string
	shake *protocol.Handshake // of the current connection
	opens int

	mu      sync.Mutex
	answers map[string][]scripted // what the host's user answers, by method
	notes   []string
	calls   []pending
}

type scripted struct {
	result jsontext.Value
	err    error
}

type pending struct {
	cancel context.CancelFunc
	done   chan scripted
}

func playSession(t *testing.T, archive *txtar.Archive) {
	p := &player{t: t, h: newHost(t), names: map[string]string{"PROFILE": profile, "INSTANCE": instance, "NONCE": nonceC},
		answers: map[string][]scripted{}}
	p.h.call = p.answer
	p.h.note = func(method string, params jsontext.Value) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.notes = append(p.notes, method+" "+string(params))
	}
	p.script(archive.Files)
	p.open()
	for _, f := range archive.Files {
		verb, number, text := section(t, f)
		switch verb {
		case "extension":
			p.send(text)
		case "host":
			p.expect(number, text)
		case "host close":
			p.expectClose(number, text)
		case "extension close":
			p.sock.CloseNow()
			synctest.Wait()
		case "extension open":
			p.open()
		case "do":
			p.do(number, text)
		default:
			t.Fatalf("section %q: no such verb", f.Name)
		}
		if t.Failed() {
			return
		}
	}
	for _, c := range p.calls {
		c.cancel()
	}
}

func section(t *testing.T, f txtar.File) (verb string, number int, text string) {
	i := strings.LastIndexByte(f.Name, ' ')
	number, err := strconv.Atoi(f.Name[i+1:])
	if err != nil {
		t.Fatalf("section %q: no number", f.Name)
	}
	return f.Name[:i], number, strings.TrimSuffix(string(f.Data), "\n")
}

// script collects what the host's user answers: it stands in the host's own frames.
func (p *player) script(files []txtar.File) {
	methods := map[int64]string{}
	for _, f := range files {
		verb, _, text := section(p.t, f)
		m, err := protocol.Decode([]byte(text))
		switch {
		case err != nil:
		case verb == "extension" && m.Kind() == protocol.Call:
			methods[m.ID] = m.Method
		case verb == "host" && m.Kind() == protocol.Answer && m.Error != nil:
			p.answers[methods[m.ID]] = append(p.answers[methods[m.ID]], scripted{err: m.Error})
		case verb == "host" && m.Kind() == protocol.Answer:
			p.answers[methods[m.ID]] = append(p.answers[methods[m.ID]], scripted{result: m.Result})
		}
	}
}

func (p *player) answer(_ context.Context, _ *link.Conn, method string, _ jsontext.Value) (any, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.answers[method]
	if len(list) == 0 {
		return nil, protocol.Errorf(protocol.Internal, "the session has no answer to %s", method)
	}
	p.answers[method] = list[1:]
	return list[0].result, list[0].err
}

// open makes another connection the current one. The one before goes on answering pings.
func (p *player) open() {
	if old := p.sock; old != nil {
		go func() {
			for {
				m, err := old.Next(p.t.Context())
				if err != nil {
					return
				}
				if m.Method == protocol.MethodPing {
					old.Write(p.t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, m.ID))
				}
			}
		}()
	}
	p.opens++
	p.sock = p.h.dial(p.t)
	p.shake = &protocol.Handshake{Origin: protocol.ExtensionOrigin, Addr: "127.0.0.1:" + strconv.Itoa(port)}
}

// send fills the names in and follows the handshake.
func (p *player) send(text string) {
	var hello protocol.HelloParams
	if strings.Contains(text, `"$PROOF"`) {
		p.names["PROOF"] = protocol.EncodeBytes(p.shake.ClientProof(testKey(), p.shake.ServerProof(testKey())))
		p.names[fmt.Sprintf("PROOF%d", p.opens)] = p.names["PROOF"]
	}
	for name, value := range p.names {
		text = strings.ReplaceAll(text, `"$`+name+`"`, strconv.Quote(value))
	}
	if m, err := protocol.Decode([]byte(text)); err == nil && m.Method == protocol.MethodHello &&
		protocol.Unmarshal(m.Params, &hello) == nil {
		p.shake.Profile, p.shake.Offered = hello.Profile, hello.Versions
		p.shake.NonceC, _ = protocol.DecodeBytes(hello.Nonce, protocol.NonceSize)
	}
	if err := p.sock.Write(p.t.Context(), text); err != nil {
		p.t.Fatalf("sending %s: %v", text, err)
	}
	synctest.Wait()
}

func (p *player) expect(number int, want string) {
	p.t.Helper()
	m := p.next(number)
	if m == nil {
		return
	}
	data, err := m.Encode()
	if err != nil {
		p.t.Fatal(err)
	}
	var got, wanted any
	if err := errors.Join(json.Unmarshal(data, &got), json.Unmarshal([]byte(want), &wanted)); err != nil {
		p.t.Fatalf("host %d: %v", number, err)
	}
	if !p.matches(wanted, got) {
		p.t.Fatalf("host %d: got %s, want %s", number, data, want)
	}
	var hello protocol.HelloResult
	if protocol.Unmarshal(m.Result, &hello) == nil {
		p.shake.Instance, p.shake.Chosen = hello.Instance, hello.Version
		p.shake.NonceS, _ = protocol.DecodeBytes(hello.Nonce, protocol.NonceSize)
		select {
		case p.conn = <-p.h.connected:
		default:
		}
	}
}

// next reads a frame; a session that expects none would wait for ever.
func (p *player) next(number int) *protocol.Message {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	m, err := p.sock.Next(ctx)
	if err != nil {
		p.t.Fatalf("host %d: %v", number, err)
	}
	return m
}

func (p *player) expectClose(number int, want string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	m, err := p.sock.Next(ctx)
	closed, ok := errors.AsType[websocket.CloseError](err)
	if !ok || fmt.Sprint(int(closed.Code), " ", closed.Reason) != want {
		p.t.Fatalf("host close %d: got %v, %v, want %s", number, m, err, want)
	}
	synctest.Wait()
}

// matches compares, and takes names that are new.
func (p *player) matches(want, got any) bool {
	switch w := want.(type) {
	case string:
		g, isText := got.(string)
		name, isName := strings.CutPrefix(w, "$")
		switch {
		case w == "...":
			return true
		case !isName:
			return isText && g == w
		case p.names[name] == "":
			p.names[name] = g
		}
		return isText && p.names[name] == g
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || w["..."] == true {
			return ok
		}
		for name, value := range w {
			if other, ok := g[name]; !ok || !p.matches(value, other) {
				return false
			}
		}
		return len(w) == len(g)
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			return false
		}
		for i := range w {
			if !p.matches(w[i], g[i]) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(want, got)
}

// do is what the host's user does.
func (p *player) do(number int, line string) {
	p.t.Helper()
	if p.conn == nil {
		select {
		case p.conn = <-p.h.connected:
		default:
		}
	}
	verb, rest, _ := strings.Cut(line, " ")
	method, params, _ := strings.Cut(rest, " ")
	switch verb {
	case "call":
		ctx, cancel := context.WithCancel(context.Background())
		c := pending{cancel, make(chan scripted, 1)}
		p.calls = append(p.calls, c)
		go func() {
			var s scripted
			s.err = p.conn.Call(ctx, method, jsontext.Value(params), &s.result)
			c.done <- s
		}()
	case "note":
		if err := p.conn.Note(method, jsontext.Value(params)); err != nil {
			p.t.Fatalf("do %d: %v", number, err)
		}
	case "answered", "failed":
		c := p.calls[0]
		p.calls = p.calls[1:]
		s := <-c.done
		if verb == "failed" && string(protocol.CodeOf(s.err)) != rest || verb == "answered" && (s.err != nil || string(s.result) != rest) {
			p.t.Fatalf("do %d: the call ended with %s, %v, want %s", number, s.result, s.err, line)
		}
		c.cancel()
	case "noted":
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.notes) == 0 || p.notes[0] != rest {
			p.t.Fatalf("do %d: noted %q, want %q first", number, p.notes, rest)
		}
		p.notes = p.notes[1:]
	case "cancel":
		c := p.calls[0]
		p.calls = p.calls[1:]
		c.cancel()
		if s := <-c.done; !errors.Is(s.err, context.Canceled) {
			p.t.Fatalf("do %d: the call ended with %v", number, s.err)
		}
	case "wait":
		seconds, err := strconv.Atoi(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		time.Sleep(time.Duration(seconds)*time.Second - time.Millisecond)
	case "rotate":
		p.h.setKey(make([]byte, protocol.KeySize))
	case "drop":
		p.h.Drop(profile, protocol.CloseRotated)
	case "stop":
		go p.h.Close()
	default:
		p.t.Fatalf("do %d: %s", number, line)
	}
	synctest.Wait()
}
