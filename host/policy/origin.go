package policy

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Errors of parsing. They are wrapped; test with errors.Is or ask [CodeOf].
var (
	ErrURL    = errors.New("not an address that can be read without doubt")
	ErrScheme = errors.New("addresses of this kind are never opened")
)

// An Origin is scheme, host and port, as Chromium has them: lower case, punycode, IPv4 and IPv6 in their one canonical
// spelling, the port always filled in. The zero Origin is opaque: it equals nothing, not even another opaque one, so
// compare with [Origin.Same].
type Origin struct {
	Scheme string // "http" or "https"
	Host   string // IPv6 in brackets
	Port   uint16
}

// ParseOrigin returns the origin of an absolute http, https or blob URL. It refuses what browsers and Go read
// differently (backslashes, missing slashes, white space, percent-encoded hosts) instead of guessing.
func ParseOrigin(raw string) (Origin, error) {
	if inner, ok := cutScheme(raw, "blob"); ok {
		if _, nested := cutScheme(inner, "blob"); nested {
			return Origin{}, fmt.Errorf("reading a blob in a blob: %w", ErrURL)
		}
		return ParseOrigin(inner)
	}
	u, err := parseWeb(raw)
	if err != nil {
		return Origin{}, err
	}
	return originOf(u)
}

// ParseHeader returns the origin an Origin header names. An absent header, "null" and anything else that is not exactly
// one origin is the opaque origin.
func ParseHeader(header string) Origin {
	o, err := ParseOrigin(header)
	if err != nil || o.String() != header {
		return Origin{}
	}
	return o
}

// Opaque reports whether o is no origin that could be granted anything.
func (o Origin) Opaque() bool { return o == Origin{} }

// Same reports whether both are the same origin; an opaque one is never the same as anything.
func (o Origin) Same(p Origin) bool { return o == p && !o.Opaque() }

// Upgrades reports whether going from o to p only adds encryption: http to https on the same host, from port 80 to 443
// or on the same port, as HSTS does it.
func (o Origin) Upgrades(p Origin) bool {
	return o.Scheme == "http" && p.Scheme == "https" && o.Host == p.Host &&
		(o.Port == p.Port || o.Port == 80 && p.Port == 443)
}

// String spells o as Chromium does: without a default port, "null" when opaque.
func (o Origin) String() string {
	switch {
	case o.Opaque():
		return "null"
	case o.Port == defaultPorts[o.Scheme]:
		return o.Scheme + "://" + o.Host
	}
	return o.Scheme + "://" + o.Host + ":" + strconv.Itoa(int(o.Port))
}

var defaultPorts = map[string]uint16{"http": 80, "https": 443}

// parseWeb parses an http or https URL that has an authority and none of the characters that browsers drop or rewrite.
func parseWeb(raw string) (*url.URL, error) {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, control) {
		return nil, fmt.Errorf("reading an address with control characters or broken text: %w", ErrURL)
	}
	scheme, rest, found := strings.Cut(raw, ":")
	if !found {
		return nil, fmt.Errorf("reading an address without a scheme: %w", ErrURL)
	}
	if _, web := defaultPorts[strings.ToLower(scheme)]; !web {
		return nil, fmt.Errorf("reading a %q address: %w", cut(strings.ToLower(scheme), 32), ErrScheme)
	}
	if !strings.HasPrefix(rest, "//") {
		return nil, fmt.Errorf("reading an address without two slashes: %w", ErrURL)
	}
	authority := rest[2:]
	if end := strings.IndexAny(authority, `/?#`); end >= 0 {
		authority = authority[:end]
	}
	if strings.ContainsAny(authority, `\ `) {
		return nil, fmt.Errorf("reading a host with a backslash or a space: %w", ErrURL)
	}
	// Only scheme and authority go to net/url: it refuses paths and queries that browsers take, and they name no host.
	u, err := url.Parse(scheme + "://" + authority)
	if err != nil {
		return nil, fmt.Errorf("reading an address: %w", ErrURL) // the parser's error would quote the whole URL
	}
	return u, nil
}

func originOf(u *url.URL) (Origin, error) {
	host, err := parseHost(u.Host[:len(u.Host)-len(portSuffix(u))])
	if err != nil {
		return Origin{}, err
	}
	o := Origin{Scheme: u.Scheme, Host: host, Port: defaultPorts[u.Scheme]}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return Origin{}, fmt.Errorf("reading a port: %w", ErrURL)
		}
		o.Port = uint16(n)
	}
	return o, nil
}

// portSuffix is the ":443" or ":" at the end of u.Host, or "".
func portSuffix(u *url.URL) string {
	if p := u.Port(); p != "" {
		return ":" + p
	}
	if strings.HasSuffix(u.Host, ":") {
		return ":"
	}
	return ""
}

// cutScheme cuts "scheme:" off, whatever its case.
func cutScheme(raw, scheme string) (rest string, ok bool) {
	if len(raw) <= len(scheme) || raw[len(scheme)] != ':' || !strings.EqualFold(raw[:len(scheme)], scheme) {
		return "", false
	}
	return raw[len(scheme)+1:], true
}

func cut(s string, n int) string { return s[:min(n, len(s))] }
