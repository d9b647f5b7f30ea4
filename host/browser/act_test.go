package browser

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

const checkedButton = `{"ref":"e1","role":"button","name":"Go","describe":"button \"Go\"","point":{"x":5,"y":6},"would":{"kind":"none"},"begun":true}`

// begun starts an act on a button, with the time it began.
func begun(t *testing.T, tab *Tab, f *fakeChrome) (*Act, time.Time) {
	t.Helper()
	f.answer("check", checkedButton)
	c, err := tab.Check(t.Context(), CheckOptions{Target: "e1", For: Click})
	if protocol.CodeOf(err) == protocol.StaleRef { // the engine was not made yet
		c, err = tab.Check(t.Context(), CheckOptions{Target: "#go", For: Click})
	}
	if err != nil {
		t.Fatalf("checking: %v", err)
	}
	a, err := tab.Begin(t.Context(), c)
	if err != nil {
		t.Fatalf("beginning: %v", err)
	}
	t.Cleanup(a.End)
	return a, time.Now()
}

func settle(t *testing.T, a *Act) *Settled {
	t.Helper()
	s, err := a.Settle(t.Context())
	if err != nil {
		t.Fatalf("settling: %v", err)
	}
	return s
}

func inBubble(t *testing.T, test func(t *testing.T, tab *Tab, f *fakeChrome)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tab, f := newFake(t)
		test(t, tab, f)
		tab.Close()
	})
}

func TestClickOnAStillPageCostsFewCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		a, _ := begun(t, tab, f)
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		s := settle(t, a)
		a.End()
		synctest.Wait()
		log := f.sent()
		from := slices.Index(log, "check")
		want := []string{"!Input.dispatchMouseEvent", "!Input.dispatchMouseEvent", "!Input.dispatchMouseEvent", "check", "quiet"}
		got := slices.DeleteFunc(log[from:], func(m string) bool { return strings.HasSuffix(m, "Screencast") })
		slices.Sort(got)
		if !slices.Equal(got, want) || s.Outcome != Dispatched || s.Navigation != nil {
			t.Errorf("got %v, %+v", got, s)
		}
	})
}

func TestClickThatThePageDoesNotHearIsSettledAllTheSame(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.handle("quiet", func(ctx context.Context, args jsontext.Value) (any, error) {
			if strings.Contains(string(args), "released") { // somebody takes the event away before the engine gets it
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return jsontext.Value(`{"quiet":true,"heard":true,"delta":{"text":"+ dialog","more":2}}`), nil
		})
		a, start := begun(t, tab, f)
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		if s := settle(t, a); s.Delta != "+ dialog" || s.DeltaMore != 2 || s.Outcome != Confirmed || time.Since(start) != hearLimit {
			t.Errorf("got %+v after %v", s, time.Since(start))
		}
	})
}

func TestDeltaOlderThanTheActsRequestsIsNotTold(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		asked := 0
		f.handle("quiet", func(context.Context, jsontext.Value) (any, error) {
			if asked++; asked == 1 {
				event(tab, "Network.requestWillBeSent", `{"requestId":"r1","loaderId":"L0","frameId":"M","type":"Fetch","request":{"url":"https://shop.test/x","method":"GET"}}`)
				return jsontext.Value(`{"quiet":true,"heard":true,"delta":{"text":"+ busy","more":0}}`), nil
			}
			return jsontext.Value(`{"quiet":true,"heard":true,"delta":{"text":"+ done","more":0}}`), nil
		})
		f.handle("Input.dispatchMouseEvent", func(context.Context, jsontext.Value) (any, error) {
			synctest.Wait()
			return jsontext.Value("{}"), nil
		})
		a, _ := begun(t, tab, f)
		a.settling.counting = true // as a request is, that a click sets off
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { event(tab, "Network.loadingFinished", `{"requestId":"r1"}`) })
		if s := settle(t, a); s.Delta != "+ done" || asked != 2 {
			t.Errorf("got %+v after %d questions", s, asked)
		}
	})
}

func TestBaselineOfAnEarlierCheckIsTakenAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.answer("check", checkedButton)
		var checks [2]*Checked
		for i := range checks {
			var err error
			if checks[i], err = tab.Check(t.Context(), CheckOptions{Target: "#go", For: Click}); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []*Checked{checks[1], checks[1], checks[0]} {
			a, err := tab.Begin(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			a.End()
		}
		if n := len(slices.DeleteFunc(f.sent(), func(m string) bool { return m != "begin" })); n != 2 {
			t.Errorf("%d baselines beside that of the last check, want 2", n)
		}
	})
}

func TestClickThatOpensADialogDoesNotWaitForItsAcknowledgement(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("Input.dispatchMouseEvent")
		a, start := begun(t, tab, f)
		go event(tab, "Page.javascriptDialogOpening", `{"url":"https://shop.test/","frameId":"M","message":"Sure?","type":"confirm"}`)
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		s := settle(t, a)
		if s.Dialog == nil || s.Dialog.Answered != "" || s.Outcome != Confirmed || time.Since(start) > 0 {
			t.Errorf("got %+v after %v", s, time.Since(start))
		}
	})
}

func TestClickThatIsNeverAcknowledgedIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("Input.dispatchMouseEvent")
		a, start := begun(t, tab, f)
		err := a.Click(t.Context(), ClickOptions{})
		if protocol.CodeOf(err) != protocol.Timeout || a.Step() != Unknown || time.Since(start) != 5*time.Second {
			t.Errorf("got %v, %s after %v", err, a.Step(), time.Since(start))
		}
	})
}

func TestClickThatIsTurnedBackWasNotDispatched(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.handle("Input.dispatchMouseEvent", func(context.Context, jsontext.Value) (any, error) {
			return nil, protocol.Errorf(protocol.OwnerHasControl, "the owner is driving")
		})
		a, _ := begun(t, tab, f)
		if err := a.Click(t.Context(), ClickOptions{}); protocol.CodeOf(err) != protocol.OwnerHasControl || a.Step() != NotDispatched {
			t.Errorf("got %v, %s", err, a.Step())
		}
	})
}

func TestClickWhoseCallerGivesUpIsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("Input.dispatchMouseEvent")
		a, _ := begun(t, tab, f)
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := a.Click(ctx, ClickOptions{}); !errors.Is(err, context.Canceled) || a.Step() != Unknown {
			t.Errorf("got %v, %s", err, a.Step())
		}
	})
}

func TestSettleFollowsANavigation(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("quiet") // the page that is left answers nothing
		a, start := begun(t, tab, f)
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		go func() {
			navigates(tab, "L1", "https://shop.test/cart")
			time.Sleep(300 * time.Millisecond)
			commits(tab, "L1", "https://shop.test/cart")
			time.Sleep(200 * time.Millisecond)
			lives(tab, "L1", "DOMContentLoaded")
		}()
		s := settle(t, a)
		if s.Navigation == nil || s.Navigation.Fate != Committed || s.Outcome != Confirmed || s.Document.Loader != "L1" || time.Since(start) != 500*time.Millisecond {
			t.Errorf("got %+v, %+v after %v", s, s.Navigation, time.Since(start))
		}
	})
}

func TestSettleEndsWithTheGuardsWord(t *testing.T) {
	for _, fate := range []NavigationFate{Refused, Asked, Parked} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			f.silent("quiet") // the request is paused, and with it every answer of the page
			f.silent("delta")
			a, start := begun(t, tab, f)
			if err := a.Click(t.Context(), ClickOptions{}); err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(20 * time.Millisecond)
				event(tab, "Fetch.requestPaused", `{"frameId":"M","networkId":"L1","request":{"url":"https://bank.test/","method":"GET"}}`)
				a.Note("", fate, "https://bank.test/")
			}()
			if err := a.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := a.navigation(); n == nil || n.Fate != fate || n.URL != "https://bank.test/" || time.Since(start) != 20*time.Millisecond {
				t.Errorf("%s: got %+v after %v", fate, n, time.Since(start))
			}
		})
	}
}

func TestSettleGivesUpANavigationThatNeverCommits(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		a, start := begun(t, tab, f)
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		navigates(tab, "L1", "https://shop.test/slow")
		s := settle(t, a)
		if s.Navigation == nil || s.Navigation.Fate != FateUnknown || time.Since(start) != 10*time.Second {
			t.Errorf("got %+v after %v", s.Navigation, time.Since(start))
		}
	})
}

func TestSettleWaitsForRequestsAtMostTwoSeconds(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends time.Duration // 0: never
		want time.Duration
	}{{"ends", 700 * time.Millisecond, 700 * time.Millisecond}, {"streams", 0, 2 * time.Second}} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			a, start := begun(t, tab, f)
			if err := a.Click(t.Context(), ClickOptions{}); err != nil {
				t.Fatal(err)
			}
			event(tab, "Network.requestWillBeSent", `{"requestId":"r1","loaderId":"L0","frameId":"M","type":"Fetch","request":{"url":"https://shop.test/x","method":"GET"}}`)
			if tt.ends > 0 {
				time.AfterFunc(tt.ends, func() { event(tab, "Network.loadingFinished", `{"requestId":"r1"}`) })
			}
			settle(t, a)
			if got := time.Since(start); got != tt.want {
				t.Errorf("a request that %s: settled after %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}

func TestSettleWaitsForTheNavigationALinkForetells(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		a, _ := begun(t, tab, f)
		a.target.Would = Would{Kind: "follow", URL: "https://shop.test/cart"}
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(60 * time.Millisecond)
			navigates(tab, "L1", "https://shop.test/cart")
			commits(tab, "L1", "https://shop.test/cart")
			lives(tab, "L1", "DOMContentLoaded")
		}()
		if s := settle(t, a); s.Navigation == nil || s.Navigation.Fate != Committed {
			t.Errorf("got %+v", s.Navigation)
		}
	})
}

func TestSettleEndsWhenTheTabGoes(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("quiet")
		a, _ := begun(t, tab, f)
		if err := a.Click(t.Context(), ClickOptions{}); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(10*time.Millisecond, tab.Close)
		if _, err := a.Settle(t.Context()); protocol.CodeOf(err) != protocol.PageClosed {
			t.Errorf("got %v", err)
		}
	})
}

func TestSilentPageIsGivenUpAfterItsDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("snapshot")
		start := time.Now()
		if _, err := tab.Snapshot(t.Context(), SnapshotOptions{}); protocol.CodeOf(err) != protocol.Timeout || time.Since(start) != 15*time.Second {
			t.Errorf("a snapshot: got %v after %v", err, time.Since(start))
		}
		f.silent("check")
		start = time.Now()
		if _, err := tab.Check(t.Context(), CheckOptions{Target: "#go", For: Click}); protocol.CodeOf(err) != protocol.Timeout || time.Since(start) != 5*time.Second {
			t.Errorf("a check: got %v after %v", err, time.Since(start))
		}
	})
}

func TestCallIsGivenUpWhenItsPageGoesOrADialogOpens(t *testing.T) {
	for name, tt := range map[string]struct {
		happens func(tab *Tab)
		want    protocol.Code
	}{
		"the page goes":  {func(tab *Tab) { commits(tab, "L1", "https://shop.test/next") }, protocol.TabChanged},
		"the tab closes": {func(tab *Tab) { go tab.Close() }, protocol.PageClosed},
		"a dialog opens": {func(tab *Tab) {
			event(tab, "Page.javascriptDialogOpening", `{"url":"https://shop.test/","frameId":"M","message":"?","type":"alert"}`)
		}, protocol.DialogOpen},
	} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			a, start := begun(t, tab, f)
			f.silent("check")
			time.AfterFunc(100*time.Millisecond, func() { tt.happens(tab) })
			if _, err := tab.Recheck(t.Context(), a.target); protocol.CodeOf(err) != tt.want || time.Since(start) != 100*time.Millisecond {
				t.Errorf("%s: got %v after %v", name, err, time.Since(start))
			}
		})
	}
}

func TestReadingWaitsForFramesThatAreBeingOpened(t *testing.T) {
	for opens, want := range map[time.Duration]time.Duration{200 * time.Millisecond: 200 * time.Millisecond, time.Minute: framesLimit} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			f.answer("snapshot", `{"lines":[],"capture":1,"total":0,"chars":0,"hidden_text":0,"unbound":[]}`)
			f.handle("Page.getFrameTree", func(ctx context.Context, _ jsontext.Value) (any, error) {
				time.Sleep(min(opens, 4*time.Second))
				return jsontext.Value(`{"frameTree":{"frame":{"id":"A","parentId":"M","loaderId":"LA","url":"https://shop.test/a"}}}`), ctx.Err()
			})
			event(tab, "Target.attachedToTarget", `{"sessionId":"S","targetInfo":{"targetId":"A","type":"iframe","url":"https://shop.test/a"}}`)
			start := time.Now()
			if _, err := tab.Snapshot(t.Context(), SnapshotOptions{}); err != nil || time.Since(start) != want {
				t.Errorf("a frame that opens after %v: got %v after %v, want %v", opens, err, time.Since(start), want)
			}
		})
	}
}

func TestAnswerOfAnotherDocumentIsDropped(t *testing.T) {
	other := answer{Value: jsontext.Value(`{"lines":[{"d":0,"t":"- heading \"Secret\""}],"capture":1,"total":1,"chars":20,"hidden_text":0,"unbound":[]}`)}
	for name, doc := range map[string][2]string{"another nonce": {"n2", "https://shop.test"}, "another origin": {noncePage, "https://bank.test"}} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			other.Doc.Nonce, other.Doc.Origin = doc[0], doc[1]
			f.handle("snapshot", func(context.Context, jsontext.Value) (any, error) { return other, nil })
			if s, err := tab.Snapshot(t.Context(), SnapshotOptions{}); protocol.CodeOf(err) != protocol.TabChanged {
				t.Errorf("%s: got %+v, %v", name, s, err)
			}
		})
	}
}

func TestReadIsRepeatedOnceWhenThePageGoes(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		calls := 0
		f.handle("snapshot", func(context.Context, jsontext.Value) (any, error) {
			if calls++; calls == 1 {
				commits(tab, "L1", "https://shop.test/next")
				return nil, protocol.Errorf(protocol.ChromeError, "Inspected target navigated or closed")
			}
			return jsontext.Value(`{"lines":[{"d":0,"t":"- heading \"Next\""}],"capture":1,"total":1,"chars":18,"hidden_text":0,"unbound":[]}`), nil
		})
		s, err := tab.Snapshot(t.Context(), SnapshotOptions{})
		if err != nil || s.Text != "- heading \"Next\"\n" || calls != 2 {
			t.Errorf("got %+v, %v after %d calls", s, err, calls)
		}
	})
}

func TestTypingIsReadBack(t *testing.T) {
	for _, tt := range []struct {
		name    string
		fill    string
		read    string
		options TypeOptions
		want    Outcome
		keys    bool
	}{
		{"the engine fills", `{"matches":true,"length":2,"value":"hi"}`, "", TypeOptions{Text: "hi"}, Confirmed, false},
		{"the field takes keys only", `{"matches":false,"length":0}`, `{"matches":true,"length":2,"value":"hi"}`, TypeOptions{Text: "hi"}, Confirmed, true},
		{"slowly", "", `{"matches":true,"length":2,"value":"hi"}`, TypeOptions{Text: "hi", Slowly: true}, Confirmed, true},
		{"the field changes it", "", `{"matches":false,"length":2,"value":"HI"}`, TypeOptions{Text: "hi", Slowly: true}, Dispatched, true},
	} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			a, _ := begun(t, tab, f)
			f.answer("fill", tt.fill)
			f.answer("readback", tt.read)
			f.answer("focus", `{"focused":true}`)
			if err := a.Type(t.Context(), tt.options); err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if s := settle(t, a); s.Outcome != tt.want || s.Value == nil {
				t.Errorf("%s: got %s, %+v", tt.name, s.Outcome, s.Value)
			}
			keyed := slices.ContainsFunc(f.sent(), func(m string) bool { return strings.HasPrefix(m, "!Input.") })
			if keyed != tt.keys {
				t.Errorf("%s: keys were sent: %v", tt.name, keyed)
			}
		})
	}
}

func TestUnansweredDialogGetsItsDefault(t *testing.T) {
	for kind, accept := range map[string]string{"alert": "true", "confirm": "false", "prompt": "false", "beforeunload": "false"} {
		inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
			answers := make(chan string, 2)
			f.handle("Page.handleJavaScriptDialog", func(_ context.Context, args jsontext.Value) (any, error) {
				answers <- string(args)
				return jsontext.Value("{}"), nil
			})
			event(tab, "Page.javascriptDialogOpening", `{"url":"https://shop.test/","frameId":"M","message":"?","type":%q}`, kind)
			time.Sleep(59 * time.Second)
			synctest.Wait()
			if tab.Dialog() == nil || len(answers) > 0 {
				t.Errorf("%s: answered early", kind)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if n := len(answers); tab.Dialog() != nil || n != 1 {
				t.Fatalf("%s: answered %d times", kind, n)
			}
			if got := <-answers; !strings.Contains(got, `"accept":`+accept) {
				t.Errorf("%s: got %s, want accept %s", kind, got, accept)
			}
		})
	}
}

func TestOwnersDialogIsLeftToThem(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		tab.SetDriving(true)
		event(tab, "Page.javascriptDialogOpening", `{"url":"https://shop.test/","frameId":"M","message":"?","type":"alert"}`)
		time.Sleep(time.Hour)
		if tab.Dialog() == nil {
			t.Error("it was answered")
		}
		event(tab, "Page.javascriptDialogClosed", `{"frameId":"M","result":true,"userInput":""}`)
		if tab.Dialog() != nil {
			t.Error("it is still there after the owner closed it")
		}
	})
}

func TestArmedAnswerIsSpentByItsAct(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		tab.ArmDialog(true, "x")
		a, _ := begun(t, tab, f)
		a.End()
		b, _ := begun(t, tab, f)
		event(tab, "Page.javascriptDialogOpening", `{"url":"https://shop.test/","frameId":"M","message":"?","type":"prompt"}`)
		synctest.Wait()
		if d := tab.Dialog(); d == nil || d.Armed {
			t.Errorf("the next act but one: got %+v", d)
		}
		b.End()
		tab.Close()
	})
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		tab.ArmDialog(true, "x")
		time.Sleep(61 * time.Second)
		a, _ := begun(t, tab, f)
		event(tab, "Page.javascriptDialogOpening", `{"url":"https://shop.test/","frameId":"M","message":"?","type":"prompt"}`)
		synctest.Wait()
		if d := tab.Dialog(); d == nil || d.Armed {
			t.Errorf("after 61 s: got %+v", d)
		}
		a.End()
	})
}

func TestRefusedSchemesNeverReachChrome(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		a, err := tab.Begin(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer a.End()
		before := len(f.sent())
		for address, code := range map[string]protocol.Code{
			"file:///etc/passwd": protocol.SchemeRefused, "chrome://settings": protocol.SchemeRefused, "javascript:alert(1)": protocol.SchemeRefused,
			"data:text/html,x": protocol.SchemeRefused, "view-source:https://a.test/": protocol.SchemeRefused,
			"a.test/x": protocol.BadArgument, "": protocol.BadArgument, "https://": protocol.BadArgument, "http://[": protocol.BadArgument,
		} {
			if err := a.Navigate(t.Context(), address, ""); protocol.CodeOf(err) != code {
				t.Errorf("%q: got %v", address, err)
			}
		}
		synctest.Wait()
		for _, m := range f.sent()[before:] {
			if !strings.HasSuffix(m, "Screencast") {
				t.Errorf("%s was sent", m)
			}
		}
		if a.Step() != NotDispatched {
			t.Errorf("got %s", a.Step())
		}
	})
}

func TestArrivesOnceAndOnlyForItsOwnAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		f.silent("Page.navigate")
		a, err := tab.Begin(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if tab.Arrives("L1", "http://shop.test/x") {
			t.Error("before anything was asked for")
		}
		go a.Navigate(t.Context(), "http://shop.test/x#part", "")
		synctest.Wait()
		if tab.Arrives("L1", "https://evil.test/x") {
			t.Error("another address")
		}
		if !tab.Arrives("L2", "https://shop.test/x") {
			t.Error("its own address, upgraded by Chrome")
		}
		if tab.Arrives("L3", "https://shop.test/x") {
			t.Error("a second time")
		}
		navigates(tab, "L2", "https://shop.test/x")
		commits(tab, "L2", "https://shop.test/x")
		synctest.Wait()
		if log := f.sent(); !slices.Contains(log, "!go") {
			t.Errorf("the engine does not go on from the empty page: %v", log)
		}
		a.End()
		tab.Close()
	})
}

func TestTheScreencastRunsWhileSomebodyHoldsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, tab *Tab, f *fakeChrome) {
		casts := func() (n string) {
			synctest.Wait()
			for _, m := range f.sent() {
				if m == "Page.startScreencast" {
					n += "+"
				} else if m == "Page.stopScreencast" {
					n += "-"
				}
			}
			return n
		}
		one, two := tab.cast.hold(), tab.cast.hold()
		if got := casts(); got != "+" {
			t.Errorf("held twice: %s", got)
		}
		one()
		one()
		if got := casts(); got != "+" {
			t.Errorf("held once: %s", got)
		}
		two()
		tab.cast.hold()()
		if got := casts(); got != "+" {
			t.Errorf("let go and held soon after: %s", got)
		}
		time.Sleep(linger)
		if got := casts(); got != "+-" {
			t.Errorf("let go: %s", got)
		}
		tab.cast.hold()()
		time.Sleep(linger)
		if got := casts(); strings.Count(got, "+") != strings.Count(got, "-") {
			t.Errorf("held and let go at once: %s", got)
		}
	})
}
