package protocol

import (
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// CDPKind says when a command may pass.
type CDPKind string

// The values of CDPKind.
const (
	CDPRead    CDPKind = "read"    // always; as an act when cdp.send says so
	CDPAct     CDPKind = "act"     // not while the owner drives
	CDPCleanup CDPKind = "cleanup" // even while the owner drives, and after a stop
)

// A CDPMethod is one row of the allow-list. A parameter that is not in Params is refused.
type CDPMethod struct {
	Method string               `json:"method"`
	Kind   CDPKind              `json:"kind"`
	Params map[string]ParamRule `json:"params"`
	// AnyOf: one of these parameters must be there.
	AnyOf []string `json:"any_of,omitzero"`
	// Cleanup: with one of these values in this parameter the command only clears up, whatever Kind says.
	Cleanup map[string][]any `json:"cleanup,omitzero"`
}

// A ParamRule limits one parameter.
type ParamRule struct {
	Type     ParamType `json:"type"`
	Required bool      `json:"required,omitzero"`
	Values   []string  `json:"values,omitzero"` // the only strings, of the parameter or of its items
	Max      int       `json:"max,omitzero"`    // the largest number
	URL      bool      `json:"url,omitzero"`    // see [CheckURL]
}

// ParamType is the JSON type of a parameter.
type ParamType string

// The values of ParamType.
const (
	ParamString  ParamType = "string"
	ParamNumber  ParamType = "number"
	ParamBoolean ParamType = "boolean"
	ParamObject  ParamType = "object"
	ParamArray   ParamType = "array"
)

// World is the name of the page engine's isolated world.
const World = "tabvalet"

// CDPMethods is the allow-list of cdp.send, sorted by kind and method. What is not here never reaches Chrome.
var CDPMethods = []CDPMethod{
	read("DOM.describeNode", node(params{"depth": {Type: ParamNumber}, "pierce": boolean})),
	read("DOM.disable", nil),
	read("DOM.discardSearchResults", params{"searchId": must(str)}),
	read("DOM.enable", params{"includeWhitespace": str}),
	read("DOM.getBoxModel", node(nil)),
	read("DOM.getContentQuads", node(nil)),
	read("DOM.getFrameOwner", params{"frameId": must(str)}),
	read("DOM.getSearchResults", params{"searchId": must(str), "fromIndex": must(number), "toIndex": must(number)}),
	read("DOM.performSearch", params{"query": must(str), "includeUserAgentShadowDOM": boolean}),
	read("DOM.resolveNode", params{"nodeId": number, "backendNodeId": number, "objectGroup": str,
		"executionContextId": number}),
	read("Network.getResponseBody", params{"requestId": must(str)}),
	read("Page.addScriptToEvaluateOnNewDocument", params{"source": must(str), "worldName": must(only(World)),
		"runImmediately": boolean}),
	read("Page.captureScreenshot", params{"format": str, "quality": number, "clip": object, "fromSurface": boolean,
		"captureBeyondViewport": boolean, "optimizeForSpeed": boolean}),
	read("Page.createIsolatedWorld", params{"frameId": must(str), "worldName": must(only(World))}),
	read("Page.getFrameTree", nil),
	read("Page.getLayoutMetrics", nil),
	read("Page.getNavigationHistory", nil),
	read("Page.printToPDF", params{"landscape": boolean, "displayHeaderFooter": boolean, "printBackground": boolean,
		"scale": number, "paperWidth": number, "paperHeight": number, "marginTop": number, "marginBottom": number,
		"marginLeft": number, "marginRight": number, "pageRanges": str, "headerTemplate": str, "footerTemplate": str,
		"preferCSSPageSize": boolean, "transferMode": only("ReturnAsBase64"), "generateTaggedPDF": boolean,
		"generateDocumentOutline": boolean}),
	read("Page.removeScriptToEvaluateOnNewDocument", params{"identifier": must(str)}),
	read("Page.startScreencast", params{"format": str, "quality": number, "maxWidth": must(atMost(64)),
		"maxHeight": must(atMost(64)), "everyNthFrame": number}),
	read("Runtime.callFunctionOn", params{"functionDeclaration": must(str), "objectId": must(str),
		"arguments": {Type: ParamArray}, "silent": boolean, "returnByValue": boolean, "awaitPromise": boolean,
		"objectGroup": str, "throwOnSideEffect": boolean, "serializationOptions": object}),
	read("Runtime.disable", nil),
	read("Runtime.enable", nil), // for the moment in which the console is read: a page may notice
	anyOf(read("Runtime.evaluate", params{"expression": must(str), "contextId": number, "uniqueContextId": str,
		"objectGroup": str, "silent": boolean, "returnByValue": boolean, "awaitPromise": boolean,
		"throwOnSideEffect": boolean, "timeout": number, "disableBreaks": boolean, "serializationOptions": object}),
		"contextId", "uniqueContextId"),
	read("Runtime.releaseObject", params{"objectId": must(str)}),
	read("Runtime.releaseObjectGroup", params{"objectGroup": must(str)}),

	act("Input.dispatchDragEvent", params{"type": must(str), "x": must(number), "y": must(number),
		"data": must(object), "modifiers": number}),
	clears(act("Input.dispatchKeyEvent", params{"type": must(str), "modifiers": number, "timestamp": number, "text": str,
		"unmodifiedText": str, "keyIdentifier": str, "code": str, "key": str, "windowsVirtualKeyCode": number,
		"nativeVirtualKeyCode": number, "autoRepeat": boolean, "isKeypad": boolean, "isSystemKey": boolean,
		"location": number, "commands": {Type: ParamArray, Values: []string{"selectAll"}}}), "type", "keyUp"),
	clears(act("Input.dispatchMouseEvent", params{"type": must(str), "x": must(number), "y": must(number),
		"modifiers": number, "timestamp": number, "button": str, "buttons": number, "clickCount": number, "force": number,
		"tangentialPressure": number, "tiltX": number, "tiltY": number, "twist": number, "deltaX": number,
		"deltaY": number, "pointerType": str}), "type", "mouseReleased"),
	clears(act("Input.dispatchTouchEvent", params{"type": must(str), "touchPoints": must(ParamRule{Type: ParamArray}),
		"modifiers": number, "timestamp": number}), "type", "touchEnd", "touchCancel"),
	act("Input.imeSetComposition", params{"text": must(str), "selectionStart": must(number),
		"selectionEnd": must(number), "replacementStart": number, "replacementEnd": number}),
	act("Input.insertText", params{"text": must(str)}),
	clears(act("Input.setInterceptDrags", params{"enabled": must(boolean)}), "enabled", false),
	act("Page.handleJavaScriptDialog", params{"accept": must(boolean), "promptText": str}),
	act("Page.navigate", params{"url": must(ParamRule{Type: ParamString, URL: true}), "transitionType": str}),
	act("Page.navigateToHistoryEntry", params{"entryId": must(number)}),
	act("Page.reload", params{"ignoreCache": boolean, "loaderId": str}),
	clears(act("Page.setInterceptFileChooserDialog", params{"enabled": must(boolean), "cancel": boolean}),
		"enabled", false),

	{Method: "Page.stopLoading", Kind: CDPCleanup, Params: params{}},
	{Method: "Page.stopScreencast", Kind: CDPCleanup, Params: params{}},
}

type params = map[string]ParamRule

var (
	str     = ParamRule{Type: ParamString}
	number  = ParamRule{Type: ParamNumber}
	boolean = ParamRule{Type: ParamBoolean}
	object  = ParamRule{Type: ParamObject}
)

func only(value string) ParamRule       { return ParamRule{Type: ParamString, Values: []string{value}} }
func atMost(max int) ParamRule          { return ParamRule{Type: ParamNumber, Max: max} }
func must(r ParamRule) ParamRule        { r.Required = true; return r }
func read(m string, p params) CDPMethod { return row(m, CDPRead, p) }
func act(m string, p params) CDPMethod  { return row(m, CDPAct, p) }

func row(method string, kind CDPKind, p params) CDPMethod {
	if p == nil {
		p = params{}
	}
	return CDPMethod{Method: method, Kind: kind, Params: p}
}

// node adds the three ways to name a node.
func node(p params) params {
	all := params{"nodeId": number, "backendNodeId": number, "objectId": str}
	for name, rule := range p {
		all[name] = rule
	}
	return all
}

func anyOf(m CDPMethod, names ...string) CDPMethod { m.AnyOf = names; return m }

func clears(m CDPMethod, param string, values ...any) CDPMethod {
	m.Cleanup = map[string][]any{param: values}
	return m
}

// CheckCDP holds a command against the allow-list and gives the kind it counts as; act is the flag of cdp.send. The error
// is a [MethodNotAllowed].
func CheckCDP(method string, p jsontext.Value, act bool) (CDPKind, error) {
	i := slices.IndexFunc(CDPMethods, func(m CDPMethod) bool { return m.Method == method })
	if i < 0 {
		return "", Errorf(MethodNotAllowed, "%s is not on the list", clip(method))
	}
	m := &CDPMethods[i]
	var given map[string]any
	if err := json.Unmarshal(p, &given); err != nil || given == nil {
		return "", Errorf(MethodNotAllowed, "the parameters of %s are not an object", method)
	}
	for name, value := range given {
		rule, ok := m.Params[name]
		if !ok {
			return "", Errorf(MethodNotAllowed, "%s may not have %s", method, clip(name))
		}
		if !rule.allows(value) {
			return "", Errorf(MethodNotAllowed, "%s may not have that %s", method, name)
		}
	}
	for name, rule := range m.Params {
		if _, ok := given[name]; rule.Required && !ok {
			return "", Errorf(MethodNotAllowed, "%s must have %s", method, name)
		}
	}
	if m.AnyOf != nil && !slices.ContainsFunc(m.AnyOf, func(name string) bool { return given[name] != nil }) {
		return "", Errorf(MethodNotAllowed, "%s must have one of %s", method, strings.Join(m.AnyOf, ", "))
	}
	for name, values := range m.Cleanup {
		if slices.Contains(values, given[name]) {
			return CDPCleanup, nil
		}
	}
	if m.Kind == CDPRead && act {
		return CDPAct, nil
	}
	return m.Kind, nil
}

func (r ParamRule) allows(value any) bool {
	switch v := value.(type) {
	case string:
		return r.Type == ParamString && (r.Values == nil || slices.Contains(r.Values, v)) && (!r.URL || CheckURL(v) == nil)
	case float64:
		return r.Type == ParamNumber && (r.Max == 0 || v <= float64(r.Max))
	case bool:
		return r.Type == ParamBoolean
	case map[string]any:
		return r.Type == ParamObject
	case []any:
		return r.Type == ParamArray && (r.Values == nil || !slices.ContainsFunc(v, func(item any) bool {
			s, ok := item.(string)
			return !ok || !slices.Contains(r.Values, s)
		}))
	}
	return false
}

// CheckURL says whether a tab may be sent to an address at all: http, https or about:blank, and nothing that looks like an
// approval link, on whatever host (a name may stand for 127.0.0.1). Grants are judged elsewhere. The error is a
// [SchemeRefused].
func CheckURL(address string) error {
	if address == "about:blank" {
		return nil
	}
	for _, r := range address {
		if r <= ' ' || r == '\\' || r == 0x7f {
			return Errorf(SchemeRefused, "an address with spaces, control characters or backslashes")
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return Errorf(SchemeRefused, "not an address")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return Errorf(SchemeRefused, "the scheme %s", clip(u.Scheme))
	}
	if u.User != nil {
		return Errorf(SchemeRefused, "an address with a user name")
	}
	path := strings.ToLower(u.Path)
	for _, own := range []string{ApprovePath, LinkPath} {
		if u.Port() != "" && strings.Contains(path, own) {
			return Errorf(SchemeRefused, "an approval link")
		}
	}
	return nil
}
