package policy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestParseOriginAgreesWithBrowsers: the same origin, or none. Plain URLs must not be refused.
func TestParseOriginAgreesWithBrowsers(t *testing.T) {
	data, err := os.ReadFile("testdata/origins.json") // made by testdata/origins.mjs
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		URL, Origin string
		Plain       bool
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	agreed := 0
	for _, row := range rows {
		o, err := ParseOrigin(row.URL)
		switch {
		case err == nil && o.String() != row.Origin:
			t.Errorf("ParseOrigin(%q) = %s, a browser says %q", row.URL, o, row.Origin)
		case err != nil && row.Plain:
			t.Errorf("ParseOrigin(%q): %v, a browser says %q", row.URL, err, row.Origin)
		case err == nil:
			agreed++
		}
	}
	if agreed < 60 {
		t.Errorf("only %d URLs compared", agreed)
	}
}

func TestParseOriginErrorNeverQuotesTheURL(t *testing.T) {
	for _, url := range []string{"https://s3cret\\@x.test/", "https://s3cret:s3cret@[::1/", "https://a\ns3cret/", "https://x.test:s3cret/", "https://s3cret..test/"} {
		if _, err := ParseOrigin(url); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("ParseOrigin(%q) says %v", url, err)
		}
	}
}

func TestParseHeaderTakesExactlyOneOrigin(t *testing.T) {
	for header, want := range map[string]string{
		"https://a.test":               "https://a.test",
		"http://127.0.0.1:8080":        "http://127.0.0.1:8080",
		"":                             "null",
		"null":                         "null",
		"://":                          "null",
		"https://a.test/":              "null",
		"https://A.test":               "null",
		"https://a.test:443":           "null",
		"https://a.test https://b.t":   "null",
		"https://u@a.test":             "null",
		"chrome-extension://abcdefghi": "null",
	} {
		if got := ParseHeader(header).String(); got != want {
			t.Errorf("ParseHeader(%q) = %s, want %s", header, got, want)
		}
	}
}

func TestOpaqueOriginsEqualNothing(t *testing.T) {
	var null Origin
	a := origin("https://a.test")
	if null.Same(null) || null.SameSite(null) || null.Upgrades(null) || null.Same(a) || a.SameSite(null) {
		t.Error("an opaque origin is the same as something")
	}
}

func TestUpgradesOnlyAddEncryptionOnTheSameHost(t *testing.T) {
	for _, row := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.test", "https://a.test", true},
		{"http://a.test:8080", "https://a.test:8080", true},
		{"http://a.test:8080", "https://a.test", false},
		{"http://a.test", "https://a.test:8443", false},
		{"https://a.test", "http://a.test", false},
		{"http://a.test", "https://b.a.test", false},
		{"http://a.test", "http://a.test", false},
	} {
		if got := origin(row.from).Upgrades(origin(row.to)); got != row.want {
			t.Errorf("%s upgrades to %s: %v", row.from, row.to, got)
		}
	}
}

// loopbacks are this machine, spelled so that a text comparison misses it.
var loopbacks = []string{
	"127.0.0.1", "127.1", "127.0.1", "0x7f000001", "0x7f.1", "2130706433", "017700000001", "0177.0.0.1", "127.0.0.1.",
	"127.99.1.2", "0", "0.0.0.0", "[::1]", "[0:0::0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "１２７.0.0.1",
	"localhost", "LOCALHOST", "localhost.", "app.localhost", "a.b.localhost.", "ⓛocalhost", "localhost.localdomain", "ip6-localhost",
}

func TestLoopbackInEverySpelling(t *testing.T) {
	for _, host := range loopbacks {
		o, err := ParseOrigin("http://" + host + ":4711/")
		if err != nil || !o.Loopback() {
			t.Errorf("%s: %v, loopback %v", host, err, o.Loopback())
		}
	}
	for _, host := range []string{"128.0.0.1", "localhost.test", "notlocalhost", "[::2]", "[fe80::1]", "10.0.0.1", "1.27.0.0.1.nip.io"} {
		if origin("http://" + host).Loopback() {
			t.Errorf("%s counts as loopback", host)
		}
	}
}

func FuzzParseOrigin(f *testing.F) {
	for _, host := range loopbacks {
		f.Add("http://" + host + "/")
	}
	f.Add("https://user@bücher.example:8443/x?y#z")
	f.Add("blob:https://a.test/x")
	f.Fuzz(func(t *testing.T, raw string) {
		o, err := ParseOrigin(raw)
		if err != nil {
			if !o.Opaque() {
				t.Fatalf("ParseOrigin(%q) = %v with %v", raw, o, err)
			}
			return
		}
		again, err := ParseOrigin(o.String())
		if err != nil || again != o {
			t.Fatalf("ParseOrigin(%q) = %s, which reads as %s, %v", raw, o, again, err)
		}
		if strings.ContainsAny(o.Host, "@/\\?#% \t\n") || o.Host != strings.ToLower(o.Host) {
			t.Fatalf("ParseOrigin(%q) has host %q", raw, o.Host)
		}
		if o.Site().Origin().Site() != o.Site() {
			t.Fatalf("the site of %s is not its own site", o)
		}
	})
}

// origin parses what a test knows to be a URL.
func origin(url string) Origin {
	o, err := ParseOrigin(url)
	if err != nil {
		panic(err)
	}
	return o
}
