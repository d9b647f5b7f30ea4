package link_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/link"
	"github.com/tabvalet/tabvalet/host/link/linktest"
	"github.com/tabvalet/tabvalet/protocol"
)

const reconcile = `{"jsonrpc":"2.0","id":3,"method":"lease.reconcile","params":{"tabs":[]}}`

func send(tab protocol.TabID, act bool) protocol.SendParams {
	return protocol.SendParams{Tab: tab, Method: "Page.getFrameTree", Params: jsontext.Value("{}"), Act: act}
}

func TestFramesThatEndALiveConnection(t *testing.T) {
	chunk := func(id, seq int, last bool, data string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"chunk","params":{"id":%d,"seq":%d,"last":%v,"data":%q}}`, id, seq, last, data)
	}
	tests := []struct {
		name   string
		frames []string
		want   protocol.CloseCode
	}{
		{"not JSON", []string{reconcile, "x"}, 4400},
		{"a frame over 1 MiB", []string{reconcile, `{"jsonrpc":"2.0","id":4,"result":{"x":"` + strings.Repeat("x", protocol.MaxFrame) + `"}}`}, 1009},
		{"nested too deep", []string{reconcile, `{"jsonrpc":"2.0","id":4,"result":{"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`}, 4400},
		{"a lone surrogate", []string{reconcile, `{"jsonrpc":"2.0","id":4,"result":{"x":"\ud800"}}`}, 4400},
		{"hello again", []string{reconcile, hello("[1]", profile, nonceC)}, 4400},
		{"a call before reconciling", []string{`{"jsonrpc":"2.0","id":3,"method":"approval.get","params":{}}`}, 4400},
		{"an event before reconciling", []string{`{"jsonrpc":"2.0","method":"takeover","params":{"tab":1,"private":false,"implicit":false}}`}, 4400},
		{"an unknown note before reconciling", []string{`{"jsonrpc":"2.0","method":"grease.note","params":{}}`}, 4400},
		{"reconciling twice", []string{reconcile, strings.Replace(reconcile, "3", "4", 1)}, 4400},
		{"a verdict from the extension", []string{reconcile, `{"jsonrpc":"2.0","method":"verdict","params":{}}`}, 4403},
		{"a command from the extension", []string{reconcile, `{"jsonrpc":"2.0","id":4,"method":"cdp.send","params":{}}`}, 4403},
		{"a note with an id", []string{reconcile, `{"jsonrpc":"2.0","id":4,"method":"handback","params":{"tab":1}}`}, 4400},
		{"a call without an id", []string{reconcile, `{"jsonrpc":"2.0","method":"approval.get","params":{}}`}, 4400},
		{"a missing chunk", []string{reconcile, chunk(1, 0, false, "{"), chunk(1, 2, true, "}")}, 4400},
		{"a chunk of nothing begun", []string{reconcile, chunk(1, 1, true, "}")}, 4400},
		{"a chunk after the end", []string{reconcile, chunk(1, 0, true, `{"jsonrpc":"2.0","id":9,"result":{}}`), chunk(1, 1, true, "{}")}, 4400},
		{"chunks that make no message", []string{reconcile, chunk(1, 0, true, "{}")}, 4400},
		{"a chunk within a chunk", []string{reconcile, chunk(1, 0, true, chunk(2, 0, true, `{"jsonrpc":"2.0","id":9,"result":{}}`))}, 4400},
		{"an empty chunk", []string{reconcile, chunk(1, 0, false, "")}, 4400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newHost(t).proved(t)
				go func() {
					for _, frame := range tt.frames {
						if s.Write(t.Context(), frame) != nil {
							return
						}
					}
				}()
				wantClose(t, s, tt.want)
			})
		})
	}
}

func TestCallOfTheSameIDInFlightEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.call = func(ctx context.Context, _ *link.Conn, _ string, _ jsontext.Value) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		s := h.proved(t)
		go func() {
			get := `{"jsonrpc":"2.0","id":4,"method":"approval.get","params":{}}`
			s.Write(t.Context(), reconcile)
			s.Write(t.Context(), get)
			s.Write(t.Context(), get)
		}()
		wantClose(t, s, protocol.CloseBadMessage)
	})
}

func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.call = func(_ context.Context, _ *link.Conn, method string, _ jsontext.Value) (any, error) {
			switch method {
			case protocol.MethodLeaseOffer:
				return protocol.LeaseOfferResult{Lease: "L1"}, nil
			case protocol.MethodApprovalRefuse:
				return nil, protocol.Errorf(protocol.ApprovalUsed, "used").With("hint", "h")
			case protocol.MethodApprovalGet:
				return nil, errors.New("a secret path")
			}
			return nil, nil
		}
		e, _ := h.link(t)
		var offered protocol.LeaseOfferResult
		if err := e.Call(t.Context(), protocol.MethodLeaseOffer, protocol.Empty{}, &offered); err != nil || offered.Lease != "L1" {
			t.Errorf("lease.offer: got %v, %v", offered, err)
		}
		err := e.Call(t.Context(), protocol.MethodApprovalRefuse, protocol.Empty{}, nil)
		if wantCode(t, "approval.refuse", err, protocol.ApprovalUsed); err.(*protocol.Error).Hint() != "h" {
			t.Errorf("approval.refuse: the data is lost: %v", err)
		}
		err = e.Call(t.Context(), protocol.MethodApprovalGet, protocol.Empty{}, nil)
		if wantCode(t, "approval.get", err, protocol.Internal); strings.Contains(err.Error(), "secret") {
			t.Errorf("an internal error crossed the link: %v", err)
		}
		if err := e.Call(t.Context(), protocol.MethodPromptAnswer, protocol.Empty{}, new(protocol.Empty)); err != nil {
			t.Errorf("a nil result: got %v, want an empty object", err)
		}
		wantCode(t, "grease", e.Call(t.Context(), "grease.call", protocol.Empty{}, nil), protocol.UnknownMethod)
		if err := e.Note(t.Context(), "grease.note", protocol.Empty{}); err != nil {
			t.Error(err)
		}
		if err := e.Call(t.Context(), protocol.MethodPing, protocol.Empty{}, nil); err != nil {
			t.Errorf("after an unknown note: %v", err)
		}
	})
}

// An answer that cannot cross is answered all the same.
func TestAnswersThatCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.call = func(_ context.Context, _ *link.Conn, method string, _ jsontext.Value) (any, error) {
			switch method {
			case protocol.MethodApprovalGet:
				return jsontext.Value(`{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`), nil
			case protocol.MethodLeaseOffer:
				return make(chan int), nil
			}
			return nil, protocol.Errorf(protocol.Busy, "\xff")
		}
		e, _ := h.link(t)
		for method, want := range map[string]protocol.Code{protocol.MethodApprovalGet: protocol.TooLarge,
			protocol.MethodLeaseOffer: protocol.Internal, protocol.MethodPromptAnswer: protocol.Internal} {
			wantCode(t, method, e.Call(t.Context(), method, protocol.Empty{}, nil), want)
		}
	})
}

func TestTooManyCallsOfTheExtensionAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		release := make(chan struct{})
		h.call = func(ctx context.Context, _ *link.Conn, _ string, _ jsontext.Value) (any, error) {
			<-release
			return nil, nil
		}
		e, _ := h.link(t)
		var wg sync.WaitGroup
		for range protocol.MaxInFlight {
			wg.Go(func() {
				if err := e.Call(t.Context(), protocol.MethodApprovalGet, protocol.Empty{}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		wantCode(t, "one more", e.Call(t.Context(), protocol.MethodApprovalGet, protocol.Empty{}, nil), protocol.Busy)
		close(release)
		wg.Wait()
	})
}

func TestCallsOfTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		_, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(_ context.Context, method string, _ jsontext.Value) (any, error) {
				switch method {
				case protocol.MethodSend:
					return map[string]any{"frameTree": map[string]any{"frame": map[string]any{"id": "F", "more": 1}}}, nil
				case protocol.MethodTabOpen:
					return nil, protocol.Errorf(protocol.AttachRefused, "no")
				}
				return map[string]any{"detached": true, "more": 1}, nil
			}
		})
		var tree struct {
			FrameTree struct {
				Frame struct {
					ID string `json:"id"`
				} `json:"frame"`
			} `json:"frameTree"`
		}
		if err := c.Call(t.Context(), protocol.MethodSend, send(1, false), &tree); err != nil || tree.FrameTree.Frame.ID != "F" {
			t.Errorf("cdp.send: got %v, %v; members that nobody asked for must not hurt", tree, err)
		}
		var raw jsontext.Value
		if err := c.Call(t.Context(), protocol.MethodSend, send(1, false), &raw); err != nil || raw.Kind() != '{' {
			t.Errorf("cdp.send, raw: got %s, %v", raw, err)
		}
		wantCode(t, "tab.open", c.Call(t.Context(), protocol.MethodTabOpen, protocol.TabOpenParams{}, nil), protocol.AttachRefused)
		var end protocol.LeaseEndResult
		wantCode(t, "an answer with an unknown member",
			c.Call(t.Context(), protocol.MethodLeaseEnd, protocol.LeaseEndParams{}, &end), protocol.BadMessage)
	})
}

// What was noted before an answer is handed over before the answer.
func TestCallAllDoesNotWaitBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		last := make(chan struct{})
		_, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(_ context.Context, _ string, params jsontext.Value) (any, error) {
				switch {
				case strings.Contains(string(params), `"tab":3`):
					close(last)
				case strings.Contains(string(params), `"tab":2`):
					return nil, protocol.Errorf(protocol.ChromeError, "no")
				default:
					<-last // the first call is answered after the last has come
				}
				return map[string]any{}, nil
			}
		})
		err := c.CallAll(t.Context(), protocol.MethodSend, []any{send(1, true), send(2, true), send(3, true)})
		wantCode(t, "the second of three calls", err, protocol.ChromeError)
	})
}

func TestNotesComeBeforeTheAnswerToALaterCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		var mu sync.Mutex
		noted := 0
		h.note = func(string, jsontext.Value) {
			mu.Lock()
			defer mu.Unlock()
			noted++
		}
		var e *linktest.Extension
		e, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(ctx context.Context, _ string, _ jsontext.Value) (any, error) {
				for range 20 {
					e.Event(ctx, 1, "", "Page.loadEventFired", `{}`)
				}
				return protocol.Empty{}, nil
			}
		})
		for i := range 50 {
			if err := c.Call(t.Context(), protocol.MethodSend, send(1, false), nil); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			if noted != 20*(i+1) {
				t.Fatalf("at answer %d: %d notes, want %d", i, noted, 20*(i+1))
			}
			mu.Unlock()
		}
	})
}

func TestCancelledCallEndsAtOnceAndNeverLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		s := h.proved(t) // does not read, so that the first frame of the host stays in its hands
		c := <-h.connected
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for tab := range protocol.TabID(3) {
			wg.Go(func() {
				start := time.Now()
				err := c.Call(ctx, protocol.MethodSend, send(tab, true), nil)
				if !errors.Is(err, context.Canceled) || time.Since(start) > 0 {
					t.Errorf("got %v after %v, want cancelled at once", err, time.Since(start))
				}
			})
			synctest.Wait()
		}
		cancel()
		wg.Wait()
		c.Note(protocol.MethodLeaseUpdate, protocol.LeaseUpdate{Tab: 9})
		var left []string
		for {
			m, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, m.Method)
			if m.Method == protocol.MethodLeaseUpdate {
				break
			}
		}
		if want := []string{"cdp.send", "lease.update"}; !slices.Equal(left, want) {
			t.Errorf("these left: %v, want %v (the first had left already)", left, want)
		}
	})
}

func TestCallsThatAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		var mu sync.Mutex
		var got []protocol.TabID
		_, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(_ context.Context, _ string, params jsontext.Value) (any, error) {
				var p protocol.SendParams
				if err := protocol.Unmarshal(params, &p); err != nil {
					return nil, err
				}
				time.Sleep(time.Second) // none waits for the one before
				mu.Lock()
				defer mu.Unlock()
				got = append(got, p.Tab)
				if p.Tab == 3 {
					return nil, protocol.Errorf(protocol.ChromeError, "no")
				}
				return protocol.Empty{}, nil
			}
		})
		start := time.Now()
		for range protocol.MaxInFlight { // and their slots are given back
			err := c.CallAll(t.Context(), protocol.MethodSend, []any{send(1, true), send(2, true), send(3, true), send(4, true)})
			wantCode(t, "the first that failed", err, protocol.ChromeError)
			mu.Lock()
			if len(got) != 4 {
				t.Fatalf("%d were sent, want 4", len(got))
			}
			got = nil
			mu.Unlock()
		}
		if took := time.Since(start); took != protocol.MaxInFlight*time.Second {
			t.Errorf("took %v, want a second each", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.CallAll(ctx, protocol.MethodSend, []any{send(1, true)}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that ended: %v", err)
		}
	})
}

func TestLateAnswersAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		_, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(context.Context, string, jsontext.Value) (any, error) {
				time.Sleep(3 * time.Second)
				return protocol.Empty{}, nil
			}
		})
		for range 3 * protocol.MaxInFlight { // abandoned calls take no slots
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			err := c.Call(ctx, protocol.MethodSend, send(1, false), nil)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v, want a deadline", err)
			}
		}
		if err := c.Call(t.Context(), protocol.MethodSend, send(2, false), nil); err != nil {
			t.Errorf("a later call: %v", err)
		}
	})
}

func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		s := h.proved(t)
		c := <-h.connected
		note := func(method string, params any) {
			t.Helper()
			if err := c.Note(method, params); err != nil {
				t.Fatal(err)
			}
		}
		note(protocol.MethodRows, protocol.Rows{File: "0"}) // in the writer's hands
		synctest.Wait()
		note(protocol.MethodRows, protocol.Rows{File: "1"})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, act := range []bool{false, true, false, true} {
			go c.Call(ctx, protocol.MethodSend, send(1, act), nil)
			synctest.Wait()
		}
		note(protocol.MethodPromptShow, protocol.Prompt{ID: "p"})
		note(protocol.MethodVerdict, protocol.Verdict{Tab: 1, Request: "r1", Action: protocol.VerdictFail})
		note(protocol.MethodVerdict, protocol.Verdict{Tab: 1, Request: "r2", Action: protocol.VerdictRefuse})
		var got []string
		for range 9 {
			m, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			what := m.Method
			var verdict protocol.Verdict
			var command protocol.SendParams
			switch {
			case protocol.Unmarshal(m.Params, &verdict) == nil:
				what = verdict.Request
			case protocol.Unmarshal(m.Params, &command) == nil && command.Act:
				what = "act"
			}
			got = append(got, what)
		}
		want := []string{"audit.rows", "prompt.show", "r1", "r2", "act", "act", "cdp.send", "cdp.send", "audit.rows"}
		if !slices.Equal(got, want) {
			t.Errorf("order on the wire: %v, want %v", got, want)
		}
	})
}

func TestLargeMessagesCrossInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		text := strings.Repeat(`x"\é😀`, 100_000) // over 1 MiB, twice that when escaped
		var got protocol.SendParams
		_, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(_ context.Context, _ string, params jsontext.Value) (any, error) {
				if err := protocol.Unmarshal(params, &got); err != nil {
					return nil, err
				}
				return map[string]string{"text": text}, nil
			}
		})
		params, _ := protocol.Marshal(map[string]string{"text": text})
		var result struct {
			Text string `json:"text"`
		}
		call := protocol.SendParams{Tab: 1, Method: "Input.insertText", Params: params, Act: true}
		if err := c.Call(t.Context(), protocol.MethodSend, call, &result); err != nil {
			t.Fatal(err)
		}
		if result.Text != text || string(got.Params) != string(params) {
			t.Errorf("the text came back with %d bytes, want %d", len(result.Text), len(text))
		}
	})
}

func TestSilentPeerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		s := h.proved(t)
		c := <-h.connected
		go s.Write(t.Context(), reconcile)
		start := time.Now()
		call := make(chan error, 1)
		go func() { call <- c.Call(context.Background(), protocol.MethodSend, send(1, true), nil) }()
		pings := 0
		for {
			m, err := s.Next(t.Context())
			if err != nil {
				wantCloseError(t, err, protocol.CloseTimeout)
				break
			}
			if m.Method == protocol.MethodPing {
				pings++
			}
		}
		if took := time.Since(start); took > protocol.DeadAfter || took < 2*protocol.Heartbeat {
			t.Errorf("given up after %v, want at most %v", took, protocol.DeadAfter)
		}
		if pings != 2 {
			t.Errorf("%d pings went unanswered, want 2", pings)
		}
		wantCode(t, "the call in flight", <-call, protocol.TransportLost)
	})
}

func TestHeartbeatKeepsAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		e, c := h.link(t)
		time.Sleep(time.Hour)
		if h.Conn() != c {
			t.Errorf("the connection ended: %v", e.Err())
		}
	})
}

func TestPeerThatNeverReadsIsGivenUp(t *testing.T) {
	t.Run("a frame that cannot be written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			h.proved(t)
			c := <-h.connected
			start := time.Now()
			err := c.Call(t.Context(), protocol.MethodSend, send(1, true), nil)
			wantCode(t, "the call", err, protocol.TransportLost)
			if took := time.Since(start); took > 6*time.Second {
				t.Errorf("given up after %v, want 5 s", took)
			}
		})
	})
	t.Run("a queue that is full", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := newHost(t)
			h.proved(t)
			c := <-h.connected
			rows := protocol.Rows{File: strings.Repeat("x", 1<<19)}
			var err error
			sent := 0
			for ; err == nil && sent < 100; sent++ {
				err = c.Note(protocol.MethodRows, rows)
			}
			wantCode(t, "the note that was too much", err, protocol.TransportLost)
			if sent < 60 || sent > 66 {
				t.Errorf("%d notes of 512 KiB fit, want 64 or so", sent)
			}
		})
	})
}

func TestRotatedKeyEndsTheConnection(t *testing.T) {
	for name, key := range map[string][]byte{"replaced": make([]byte, protocol.KeySize), "revoked": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				e, _ := h.link(t)
				start := time.Now()
				h.setKey(key)
				wantCloseError(t, e.Err(), protocol.CloseRotated)
				if took := time.Since(start); took > 2*time.Second {
					t.Errorf("closed after %v, want 2 s", took)
				}
				if _, err := linktest.Connect(t.Context(), h.options); err == nil {
					t.Error("the old key still lets in")
				}
			})
		})
	}
}

func TestDropEndsTheConnectionOfThatProfileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		e, c := h.link(t)
		h.Drop(stranger, protocol.CloseRotated)
		if err := c.Call(t.Context(), protocol.MethodTabClose, protocol.TabRef{}, nil); err != nil {
			t.Errorf("after another profile was dropped: %v", err)
		}
		h.Drop(profile, protocol.CloseRotated)
		wantCloseError(t, e.Err(), protocol.CloseRotated)
	})
}

func TestCloseWithWorkInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.call = func(ctx context.Context, _ *link.Conn, _ string, _ jsontext.Value) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Millisecond)
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.gone) > 0 {
				t.Error("Disconnected came before the last call was answered")
			}
			return nil, ctx.Err()
		}
		block := make(chan struct{})
		e, c := h.link(t, func(o *linktest.Options) {
			o.Answer = func(context.Context, string, jsontext.Value) (any, error) {
				<-block
				return nil, nil
			}
		})
		defer close(block)
		call := make(chan error, 1)
		go func() { call <- c.Call(context.Background(), protocol.MethodSend, send(1, true), nil) }()
		go e.Call(t.Context(), protocol.MethodApprovalGet, protocol.Empty{}, nil)
		h.dial(t) // a handshake that has not begun
		synctest.Wait()
		start := time.Now()
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Close took %v, want at most 2 s", took)
		}
		logged := h.log.String()
		if synctest.Wait(); h.log.String() != logged {
			t.Errorf("after Close something still ran, and logged %q", strings.TrimPrefix(h.log.String(), logged))
		}
		wantCode(t, "the call in flight", <-call, protocol.TransportLost)
		wantCloseError(t, e.Err(), protocol.CloseShuttingDown)
		if len(h.gone) != 1 {
			t.Errorf("Disconnected was called %d times, want once", len(h.gone))
		}
		if _, err := linktest.Dial(t.Context(), h.options); err == nil {
			t.Error("the listener is still open")
		}
	})
}

func TestCloseWhileAConnectionIsBeingReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.proved(t) // and never answers the probe
		second := make(chan error, 1)
		go func() {
			_, err := linktest.Connect(t.Context(), h.options)
			second <- err
		}()
		time.Sleep(time.Second)
		start := time.Now()
		h.Close()
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Close took %v, want at most 2 s", took)
		}
		if err := <-second; err == nil || h.Conn() != nil || len(h.connected) > 1 {
			t.Errorf("the second connection was let in: %v", err)
		}
	})
}

func TestCloseOfAPeerThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.proved(t)
		c := <-h.connected
		c.Note(protocol.MethodPromptWithdraw, protocol.PromptRef{ID: "p"})
		synctest.Wait()
		start := time.Now()
		h.Close()
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("Close took %v, want at most 2 s", took)
		}
	})
}

func TestPeerThatCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		e, c := h.link(t)
		e.Stop()
		wantCode(t, "a call after the end", c.Call(t.Context(), protocol.MethodSend, send(1, true), nil), protocol.TransportLost)
		synctest.Wait() // the call may hear of it from its own write, before the end is known
		wantCode(t, "a note after the end", c.Note(protocol.MethodVerdict, protocol.Verdict{}), protocol.TransportLost)
		if h.Conn() != nil || len(h.gone) != 1 {
			t.Errorf("after the end: live %v, told %d times", h.Conn(), len(h.gone))
		}
		h.link(t) // and again
	})
}

func TestMemoryDoesNotFollowAnnouncedLengths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range protocol.MaxUnproved {
			c, err := h.pipes.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() {
				c.Write([]byte(upgrade()))
				c.Write([]byte{0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 'x'}) // 1 GiB
			}()
			go func() {
				buffer := make([]byte, 1024)
				for {
					if _, err := c.Read(buffer); err != nil {
						return
					}
				}
			}()
		}
		synctest.Wait()
		runtime.ReadMemStats(&after)
		if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 2<<20 {
			t.Errorf("%d bytes were allocated", grown)
		}
	})
}
