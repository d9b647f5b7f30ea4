package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/tabvalet/tabvalet/protocol"
)

func TestGarbageOnStdinIsAnsweredAndTheNextLineIsServed(t *testing.T) {
	c := newClient(t, Options{})
	for _, tt := range []struct {
		line string
		code int
		id   string
	}{
		{"garbage", jsonrpc.CodeParseError, "null"},
		{`{"jsonrpc":"2.0"`, jsonrpc.CodeParseError, "null"},
		{"\x00\xff\xfe", jsonrpc.CodeParseError, "null"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"} trailing`, jsonrpc.CodeParseError, "null"},
		{`[]`, jsonrpc.CodeInvalidRequest, "null"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, jsonrpc.CodeInvalidRequest, "null"},
		{`42`, jsonrpc.CodeInvalidRequest, "null"},
		{`{"id":7,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "7"},
		{`{"jsonrpc":"1.0","id":"x","method":"ping"}`, jsonrpc.CodeInvalidRequest, `"x"`},
		{`{"jsonrpc":"2.0","id":8,"id":9,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "9"},
		{`{"jsonrpc":"2.0","id":10,"method":"ping","params":{"x":"\ud800"}}`, jsonrpc.CodeInvalidRequest, "10"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, jsonrpc.CodeInvalidRequest, "null"},
		{strings.Repeat("x", MaxLine+1), jsonrpc.CodeParseError, "null"},
		{`{"jsonrpc":"2.0","id":11,"method":"x","params":"` + strings.Repeat("x", MaxLine) + `"}`, jsonrpc.CodeParseError, "null"},
	} {
		go c.line(tt.line)
		got := c.next()
		if got.Error == nil || got.Error.Code != tt.code || string(got.ID) != tt.id {
			t.Errorf("%.60q: %+v id %s", tt.line, got.Error, got.ID)
		}
		c.line(`{"jsonrpc":"2.0","id":12,"method":"ping"}`)
		if got := c.next(); got.Error != nil || string(got.ID) != "12" {
			t.Fatalf("after %.60q the next line is not served: %+v", tt.line, got.Error)
		}
	}
	c.line("")
	c.line("  \t\r")
	c.line(`{"jsonrpc":"2.0","id":13,"method":"ping"}` + "\r")
	if got := c.next(); string(got.ID) != "13" {
		t.Errorf("blank lines and CRLF: id %s", got.ID)
	}
}

func TestServerEndsWithItsInput(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	c.tab.held = make(chan struct{})
	c.send("browser_snapshot", `{}`)
	c.in.Close()
	for c.lines.Scan() {
	}
	if err := <-c.done; err != nil {
		t.Error(err)
	}
	c.done <- nil
	close(c.tab.held)
}

func TestUnknownMethodAndToolAreProtocolErrors(t *testing.T) {
	c := newClient(t, Options{})
	c.line(`{"jsonrpc":"2.0","id":1,"method":"nope"}`)
	if got := c.next(); got.Error == nil || got.Error.Code != jsonrpc.CodeMethodNotFound {
		t.Errorf("%+v", got)
	}
	for i := range 3 { // a call whose handler never runs must not hold up those behind it
		c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"nope"}}`, 10+i))
		if got := c.next(); got.Error == nil || got.Error.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%+v", got)
		}
	}
	if r := c.raw("browser_state", `{}`); r.IsError {
		t.Error(r.Text)
	}
}

func TestCallsReachATabInTheOrderOfTheirLines(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	go func() {
		for i := range 40 {
			c.send("browser_press_key", fmt.Sprintf(`{"key":"F%d"}`, i))
		}
	}()
	for range 40 {
		c.answer()
	}
	for i, did := range c.tab.clicked {
		if want := fmt.Sprintf("press F%d", i); did != want {
			t.Fatalf("act %d is %q: %q", i, did, c.tab.clicked)
		}
	}
}

func TestOrderLetsPassInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrder()
		a, b, c := o.take(), o.take(), o.take()
		var passed []int64
		for _, n := range []int64{c, b} {
			go func() {
				if o.wait(context.Background(), n) == nil {
					passed = append(passed, n)
					o.pass(n)
				}
			}()
		}
		synctest.Wait()
		if passed != nil {
			t.Fatalf("%v went before %d", passed, a)
		}
		o.pass(a)
		o.pass(a)
		synctest.Wait()
		if len(passed) != 2 || passed[0] != b || passed[1] != c {
			t.Errorf("passed %v", passed)
		}
	})
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nb\n"))
	f.Add([]byte("no end"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReaderSize(strings.NewReader(string(data)), 16)
		var all []byte
		for {
			line, err := readLine(r)
			all = append(all, line...)
			if err == io.EOF {
				break
			}
			if err != nil || strings.Count(string(line), "\n") > 1 {
				t.Fatalf("%q: %v", line, err)
			}
		}
		if string(all) != string(data) {
			t.Errorf("%q became %q", data, all)
		}
	})
}

func FuzzDiagnose(f *testing.F) {
	f.Add([]byte(`{"id":1}`))
	f.Add([]byte(`{"id":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &connection{out: &strings.Builder{}}
		if err := c.refuse(diagnose(data)); err != nil {
			t.Fatal(err)
		}
		text := c.out.(*strings.Builder).String()
		if strings.Count(text, "\n") != 1 || len(text) > 300+len(data) {
			t.Errorf("%q", text)
		}
	})
}
