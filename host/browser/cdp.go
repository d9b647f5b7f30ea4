package browser

import (
	"context"
	"errors"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// A session is one CDP session of a tab, for the typed commands of cdproto: cdp.Call(ctx, s, page.Navigate, …). Events
// do not come through it, but through [Tab.Handle].
type session struct {
	tab *Tab
	id  string // "" is the tab's own
	act bool   // its commands change something
}

// session gives the session with that id; what is sent over it reads only.
func (t *Tab) session(id string) session { return session{tab: t, id: id} }

// acting gives the tab's own session; what is sent over it changes something.
func (t *Tab) acting() session { return session{tab: t, act: true} }

var _ cdp.Session = session{}

// Call runs one command.
func (s session) Call(ctx context.Context, method string, params, result any) error {
	return s.tab.chrome.Send(ctx, s.tab.id, s.id, s.act, method, params, result)
}

// Subscribe gives no events.
func (s session) Subscribe(string) (<-chan jsontext.Value, func()) {
	none := make(chan jsontext.Value)
	close(none)
	return none, func() {}
}

// A Command is a CDP command with its parameters.
type Command struct {
	Method string
	Params any
}

// A Batcher is a [Chrome] that can put several commands on the wire at once, in order, and then wait for all answers:
// the three events of a click cost a frame each when they wait for one another.
type Batcher interface {
	SendAll(ctx context.Context, tab protocol.TabID, session string, act bool, commands []Command) error
}

// all runs commands whose answers nobody needs, together where Chrome can.
func (s session) all(ctx context.Context, commands []Command) error {
	if b, ok := s.tab.chrome.(Batcher); ok {
		return b.SendAll(ctx, s.tab.id, s.id, s.act, commands)
	}
	for _, c := range commands {
		if err := s.Call(ctx, c.Method, c.Params, nil); err != nil {
			return err
		}
	}
	return nil
}

// command makes a Command of a typed one.
func command[P, R any](c cdp.Command[P, R], params P) Command {
	return Command{Method: c.Method, Params: params}
}

// isGone tells whether Chrome refused a command because the document, the frame or the object it was for is no more.
func isGone(err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok || e.Code != protocol.ChromeError {
		return false
	}
	for _, text := range []string{
		"Cannot find context", "Could not find object", "Inspected target navigated or closed", "Execution context was destroyed",
		"uniqueContextId not found", "No frame for given id found", "Frame with the given id was not found", "Session with given id not found",
		"Cannot find object", "Argument should belong to the same JavaScript world", "No frame with given id found",
	} {
		if strings.Contains(e.Message, text) {
			return true
		}
	}
	return false
}

// ptr is the address of a value, for optional parameters.
func ptr[T any](v T) *T { return &v }
