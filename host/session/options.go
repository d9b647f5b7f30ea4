package session

import (
	"context"
	"log/slog"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/policy"
	"github.com/tabvalet/tabvalet/protocol"
)

// Options are a host's settings. They can only tighten what the owner's policy allows. The zero value of a duration is
// its default.
type Options struct {
	Instance string
	Consent  Consent // "" is in Chrome
	Sealed   bool    // every lease of this host is sealed

	GrantTTL       time.Duration // of a NAVIGATE grant; 10 min
	ConsentTimeout time.Duration // no answer is a no; 5 min
	Budget         time.Duration // a call answers within it, whatever it waits for; 55 s
	Idle           time.Duration // a lease without a call ends; 15 min
	ReleaseGrace   time.Duration // an unused single-use grant is taken back; 2 s

	Record Record
	Logger *slog.Logger // nil: none
	// Port is where the link listens; 0: it does not yet.
	Port func() int
	// Paired says why no extension could prove a pairing, or nil; asked before the owner is.
	Paired func() error
	// Mirrored is told what the extension keeps of the record's heads. It must not block.
	Mirrored func(profile string, heads []protocol.Head)
	// Own is what belongs to our own hosts and is nobody's target.
	Own func() policy.Own
	// NewTab makes the tab that is read and acted in; nil: browser.NewTab. Tests put their own here.
	NewTab func(c browser.Chrome, id protocol.TabID, o browser.Options) Tab
}

// Consent is where the owner is asked.
type Consent string

// The values of Consent.
const (
	ConsentChrome Consent = "chrome"
	ConsentDeny   Consent = "deny" // nobody is asked; what would be asked is refused
)

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&o.GrantTTL, 10 * time.Minute},
		{&o.ConsentTimeout, 5 * time.Minute},
		{&o.Budget, 55 * time.Second},
		{&o.Idle, 15 * time.Minute},
		{&o.ReleaseGrace, 2 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if o.Consent == "" {
		o.Consent = ConsentChrome
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Port == nil {
		o.Port = func() int { return 0 }
	}
	if o.Paired == nil {
		o.Paired = func() error { return nil }
	}
	if o.Mirrored == nil {
		o.Mirrored = func(string, []protocol.Head) {}
	}
	if o.Own == nil {
		o.Own = func() policy.Own { return policy.Own{Ports: []int{o.Port()}, Approve: protocol.ApprovePath} }
	}
	if o.NewTab == nil {
		o.NewTab = newTab
	}
	return o
}

// A Record is where acts are written down before they are done, as host/audit has it.
type Record interface {
	Intent(audit.Row) (int64, error)
	Result(of int64, r audit.Row)
	Note(audit.Row)
	Digest(args []byte) string
	Recent() []protocol.Rows
	Err() error
}

// A Conn is the link to the extension of one profile, as host/link has it.
type Conn interface {
	Profile() string
	Call(ctx context.Context, method string, params, result any) error
	CallAll(ctx context.Context, method string, params []any) error
	Note(method string, params any) error
	Close(code protocol.CloseCode)
}

// A Tab is what can be done in a leased tab, as host/browser has it.
type Tab interface {
	Start(ctx context.Context, children []protocol.ChildSession) error
	Handle(protocol.Event)
	Close()
	Document() browser.Document
	Frames() []browser.Frame
	Arrives(loader, url string) bool
	Dialog() *browser.Dialog
	HandleDialog(ctx context.Context, accept bool, text string) error
	ArmDialog(accept bool, text string)
	SetDriving(bool)
	History(ctx context.Context) ([]browser.Entry, int, error)

	Snapshot(context.Context, browser.SnapshotOptions) (*browser.Snapshot, error)
	Read(context.Context, browser.ReadOptions) (*browser.Reading, error)
	Screenshot(context.Context, browser.ScreenshotOptions) (*browser.Image, error)
	WaitFor(context.Context, browser.WaitOptions) (*browser.Waited, error)
	Find(context.Context, browser.FindOptions) (*browser.Finding, error)
	ReadForm(ctx context.Context, target string, readable func(origin string) bool) (*browser.FormReading, error)
	Requests(after int, readable func(origin string) bool) ([]browser.Request, int)
	Request(number int, readable func(origin string) bool) (*browser.Request, error)
	Body(context.Context, *browser.Request) ([]byte, error)
	Console(ctx context.Context, readable func(origin string) bool) (*browser.Console, error)
	PDF(ctx context.Context, readable func(origin string) bool) (*browser.Printout, error)

	Check(context.Context, browser.CheckOptions) (*browser.Checked, error)
	Recheck(context.Context, *browser.Checked) (*browser.Checked, error)
	Begin(context.Context, *browser.Checked) (Act, error)
}

// An Act is one change that has begun, as host/browser has it.
type Act interface {
	Click(context.Context, browser.ClickOptions) error
	Type(context.Context, browser.TypeOptions) error
	Press(ctx context.Context, key string) error
	Hover(context.Context) error
	Scroll(context.Context, browser.ScrollOptions) (browser.Scrolled, error)
	Select(context.Context, browser.SelectOptions) (browser.Selected, error)
	Drag(ctx context.Context, to browser.CheckOptions) (browser.Dragged, error)
	FillForm(context.Context, []browser.Field) []browser.Filled
	Navigate(ctx context.Context, url string, until browser.LoadState) error
	History(ctx context.Context, d browser.Direction, until browser.LoadState) error
	Step() browser.Outcome
	Settle(context.Context) (*browser.Settled, error)
	Note(frame string, fate browser.NavigationFate, url string)
	End()
}

// realTab is a browser.Tab whose acts are seen through the interface.
type realTab struct{ *browser.Tab }

func newTab(c browser.Chrome, id protocol.TabID, o browser.Options) Tab {
	return realTab{browser.NewTab(c, id, o)}
}

func (t realTab) Begin(ctx context.Context, c *browser.Checked) (Act, error) {
	a, err := t.Tab.Begin(ctx, c)
	if err != nil {
		return nil, err
	}
	return a, nil
}
