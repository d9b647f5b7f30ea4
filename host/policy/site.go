package policy

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// A Site is what an owner means by "this site": for https the registrable domain with all its subdomains, else the
// origin. Another port is another site. Sites are comparable; the zero Site is nobody's.
type Site struct {
	origin Origin // its host is the registrable domain when wide
	wide   bool
}

// Site returns the site o belongs to. A public suffix, an IP address, localhost, a name without a dot and a name with a
// trailing dot stand for themselves only.
func (o Origin) Site() Site {
	if _, ip := address(o.Host); ip || o.Scheme != "https" || o.Loopback() || strings.HasSuffix(o.Host, ".") {
		return Site{origin: o}
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(o.Host)
	if err != nil {
		return Site{origin: o}
	}
	return Site{origin: Origin{o.Scheme, domain, o.Port}, wide: true}
}

// SameSite reports whether both belong to one site; an opaque origin belongs to none.
func (o Origin) SameSite(p Origin) bool { return !o.Opaque() && o.Site() == p.Site() }

// Origin returns the origin a site is named by: the registrable domain's, or the site itself.
func (s Site) Origin() Origin { return s.origin }

// String names the site as people read it: "example.com" for https on its own port, else the origin.
func (s Site) String() string {
	if s.wide && s.origin.Port == 443 {
		return s.origin.Host
	}
	return s.origin.String()
}
