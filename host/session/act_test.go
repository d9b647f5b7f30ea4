package session

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/protocol"
)

func TestActIsWrittenDownBeforeItIsSent(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		got := <-w.act("browser_click", w.click())
		w.code(got, "")
		if got.Did != `clicked button "Go"` || got.Outcome != browser.Dispatched || got.Tab != "t1" || got.Document.URL != shop+"/" {
			t.Errorf("report %+v", got.Report)
		}
		want := []string{`intent browser_click button "Go"`, "click", "result dispatched "}
		if diff := cmp.Diff(want, w.happened()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestActIsNotSentWhenTheRecordCannotBeWritten(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.log.full = true
		got := <-w.act("browser_click", w.click())
		w.code(got, protocol.AuditUnavailable)
		if w.clicks() != 0 || got.Outcome != browser.NotDispatched {
			t.Errorf("something reached Chrome: %v", w.happened())
		}
		if _, err := w.snapshot(); err != nil {
			t.Errorf("reads must go on: %v", err)
		}
	})
}

func TestUnannouncedFormIsNotSentAndNobodyIsAsked(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		got := <-w.act("browser_click", w.click())
		w.code(got, protocol.WouldSubmit)
		if w.clicks() != 0 || len(notesOf[protocol.Prompt](w.conn, protocol.MethodPromptShow)) != 0 {
			t.Error("it was sent, or somebody was asked")
		}
	})
}

func TestDownloadsAndNewTabsAreNotSetOff(t *testing.T) {
	for what, would := range map[string]browser.Would{
		"a download":      {Kind: "download", Method: "GET", URL: shop + "/list.csv"},
		"a new tab":       {Kind: "follow", Method: "GET", URL: shop + "/x", NewTab: true},
		"a link with Alt": {Kind: "follow", Method: "GET", URL: shop + "/x"},
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, Options{}, func(w *world) {
				w.tab.checked.Would = would
				plan := w.click()
				plan.Target.Modifiers = []string{"Alt"}
				w.code(<-w.act("browser_click", plan), protocol.BlockedByPolicy)
				if w.clicks() != 0 {
					t.Error("it was clicked")
				}
			})
		})
	}
}

// wouldPost makes the button one that sends the order form.
func (w *world) wouldPost() {
	w.tab.checked.Would = browser.Would{Kind: "submit", Method: "POST", URL: shop + "/order", Fields: []string{"item"}, Frame: "F"}
}

func TestAnnouncedFormIsAskedBeforeItIsSentOnce(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		answer := w.act("browser_click", plan)
		p := w.prompt()
		if p.Kind != protocol.PromptSubmit || !p.Announced || p.Control != `button "Go"` || p.Site != "shop.example" || p.Method != "POST" || !slices.Equal(p.Fields, []string{"item"}) {
			t.Errorf("prompt %+v", p)
		}
		if w.clicks() != 0 {
			t.Error("dispatched before the answer")
		}
		w.answer(p.ID, protocol.ChoiceOnce)
		got := <-answer
		w.code(got, "")
		if got.Prompt != nil {
			t.Errorf("a question that is answered: %+v", got.Prompt)
		}
		want := []string{"recheck", `intent browser_click button "Go"`, "click", "result dispatched "}
		if diff := cmp.Diff(want, w.happened()); diff != "" {
			t.Error(diff)
		}
		if got := notesOf[protocol.PromptRef](w.conn, protocol.MethodPromptWithdraw); len(got) != 1 || got[0].ID != p.ID {
			t.Errorf("withdrawn: %v", got)
		}
	})
}

func TestForeseenQuestion(t *testing.T) {
	for _, tt := range []struct {
		name  string
		then  func(*world, protocol.Prompt)
		code  protocol.Code
		click int
	}{
		{"refused", func(w *world, p protocol.Prompt) { w.answer(p.ID, protocol.ChoiceNo) }, protocol.BlockedByPolicy, 0},
		{"no answer in the time of a call", func(w *world, p protocol.Prompt) {}, protocol.ApprovalPending, 0},
		{"the owner takes over", func(w *world, p protocol.Prompt) {
			w.note(protocol.MethodTakeover, protocol.Takeover{Tab: 7})
		}, protocol.OwnerHasControl, 0},
		{"the page changes", func(w *world, p protocol.Prompt) {
			w.paused("r", "L2", "GET", shop+"/next", nil)
			w.commits("L2", shop+"/next")
		}, protocol.TabChanged, 0},
		{"the target is not what it was", func(w *world, p protocol.Prompt) {
			w.tab.recheck = protocol.Errorf(protocol.AllowedRepeatNeeded, "another")
			w.answer(p.ID, protocol.ChoiceOnce)
		}, protocol.AllowedRepeatNeeded, 0},
		{"the owner stops sharing", func(w *world, p protocol.Prompt) {
			w.note(protocol.MethodLeaseEnded, protocol.LeaseEnded{Tab: 7, Reason: protocol.EndStopped})
		}, protocol.PageClosed, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, Options{}, func(w *world) {
				w.wouldPost()
				plan := w.click()
				plan.Submits = true
				answer := w.act("browser_click", plan)
				p := w.prompt()
				tt.then(w, p)
				got := <-answer
				w.code(got, tt.code)
				if w.clicks() != tt.click || got.Outcome != browser.NotDispatched {
					t.Errorf("%d clicks, outcome %s", w.clicks(), got.Outcome)
				}
			})
		})
	}
}

func TestSlowOwner(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		start := time.Now()
		got := <-w.act("browser_click", plan)
		w.code(got, protocol.ApprovalPending)
		if took := time.Since(start); took != 55*time.Second {
			t.Errorf("answered after %s", took)
		}
		p := w.prompt()
		if got.Prompt == nil || got.Prompt.ID != p.ID || got.Prompt.Dispatched {
			t.Errorf("prompt %+v", got.Prompt)
		}
		other := <-w.act("browser_press_key", plan)
		w.code(other, protocol.ApprovalPending)
		if _, err := w.snapshot(); err != nil {
			t.Errorf("reads go on: %v", err)
		}
		again := w.act("browser_click", plan)
		synctest.Wait()
		if n := len(notesOf[protocol.Prompt](w.conn, protocol.MethodPromptShow)); n != 1 || w.clicks() != 0 {
			t.Errorf("the repeated call must join: %d questions, %d clicks", n, w.clicks())
		}
		w.answer(p.ID, protocol.ChoiceOnce)
		w.code(<-again, "")
		if w.clicks() != 1 {
			t.Errorf("%d clicks", w.clicks())
		}
	})
}

func TestNoAnswerIsANo(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		for range 5 {
			w.code(<-w.act("browser_click", plan), protocol.ApprovalPending)
		}
		w.code(<-w.act("browser_click", plan), protocol.BlockedByPolicy)
		if len(notesOf[protocol.PromptRef](w.conn, protocol.MethodPromptWithdraw)) != 1 {
			t.Error("the question still stands")
		}
	})
}

func TestConsentTimeoutOfTheHostIsShorter(t *testing.T) {
	inWorld(t, Options{ConsentTimeout: 10 * time.Second}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		start := time.Now()
		w.code(<-w.act("browser_click", plan), protocol.BlockedByPolicy)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("refused after %s", took)
		}
	})
}

func TestLateYesWaitsForTheRepeatedCall(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		w.code(<-w.act("browser_click", plan), protocol.ApprovalPending)
		w.answer(w.prompt().ID, protocol.ChoiceOnce)
		report, err := w.snapshot()
		if err != nil || len(report.Notes) != 1 {
			t.Errorf("the next result tells it: %v %v", report.Notes, err)
		}
		if w.clicks() != 0 {
			t.Error("nobody called, but it was clicked")
		}
		w.code(<-w.act("browser_click", plan), "")
		if w.clicks() != 1 {
			t.Errorf("%d clicks", w.clicks())
		}
		w.code(<-w.act("browser_click", plan), protocol.ApprovalPending) // asked anew: once was once
		if w.clicks() != 1 {
			t.Errorf("%d clicks", w.clicks())
		}
	})
}

func TestCancelledCallTakesItsQuestionBack(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			_, err := w.m.Act(ctx, Call{Tool: "browser_click"}, plan)
			done <- err
		}()
		p := w.prompt()
		cancel()
		if err := <-done; err == nil {
			t.Error("no error")
		}
		synctest.Wait()
		if err := w.m.answer(p.ID, protocol.ChoiceOnce); protocol.CodeOf(err) != protocol.InvalidTransition {
			t.Errorf("a late answer: %v", err)
		}
		if len(notesOf[protocol.PromptRef](w.conn, protocol.MethodPromptWithdraw)) != 1 {
			t.Error("not withdrawn")
		}
	})
}

func TestSurpriseByGetIsLoadedWithoutASecondClick(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		answer := w.act("browser_click", w.click(func(a *fakeAct) {
			a.waits = true
			w.paused("r1", "L2", "GET", "https://other.example/x", nil)
		}))
		p := w.prompt()
		if p.Kind != protocol.PromptNavigate || p.Announced || p.Destination != "https://other.example" {
			t.Errorf("prompt %+v", p)
		}
		if diff := cmp.Diff([]protocol.VerdictAction{protocol.VerdictRefuse}, w.verdicts()); diff != "" {
			t.Error(diff)
		}
		w.answer(p.ID, protocol.ChoiceOnce)
		w.code(<-answer, "")
		want := []string{`intent browser_click button "Go"`, "click", "result dispatched ", "intent browser_click ", "navigate https://other.example/x", "result dispatched "}
		if diff := cmp.Diff(want, w.happened()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSurpriseThatIsRefusedSaysThatTheActWasSent(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		answer := w.act("browser_click", w.click(func(a *fakeAct) {
			a.waits = true
			w.paused("r1", "L2", "GET", "https://other.example/x", nil)
		}))
		w.answer(w.prompt().ID, protocol.ChoiceNo)
		got := <-answer
		w.code(got, protocol.BlockedByPolicy)
		if got.Outcome != browser.Dispatched || got.Document.URL != shop+"/" {
			t.Errorf("outcome %s at %s", got.Outcome, got.Document.URL)
		}
	})
}

func TestSurpriseByPostIsActedAgainOnlyIfNothingChanged(t *testing.T) {
	for _, tt := range []struct {
		name    string
		recheck error
		code    protocol.Code
		clicks  int
	}{
		{"unchanged", nil, "", 2},
		{"changed", protocol.Errorf(protocol.AllowedRepeatNeeded, "another"), protocol.AllowedRepeatNeeded, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inWorld(t, Options{}, func(w *world) {
				posts := 0
				answer := w.act("browser_click", w.click(func(a *fakeAct) {
					posts++
					if posts == 1 {
						a.waits = true
					}
					w.paused("r", "L2", "POST", shop+"/order", nil)
				}))
				p := w.prompt()
				if p.Kind != protocol.PromptSubmit || p.Announced || !slices.Equal(p.Fields, []string{"item"}) {
					t.Errorf("prompt %+v", p)
				}
				w.tab.recheck = tt.recheck
				w.answer(p.ID, protocol.ChoiceOnce)
				w.code(<-answer, tt.code)
				if w.clicks() != tt.clicks {
					t.Errorf("%d clicks", w.clicks())
				}
				if r, _ := w.snapshot(); len(r.Notes) != 0 {
					t.Errorf("the matter is settled, and the next result says %q", r.Notes)
				}
			})
		})
	}
}

func TestParkedHop(t *testing.T) {
	for _, tt := range []struct {
		choice protocol.PromptChoice
		code   protocol.Code
		last   string
	}{
		{protocol.ChoiceOnce, "", "history reload"},
		{protocol.ChoiceNo, protocol.BlockedByPolicy, "history back"},
	} {
		t.Run(string(tt.choice), func(t *testing.T) {
			inWorld(t, Options{}, func(w *world) {
				answer := w.act("browser_click", w.click(func(a *fakeAct) {
					a.waits = true
					w.paused("r1", "L2", "GET", shop+"/leave", nil)
					w.paused("r1", "L2", "GET", "https://other.example/x", map[string]any{"redirectedRequestId": "r0"})
					w.commits("L2", "chrome-error://chromewebdata/")
				}))
				p := w.prompt()
				if diff := cmp.Diff([]protocol.VerdictAction{protocol.VerdictContinue, protocol.VerdictFail}, w.verdicts()); diff != "" {
					t.Error(diff)
				}
				w.answer(p.ID, tt.choice)
				w.code(<-answer, tt.code)
				steps := w.happened()
				if !slices.Contains(steps, tt.last) || w.clicks() != 1 {
					t.Errorf("steps %q", steps)
				}
			})
		})
	}
}

func TestAgentsOwnNavigationArrives(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.tab.arrives = true
		w.code(<-w.act("browser_click", w.click(func(a *fakeAct) {
			w.paused("r1", "L2", "GET", shop+"/next", nil)
			w.paused("r2", "L3", "GET", "https://other.example/x", nil)
			synctest.Wait()
			w.note(protocol.MethodTakeover, protocol.Takeover{Tab: 7})
		})), protocol.OwnerHasControl)
		if diff := cmp.Diff([]protocol.VerdictAction{protocol.VerdictArrive, protocol.VerdictRefuse}, w.verdicts()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPageThatLeavesByItselfIsRefusedAndNobodyIsAsked(t *testing.T) {
	inWorld(t, Options{}, func(w *world) {
		w.paused("r1", "L2", "GET", "https://other.example/x", nil)
		synctest.Wait()
		if diff := cmp.Diff([]protocol.VerdictAction{protocol.VerdictRefuse}, w.verdicts()); diff != "" {
			t.Error(diff)
		}
		if len(notesOf[protocol.Prompt](w.conn, protocol.MethodPromptShow)) != 0 {
			t.Error("a page raised a question")
		}
	})
}

func TestNobodyIsAsked(t *testing.T) {
	inWorld(t, Options{Consent: ConsentDeny}, func(w *world) {
		w.wouldPost()
		plan := w.click()
		plan.Submits = true
		w.code(<-w.act("browser_click", plan), protocol.ConsentUnavailable)
		if len(notesOf[protocol.Prompt](w.conn, protocol.MethodPromptShow)) != 0 || w.clicks() != 0 {
			t.Error("somebody was asked, or it was sent")
		}
	})
}

func TestSurpriseWhenNobodyIsAsked(t *testing.T) {
	inWorld(t, Options{Consent: ConsentDeny}, func(w *world) {
		got := <-w.act("browser_click", w.click(func(a *fakeAct) {
			a.waits = true
			w.paused("r1", "L2", "GET", "https://other.example/x", nil)
		}))
		w.code(got, protocol.ConsentUnavailable)
		if got.Outcome != browser.Dispatched {
			t.Errorf("outcome %s", got.Outcome)
		}
	})
}

func TestReadOnlyLeaseIsNotActedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		w.lend(7, protocol.AccessRead)
		w.code(<-w.act("browser_click", w.click()), protocol.ReadOnly)
		if _, err := w.snapshot(); err != nil {
			t.Error(err)
		}
		w.end()
	})
}

func (w *world) snapshot() (*Report, error) {
	return w.m.Read(context.Background(), Call{Tool: "browser_snapshot"}, Reading{Fresh: true, Do: func(ctx context.Context, t Tab, may func(string) bool) (browser.Document, int, error) {
		s, err := t.Snapshot(ctx, browser.SnapshotOptions{})
		if err != nil {
			return browser.Document{}, 0, err
		}
		return s.Document, len(s.Text), nil
	}})
}
