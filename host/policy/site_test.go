package policy

import "testing"

func TestSiteIsTheRegistrableDomainForHTTPSAndElseTheOrigin(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com":           "example.com",
		"https://www.example.com":       "example.com",
		"https://a.b.example.co.uk":     "example.co.uk",
		"https://user.github.io":        "user.github.io",
		"https://github.io":             "https://github.io",
		"https://co.uk":                 "https://co.uk",
		"https://com":                   "https://com",
		"https://shop.test":             "shop.test",
		"https://pay.shop.test:8443":    "https://shop.test:8443",
		"https://www.example.com.":      "https://www.example.com.",
		"https://intranet":              "https://intranet",
		"https://192.0.2.1":             "https://192.0.2.1",
		"https://[2001:db8::1]":         "https://[2001:db8::1]",
		"https://localhost":             "https://localhost",
		"https://app.localhost":         "https://app.localhost",
		"http://www.example.com":        "http://www.example.com",
		"http://a.test:8080":            "http://a.test:8080",
		"https://www.xn--bcher-kva.com": "xn--bcher-kva.com",
	} {
		if got := origin(url).Site().String(); got != want {
			t.Errorf("site of %s = %s, want %s", url, got, want)
		}
	}
}

func TestSameSiteNeverJoinsStrangers(t *testing.T) {
	same := [][2]string{
		{"https://www.example.com", "https://pay.example.com"},
		{"https://example.com", "https://a.b.example.com"},
		{"http://a.test:8080", "http://a.test:8080"},
	}
	other := [][2]string{
		{"https://alice.github.io", "https://bob.github.io"},
		{"https://a.co.uk", "https://b.co.uk"},
		{"https://good.test", "https://good.test.evil.test"},
		{"https://good.test", "https://evilgood.test"},
		{"https://a.test", "http://a.test"},
		{"https://a.test", "https://a.test:8443"},
		{"http://www.a.test", "http://a.test"},
		{"https://a.test", "https://a.test."},
		{"https://apple.com", "https://xn--pple-43d.com"},
		{"http://127.0.0.1:1", "http://127.0.0.1:2"},
		{"https://127.0.0.1", "https://127.0.0.2"},
		{"https://a.localhost", "https://b.localhost"},
	}
	for _, pair := range same {
		if !origin(pair[0]).SameSite(origin(pair[1])) {
			t.Errorf("%s and %s are two sites", pair[0], pair[1])
		}
	}
	for _, pair := range other {
		if origin(pair[0]).SameSite(origin(pair[1])) {
			t.Errorf("%s and %s are one site", pair[0], pair[1])
		}
	}
}
