package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"github.com/tabvalet/tabvalet/protocol"
)

// A Dialog is an alert, confirm, prompt or beforeunload question of the page. Dialogs belong to the tab, whatever frame
// opened them. An open one is left to the agent, which the act tells of it, and to the owner, who sees it; answered by
// neither, it gets its default after [Options.DialogTimeout]: an alert is accepted, the others are dismissed, so that a
// beforeunload stays on the page.
type Dialog struct {
	Type     string // alert, confirm, prompt, beforeunload
	Message  string
	Default  string // of a prompt
	Frame    string
	Origin   string
	Opened   time.Time
	Answered string // "" while it is open; else one of the constants below
	Armed    bool   // the answer had been armed
}

// How a dialog was closed.
const (
	Accepted  = "accepted"
	Dismissed = "dismissed"
	Vanished  = "closed" // with its page
)

// armedFor is how long an armed answer waits for its act.
const armedFor = 60 * time.Second

// dialogs is the dialog state of a tab.
type dialogs struct {
	open    *Dialog
	session string // of open
	last    *Dialog
	armed   *armed
	driving bool // the owner answers
}

type armed struct {
	accept bool
	text   string
	until  time.Time
}

// blocks tells whether a dialog holds the pages of a session.
func (d *dialogs) blocks(session string) bool { return d.open != nil && d.session == session }

// closed: Chrome says that the dialog is closed, by whomever.
func (d *dialogs) closed(accepted bool) {
	if d.open == nil {
		return
	}
	d.open.Answered = Dismissed
	if accepted {
		d.open.Answered = Accepted
	}
	d.last, d.open = d.open, nil
}

// gone: the page that asked is gone.
func (d *dialogs) gone() {
	if d.open != nil {
		d.open.Answered = Vanished
		d.last, d.open = d.open, nil
	}
}

// take gives the armed answer, which is spent by it.
func (d *dialogs) take(now time.Time) *armed {
	a := d.armed
	d.armed = nil
	if a == nil || now.After(a.until) {
		return nil
	}
	return a
}

// dialogOpens notes a dialog, gives up the calls it blocks, and sees to its answer. Callers hold mu.
func (t *Tab) dialogOpens(session string, e dialogOpening) {
	d := &Dialog{Type: e.Type, Message: e.Message, Default: e.Default, Frame: e.Frame, Origin: originOf(e.URL), Opened: time.Now()}
	t.dialogs.open, t.dialogs.session = d, session
	for c := range t.calls {
		if c.session == session {
			c.cancel(errDialog)
		}
	}
	var answer *armed
	if t.act != nil && !t.dialogs.driving {
		answer = t.dialogs.take(time.Now())
	}
	d.Armed = answer != nil
	if t.act != nil {
		t.act.dialogs = append(t.act.dialogs, d)
		if answer == nil {
			t.act.settling.asked()
		}
	}
	t.spawn(func(ctx context.Context) { t.answerLater(ctx, d, answer) })
}

// answerLater gives the armed answer at once, or the default when nobody has answered in time.
func (t *Tab) answerLater(ctx context.Context, d *Dialog, answer *armed) {
	if answer == nil {
		wait, cancel := context.WithTimeout(ctx, t.opt.DialogTimeout)
		defer cancel()
		if t.await(wait, func() bool { return t.dialogs.open != d }) == nil || ctx.Err() != nil {
			return
		}
		answer = &armed{accept: d.Type == "alert"}
	}
	t.mu.Lock()
	theirs := t.dialogs.open != d || t.dialogs.driving
	t.mu.Unlock()
	if !theirs {
		if err := t.answerDialog(ctx, d, answer.accept, answer.text); err != nil && ctx.Err() == nil {
			t.opt.Logger.Warn("a dialog cannot be answered", "type", d.Type, "err", err)
		}
	}
}

// Dialog is the dialog that is open, or nil.
func (t *Tab) Dialog() *Dialog {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dialogs.open == nil {
		return nil
	}
	d := *t.dialogs.open
	return &d
}

// HandleDialog answers the open dialog. With none open it fails with [protocol.InvalidTransition].
func (t *Tab) HandleDialog(ctx context.Context, accept bool, text string) error {
	t.mu.Lock()
	d := t.dialogs.open
	t.mu.Unlock()
	if d == nil {
		return protocol.Errorf(protocol.InvalidTransition, "no dialog is open")
	}
	return t.answerDialog(ctx, d, accept, text)
}

func (t *Tab) answerDialog(ctx context.Context, d *Dialog, accept bool, text string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.opt.CallTimeout, errSilent)
	defer cancel()
	t.mu.Lock()
	s := t.acting()
	s.id = t.dialogs.session
	t.mu.Unlock()
	params := page.HandleJavaScriptDialogParams{Accept: accept}
	if d.Type == "prompt" && accept {
		params.PromptText = text
	}
	_, err := cdp.Call(ctx, s, page.HandleJavaScriptDialog, params)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && t.dialogs.open == d {
		t.dialogs.closed(accept)
		t.changed()
	}
	if d.Answered != "" && ctx.Err() == nil {
		return nil // by whomever
	}
	return cause(ctx, err)
}

// ArmDialog sets the answer to the dialog that the very next act raises. It is spent when that act ends, and after 60 s.
func (t *Tab) ArmDialog(accept bool, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialogs.armed = &armed{accept: accept, text: text, until: time.Now().Add(armedFor)}
}

// SetDriving tells that the owner drives: dialogs that open meanwhile are theirs and are not answered for them.
func (t *Tab) SetDriving(driving bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialogs.driving = driving
}
