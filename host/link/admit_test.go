package link_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabvalet/tabvalet/host/link"
	"github.com/tabvalet/tabvalet/host/link/linktest"
	"github.com/tabvalet/tabvalet/protocol"
)

// upgrade is the request that Chrome sends; the edits of a test make it worse.
func upgrade(edits ...string) string {
	request := strings.Join([]string{
		"GET /tabvalet/1 HTTP/1.1",
		"Host: 127.0.0.1:47811",
		"Connection: Upgrade",
		"Upgrade: websocket",
		"Origin: " + protocol.ExtensionOrigin,
		"Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
		"Sec-WebSocket-Protocol: tabvalet.1",
		"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
		"", "",
	}, "\r\n")
	return strings.NewReplacer(edits...).Replace(request)
}

// ask sends raw bytes and reads one answer.
func (h *host) ask(t *testing.T, request string) (status int, header http.Header, body string) {
	t.Helper()
	c, err := h.pipes.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go io.WriteString(c, request)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("no answer to %q: %v", request, err)
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		b, _ := io.ReadAll(response.Body)
		body = string(b)
	}
	return response.StatusCode, response.Header, body
}

func TestAdmission(t *testing.T) {
	origin := "Origin: " + protocol.ExtensionOrigin + "\r\n"
	hostLine := "Host: 127.0.0.1:47811"
	other := strings.Replace(protocol.ExtensionOrigin, "k", "a", 1)
	tests := []struct {
		name    string
		request string
		want    int
	}{
		{"as Chrome sends it", upgrade(), 101},
		{"header names in another case", upgrade("Origin:", "oRIGIN:", "Upgrade: websocket", "Upgrade: WebSocket"), 101},

		{"no origin", upgrade(origin, ""), 403},
		{"empty origin", upgrade(origin, "Origin: \r\n"), 403},
		{"null origin", upgrade(origin, "Origin: null\r\n"), 403},
		{"origin with a slash", upgrade(origin, "Origin: "+protocol.ExtensionOrigin+"/\r\n"), 403},
		{"origin in upper case", upgrade(origin, "Origin: "+strings.ToUpper(protocol.ExtensionOrigin)+"\r\n"), 403},
		{"id in upper case", upgrade(protocol.ExtensionID, strings.ToUpper(protocol.ExtensionID)), 403},
		{"another extension", upgrade(origin, "Origin: "+other+"\r\n"), 403},
		{"a page on our port", upgrade(origin, "Origin: http://127.0.0.1:47811\r\n"), 403},
		{"a page", upgrade(origin, "Origin: https://evil.example\r\n"), 403},
		{"origin as a prefix", upgrade(origin, "Origin: "+protocol.ExtensionOrigin+".evil.example\r\n"), 403},
		{"good origin, then bad", upgrade(origin, origin+"Origin: https://evil.example\r\n"), 403},
		{"bad origin, then good", upgrade(origin, "Origin: https://evil.example\r\n"+origin), 403},
		{"the same origin twice", upgrade(origin, origin+origin), 403},

		{"host evil", upgrade(hostLine, "Host: evil.example:47811"), 403},
		{"rebound: host and origin evil", upgrade(hostLine, "Host: evil.example:47811", origin,
			"Origin: http://evil.example:47811\r\n"), 403},
		{"host localhost", upgrade(hostLine, "Host: localhost:47811"), 403},
		{"host without a port", upgrade(hostLine, "Host: 127.0.0.1"), 403},
		{"host with another port", upgrade(hostLine, "Host: 127.0.0.1:47812"), 403},
		{"host 0.0.0.0", upgrade(hostLine, "Host: 0.0.0.0:47811"), 403},
		{"host in IPv6", upgrade(hostLine, "Host: [::1]:47811"), 403},
		{"host 127.1", upgrade(hostLine, "Host: 127.1:47811"), 403},
		{"host in upper case", upgrade(hostLine, "Host: LOCALHOST:47811"), 403},
		{"host with a trailing dot", upgrade(hostLine, "Host: 127.0.0.1.:47811"), 403},
		{"two hosts", upgrade(hostLine, hostLine+"\r\n"+hostLine), 400},
		{"no host", upgrade(hostLine+"\r\n", ""), 400},

		{"absolute form", upgrade("GET /", "GET http://evil.example/"), 403},
		{"absolute form of ourselves", upgrade("GET /", "GET http://127.0.0.1:47811/"), 403},
		{"another path", upgrade("/tabvalet/1", "/tabvalet/2"), 403},
		{"a query", upgrade("/tabvalet/1", "/tabvalet/1?x"), 403},
		{"an escaped path", upgrade("/tabvalet/1", "/%74abvalet/1"), 403},
		{"a doubled slash", upgrade("/tabvalet/1", "//tabvalet/1"), 403},
		{"POST", upgrade("GET", "POST"), 403},
		{"a body", upgrade("Upgrade: websocket", "Upgrade: websocket\r\nContent-Length: 3"), 403},
		{"HTTP/1.0", upgrade("HTTP/1.1", "HTTP/1.0"), 403},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403},

		{"no subprotocol", upgrade("Sec-WebSocket-Protocol: tabvalet.1\r\n", ""), 403},
		{"another subprotocol", upgrade("tabvalet.1", "tabvalet.2"), 403},
		{"two subprotocols", upgrade("tabvalet.1", "tabvalet.1, chat"), 403},
		{"no upgrade", upgrade("Upgrade: websocket\r\n", ""), 403},
		{"no connection", upgrade("Connection: Upgrade\r\n", ""), 403},
		{"another version", upgrade("Version: 13", "Version: 12"), 403},
		{"no key", upgrade("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""), 403},
		{"a short key", upgrade("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ="), 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				status, header, body := h.ask(t, tt.request)
				if status != tt.want {
					t.Fatalf("got status %d, want %d", status, tt.want)
				}
				if tt.want == 403 && (body != "forbidden\n" || header.Get("Access-Control-Allow-Origin") != "") {
					t.Errorf("a refusal says %q with %v", body, header)
				}
				if tt.want == 101 && header.Get("Sec-WebSocket-Extensions") != "" {
					t.Errorf("compression was agreed on: %v", header)
				}
			})
		})
	}
}

func TestApprovalLinkIsServedOnOurNameOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		for request, want := range map[string]int{
			"GET /approve/x HTTP/1.1\r\nHost: 127.0.0.1:47811\r\n\r\n":                 404, // no handler here
			"HEAD /approve/x HTTP/1.1\r\nHost: 127.0.0.1:47811\r\n\r\n":                404,
			"POST /approve/x HTTP/1.1\r\nHost: 127.0.0.1:47811\r\n\r\n":                403,
			"GET /approve/x HTTP/1.1\r\nHost: evil.example:47811\r\n\r\n":              403,
			"GET /%61pprove/x HTTP/1.1\r\nHost: 127.0.0.1:47811\r\n\r\n":               403,
			"GET http://127.0.0.1/approve/x HTTP/1.1\r\nHost: 127.0.0.1:47811\r\n\r\n": 403,
		} {
			if status, _, _ := h.ask(t, request); status != want {
				t.Errorf("%q: got status %d, want %d", request, status, want)
			}
		}
	})
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		_, c := h.link(t)
		var slowed sync.WaitGroup
		for range protocol.MaxUnproved {
			slow, err := h.pipes.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			slowed.Go(func() { // a byte a second, for ever
				for _, b := range []byte(upgrade()) {
					if _, err := slow.Write([]byte{b}); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			})
			go io.Copy(io.Discard, slow)
		}
		synctest.Wait()
		if err := c.Call(t.Context(), protocol.MethodTabClose, protocol.TabRef{Tab: 1}, nil); err != nil {
			t.Errorf("the live connection suffers: %v", err)
		}
		time.Sleep(protocol.HeaderTimeout + 10*time.Millisecond)
		if status, _, _ := h.ask(t, upgrade()); status != 101 {
			t.Errorf("after %v: got status %d, want 101", protocol.HeaderTimeout, status)
		}
		slowed.Wait()
	})
}

func TestNinthUnprovedSocketIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		_, c := h.link(t) // proved: does not count
		for range protocol.MaxUnproved {
			h.dial(t)
		}
		if status, _, _ := h.ask(t, upgrade()); status != 429 {
			t.Errorf("the ninth socket: got status %d, want 429", status)
		}
		if err := c.Call(t.Context(), protocol.MethodTabClose, protocol.TabRef{Tab: 1}, nil); err != nil {
			t.Errorf("the live connection suffers: %v", err)
		}
		time.Sleep(protocol.HandshakeTimeout + time.Second)
		if status, _, _ := h.ask(t, upgrade()); status != 101 {
			t.Errorf("when the others have gone: got status %d, want 101", status)
		}
	})
}

func TestListenIsOnLoopbackOnly(t *testing.T) {
	s, err := link.Listen(link.Config{Instance: instance, Handler: &host{connected: make(chan *link.Conn, 1)},
		Key:  func(id string) ([]byte, bool) { return testKey(), id == profile },
		Info: func() protocol.HostInfo { return protocol.HostInfo{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e, err := linktest.Connect(t.Context(), linktest.Options{Port: s.Port(), Profile: profile, Key: testKey(), Instance: instance})
	if err != nil {
		t.Fatalf("over TCP: %v", err)
	}
	defer e.Close()
	for _, host := range []string{"[::1]", "127.0.0.2"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		c, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("%s:%d", host, s.Port()))
		cancel()
		if err == nil {
			c.Close()
			t.Errorf("%s:%d is open", host, s.Port())
		}
	}
}
