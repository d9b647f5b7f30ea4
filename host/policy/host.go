package policy

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// hosts is "domain to ASCII" of the URL standard. What it lets pass beyond letters, digits, hyphens and underscores is
// refused by parseHost.
var hosts = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.CheckJoiners(true),
	idna.BidiRule(),
)

// parseHost returns the canonical spelling of a URL's host.
func parseHost(raw string) (string, error) {
	if v6, ok := strings.CutPrefix(raw, "["); ok {
		return parseV6(strings.TrimSuffix(v6, "]"))
	}
	host, err := hosts.ToASCII(raw)
	if err != nil {
		return "", fmt.Errorf("reading a host name: %w", ErrURL)
	}
	host = strings.ToLower(host)
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", fmt.Errorf("reading a host name: %w", ErrURL)
		}
	}
	if len(host) > 254 {
		return "", fmt.Errorf("reading a host name: %w", ErrURL)
	}
	if endsInNumber(host) {
		return parseV4(host)
	}
	return host, nil
}

// endsInNumber reports whether a browser takes the host for an IPv4 address: its last label is a number, decimal or hex.
func endsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := v4Number(last)
	return ok
}

// parseV4 reads 127.0.0.1, 127.1, 0x7f.1, 017700000001, 2130706433 … as browsers do.
func parseV4(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	var ip uint64
	for i, part := range parts {
		n, ok := v4Number(part)
		room := uint64(1) << 8
		if i == len(parts)-1 {
			room = 1 << (8 * (5 - len(parts)))
		}
		if !ok || len(parts) > 4 || n >= room {
			return "", fmt.Errorf("reading an IPv4 address: %w", ErrURL)
		}
		if i == len(parts)-1 {
			ip |= n
		} else {
			ip |= n << (8 * (3 - i))
		}
	}
	return fmt.Sprintf("%d.%d.%d.%d", byte(ip>>24), byte(ip>>16), byte(ip>>8), byte(ip)), nil
}

func v4Number(s string) (uint64, bool) {
	base := 10
	switch {
	case s == "":
		return 0, false
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, true // "0x" is 0
	}
	if s[0] == '+' || s[0] == '-' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

func parseV6(s string) (string, error) {
	ip, err := netip.ParseAddr(s)
	if err != nil || !ip.Is6() || ip.Zone() != "" {
		return "", fmt.Errorf("reading an IPv6 address: %w", ErrURL)
	}
	if ip.Is4In6() { // Go writes ::ffff:127.0.0.1, browsers [::ffff:7f00:1]
		b := ip.As16()
		return fmt.Sprintf("[::ffff:%x:%x]", uint16(b[12])<<8|uint16(b[13]), uint16(b[14])<<8|uint16(b[15])), nil
	}
	return "[" + ip.String() + "]", nil
}

// address returns the IP address a canonical host is, IPv4 in IPv6 unwrapped.
func address(host string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return ip.Unmap(), err == nil
}

// Loopback reports whether o is this machine in any spelling: 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104, the unspecified
// addresses (browsers connect them to loopback), localhost and its subdomains, with or without a trailing dot.
func (o Origin) Loopback() bool {
	if ip, ok := address(o.Host); ok {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	host := strings.TrimSuffix(o.Host, ".")
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "localhost.localdomain" ||
		host == "ip6-localhost" || host == "ip6-loopback"
}
