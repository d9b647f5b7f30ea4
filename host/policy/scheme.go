package policy

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// TargetKind tells what kind of document an address leads to.
type TargetKind string

// The values of TargetKind.
const (
	TargetWeb   TargetKind = "web"   // http or https
	TargetBlob  TargetKind = "blob"  // judged as the origin that made it
	TargetBlank TargetKind = "blank" // about:blank and about:srcdoc: content of whoever opened it
	TargetData  TargetKind = "data"  // refused as a target, harmless as a page's own child frame
	TargetError TargetKind = "error" // Chrome's own error page
)

// A Target is an address a document request may go to, or a document that committed.
type Target struct {
	Kind   TargetKind
	Origin Origin // of web and blob
	path   string // of web: decoded and cleaned
}

// ParseTarget reads an address that is asked for: http, https, blob, about:blank and about:srcdoc. Every other scheme is
// [ErrScheme]: a list of good ones is safer than a list of bad ones.
func ParseTarget(raw string) (Target, error) {
	t, err := ParseCommitted(raw)
	if err == nil && (t.Kind == TargetData || t.Kind == TargetError) {
		return Target{}, fmt.Errorf("reading a %s address: %w", t.Kind, ErrScheme)
	}
	return t, err
}

// ParseCommitted reads the address of a document that a frame holds: what [ParseTarget] takes, data: and Chrome's error
// page.
func ParseCommitted(raw string) (Target, error) {
	bare, _, _ := strings.Cut(raw, "#")
	bare, _, _ = strings.Cut(bare, "?")
	switch strings.ToLower(bare) {
	case "about:blank", "about:srcdoc":
		return Target{Kind: TargetBlank}, nil
	case "chrome-error://chromewebdata/":
		return Target{Kind: TargetError}, nil
	}
	if _, ok := cutScheme(raw, "data"); ok {
		return Target{Kind: TargetData}, nil
	}
	o, err := ParseOrigin(raw)
	if err != nil {
		return Target{}, err
	}
	if _, ok := cutScheme(raw, "blob"); ok {
		return Target{Kind: TargetBlob, Origin: o}, nil
	}
	return Target{Kind: TargetWeb, Origin: o, path: pathOf(bare)}, nil
}

// pathOf is the path of a URL without query and fragment, percent-decoded and cleaned, as a server would see it.
func pathOf(bare string) string {
	_, rest, _ := strings.Cut(bare, "://")
	i := strings.IndexAny(rest, `/\`)
	if i < 0 {
		return "/"
	}
	p := strings.ReplaceAll(rest[i:], `\`, "/")
	if decoded, err := url.PathUnescape(p); err == nil {
		p = strings.ReplaceAll(decoded, `\`, "/")
	}
	return path.Clean(p)
}

// Own is what belongs to our own hosts and is no agent's target, in no spelling: the loopback ports they listen on, and
// approval links on any loopback port.
type Own struct {
	Ports   []int
	Approve string // path before the token, "/approve/"
}

// tokenLength is the length of 32 random bytes in base64url.
const tokenLength = 43

// Holds reports whether t leads to one of our own hosts.
func (own Own) Holds(t Target) bool {
	if !t.Origin.Loopback() {
		return false
	}
	if slices.Contains(own.Ports, int(t.Origin.Port)) {
		return true
	}
	token, ok := strings.CutPrefix(t.path, own.Approve)
	return ok && own.Approve != "" && len(token) == tokenLength
}

// CodeOf returns the code that tells an agent what err of parsing an address means.
func CodeOf(err error) Code {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrScheme):
		return SchemeRefused
	}
	return BadArgument
}
