package browser

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/protocol"
)

// A Request is one request of the tab, or one hop of one. Headers are those that the worker lets pass: none can hold a
// secret. What was posted is not kept: it can hold what the owner typed.
type Request struct {
	Number          int // counts the tab's requests, from 1
	Time            time.Time
	Method, URL     string
	Type            string // Document, Script, Fetch, XHR, …
	Status          int    // 0: no answer yet
	ContentType     string
	Bytes           int64 // that came over the wire
	Error           string
	Done            bool
	Posted          bool // it had a body
	RequestHeaders  map[string]string
	ResponseHeaders map[string]string

	id, session, frame, loader string
	origin                     string // of the document that asked; "" when not known yet
}

// RequestsKept is how many requests of a tab are remembered.
const RequestsKept = 1000

// A netlog remembers the last requests. Guarded by the tab's mu.
type netlog struct {
	all  []*Request
	open map[string]*Request // by id: the last hop. A frame that moves to another process takes its request along
	last int
}

type heardSent struct {
	Request  string  `json:"requestId"`
	Loader   string  `json:"loaderId"`
	Frame    string  `json:"frameId"`
	Type     string  `json:"type"`
	WallTime float64 `json:"wallTime"` // seconds
	What     struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
		Posted  bool              `json:"hasPostData"`
	} `json:"request"`
	Redirect struct {
		Status int `json:"status"`
	} `json:"redirectResponse"`
}

type heardResponse struct {
	Request  string `json:"requestId"`
	Response struct {
		Status   int               `json:"status"`
		MimeType string            `json:"mimeType"`
		Headers  map[string]string `json:"headers"`
	} `json:"response"`
}

type heardEnd struct {
	Request string  `json:"requestId"`
	Bytes   float64 `json:"encodedDataLength"`
	Error   string  `json:"errorText"`
}

// overhear keeps what only reading asks for: requests, and the console while it is read.
func (t *Tab) overhear(ev protocol.Event) {
	switch ev.Method {
	case "Network.requestWillBeSent":
		overheard(t, ev, t.heardSent)
	case "Network.responseReceived":
		overheard(t, ev, t.heardResponse)
	case "Network.loadingFinished", "Network.loadingFailed":
		overheard(t, ev, t.heardEnd)
	case "Runtime.executionContextCreated":
		overheard(t, ev, t.heardWorld)
	case "Runtime.consoleAPICalled":
		overheard(t, ev, t.heardConsole)
	case "Runtime.exceptionThrown":
		overheard(t, ev, t.heardException)
	}
}

func overheard[E any](t *Tab, ev protocol.Event, take func(session string, e *E)) {
	var e E
	if err := json.Unmarshal(ev.Params, &e); err != nil {
		t.opt.Logger.Debug("an event of a tab cannot be read", "method", ev.Method, "err", err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	take(ev.Session, &e)
}

func (t *Tab) heardSent(session string, e *heardSent) {
	l := &t.requests
	if l.open == nil {
		l.open = map[string]*Request{}
	}
	if hop := l.open[e.Request]; hop != nil && e.Redirect.Status != 0 {
		hop.Status, hop.Done = e.Redirect.Status, true
	}
	l.last++
	r := &Request{Number: l.last, Time: time.UnixMicro(int64(e.WallTime * 1e6)), Method: e.What.Method, URL: e.What.URL, Type: e.Type,
		Posted: e.What.Posted, RequestHeaders: e.What.Headers, id: e.Request, session: session, frame: e.Frame, loader: e.Loader}
	t.judgeable(r)
	l.all = append(l.all, r)
	l.open[e.Request] = r
	if len(l.all) > RequestsKept {
		old := l.all[0]
		l.all = append(l.all[:0:0], l.all[1:]...)
		if l.open[old.id] == old {
			delete(l.open, old.id)
		}
	}
}

// judgeable notes the origin by which a request is judged: that of the document that asked, of a document's own request
// that of its address. Callers hold mu.
func (t *Tab) judgeable(r *Request) {
	if r.Type == "Document" && r.id == r.loader {
		r.origin = originOf(r.URL)
	} else if n := t.frames.nodes[r.frame]; r.origin == "" && n != nil && n.doc != nil && n.doc.Loader == r.loader {
		r.origin = t.frames.readOrigin(n)
	}
}

func (t *Tab) heardResponse(session string, e *heardResponse) {
	if r := t.requests.open[e.Request]; r != nil {
		r.session = session
		r.Status, r.ContentType, r.ResponseHeaders = e.Response.Status, e.Response.MimeType, e.Response.Headers
		t.judgeable(r)
	}
}

func (t *Tab) heardEnd(session string, e *heardEnd) {
	if r := t.requests.open[e.Request]; r != nil {
		r.session = session
		r.Done, r.Bytes, r.Error = true, int64(e.Bytes), e.Error
		t.judgeable(r)
	}
}

// answered gives how the server answered with the document of a loader; 0: that was before the tab was lent.
func (l *netlog) answered(loader string) int {
	for i := len(l.all) - 1; i >= 0; i-- {
		if r := l.all[i]; r.id == loader && r.loader == loader {
			return r.Status
		}
	}
	return 0
}

// Requests gives the remembered requests after a number, oldest first, of documents that may be read. withheld counts
// the others.
func (t *Tab) Requests(after int, readable func(origin string) bool) (all []Request, withheld int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.requests.all {
		if r.Number <= after {
			continue
		}
		t.judgeable(r)
		if readable != nil && !readable(r.origin) {
			withheld++
			continue
		}
		all = append(all, *r)
	}
	return all, withheld
}

// Request gives one remembered request.
func (t *Tab) Request(number int, readable func(origin string) bool) (*Request, error) {
	all, _ := t.Requests(number-1, nil)
	if len(all) == 0 || all[0].Number != number {
		return nil, protocol.Errorf(protocol.NotFound, "there is no request %d, or it is no longer kept", number).With("hint", "Take a number from browser_network_requests.")
	}
	if r := all[0]; readable == nil || readable(r.origin) {
		return &r, nil
	}
	return nil, protocol.Errorf(protocol.NotSharedSite, "that request is of a site that is not shared")
}

// Body gives what answered a request, as long as Chrome still has it.
func (t *Tab) Body(ctx context.Context, r *Request) ([]byte, error) {
	switch {
	case !r.Done:
		return nil, protocol.Errorf(protocol.Unavailable, "the answer has not come in full")
	case r.Error != "" || r.Status >= 300 && r.Status < 400:
		return nil, protocol.Errorf(protocol.NotFound, "that answer has no body")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.opt.ReadTimeout, errSilent)
	defer cancel()
	var got struct {
		Body   string `json:"body"`
		Base64 bool   `json:"base64Encoded"`
	}
	err := t.session(r.session).Call(ctx, "Network.getResponseBody", map[string]string{"requestId": r.id}, &got)
	switch {
	case protocol.CodeOf(err) == protocol.ChromeError:
		return nil, protocol.Errorf(protocol.NotFound, "Chrome no longer has that body").With("hint", "Chrome keeps bodies while the page stands. Read the page, or have it load again.")
	case err != nil:
		return nil, cause(ctx, err)
	case !got.Base64:
		return []byte(got.Body), nil
	}
	data, err := base64.StdEncoding.DecodeString(got.Body)
	if err != nil {
		return nil, protocol.Errorf(protocol.ChromeError, "Chrome's body cannot be read: %v", err)
	}
	return data, nil
}
