package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/protocol"
)

func TestTakeover(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.code(<-w.act("browser_click", w.click(func(*fakeAct) {
			w.note(protocol.MethodTakeover, protocol.Takeover{Tab: 7})
		})), protocol.OwnerHasControl)
		got := <-w.act("browser_click", w.click())
		w.code(got, protocol.OwnerHasControl)
		if got.Outcome != browser.NotDispatched || w.clicks() != 1 || !w.tab.driving {
			t.Errorf("outcome %s, %d clicks", got.Outcome, w.clicks())
		}
		r, err := w.snapshot()
		if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "is driving") {
			t.Errorf("a read while the owner drives: %v %v", r.Notes, err)
		}
		w.paused("r1", "L2", "GET", "https://other.example/x", map[string]any{})
		time.Sleep(20 * time.Second)
		w.note(protocol.MethodHandback, protocol.TabRef{Tab: 7})

		ref := <-w.act("browser_click", w.click())
		w.code(ref, protocol.StaleRef)
		if len(ref.Notes) != 1 || !strings.Contains(ref.Notes[0], "drove this tab for 20s") {
			t.Errorf("notes %q", ref.Notes)
		}
		if r, err := w.snapshot(); err != nil || len(r.Notes) != 0 {
			t.Errorf("told twice: %q %v", r.Notes, err)
		}
		w.code(<-w.act("browser_click", w.click()), "")
	})
}

func TestPrivateTakeoverShowsNothing(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.note(protocol.MethodTakeover, protocol.Takeover{Tab: 7, Private: true})
		r, err := w.snapshot()
		if protocol.CodeOf(err) != protocol.OwnerPrivate || r.Document.URL != "" || r.Document.Title != "" {
			t.Errorf("%v, at %+v", err, r.Document)
		}
		got := <-w.act("browser_click", w.click())
		w.code(got, protocol.OwnerPrivate)
		if info := w.m.State().Leases[0]; info.URL != "" || info.Origin != "" || info.State != LeaseSuspended {
			t.Errorf("state %+v", info)
		}
	})
}

func TestOwnerGoesElsewhereAndTheAgentIsNotTold(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.note(protocol.MethodTakeover, protocol.Takeover{Tab: 7})
		w.commits("L9", "https://bank.example/account")
		w.note(protocol.MethodHandback, protocol.TabRef{Tab: 7})
		r, err := w.snapshot()
		if protocol.CodeOf(err) != protocol.NotSharedSite || r.Document.URL != "" {
			t.Errorf("%v at %q", err, r.Document.URL)
		}
		w.code(<-w.act("browser_click", w.click()), protocol.NotSharedSite)
	})
}

func TestDocumentNobodyAllowedFreezesTheTab(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.commits("L9", "https://evil.example/")
		r, err := w.snapshot()
		if protocol.CodeOf(err) != protocol.NavigationEscaped || r.Document.URL != "" {
			t.Errorf("%v at %q", err, r.Document.URL)
		}
		updates := notesOf[protocol.LeaseUpdate](w.conn, protocol.MethodLeaseUpdate)
		if last := updates[len(updates)-1]; !last.Frozen || len(last.Grants) != 0 {
			t.Errorf("the extension was told %+v", last)
		}
	})
}

func TestReadOfAPageThatMovedOnIsDropped(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.tab.read = func(context.Context) error {
			w.event("Page.frameNavigated", map[string]any{"frame": map[string]any{"id": "F", "loaderId": "L9", "url": "https://evil.example/", "securityOrigin": "https://evil.example"}})
			return nil
		}
		if _, err := w.snapshot(); protocol.CodeOf(err) != protocol.NavigationEscaped {
			t.Errorf("%v", err)
		}
	})
}

func TestLostLink(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		id := w.lease().id
		got := <-w.act("browser_click", w.click(func(*fakeAct) { w.disconnect() }))
		w.code(got, protocol.TransportLost)
		if got.Outcome != browser.Unknown {
			t.Errorf("outcome %s", got.Outcome)
		}
		start := time.Now()
		late := <-w.act("browser_click", w.click())
		w.code(late, protocol.TransportLost)
		if late.Outcome != browser.NotDispatched || time.Since(start) != 55*time.Second {
			t.Errorf("outcome %s after %s", late.Outcome, time.Since(start))
		}
		next := w.act("browser_click", w.click())
		time.Sleep(5 * time.Second)
		if keep := w.connect(protocol.LeasedTab{Tab: 7, Lease: id, URL: shop + "/"}).Keep; len(keep) != 1 {
			t.Errorf("kept %v", keep)
		}
		w.code(<-next, "")
		if w.clicks() != 2 {
			t.Errorf("%d clicks: what was lost was sent again", w.clicks())
		}
	})
}

func TestReadIsSentAgainAfterALostLink(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		id, reads := w.lease().id, 0
		lost := make(chan struct{})
		w.tab.read = func(context.Context) error {
			if reads++; reads == 1 {
				w.disconnect()
				close(lost)
				return protocol.Errorf(protocol.TransportLost, "gone")
			}
			return nil
		}
		done := make(chan error)
		go func() { _, err := w.snapshot(); done <- err }()
		<-lost
		time.Sleep(time.Second)
		w.connect(protocol.LeasedTab{Tab: 7, Lease: id, URL: shop + "/"})
		if err := <-done; err != nil || reads != 2 {
			t.Errorf("%v after %d reads", err, reads)
		}
	})
}

func TestReconcileEndsWhatOneSideLost(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.disconnect()
		r := w.connect(protocol.LeasedTab{Tab: 7, Lease: "another", URL: shop + "/"}, protocol.LeasedTab{Tab: 8, Lease: "x", URL: shop + "/"})
		if len(r.Keep) != 0 {
			t.Errorf("kept %v", r.Keep)
		}
		w.code(<-w.act("browser_click", w.click()), protocol.NotConnected)
	})
}

func TestOpenQuestionIsShownAgainAfterALostLink(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		id := w.lease().id
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		answer := w.act("browser_click", plan)
		p := w.prompt()
		w.disconnect()
		w.connect(protocol.LeasedTab{Tab: 7, Lease: id, URL: shop + "/"})
		if again := w.prompt(); again.ID != p.ID {
			t.Errorf("question %s became %s", p.ID, again.ID)
		}
		w.answer(p.ID, protocol.ChoiceOnce)
		w.code(<-answer, "")
	})
}

func TestLeasesEndWithThePairing(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.m.Disconnected(w.conn, protocol.Errorf(protocol.Rotated, "rotated"))
		synctest.Wait()
		w.code(<-w.act("browser_click", w.click()), protocol.NotConnected)
	})
}

func TestIdleLeaseEnds(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		time.Sleep(14 * time.Minute)
		if _, err := w.snapshot(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(14 * time.Minute)
		if len(w.m.State().Leases) != 1 {
			t.Fatal("ended although it was used")
		}
		w.note(protocol.MethodTakeover, protocol.Takeover{Tab: 7})
		time.Sleep(60 * time.Minute)
		if len(w.m.State().Leases) != 1 {
			t.Fatal("ended while the owner drove")
		}
		w.note(protocol.MethodHandback, protocol.TabRef{Tab: 7})
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		if len(w.m.State().Leases) != 0 || !slices.Contains(w.happened(), protocol.MethodLeaseEnd) {
			t.Errorf("still there: %v", w.happened())
		}
		w.code(<-w.act("browser_click", w.click()), protocol.NotConnected)
	})
}

func TestLeaseEndsWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.m.offer(w.conn, protocol.LeaseOfferParams{Tab: protocol.LeasedTab{Tab: 7, URL: shop + "/"}, Access: protocol.AccessAct, Until: 60})
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if len(w.m.State().Leases) != 0 {
			t.Error("still there")
		}
		w.end()
	})
}

func TestPausedAgent(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.note(protocol.MethodPaused, protocol.AgentPausedParams{Paused: true})
		w.code(<-w.act("browser_click", w.click()), protocol.AgentPaused)
		if _, err := w.snapshot(); err != nil {
			t.Error(err)
		}
		w.note(protocol.MethodPaused, protocol.AgentPausedParams{Paused: false})
		w.code(<-w.act("browser_click", w.click()), "")
	})
}

func TestThreeRefusalsPauseTheAgent(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		for range 3 {
			answer := w.act("browser_click", plan)
			w.answer(w.prompt().ID, protocol.ChoiceNo)
			w.code(<-answer, protocol.BlockedByPolicy)
		}
		w.code(<-w.act("browser_click", plan), protocol.AgentPaused)
		if told := notesOf[protocol.AgentPausedParams](w.conn, protocol.MethodPaused); len(told) != 1 || !told[0].Paused {
			t.Errorf("the extension was told %v", told)
		}
		l := w.lease()
		w.disconnect()
		w.connect(protocol.LeasedTab{Tab: l.tab, Lease: l.id, URL: shop + "/"})
		if told := notesOf[protocol.AgentPausedParams](w.conn, protocol.MethodPaused); len(told) != 1 {
			t.Errorf("an extension that has come back was told %v", told)
		}
		w.note(protocol.MethodPaused, protocol.AgentPausedParams{Paused: false})
		plan.Submits = false
		w.code(<-w.act("browser_click", plan), protocol.WouldSubmit)
	})
}

func TestTwoTabs(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.lend(8, protocol.AccessRead)
		s := w.m.State()
		if len(s.Leases) != 2 || s.Leases[0].Tab != "t1" || !s.Leases[0].Current || s.Leases[1].Current {
			t.Errorf("%+v", s.Leases)
		}
		if err := w.m.Select("t3"); protocol.CodeOf(err) != protocol.SessionNotFound {
			t.Errorf("%v", err)
		}
		if err := w.m.Select("t2"); err != nil {
			t.Error(err)
		}
		if _, err := w.m.offer(w.conn, protocol.LeaseOfferParams{Tab: protocol.LeasedTab{Tab: 8, URL: shop}, Access: protocol.AccessRead}); protocol.CodeOf(err) != protocol.InvalidTransition {
			t.Errorf("lent twice: %v", err)
		}
		w.note(protocol.MethodLeaseEnded, protocol.LeaseEnded{Tab: 8, Reason: protocol.EndClosed})
		if s := w.m.State(); len(s.Leases) != 1 || !s.Leases[0].Current {
			t.Errorf("%+v", s.Leases)
		}
	})
}

func TestOpenTabIsTheAgentsAndMayBeClosed(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.tab.checked = nil
		r, err := w.m.OpenTab(context.Background(), Call{Tool: "browser_tabs"}, "")
		if err != nil || r.Tab != "t2" {
			t.Fatalf("%+v %v", r, err)
		}
		if s := w.m.State(); !s.Leases[1].Opened || !s.Leases[1].Current {
			t.Errorf("%+v", s.Leases)
		}
		if _, err := w.m.CloseTab(context.Background(), Call{Tool: "browser_tabs", Tab: "t1"}); protocol.CodeOf(err) != protocol.InvalidTransition {
			t.Errorf("closing the owner's tab: %v", err)
		}
		if _, err := w.m.CloseTab(context.Background(), Call{Tool: "browser_tabs", Tab: "t2"}); err != nil {
			t.Error(err)
		}
		if s := w.m.State(); len(s.Leases) != 1 || !s.Leases[0].Current {
			t.Errorf("%+v", s.Leases)
		}
	})
}

func TestTabIsNotClosedWhileTheOwnerSaysNo(t *testing.T) {
	for _, c := range []struct {
		name, method string
		says         any
		want         protocol.Code
	}{
		{"driving", protocol.MethodTakeover, protocol.Takeover{Tab: 99}, protocol.OwnerHasControl},
		{"driving in private", protocol.MethodTakeover, protocol.Takeover{Tab: 99, Private: true}, protocol.OwnerPrivate},
		{"paused", protocol.MethodPaused, protocol.AgentPausedParams{Paused: true}, protocol.AgentPaused},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, Options{}, func(w *world) {
				r, err := w.m.OpenTab(context.Background(), Call{Tool: "browser_tabs"}, "")
				if err != nil || w.m.byTab(99) == nil {
					t.Fatalf("%+v %v", r, err)
				}
				w.note(c.method, c.says)
				r, err = w.m.CloseTab(context.Background(), Call{Tool: "browser_tabs", Tab: "t2"})
				if protocol.CodeOf(err) != c.want || r.Outcome != browser.NotDispatched || len(w.m.State().Leases) != 2 {
					t.Errorf("%v, %s, %d tabs", err, r.Outcome, len(w.m.State().Leases))
				}
			})
		})
	}
}

func TestTabElsewhereIsAskedForBeforeItIsOpened(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		done := make(chan answered, 1)
		go func() {
			r, err := w.m.OpenTab(context.Background(), Call{Tool: "browser_tabs"}, "https://other.example/x")
			done <- answered{r, err}
		}()
		p := w.prompt()
		if slices.Contains(w.happened(), protocol.MethodTabOpen) {
			t.Error("opened before the answer")
		}
		w.answer(p.ID, protocol.ChoiceNo)
		w.code(<-done, protocol.BlockedByPolicy)
		if slices.Contains(w.happened(), protocol.MethodTabOpen) {
			t.Error("opened after a no")
		}
	})
}

func TestDisconnectSaysWhatBecameOfEachTab(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		ended, err := w.m.Disconnect(context.Background(), false)
		if err != nil || len(ended) != 1 || !ended[0].Detached || ended[0].Closed {
			t.Errorf("%+v %v", ended, err)
		}
		w.code(<-w.act("browser_click", w.click()), protocol.NotConnected)
	})
}

func TestActsOfOneTabComeOneAfterTheOther(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		running := 0
		plan := w.click(func(*fakeAct) {
			if running++; running != 1 {
				t.Error("two acts at once")
			}
			time.Sleep(time.Second)
			running--
		})
		var all []<-chan answered
		for range 5 {
			all = append(all, w.act("browser_click", plan))
		}
		for _, c := range all {
			w.code(<-c, "")
		}
	})
}

func TestOpenDialogIsAnsweredFirst(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.tab.dialog = &browser.Dialog{Type: "confirm"}
		w.code(<-w.act("browser_click", w.click()), protocol.DialogOpen)
		if r, err := w.m.HandleDialog(context.Background(), Call{Tool: "browser_handle_dialog"}, true, "yes"); err != nil || r.Did != "accepted the dialog" {
			t.Errorf("%+v %v", r, err)
		}
		w.code(<-w.act("browser_click", w.click()), "")
		if r, err := w.m.HandleDialog(context.Background(), Call{Tool: "browser_handle_dialog"}, false, ""); err != nil || !strings.Contains(r.Did, "armed") {
			t.Errorf("%+v %v", r, err)
		}
	})
}

func TestCheckIsMadeAgainAfterALostLink(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		id := w.lease().id
		w.tab.checkErr = protocol.Errorf(protocol.TransportLost, "gone")
		got := w.act("browser_click", w.click())
		time.Sleep(time.Second)
		w.disconnect()
		time.Sleep(time.Second)
		w.tab.checkErr = nil
		w.connect(protocol.LeasedTab{Tab: 7, Lease: id, URL: shop + "/"})
		w.code(<-got, "")
		if w.clicks() != 1 {
			t.Errorf("%d clicks", w.clicks())
		}
	})
}
