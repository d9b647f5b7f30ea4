package session

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/guard"
	"github.com/tabvalet/tabvalet/protocol"
)

// handle takes one event of the tab, on the link's reader.
func (l *lease) handle(e protocol.Event) {
	l.page.Handle(e)
	switch e.Method {
	case "Fetch.requestPaused":
		decoded(e, func(p pausedEvent) { l.paused(e, p) }, l)
	case "Page.frameNavigated":
		decoded(e, func(p navigatedEvent) { l.navigated(e, p) }, l)
	case "Page.frameRequestedNavigation":
		decoded(e, func(p frameEvent) { l.asked.add(p.FrameID, time.Now()) }, l)
	case "Page.frameAttached":
		decoded(e, func(p frameEvent) { l.guard.Attached(p.FrameID, p.ParentFrameID) }, l)
	case "Page.frameDetached":
		decoded(e, func(p frameEvent) {
			if p.Reason != "swap" {
				l.withdraw(l.guard.Detached(p.FrameID))
			}
		}, l)
	}
}

// decoded reads an event's parameters and hands them to the mailbox. CDP grows: unknown members are no error there.
func decoded[P any](e protocol.Event, f func(P), l *lease) {
	var p P
	if err := json.Unmarshal(e.Params, &p); err != nil {
		l.m.opt.Logger.Warn("an event cannot be read", "method", e.Method, "err", err)
		return // a request that nobody judges is failed by the extension
	}
	l.box.post(func() { f(p) })
}

type pausedEvent struct {
	RequestID  string `json:"requestId"`
	NetworkID  string `json:"networkId"`
	FrameID    string `json:"frameId"`
	Redirected string `json:"redirectedRequestId"`
	Request    struct {
		URL         string                    `json:"url"`
		Method      string                    `json:"method"`
		Headers     map[string]jsontext.Value `json:"headers"`
		HasPostData bool                      `json:"hasPostData"`
		PostData    *string                   `json:"postData"`
	} `json:"request"`
}

type navigatedEvent struct {
	Frame struct {
		ID             string `json:"id"`
		ParentID       string `json:"parentId"`
		LoaderID       string `json:"loaderId"`
		URL            string `json:"url"`
		SecurityOrigin string `json:"securityOrigin"`
	} `json:"frame"`
	Type string `json:"type"`
}

type frameEvent struct {
	FrameID       string `json:"frameId"`
	ParentFrameID string `json:"parentFrameId"`
	Reason        string `json:"reason"`
}

// header finds a header whatever its spelling.
func (p *pausedEvent) header(name string) string {
	for k, v := range p.Request.Headers {
		if equalFold(k, name) {
			var s string
			json.Unmarshal(v, &s)
			return s
		}
	}
	return ""
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i]|0x20 != b[i]|0x20 {
			return false
		}
	}
	return true
}

// paused has a document request judged. The verdict goes out before anything else is done about it. (mailbox)
func (l *lease) paused(e protocol.Event, p pausedEvent) {
	now := time.Now()
	r := guard.Request{
		Session: e.Session, ID: p.RequestID, Loader: p.NetworkID, Frame: p.FrameID, Redirected: p.Redirected != "",
		URL: p.Request.URL, Method: p.Request.Method, Origin: p.header("Origin"),
		HasBody: p.Request.HasPostData, Driven: e.Driven, Front: e.Front,
		Asked: p.Redirected == "" && l.asked.take(p.FrameID, now),
	}
	if p.Request.HasPostData {
		var data []byte
		if p.Request.PostData != nil {
			data = []byte(*p.Request.PostData)
		}
		r.Body = guard.ReadBody(p.header("Content-Type"), data, p.Request.PostData != nil)
	}
	ruling := l.guard.Paused(r, now)
	if ruling.Action != guard.Nothing {
		action := protocol.VerdictAction(ruling.Action)
		if action == protocol.VerdictContinue && ruling.Main && l.page.Arrives(p.NetworkID, p.Request.URL) {
			action = protocol.VerdictArrive // the agent's own navigation: an empty page first, see browser.Tab.Arrives
		}
		l.m.send(protocol.MethodVerdict, protocol.Verdict{Tab: l.tab, Session: e.Session, Request: p.RequestID, Action: action})
	}
	if l.act != nil && ruling.Act == l.act.id {
		frame := p.FrameID
		if ruling.Main {
			frame = ""
		}
		if fate, ok := fates[ruling.Fate]; ok {
			l.act.note(frame, fate, p.Request.URL, ruling)
		}
	}
	if ruling.Ticket != nil {
		l.ask(*ruling.Ticket, l.checkedFor(ruling.Ticket.Act))
	}
	l.record(ruling.Row)
	l.arm()
}

// checkedFor is the target of an act that raised a question: a second act needs it. (mailbox)
func (l *lease) checkedFor(act string) *browser.Checked {
	for _, a := range []*running{l.act, l.last} {
		if a != nil && a.id == act {
			return a.checked
		}
	}
	return nil
}

var fates = map[guard.Fate]browser.NavigationFate{
	guard.Refused: browser.Refused,
	guard.Asked:   browser.Asked,
	guard.Parked:  browser.Parked,
}

// navigated has a commit judged: the second gate. (mailbox)
func (l *lease) navigated(e protocol.Event, p navigatedEvent) {
	l.commit(l.guard.Committed(guard.Commit{
		Session: e.Session, Frame: p.Frame.ID, Parent: p.Frame.ParentID, Loader: p.Frame.LoaderID, URL: p.Frame.URL,
		Origin: p.Frame.SecurityOrigin, Restored: p.Type == "BackForwardCacheRestore",
	}, time.Now()))
}

// commit follows the guard's word on a document. (mailbox)
func (l *lease) commit(c guard.Commitment) {
	l.withdraw(c.Gone)
	l.record(c.Row)
	if c.Standing == guard.Frozen { // whichever frame escaped: the tab is left to the owner
		l.move(Escapes)
		l.notes = append(l.notes, "the tab went to a document nobody allowed; it is left to the owner")
		l.stopAct(protocol.Errorf(protocol.NavigationEscaped, "the tab went to a document nobody allowed"))
	}
	l.arm()
	l.show()
}

// record keeps a row about a request or a commit, without waiting for the disk. (mailbox)
func (l *lease) record(r guard.Row) {
	if r.Event == "" {
		return
	}
	row := audit.Row{
		Kind: audit.Hop, Tab: l.name, Origin: r.From, To: r.To, Method: r.Method, Capability: string(r.Capability),
		Verdict: r.Verdict, Code: string(r.Code), Note: r.Event + " " + r.Frame,
	}
	if r.Grant != 0 {
		row.Grant = grantName(r.Grant)
	}
	if r.CrossOriginSend {
		row.Note += " cross_origin_send"
	}
	if r.Driver != "" {
		row.Note += " by " + string(r.Driver)
	}
	l.m.opt.Record.Note(row)
}

// arm sets the clock of the guard. (mailbox)
func (l *lease) arm() {
	if l.clock != nil {
		l.clock.Stop()
		l.clock = nil
	}
	if at := l.guard.Deadline(); !at.IsZero() {
		l.clock = time.AfterFunc(max(time.Until(at), 0), func() { l.box.post(l.tick) })
	}
}

// tick lets time pass for the guard. (mailbox)
func (l *lease) tick() {
	for _, next := range l.guard.Tick(time.Now()) {
		l.settle(next)
	}
	l.arm()
	l.show()
}
