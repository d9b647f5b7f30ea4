package session

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

func token(link string) string { return link[strings.LastIndexByte(link, '/')+1:] }

// approving runs a test in a world without leases.
func approving(t *testing.T, f func(*world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		f(w)
		w.end()
	})
}

func (w *world) link() string {
	w.t.Helper()
	c, err := w.m.Connect(context.Background(), ConnectRequest{Reason: "look\u202e at\nthis"})
	if err != nil || c.Link == "" {
		w.t.Fatalf("%+v %v", c, err)
	}
	return c.Link
}

func TestApprovalLinkStaysTheSameWhileItWaits(t *testing.T) {
	approving(t, func(w *world) {
		link := w.link()
		if again := w.link(); again != link || len(token(link)) != 43 || !strings.HasPrefix(link, "http://127.0.0.1:4711/approve/") {
			t.Errorf("%q, then %q", link, again)
		}
		for range 3 {
			a, err := w.m.approvalGet(protocol.ApprovalGetParams{Token: token(link)})
			if err != nil || a.Reason != "look  at this" || a.Access != protocol.AccessAct {
				t.Errorf("%+v %v", a, err)
			}
		}
		if a, err := w.m.approvalGet(protocol.ApprovalGetParams{}); err != nil || a.ID == "" {
			t.Errorf("from the popup: %+v %v", a, err)
		}
	})
}

func TestApprovalIsDecidedOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		decide func(*world, string) error
		open   protocol.Code
	}{
		{"granted", func(w *world, id string) error {
			_, err := w.m.offer(w.conn, protocol.LeaseOfferParams{ID: id, Tab: protocol.LeasedTab{Tab: 7, URL: shop + "/"}, Access: protocol.AccessRead})
			return err
		}, protocol.ApprovalUsed},
		{"refused", func(w *world, id string) error { return w.m.approvalRefuse(id) }, protocol.ApprovalRefused},
		{"expired", func(w *world, id string) error { time.Sleep(15 * time.Minute); return nil }, protocol.ApprovalExpired},
		{"voided by a rotation", func(w *world, id string) error {
			w.m.Disconnected(w.conn, protocol.Errorf(protocol.Rotated, "rotated"))
			return nil
		}, protocol.ApprovalExpired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			approving(t, func(w *world) {
				tok := token(w.link())
				a, _ := w.m.approvalGet(protocol.ApprovalGetParams{Token: tok})
				if err := tt.decide(w, a.ID); err != nil {
					t.Fatal(err)
				}
				if _, err := w.m.approvalGet(protocol.ApprovalGetParams{Token: tok}); protocol.CodeOf(err) != tt.open {
					t.Errorf("opened again: %v", err)
				}
				if err := w.m.approvalRefuse(a.ID); protocol.CodeOf(err) != tt.open {
					t.Errorf("decided again: %v", err)
				}
				if _, err := w.m.offer(w.conn, protocol.LeaseOfferParams{ID: a.ID, Tab: protocol.LeasedTab{Tab: 8, URL: shop}, Access: protocol.AccessAct}); protocol.CodeOf(err) != tt.open {
					t.Errorf("granted again: %v", err)
				}
			})
		})
	}
}

func TestUnknownApprovals(t *testing.T) {
	approving(t, func(w *world) {
		for _, tok := range []string{"", "x", strings.Repeat("A", 43)} {
			if _, err := w.m.approvalGet(protocol.ApprovalGetParams{Token: tok}); protocol.CodeOf(err) != protocol.ApprovalUnknown {
				t.Errorf("%q: %v", tok, err)
			}
		}
		if err := w.m.approvalRefuse("nope"); protocol.CodeOf(err) != protocol.ApprovalUnknown {
			t.Error(err)
		}
	})
}

func TestTokenIsForgottenOnceItIsDecided(t *testing.T) {
	approving(t, func(w *world) {
		w.link()
		a, _ := w.m.approvals.current()
		w.m.approvalRefuse(a.id)
		if kept, _ := w.m.approvals.get(a.id); kept.token != "" {
			t.Error("the token is still in memory")
		}
	})
}

func TestConnectWaitsForTheOwner(t *testing.T) {
	wait := func(w *world) <-chan error {
		done := make(chan error, 1)
		go func() {
			c, err := w.m.Connect(context.Background(), ConnectRequest{Wait: 50 * time.Second})
			if err == nil && (len(c.Leases) != 1 || c.Link != "") {
				w.t.Errorf("%+v", c)
			}
			done <- err
		}()
		synctest.Wait()
		return done
	}
	for _, tt := range []struct {
		name string
		then func(*world)
		code protocol.Code
		took time.Duration
	}{
		{"who shares", func(w *world) { w.lend(7, protocol.AccessAct) }, "", 0},
		{"who refuses", func(w *world) {
			a, _ := w.m.approvals.current()
			w.m.approvalRefuse(a.id)
		}, protocol.ApprovalRefused, 0},
		{"who does not answer", func(w *world) {}, protocol.ApprovalPending, 50 * time.Second},
		{"whose tab Chrome refuses", func(w *world) {
			w.note(protocol.MethodTabRefused, protocol.TabRefused{Reason: "Cannot access a chrome:// URL"})
		}, protocol.ApprovalPending, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			approving(t, func(w *world) {
				start := time.Now()
				done := wait(w)
				tt.then(w)
				if err := <-done; protocol.CodeOf(err) != tt.code {
					t.Errorf("%v", err)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

func TestConnectRefusesAddressesNobodyMayOpen(t *testing.T) {
	approving(t, func(w *world) {
		for url, code := range map[string]protocol.Code{
			"file:///etc/passwd": protocol.SchemeRefused, "chrome://version": protocol.SchemeRefused, "javascript:alert(1)": protocol.SchemeRefused,
			"about:blank": protocol.SchemeRefused, "example.com": protocol.BadArgument, "http://": protocol.BadArgument,
		} {
			if _, err := w.m.Connect(context.Background(), ConnectRequest{URL: url}); protocol.CodeOf(err) != code {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
}

func TestPlainPageOfAnApprovalLink(t *testing.T) {
	h := ApproveHandler()
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/approve/" + strings.Repeat("x", 43), 200},
		{"HEAD", "/approve/" + strings.Repeat("x", 43), 200},
		{"POST", "/approve/" + strings.Repeat("x", 43), 405},
		{"GET", "/approve/short", 404},
		{"GET", "/", 404},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") || w.Header().Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s %s: %d %v", tt.method, tt.path, w.Code, w.Header())
		}
		if strings.Contains(w.Body.String(), "xxx") {
			t.Error("the page repeats the token")
		}
		if tt.status == http.StatusOK && !strings.Contains(w.Body.String(), "tabvalet doctor") {
			t.Error("the page does not say what to do")
		}
	}
}
