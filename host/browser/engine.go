package browser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/browser/js"
	"github.com/tabvalet/tabvalet/protocol"
)

// An engine is the page engine in one document, as an object of its isolated world. Calls on the object fail cleanly
// once the document is gone; calls on the context's id would not, ids restart with each process.
type engine struct {
	object  runtime.RemoteObjectID
	context runtime.ExecutionContextID
	nonce   string
	prefix  string

	// Guarded by the tab's mu.
	bound  map[string]bool // child frames the engine knows by key
	closed bool            // the document has had closed shadow roots
	looked bool            // they were looked for when the document was complete
}

// A pageCall is one call into a page that is given up when its document goes.
type pageCall struct {
	doc     *document
	session string
	cancel  context.CancelCauseFunc
}

var (
	errDocumentGone = protocol.Errorf(protocol.TabChanged, "the page changed meanwhile")
	errDialog       = protocol.Errorf(protocol.DialogOpen, "a dialog of the page is open, the page answers when it is closed")
	errSilent       = protocol.Errorf(protocol.Timeout, "the page did not answer in time")
)

// into prepares a call into doc's session: it ends with its deadline, with the document, with the tab, and when a dialog
// opens in that process.
func (t *Tab) into(ctx context.Context, doc *document, limit time.Duration) (context.Context, func(), error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, nil, errClosed
	case doc.gone:
		return nil, nil, errDocumentGone
	case t.dialogs.blocks(doc.session):
		return nil, nil, errDialog
	}
	ctx, expire := context.WithTimeoutCause(ctx, limit, errSilent)
	ctx, cancel := context.WithCancelCause(ctx)
	c := &pageCall{doc: doc, session: doc.session, cancel: cancel}
	t.calls[c] = struct{}{}
	unhook := context.AfterFunc(t.ctx, func() { cancel(errClosed) })
	return ctx, func() {
		unhook()
		t.mu.Lock()
		delete(t.calls, c)
		t.mu.Unlock()
		cancel(nil)
		expire()
	}, nil
}

// cause says why a call into a page failed: the reason its context was ended by, or that the document is gone.
func cause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if c := context.Cause(ctx); c != nil {
			return c
		}
	}
	if isGone(err) {
		return errDocumentGone
	}
	return err
}

// What Go says to a page itself: the name of the engine's one global, and the call of its one method.
const (
	global       = "tabvalet"
	callFunction = "function(method, args, ...objects) { return this.call(method, args, ...objects) }"
)

// acting names the engine's methods that change something.
var acting = []string{"focus", "fill", "commit", "select", "scroll", "go", "calm"}

// thorough names the engine's methods that go through the whole page.
var thorough = []string{"snapshot", "read", "find", "begin", "delta"}

// answer is what the engine says.
type answer struct {
	Doc struct {
		Nonce  string `json:"nonce"`
		Origin string `json:"origin"`
		URL    string `json:"url"`
		Title  string `json:"title"`
		Ready  Ready  `json:"ready"`
	} `json:"doc"`
	Value jsontext.Value  `json:"value,omitzero"`
	Error *protocol.Error `json:"error,omitzero"`
}

// ask calls a method of the engine in doc and decodes its value. The answer is dropped when it comes from another
// document.
func ask[R any](ctx context.Context, t *Tab, doc *document, method string, args any, objects ...runtime.RemoteObjectID) (R, error) {
	var value R
	e, err := t.engineOf(ctx, doc)
	if err != nil {
		return value, err
	}
	limit := t.opt.CallTimeout
	if slices.Contains(thorough, method) {
		limit = t.opt.ReadTimeout
	}
	ctx, done, err := t.into(ctx, doc, limit)
	if err != nil {
		return value, err
	}
	defer done()
	a, err := t.callEngine(ctx, doc.session, e.object, method, args, objects...)
	if err != nil {
		return value, cause(ctx, err)
	}
	if err := t.accept(doc, e, a); err != nil {
		return value, err
	}
	if a.Error != nil {
		return value, a.Error
	}
	if err := json.Unmarshal(a.Value, &value); err != nil {
		return value, protocol.Errorf(protocol.Internal, "reading the engine's answer to %s: %v", method, err)
	}
	return value, nil
}

// accept checks that an answer is of the document that was asked, and takes over what it says of it.
func (t *Tab) accept(doc *document, e *engine, a *answer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if doc.gone || a.Doc.Nonce != e.nonce || !sameOrigin(doc, a.Doc.Origin) {
		return errDocumentGone
	}
	doc.Title = a.Doc.Title
	if a.Doc.URL != "" && doc.Origin != "null" {
		doc.URL = a.Doc.URL
	}
	if doc.Ready == Loading || a.Doc.Ready == Complete {
		doc.Ready = a.Doc.Ready
	}
	return nil
}

// sameOrigin compares what the engine says with what Chrome said: a sandboxed document is opaque to itself, and inline
// content has its parent's origin.
func sameOrigin(doc *document, origin string) bool {
	return origin == doc.Origin || origin == "null" || doc.Origin == "null"
}

// callEngine runs the engine's call function on its object.
func (t *Tab) callEngine(ctx context.Context, sessionID string, object runtime.RemoteObjectID, method string, args any, objects ...runtime.RemoteObjectID) (*answer, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	params := runtime.CallFunctionOnParams{
		FunctionDeclaration: callFunction, ObjectID: object, ReturnByValue: ptr(true), AwaitPromise: ptr(true), Silent: ptr(true),
	}
	for _, s := range []string{method, string(text)} {
		v, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		params.Arguments = append(params.Arguments, &runtime.CallArgument{Value: v})
	}
	for _, id := range objects {
		params.Arguments = append(params.Arguments, &runtime.CallArgument{ObjectID: id})
	}
	s := t.session(sessionID)
	s.act = slices.Contains(acting, method)
	res, err := cdp.Call(ctx, s, runtime.CallFunctionOn, params)
	if err != nil {
		return nil, err
	}
	if res.ExceptionDetails != nil {
		return nil, protocol.Errorf(protocol.Internal, "the engine failed in %s at line %d", method, res.ExceptionDetails.LineNumber)
	}
	var answerText string
	if res.Result == nil || json.Unmarshal(res.Result.Value, &answerText) != nil {
		return nil, protocol.Errorf(protocol.Internal, "the engine's answer to %s is not text", method)
	}
	var a answer
	if err := json.Unmarshal([]byte(answerText), &a); err != nil {
		return nil, protocol.Errorf(protocol.Internal, "reading the engine's answer to %s: %v", method, err)
	}
	return &a, nil
}

// engineOf gives the engine of a document, made when it is first needed; callers at once share one attempt.
func (t *Tab) engineOf(ctx context.Context, doc *document) (*engine, error) {
	for {
		t.mu.Lock()
		e, making := doc.engine, doc.making
		if e != nil {
			t.mu.Unlock()
			return e, nil
		}
		if making == nil {
			doc.making = make(chan struct{})
			t.mu.Unlock()
			return t.makeEngine(ctx, doc)
		}
		t.mu.Unlock()
		select {
		case <-making:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (t *Tab) makeEngine(ctx context.Context, doc *document) (e *engine, err error) {
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if err == nil && !doc.gone {
			doc.engine = e
		}
		close(doc.making)
		doc.making = nil
	}()
	ctx, done, err := t.into(ctx, doc, t.opt.CallTimeout)
	if err != nil {
		return nil, err
	}
	defer done()
	if doc.unreachable {
		return nil, protocol.Errorf(protocol.NavigationFailed, "the tab shows Chrome's own error page")
	}
	s := t.session(doc.session)
	world, err := cdp.Call(ctx, s, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: cdp.FrameID(doc.Frame), WorldName: js.World})
	if err != nil {
		return nil, cause(ctx, err)
	}
	e = &engine{context: world.ExecutionContextID, bound: map[string]bool{}}
	if e.object, err = t.evaluate(ctx, s, e.context, global); err == nil && e.object == "" {
		if _, err = t.evaluate(ctx, s, e.context, js.Engine()); err == nil {
			e.object, err = t.evaluate(ctx, s, e.context, global)
		}
	}
	if err != nil {
		return nil, cause(ctx, err)
	}
	if e.object == "" {
		return nil, protocol.Errorf(protocol.Internal, "the page engine does not start")
	}
	var adopting sync.WaitGroup
	adopting.Go(func() { t.adoptClosed(ctx, doc, e) })
	err = t.greet(ctx, doc, e)
	adopting.Wait()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e.looked = doc.Ready == Complete
	return e, nil
}

// greet gives the engine the prefix of its refs and learns its nonce.
func (t *Tab) greet(ctx context.Context, doc *document, e *engine) error {
	fresh := t.newPrefix(doc)
	a, err := t.initEngine(ctx, doc, e, fresh)
	if err != nil {
		return err
	}
	e.nonce = a.Doc.Nonce
	t.mu.Lock()
	known, back := t.nonces[e.nonce]
	if !back {
		t.nonces[e.nonce] = fresh
	}
	t.mu.Unlock()
	if back && known != fresh { // out of the back/forward cache: its refs stay what they were
		if a, err = t.initEngine(ctx, doc, e, known); err != nil {
			return err
		}
	}
	return t.accept(doc, e, a)
}

// newPrefix gives the prefix of a document's refs: none for the first document of the tab itself, which is most of them.
func (t *Tab) newPrefix(doc *document) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.plain && doc.Frame == t.frames.main {
		t.plain = true
		return ""
	}
	t.prefixes++
	return fmt.Sprintf("f%d", t.prefixes)
}

func (t *Tab) initEngine(ctx context.Context, doc *document, e *engine, prefix string) (*answer, error) {
	e.prefix = prefix
	a, err := t.callEngine(ctx, doc.session, e.object, "init", struct {
		Prefix string `json:"prefix"`
	}{prefix})
	return a, cause(ctx, err)
}

// evaluate gives the object an expression stands for in a world, "" where it stands for none.
func (t *Tab) evaluate(ctx context.Context, s session, world runtime.ExecutionContextID, expression string) (runtime.RemoteObjectID, error) {
	res, err := cdp.Call(ctx, s, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ContextID: world, ObjectGroup: js.World, Silent: ptr(true)})
	if err != nil || res.Result == nil || res.ExceptionDetails != nil {
		return "", err
	}
	return res.Result.ObjectID, nil
}

// bind makes the engine of the parent's document know the child frame, whose id is its key.
func (t *Tab) bind(ctx context.Context, parent *document, child string) error {
	e, err := t.engineOf(ctx, parent)
	if err != nil {
		return err
	}
	t.mu.Lock()
	bound := e.bound[child]
	t.mu.Unlock()
	if bound {
		return nil
	}
	element, err := t.owner(ctx, parent, e, child)
	if err != nil {
		return fmt.Errorf("finding a frame in its page: %w", err)
	}
	if _, err := ask[struct{}](ctx, t, parent, "bindFrame", struct {
		Key string `json:"key"`
	}{child}, element); err != nil {
		return err
	}
	t.mu.Lock()
	e.bound[child] = true
	t.mu.Unlock()
	return nil
}

// owner gives the frame element of a child frame in the engine's world of its parent.
func (t *Tab) owner(ctx context.Context, parent *document, e *engine, child string) (runtime.RemoteObjectID, error) {
	ctx, done, err := t.into(ctx, parent, t.opt.CallTimeout)
	if err != nil {
		return "", err
	}
	defer done()
	s := t.session(parent.session)
	owner, err := cdp.Call(ctx, s, dom.GetFrameOwner, dom.GetFrameOwnerParams{FrameID: cdp.FrameID(child)})
	if err != nil {
		return "", cause(ctx, err)
	}
	node, err := cdp.Call(ctx, s, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: owner.BackendNodeID, ExecutionContextID: e.context, ObjectGroup: js.World})
	if err != nil {
		return "", cause(ctx, err)
	}
	if node.Object == nil || node.Object.ObjectID == "" {
		return "", protocol.Errorf(protocol.ChromeError, "Chrome gives no element of the frame")
	}
	return node.Object.ObjectID, nil
}

// retried runs a read again, once, when the document it was for went meanwhile.
func retried[R any](read func() (R, error)) (R, error) {
	r, err := read()
	if errors.Is(err, errDocumentGone) {
		return read()
	}
	return r, err
}
