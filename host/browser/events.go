package browser

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// The events of a tab, with what is used of them. The worker leaves out most of what Chrome says (PROTOCOL.md).
type (
	frameAttached struct {
		Frame  string `json:"frameId"`
		Parent string `json:"parentFrameId"`
	}
	frameDetached struct {
		Frame  string `json:"frameId"`
		Reason string `json:"reason"` // remove, or swap: it goes on in another process
	}
	frameNavigated struct {
		Frame frameInfo `json:"frame"`
		Type  string    `json:"type"` // Navigation, BackForwardCacheRestore
	}
	navigatedWithin struct {
		Frame string `json:"frameId"`
		URL   string `json:"url"`
	}
	requestedNavigation struct {
		Frame       string `json:"frameId"`
		Reason      string `json:"reason"`
		URL         string `json:"url"`
		Disposition string `json:"disposition"` // currentTab, newTab, newWindow, download
	}
	startedNavigating struct {
		Frame  string `json:"frameId"`
		URL    string `json:"url"`
		Loader string `json:"loaderId"`
		Type   string `json:"navigationType"` // sameDocument, differentDocument, reload, …
	}
	lifecycle struct {
		Frame  string `json:"frameId"`
		Loader string `json:"loaderId"`
		Name   string `json:"name"` // DOMContentLoaded, load, networkIdle
	}
	dialogOpening struct {
		URL     string `json:"url"`
		Frame   string `json:"frameId"`
		Message string `json:"message"`
		Type    string `json:"type"`
		Default string `json:"defaultPrompt"`
	}
	dialogClosed struct {
		Result bool `json:"result"`
	}
	requestPaused struct {
		Frame   string `json:"frameId"`
		Loader  string `json:"networkId"`
		Request struct {
			URL    string `json:"url"`
			Method string `json:"method"`
		} `json:"request"`
	}
	requestSent struct {
		Request string `json:"requestId"`
		Loader  string `json:"loaderId"`
		Frame   string `json:"frameId"`
		Type    string `json:"type"`
		What    struct {
			URL    string `json:"url"`
			Method string `json:"method"`
		} `json:"request"`
	}
	responseReceived struct {
		Request  string `json:"requestId"`
		Type     string `json:"type"`
		Response struct {
			Status   int    `json:"status"`
			MimeType string `json:"mimeType"`
		} `json:"response"`
	}
	loadingFinished struct {
		Request string `json:"requestId"`
	}
	loadingFailed struct {
		Request string `json:"requestId"`
		Error   string `json:"errorText"`
	}
	downloadBegins struct {
		Frame string `json:"frameId"`
		URL   string `json:"url"`
		Name  string `json:"suggestedFilename"`
	}
	targetAttached struct {
		Session string `json:"sessionId"`
		Info    struct {
			Target string `json:"targetId"`
			Type   string `json:"type"`
			URL    string `json:"url"`
		} `json:"targetInfo"`
	}
	targetDetached struct {
		Session string `json:"sessionId"`
	}
	targetCrashed   struct{}
	dragIntercepted struct {
		Data jsontext.Value `json:"data"`
	}

	frameInfo struct {
		ID          string `json:"id"`
		Parent      string `json:"parentId"`
		Loader      string `json:"loaderId"`
		URL         string `json:"url"`
		Fragment    string `json:"urlFragment"`
		Origin      string `json:"securityOrigin"`
		MimeType    string `json:"mimeType"`
		Unreachable string `json:"unreachableUrl"`
	}
	frameTree struct {
		Frame    frameInfo   `json:"frame"`
		Children []frameTree `json:"childFrames"`
	}
)

var decoders = map[string]func([]byte) (any, error){
	"Page.frameAttached":            decode[frameAttached],
	"Page.frameDetached":            decode[frameDetached],
	"Page.frameNavigated":           decode[frameNavigated],
	"Page.navigatedWithinDocument":  decode[navigatedWithin],
	"Page.frameRequestedNavigation": decode[requestedNavigation],
	"Page.frameStartedNavigating":   decode[startedNavigating],
	"Page.lifecycleEvent":           decode[lifecycle],
	"Page.javascriptDialogOpening":  decode[dialogOpening],
	"Page.javascriptDialogClosed":   decode[dialogClosed],
	"Page.downloadWillBegin":        decode[downloadBegins],
	"Fetch.requestPaused":           decode[requestPaused],
	"Network.requestWillBeSent":     decode[requestSent],
	"Network.responseReceived":      decode[responseReceived],
	"Network.loadingFinished":       decode[loadingFinished],
	"Network.loadingFailed":         decode[loadingFailed],
	"Target.attachedToTarget":       decode[targetAttached],
	"Target.detachedFromTarget":     decode[targetDetached],
	"Inspector.targetCrashed":       decode[targetCrashed],
	"Input.dragIntercepted":         decode[dragIntercepted],
}

func decode[E any](data []byte) (any, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}

// decodeEvent gives the event as one of the types above, or nil when it is none of them or cannot be read.
func decodeEvent(ev protocol.Event) (any, error) {
	d, ok := decoders[ev.Method]
	if !ok {
		return nil, nil
	}
	e, err := d(ev.Params)
	if err != nil {
		return nil, err
	}
	return e, nil
}
