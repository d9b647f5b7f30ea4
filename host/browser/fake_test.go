package browser

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// A fakeChrome answers commands by script: engine methods under their own name, CDP methods under theirs. A handler that
// blocks on ctx never answers.
type fakeChrome struct {
	t  *testing.T
	mu sync.Mutex
	on map[string]func(ctx context.Context, args jsontext.Value) (any, error)
	// log is what was sent: CDP methods, "engine:method" for calls of the engine, "!" before what changes something.
	log []string
}

const noncePage = "n1"

// newFake gives a tab with a main frame M on https://shop.test/, whose engine answers.
func newFake(t *testing.T) (*Tab, *fakeChrome) {
	f := &fakeChrome{t: t, on: map[string]func(context.Context, jsontext.Value) (any, error){}}
	f.answer("Page.getFrameTree", `{"frameTree":{"frame":{"id":"M","loaderId":"L0","url":"https://shop.test/"}}}`)
	f.answer("Page.createIsolatedWorld", `{"executionContextId":7}`)
	f.answer("Runtime.evaluate", `{"result":{"type":"object","objectId":"engine"}}`)
	f.answer("Page.getNavigationHistory", `{"currentIndex":0,"entries":[{"id":1,"url":"https://shop.test/","title":"Shop"}]}`)
	f.answer("quiet", `{"quiet":true,"heard":true,"delta":{"text":"","more":0}}`)
	f.answer("delta", `{"text":"","more":0}`)
	tab := NewTab(f, 1, Options{})
	t.Cleanup(tab.Close)
	if err := tab.Start(t.Context(), nil); err != nil {
		t.Fatalf("starting: %v", err)
	}
	return tab, f
}

func (f *fakeChrome) handle(method string, h func(ctx context.Context, args jsontext.Value) (any, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on[method] = h
}

func (f *fakeChrome) answer(method, result string) {
	f.handle(method, func(context.Context, jsontext.Value) (any, error) { return jsontext.Value(result), nil })
}

// silent lets a method never answer.
func (f *fakeChrome) silent(method string) {
	f.handle(method, func(ctx context.Context, _ jsontext.Value) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
}

func (f *fakeChrome) sent() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

func (f *fakeChrome) Send(ctx context.Context, _ protocol.TabID, session string, act bool, method string, params, result any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	name, args := method, jsontext.Value(raw)
	call := method == "Runtime.callFunctionOn"
	if call {
		name, args, call = engineCall(raw)
	}
	entry := name
	if act {
		entry = "!" + name
	}
	f.mu.Lock()
	f.log = append(f.log, entry)
	h := f.on[name]
	f.mu.Unlock()
	if h == nil {
		h = func(context.Context, jsontext.Value) (any, error) { return jsontext.Value("{}"), nil }
	}
	got, err := h(ctx, args)
	if call {
		got, err = engineAnswer(got, err)
	}
	if err != nil || result == nil {
		return err
	}
	text, err := json.Marshal(got)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// engineCall reads a call of the engine's call function; what is not one is the search for closed shadow roots.
func engineCall(raw []byte) (method string, args jsontext.Value, ok bool) {
	var p struct {
		Arguments []struct {
			Value any `json:"value"`
		} `json:"arguments"`
	}
	json.Unmarshal(raw, &p)
	if len(p.Arguments) < 2 {
		return "hosts", nil, false
	}
	return fmt.Sprint(p.Arguments[0].Value), jsontext.Value(fmt.Sprint(p.Arguments[1].Value)), true
}

// engineAnswer wraps what a handler said as the engine does. An *protocol.Error with code chrome_error is Chrome's own.
func engineAnswer(got any, err error) (any, error) {
	doc := map[string]any{"nonce": noncePage, "origin": "https://shop.test", "url": "https://shop.test/", "title": "Shop", "ready": "complete"}
	a := map[string]any{"doc": doc}
	if e, ok := err.(*protocol.Error); ok && e.Code != protocol.ChromeError {
		a["error"], err = e, nil
	}
	if err != nil {
		return nil, err
	}
	if full, ok := got.(answer); ok { // a handler that wants another document to answer
		text, _ := json.Marshal(full)
		return map[string]any{"result": map[string]any{"type": "string", "value": string(text)}}, nil
	}
	if a["error"] == nil {
		a["value"] = got
	}
	text, err := json.Marshal(a)
	return map[string]any{"result": map[string]any{"type": "string", "value": string(text)}}, err
}

// event hands the tab an event of the main session.
func event(tab *Tab, method, format string, args ...any) {
	tab.Handle(protocol.Event{Tab: 1, Method: method, Params: jsontext.Value(fmt.Sprintf(format, args...))})
}

func navigates(tab *Tab, loader, url string) {
	event(tab, "Page.frameStartedNavigating", `{"frameId":"M","loaderId":%q,"url":%q,"navigationType":"differentDocument"}`, loader, url)
}

func commits(tab *Tab, loader, url string) {
	event(tab, "Page.frameNavigated", `{"frame":{"id":"M","loaderId":%q,"url":%q},"type":"Navigation"}`, loader, url)
}

func lives(tab *Tab, loader, name string) {
	event(tab, "Page.lifecycleEvent", `{"frameId":"M","loaderId":%q,"name":%q,"timestamp":1}`, loader, name)
}
