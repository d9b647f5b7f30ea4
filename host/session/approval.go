package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"sync"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// An approvalState is where one request for a tab stands.
type approvalState string

// The states of an approval: the first decision wins, and there is no way back.
const (
	approvalWaiting approvalState = "waiting" // → granted, refused, expired
	approvalGranted approvalState = "granted" // no successor
	approvalRefused approvalState = "refused" // no successor
	approvalExpired approvalState = "expired" // no successor
)

// An approval is the agent's request for a tab, which only the owner's click in the extension's own page decides.
type approval struct {
	id      string
	hash    [sha256.Size]byte // of the token
	token   string            // while it waits, to give the same link again; "" once it is decided
	expires time.Time

	reason string
	url    string
	access protocol.Access

	state   approvalState
	refusal string        // Chrome's words about the tab the owner chose last, "" if none was refused
	decided chan struct{} // closed when it is
	changed chan struct{} // closed and replaced when refusal changes
}

// approvals are all requests of this host. At most one waits; decided ones are kept to tell a used link from an unknown
// one.
type approvals struct {
	mu   sync.Mutex
	byID map[string]*approval
	list []*approval // in order of time
}

// keepApprovals bounds what is remembered of decided requests.
const keepApprovals = 32

func randomText(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// ask returns the request that waits, or makes one.
func (as *approvals) ask(reason, url string, access protocol.Access) approval {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a := as.waiting(); a != nil {
		return *a
	}
	a := &approval{
		id: randomText(16), token: randomText(32), expires: time.Now().Add(protocol.ApprovalLife),
		reason: reason, url: url, access: access, state: approvalWaiting,
		decided: make(chan struct{}), changed: make(chan struct{}),
	}
	a.hash = sha256.Sum256([]byte(a.token))
	if as.byID == nil {
		as.byID = map[string]*approval{}
	}
	as.byID[a.id] = a
	as.list = append(as.list, a)
	if len(as.list) > keepApprovals {
		delete(as.byID, as.list[0].id)
		as.list = as.list[1:]
	}
	return *a
}

// waiting finds the request that waits, and lets what is too old expire.
func (as *approvals) waiting() *approval {
	var found *approval
	for _, a := range as.list {
		if a.state == approvalWaiting && !time.Now().Before(a.expires) {
			a.decide(approvalExpired)
		}
		if a.state == approvalWaiting {
			found = a
		}
	}
	return found
}

func (a *approval) decide(s approvalState) {
	a.state, a.token = s, ""
	close(a.decided)
}

// current is the request that waits; ok is false if none does.
func (as *approvals) current() (approval, bool) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a := as.waiting(); a != nil {
		return *a, true
	}
	return approval{}, false
}

// open finds the waiting request of a link's token, or, for "", the one that waits. It has no effect: a link may be
// opened as often as anyone likes, and only a decision uses it up.
func (as *approvals) open(token string) (approval, error) {
	as.mu.Lock()
	defer as.mu.Unlock()
	waiting := as.waiting()
	if token == "" {
		if waiting == nil {
			return approval{}, protocol.Errorf(protocol.ApprovalUnknown, "no request is waiting")
		}
		return *waiting, nil
	}
	hash := sha256.Sum256([]byte(token))
	for _, a := range as.list {
		if a.hash == hash {
			return *a, a.usable()
		}
	}
	return approval{}, protocol.Errorf(protocol.ApprovalUnknown, "no request has this link")
}

// get finds a request by its id in whatever state it is.
func (as *approvals) get(id string) (approval, bool) {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.waiting()
	a, ok := as.byID[id]
	if !ok {
		return approval{}, false
	}
	return *a, true
}

func (a *approval) usable() error {
	switch a.state {
	case approvalWaiting:
		return nil
	case approvalRefused:
		return protocol.Errorf(protocol.ApprovalRefused, "the owner said no to this request")
	case approvalExpired:
		return protocol.Errorf(protocol.ApprovalExpired, "this link is older than %d minutes", int(protocol.ApprovalLife.Minutes()))
	}
	return protocol.Errorf(protocol.ApprovalUsed, "this link was used")
}

// decide is the compare-and-swap of a decision: it succeeds once. What it decides is done by act, before anyone who waits
// hears of it; an error of act leaves the request open.
func (as *approvals) decide(id string, s approvalState, act func() error) error {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.waiting()
	a, ok := as.byID[id]
	if !ok {
		return protocol.Errorf(protocol.ApprovalUnknown, "no such request")
	}
	if err := a.usable(); err != nil {
		return err
	}
	if err := act(); err != nil {
		return err
	}
	a.decide(s)
	return nil
}

// tabRefused keeps what Chrome said about the tab the owner chose. The request stays open.
func (as *approvals) tabRefused(id, why string) {
	as.mu.Lock()
	defer as.mu.Unlock()
	a := as.waiting()
	if a == nil || id != "" && a.id != id {
		return
	}
	a.refusal = why
	close(a.changed)
	a.changed = make(chan struct{})
}

// void ends all requests that wait: the pairing they were made under is gone, or the host ends.
func (as *approvals) void() {
	as.mu.Lock()
	defer as.mu.Unlock()
	if a := as.waiting(); a != nil {
		a.decide(approvalExpired)
	}
}
