package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/protocol"
)

// Version is the format that open rows carry. A verifier refuses files of a later one.
const Version = 1

// Limits of a row. What is longer is cut when it is written, and refused when it is read.
const (
	maxText = 200      // characters of a free text
	maxLine = 16 << 10 // bytes of a row
)

// Kind says what a row records.
type Kind string

// The values of Kind. Callers use Read, Hop and Event with [Log.Note]; the log sets the others itself.
const (
	Opened Kind = "open"   // first row of every file, and only there
	Intent Kind = "intent" // an act, on disk before it leaves
	Result Kind = "result" // what became of the intent Of
	Read   Kind = "read"   // something of a page went to the agent
	Hop    Kind = "hop"    // a document request was judged
	Event  Kind = "event"  // anything else worth keeping: a lease, a takeover, an answer of the owner
	Closed Kind = "close"  // the host ended in order
)

var kinds = map[Kind]bool{Opened: true, Intent: true, Result: true, Read: true, Hop: true, Event: true, Closed: true}

// A Row is one line of the record. The log fills the first block; callers fill what they know of the rest and leave the
// rest zero. There is no place for page text, typed text, secrets or addresses: texts are our own words and the names
// of controls, cut at 200 characters; Origin and To are cut to an origin; what was typed is Chars, a length.
type Row struct {
	Seq      int64     `json:"seq"` // grows by one through all files of an instance
	Time     time.Time `json:"time"`
	Mono     int64     `json:"mono_ns"`       // since the host opened the log; orders rows when the clock jumps
	Back     bool      `json:"back,omitzero"` // the clock was set back: Time is before the row before
	Instance string    `json:"instance"`
	Client   string    `json:"client,omitzero"` // its claimed name
	Kind     Kind      `json:"kind"`

	Of         int64  `json:"of,omitzero"`         // Result: Seq of its intent
	Tab        string `json:"tab,omitzero"`        // "t1"
	Origin     string `json:"origin,omitzero"`     // of the document that was read or acted in
	To         string `json:"to,omitzero"`         // origin that something goes to
	Tool       string `json:"tool,omitzero"`       // "browser_click"
	Target     string `json:"target,omitzero"`     // `button "Save"`
	Method     string `json:"method,omitzero"`     // HTTP method of a hop
	Capability string `json:"capability,omitzero"` // "SUBMIT"
	Grant      string `json:"grant,omitzero"`      // which grant covered it
	Consent    string `json:"consent,omitzero"`    // where the owner was asked: chrome, elicit, policy
	Verdict    string `json:"verdict,omitzero"`    // allow, ask, refuse, would_refuse
	Outcome    string `json:"outcome,omitzero"`    // observed, not_dispatched, dispatched, confirmed, unknown
	Code       string `json:"code,omitzero"`       // error code of the answer
	Args       string `json:"args,omitzero"`       // [Log.Digest] of the arguments
	Chars      int    `json:"chars,omitzero"`      // length of what was typed, or of what was read
	Note       string `json:"note,omitzero"`       // a few words of ours

	Open *Opening `json:"open,omitzero"` // Opened only
	Prev string   `json:"prev"`          // hash of the row before; "" in a file's first row
}

// An Opening is what a file's first row says about the file.
type Opening struct {
	V    int    `json:"v"`
	File string `json:"file"` // its own name, so that a copy under another name shows
	PID  int    `json:"pid"`
	// Gap counts the rows of this instance that could not be written before this file, and Cause says why.
	Gap   int64  `json:"gap,omitzero"`
	Cause string `json:"cause,omitzero"`
	// Links are the ends of the files that nothing had linked yet when this one began, its predecessor always among them.
	Links []protocol.Head `json:"links"`
}

// encode gives the bytes of the row, without the newline.
func (r *Row) encode() ([]byte, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding a row: %w", err)
	}
	return line, nil
}

// decode is strict: what it accepts is a row that this package could have written.
func decode(line []byte) (*Row, error) {
	if len(line) > maxLine {
		return nil, fmt.Errorf("a row of %d bytes", len(line))
	}
	var r Row
	if err := json.Unmarshal(line, &r, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	switch {
	case !kinds[r.Kind]:
		return nil, fmt.Errorf("unknown kind %q", r.Kind)
	case r.Seq < 1:
		return nil, fmt.Errorf("seq %d", r.Seq)
	case (r.Kind == Opened) != (r.Open != nil):
		return nil, fmt.Errorf("kind %q and the opening do not go together", r.Kind)
	case (r.Kind == Result) != (r.Of != 0):
		return nil, fmt.Errorf("kind %q with of %d", r.Kind, r.Of)
	case r.Kind == Opened && r.Prev != "", r.Kind != Opened && !isHash(r.Prev):
		return nil, fmt.Errorf("prev %q", r.Prev)
	}
	return &r, nil
}

// hash chains the rows. The label keeps it apart from every other use of SHA-256.
func hash(line []byte) string {
	h := sha256.New()
	h.Write([]byte("tabvalet/audit/1\x00"))
	h.Write(line)
	return hex.EncodeToString(h.Sum(nil))
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// clean cuts and repairs what a caller gave, so that no caller can make a row that is too long or not UTF-8.
func (r *Row) clean() {
	for _, s := range []*string{&r.Client, &r.Tab, &r.Tool, &r.Target, &r.Method, &r.Capability, &r.Grant, &r.Consent,
		&r.Verdict, &r.Outcome, &r.Code, &r.Args, &r.Note} {
		*s = clip(*s)
	}
	r.Origin, r.To = originOnly(r.Origin), originOnly(r.To)
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText-1]) + "…"
}

// originOnly drops everything after the authority, and what stands before the host: a second lock, callers give origins.
func originOnly(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, _, _ = strings.Cut(s, ":")
		return clip(scheme)
	}
	if i := strings.IndexAny(rest, `/\?#`); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return clip(scheme + "://" + rest)
}
