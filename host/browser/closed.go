package browser

import (
	"context"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/browser/js"
)

// Closed shadow roots cannot be reached by the engine itself. It names the elements that may have one (custom ones and
// empty ones), Chrome serialises those with their roots, and the roots are handed into the engine's world. Roots stand
// inside roots, so this is repeated until no more come.
//
// It is done when a document's engine is made, and before reading as long as the document was still loading then, or has
// had closed roots before.

const (
	hostsFunction = "function(all) { return this.hosts(all) }"
	shadowDepth   = 8 // of closed roots within closed roots
)

// adoptClosed hands the closed shadow roots of doc to its engine. What cannot be found stays hidden and is no error.
func (t *Tab) adoptClosed(ctx context.Context, doc *document, e *engine) {
	for range shadowDepth {
		roots, err := t.closedRoots(ctx, doc, e)
		if err != nil || len(roots) == 0 {
			return
		}
		t.mu.Lock()
		e.closed = true
		t.mu.Unlock()
		objects := t.resolveAllNodes(ctx, doc, e, roots)
		a, err := t.callEngine(ctx, doc.session, e.object, "adopt", struct{}{}, objects...)
		if err != nil || a.Error != nil {
			return
		}
		var taken struct {
			Adopted int `json:"adopted"`
		}
		if json.Unmarshal(a.Value, &taken) != nil || taken.Adopted == 0 {
			return
		}
	}
}

// readopt looks for closed roots again where more may have come.
func (t *Tab) readopt(ctx context.Context, doc *document) {
	t.mu.Lock()
	e := doc.engine
	due := e != nil && (e.closed || !e.looked)
	if due {
		e.looked = doc.Ready == Complete
	}
	t.mu.Unlock()
	if !due {
		return
	}
	if ctx, done, err := t.into(ctx, doc, t.opt.CallTimeout); err == nil {
		defer done()
		t.adoptClosed(ctx, doc, e)
	}
}

// closedRoots gives the backend node ids of closed shadow roots the engine does not know.
func (t *Tab) closedRoots(ctx context.Context, doc *document, e *engine) ([]cdp.BackendNodeID, error) {
	res, err := cdp.Call(ctx, t.session(doc.session), runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: hostsFunction, ObjectID: e.object, Silent: ptr(true),
		Arguments: []*runtime.CallArgument{{Value: jsontext.Value("false")}},
		SerializationOptions: &runtime.SerializationOptions{
			Serialization: runtime.SerializationOptionsSerializationDeep, MaxDepth: ptr(int64(2)),
			AdditionalParameters: jsontext.Value(`{"maxNodeDepth":0,"includeShadowTree":"all"}`),
		},
	})
	if err != nil || res.Result == nil || res.Result.DeepSerializedValue == nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(res.Result.DeepSerializedValue.Value, &value); err != nil {
		return nil, err
	}
	return closedIn(value, nil), nil
}

// closedIn collects the closed roots that a deep serialisation mentions.
func closedIn(value any, found []cdp.BackendNodeID) []cdp.BackendNodeID {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			found = closedIn(item, found)
		}
	case map[string]any:
		if id, ok := v["backendNodeId"].(float64); ok && v["mode"] == "closed" {
			found = append(found, cdp.BackendNodeID(id))
		}
		for _, item := range v {
			found = closedIn(item, found)
		}
	}
	return found
}

// resolveAllNodes brings nodes into the engine's world. Those that are gone are left out.
func (t *Tab) resolveAllNodes(ctx context.Context, doc *document, e *engine, ids []cdp.BackendNodeID) []runtime.RemoteObjectID {
	objects := make([]runtime.RemoteObjectID, len(ids))
	var wg sync.WaitGroup
	for i, id := range ids {
		wg.Go(func() {
			node, err := cdp.Call(ctx, t.session(doc.session), dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: id, ExecutionContextID: e.context, ObjectGroup: js.World})
			if err == nil && node.Object != nil {
				objects[i] = node.Object.ObjectID
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(objects, func(id runtime.RemoteObjectID) bool { return id == "" })
}
