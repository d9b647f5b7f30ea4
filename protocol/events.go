package protocol

// An EventRule is one CDP event that the worker forwards as cdp.event; every other event stays in the browser.
//
// Keep lists the paths that are copied, with dots between names; what is not listed, and what is absent, is left out. A
// string longer than [EventText] UTF-16 units is cut to that. Values of scripts ("args", "exceptionDetails.exception") are
// reduced to type, subtype, value, unserializableValue and description, "stackTrace" to url and lineNumber of its top.
type EventRule struct {
	Method string   `json:"method"`
	Keep   []string `json:"keep"`
	// Where: the event is forwarded only if this parameter has one of these values.
	Where map[string][]string `json:"where,omitzero"`
}

// Limits of forwarded events.
const (
	EventText = 8 << 10  // a longer string is cut: an address keeps its origin
	EventBody = 64 << 10 // a longer request.postData is left out, request.hasPostData stays
	EventArgs = 16       // of the arguments of a console call so many are kept
	EventWord = 2 << 10  // a longer string in one of them, or in an exception, is cut
)

// EventHeaders are the headers that "request.headers" and "response.headers" keep, with names in lower case. What could hold
// a secret is not among them.
var EventHeaders = []string{"content-type", "origin", "referer", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site",
	"sec-fetch-user", "accept", "age", "allow", "cache-control", "content-disposition", "content-encoding", "content-language",
	"content-length", "content-security-policy", "date", "etag", "expires", "last-modified", "retry-after", "server", "vary",
	"x-content-type-options", "x-requested-with"}

// EventRules is the list of forwarded events, sorted. Page.screencastFrame is not in it: the worker acknowledges it.
var EventRules = []EventRule{
	{Method: "Fetch.requestPaused", Keep: []string{"requestId", "frameId", "resourceType", "networkId",
		"redirectedRequestId", "request.url", "request.urlFragment", "request.method", "request.headers",
		"request.hasPostData", "request.postData", "responseStatusCode", "responseErrorReason"}},
	{Method: "Input.dragIntercepted", Keep: []string{"data"}},
	{Method: "Inspector.targetCrashed", Keep: []string{}},
	{Method: "Network.loadingFailed", Keep: []string{"requestId", "timestamp", "type", "errorText", "canceled",
		"blockedReason"}},
	{Method: "Network.loadingFinished", Keep: []string{"requestId", "timestamp", "encodedDataLength"}},
	{Method: "Network.requestWillBeSent", Keep: []string{"requestId", "loaderId", "frameId", "timestamp", "wallTime",
		"type", "request.url", "request.method", "request.headers", "request.hasPostData", "redirectHasExtraInfo",
		"redirectResponse.status", "redirectResponse.url"}},
	{Method: "Network.responseReceived", Keep: []string{"requestId", "loaderId", "frameId", "timestamp", "type",
		"response.url", "response.status", "response.mimeType", "response.headers"}},
	{Method: "Page.domContentEventFired", Keep: []string{"timestamp"}},
	{Method: "Page.downloadWillBegin", Keep: []string{"frameId", "guid", "url", "suggestedFilename"}},
	{Method: "Page.fileChooserOpened", Keep: []string{"frameId", "mode", "backendNodeId"}},
	{Method: "Page.frameAttached", Keep: []string{"frameId", "parentFrameId"}},
	{Method: "Page.frameDetached", Keep: []string{"frameId", "reason"}},
	{Method: "Page.frameNavigated", Keep: []string{"frame.id", "frame.parentId", "frame.loaderId", "frame.name",
		"frame.url", "frame.urlFragment", "frame.securityOrigin", "frame.mimeType", "frame.unreachableUrl", "type"}},
	{Method: "Page.frameRequestedNavigation", Keep: []string{"frameId", "reason", "url", "disposition"}},
	{Method: "Page.frameStartedLoading", Keep: []string{"frameId"}},
	{Method: "Page.frameStartedNavigating", Keep: []string{"frameId", "url", "loaderId", "navigationType"}},
	{Method: "Page.frameStoppedLoading", Keep: []string{"frameId"}},
	{Method: "Page.javascriptDialogClosed", Keep: []string{"frameId", "result", "userInput"}},
	{Method: "Page.javascriptDialogOpening", Keep: []string{"url", "frameId", "message", "type", "hasBrowserHandler",
		"defaultPrompt"}},
	{Method: "Page.lifecycleEvent", Keep: []string{"frameId", "loaderId", "name", "timestamp"},
		Where: map[string][]string{"name": {"DOMContentLoaded", "load", "networkIdle"}}},
	{Method: "Page.loadEventFired", Keep: []string{"timestamp"}},
	{Method: "Page.navigatedWithinDocument", Keep: []string{"frameId", "url", "navigationType"}},
	{Method: "Runtime.consoleAPICalled", Keep: []string{"type", "executionContextId", "timestamp", "args", "stackTrace"}},
	{Method: "Runtime.exceptionThrown", Keep: []string{"timestamp", "exceptionDetails.text", "exceptionDetails.url",
		"exceptionDetails.lineNumber", "exceptionDetails.executionContextId", "exceptionDetails.exception"}},
	{Method: "Runtime.executionContextCreated", Keep: []string{"context.id", "context.origin", "context.auxData"}},
	{Method: "Target.attachedToTarget", Keep: []string{"sessionId", "waitingForDebugger", "targetInfo.targetId",
		"targetInfo.type", "targetInfo.url", "targetInfo.openerId"}},
	{Method: "Target.detachedFromTarget", Keep: []string{"sessionId", "targetId"}},
}
