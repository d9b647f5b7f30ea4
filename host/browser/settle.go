package browser

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// How long settling waits for what may or may not come.
const (
	quietLimit   = 250 * time.Millisecond // for a frame without a change of the DOM
	startLimit   = 500 * time.Millisecond // from a page's asking for a navigation to its start
	foreseenWait = 100 * time.Millisecond // for the navigation that a link or a form should have begun
	hearLimit    = 150 * time.Millisecond // for a page that was asked before a click to answer, once the click is acknowledged
	deltaMax     = 2000
)

// Settle waits until what the act set off is over, and tells it. It answers an error only when ctx ends or the tab goes;
// the outcome is then that of [Act.Step].
func (a *Act) Settle(ctx context.Context) (*Settled, error) {
	if err := a.wait(ctx); err != nil {
		return nil, err
	}
	nav := a.navigation()
	a.returnFromNothing(ctx, nav)
	return a.tell(ctx, nav), ctx.Err()
}

// wait goes from stage to stage until there is nothing more to wait for, or time is up.
func (a *Act) wait(ctx context.Context) error {
	t := a.tab
	nav, cancel := context.WithTimeoutCause(ctx, t.opt.NavTimeout, errSilent)
	defer cancel()
	req, cancel := context.WithTimeoutCause(ctx, t.opt.RequestWait, errSilent)
	defer cancel()
	for {
		t.mu.Lock()
		now, quiet := a.stage(), a.quiet
		t.mu.Unlock()
		var err error
		switch now {
		case settled, cut:
			return nil
		case moving, expecting:
			if err = a.leave(nav, now); timedOut(ctx, err) {
				a.giveUp()
				return nil
			}
		case asking:
			if err = a.leaveWithin(nav, now, startLimit); timedOut(ctx, err) {
				err = nil
				a.dropAsked()
			}
		case fetching:
			if err = a.leave(req, now); timedOut(ctx, err) {
				return nil
			}
			a.setQuiet(false)
		case still:
			switch {
			case !quiet:
				err = a.hush(ctx)
			case a.foreseen():
				if err = a.leaveWithin(nav, still, foreseenWait); timedOut(ctx, err) {
					a.setQuiet(true) // what the page told is old by now
					return nil
				}
			default:
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// stage is where the act stands. Callers hold mu.
func (a *Act) stage() stage {
	if a.refused != nil && a.commanded && a.settling.last() == nil {
		return settled // what was to bring a navigation failed
	}
	return a.settling.stage(a.until, a.commanded)
}

// leave returns when the act is no longer in a stage.
func (a *Act) leave(ctx context.Context, from stage) error {
	return a.tab.await(ctx, func() bool { return a.stage() != from })
}

func (a *Act) leaveWithin(ctx context.Context, from stage, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	return a.leave(ctx, from)
}

// timedOut tells whether err is the end of a wait of our own, not of the caller's.
func timedOut(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && errors.Is(err, errSilent)
}

// giveUp: time for the navigation is up.
func (a *Act) giveUp() {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	for _, m := range a.settling.moves {
		if m.phase == requested || m.phase == started {
			m.phase, m.fate = over, FateUnknown
		}
	}
}

// dropAsked: what a page asked for has not started, and will not.
func (a *Act) dropAsked() {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	for frame, m := range a.settling.moves {
		if m.phase == requested {
			delete(a.settling.moves, frame)
		}
	}
}

// setQuiet says whether the page is quiet, and drops what it told.
func (a *Act) setQuiet(quiet bool) {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	a.quiet, a.told, a.ear = quiet, nil, nil
}

// foreseen tells whether the check said that a document would be loaded in this tab.
func (a *Act) foreseen() bool {
	return a.target != nil && !a.target.Would.NewTab && (a.target.Would.Kind == "follow" || a.target.Would.Kind == "submit") && a.settling.last() == nil
}

// An ear is a question to the page whether it is quiet.
type ear struct {
	doc      *document
	answered bool
	answer   *quietAnswer // nil: none came
}

type quietCall struct {
	LimitMS  int64 `json:"limit_ms"`
	Released int   `json:"released,omitzero"` // so many times the button is let go first
	Max      *int  `json:"max,omitzero"`
}

// quietArgs ask for one frame without a change.
var quietArgs = quietCall{LimitMS: quietLimit.Milliseconds()}

type quietAnswer struct {
	Heard bool  `json:"heard"`
	Delta *told `json:"delta"`
}

// told is what a page tells of changes.
type told struct {
	Text string `json:"text"`
	More int    `json:"more"`
}

// listen has the page of a click say when it has heard it and is quiet again: asked before the click is sent, it costs no
// round trip. Of what lies in a frame of its own the page hears nothing.
func (a *Act) listen(count int) {
	t := a.tab
	t.mu.Lock()
	defer t.mu.Unlock()
	a.clicks += count
	if a.ear = nil; a.target.inner == "" {
		a.ear = a.askQuiet(a.clicks)
	}
}

// askQuiet asks the page of the act in the background. nil: there is none to ask. Callers hold mu.
func (a *Act) askQuiet(released int) *ear {
	t := a.tab
	n := t.frames.nodes[a.settling.frame]
	if n == nil || n.doc == nil || n.doc.unreachable {
		return nil
	}
	args := quietArgs
	args.Released = released
	if slices.Equal(a.watched, []*document{n.doc}) {
		args.Max = ptr(deltaMax)
	}
	e := &ear{doc: n.doc}
	t.spawn(func(tab context.Context) {
		answer, err := ask[quietAnswer](tab, t, e.doc, "quiet", args)
		t.mu.Lock()
		defer t.mu.Unlock()
		if e.answered = true; err == nil {
			e.answer = &answer
		} else if !errors.Is(err, errDocumentGone) {
			t.opt.Logger.Debug("the page was not asked whether it is quiet", "err", err)
		}
		t.changed()
	})
	return e
}

// hush waits for one frame without a change, as the engine tells, raced with everything else that can happen. Typing
// settles on what was read back.
func (a *Act) hush(ctx context.Context) error {
	t := a.tab
	t.mu.Lock()
	if a.value != nil && a.step == Confirmed && a.target != nil && a.target.Options.For == Type && !a.target.Options.Submit {
		a.quiet = true
		t.mu.Unlock()
		return nil
	}
	e := a.ear
	a.ear = nil
	t.mu.Unlock()
	if e != nil {
		heard, err := a.hear(ctx, e, hearLimit)
		if heard || err != nil && !timedOut(ctx, err) {
			return err
		}
	}
	a.awake()
	t.mu.Lock()
	e = a.askQuiet(0)
	a.quiet = e == nil
	t.mu.Unlock()
	if e == nil {
		return nil
	}
	heard, err := a.hear(ctx, e, t.opt.CallTimeout+time.Second)
	if err == nil && !heard {
		a.setQuiet(true) // it cannot answer; nothing more can be known of it
	}
	return err
}

// hear waits until the page answers that it is quiet. true: it did, or something else has come.
func (a *Act) hear(ctx context.Context, e *ear, limit time.Duration) (heard bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSilent)
	defer cancel()
	err = a.tab.await(ctx, func() bool {
		switch {
		case a.stage() != still:
			heard = true
		case e.answer != nil && e.answer.Heard:
			heard, a.quiet, a.told = true, true, e.answer.Delta
		}
		return heard || e.answered
	})
	return heard, err
}

// navigation tells of the last navigation, nil when there was none.
func (a *Act) navigation() *Navigation {
	a.tab.mu.Lock()
	defer a.tab.mu.Unlock()
	if m := a.settling.last(); m != nil {
		return &Navigation{Fate: m.fate, Frame: m.frame, URL: m.url, Status: m.status, ContentType: m.mime, Error: m.err, Reached: m.reached}
	}
	if !a.commanded {
		return nil
	}
	n := &Navigation{Fate: FateUnknown, Frame: a.settling.main}
	if a.refused != nil {
		n.Error = string(protocol.CodeOf(a.refused))
	}
	return n
}

// tell makes the Settled.
func (a *Act) tell(ctx context.Context, nav *Navigation) *Settled {
	t := a.tab
	t.mu.Lock()
	s := &Settled{Outcome: a.step, Document: t.shown(), Requests: len(a.settling.requests), Value: a.value, Navigation: nav}
	if nav != nil && nav.Fate == Committed && s.Outcome == Dispatched {
		s.Outcome = Confirmed
	}
	if n := len(a.dialogs); n > 0 {
		d := *a.dialogs[n-1]
		s.Dialog = &d
	}
	blocked := t.dialogs.open != nil
	t.mu.Unlock()
	switch {
	case s.Document.Seq != a.before.Seq:
		s.Document.Title = a.title(ctx, s.Document.Title)
	case !blocked:
		a.addDelta(ctx, s)
		s.Document = t.Document()
	}
	if s.Outcome == Dispatched && (s.Delta != "" || s.Dialog != nil) {
		s.Outcome = Confirmed
	}
	return s
}

// title asks the browser, not the page, for the title of what is shown now.
func (a *Act) title(ctx context.Context, old string) string {
	entries, i, err := a.tab.History(ctx)
	if err != nil || i < 0 || i >= len(entries) {
		return old
	}
	return entries[i].Title
}

// addDelta adds what came and went in the documents that are still there, as far as it was not told already.
func (a *Act) addDelta(ctx context.Context, s *Settled) {
	for _, doc := range a.watched {
		d := a.told
		if d == nil {
			asked, err := ask[told](ctx, a.tab, doc, "delta", struct {
				Max int `json:"max"`
			}{deltaMax - len(s.Delta)})
			if err != nil {
				continue
			}
			d = &asked
		}
		if d.Text == "" && d.More == 0 {
			continue
		}
		if s.Delta != "" {
			s.Delta += "\n"
		}
		s.Delta += d.Text
		s.DeltaMore += d.More
		if len(s.Delta) >= deltaMax {
			return
		}
	}
}
