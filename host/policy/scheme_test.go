package policy

import (
	"strings"
	"testing"
)

func TestParseTargetTakesAListOfGoodSchemes(t *testing.T) {
	for url, want := range map[string]TargetKind{
		"https://a.test/":               TargetWeb,
		"http://a.test":                 TargetWeb,
		"blob:https://a.test/1f0e":      TargetBlob,
		"about:blank":                   TargetBlank,
		"about:blank#x":                 TargetBlank,
		"ABOUT:BLANK?x":                 TargetBlank,
		"about:srcdoc":                  TargetBlank,
		"about:settings":                "",
		"file:///etc/passwd":            "",
		"data:text/html,x":              "",
		"DATA:text/html,x":              "",
		"javascript:alert(1)":           "",
		"view-source:https://a.t":       "",
		"chrome://settings":             "",
		"chrome-error://chromewebd":     "",
		"chrome-error://chromewebdata/": "",
		"chrome-extension://abc/x":      "",
		"devtools://devtools/x":         "",
		"filesystem:https://a.t/x":      "",
		"blob:null/1f0e":                "",
		"mailto:a@b.test":               "",
		"intent://x":                    "",
	} {
		got, err := ParseTarget(url)
		if got.Kind != want || (err == nil) != (want != "") {
			t.Errorf("ParseTarget(%q) = %q, %v; want %q", url, got.Kind, err, want)
		}
		if want == "" && !strings.HasPrefix(url, "blob:") && CodeOf(err) != SchemeRefused {
			t.Errorf("ParseTarget(%q) answers %q", url, CodeOf(err))
		}
	}
	if _, err := ParseTarget("https://a b/"); CodeOf(err) != BadArgument {
		t.Errorf("an address that does not parse answers %q", CodeOf(err))
	}
	if CodeOf(nil) != "" {
		t.Error("no error has a code")
	}
}

func TestParseCommittedKnowsWhatAFrameMayHoldBesides(t *testing.T) {
	for url, want := range map[string]TargetKind{
		"data:text/html,x":               TargetData,
		"chrome-error://chromewebdata/":  TargetError,
		"chrome-error://chromewebdata/#": TargetError,
	} {
		if got, err := ParseCommitted(url); err != nil || got.Kind != want {
			t.Errorf("ParseCommitted(%q) = %q, %v", url, got.Kind, err)
		}
	}
}

func TestOwnHostsAreHeldInEverySpelling(t *testing.T) {
	own := Own{Ports: []int{4711}, Approve: "/approve/"}
	token := strings.Repeat("A", 43)
	holds := func(url string) bool {
		target, err := ParseTarget(url)
		if err != nil {
			t.Fatal(err)
		}
		return own.Holds(target)
	}
	for _, host := range loopbacks {
		for _, url := range []string{
			"http://" + host + ":4711/",
			"https://" + host + ":4711",
			"http://" + host + ":4711/approve/" + token,
			"http://" + host + ":9999/approve/" + token,
			"http://" + host + ":9999/approve/" + token + "?x#y",
			"http://user@" + host + ":9999//x/..//%61pprove/./" + token,
			"blob:http://" + host + ":4711/x",
		} {
			if !holds(url) {
				t.Errorf("%s is not held", url)
			}
		}
	}
	if _, err := ParseTarget(`http://127.0.0.1:9999\approve\` + token); err == nil {
		t.Error("a backslash, which browsers take for a slash, is not refused")
	}
	for _, url := range []string{
		"http://127.0.0.1:4712/", "http://localhost/", "http://127.0.0.1:9999/approve/short", "http://127.0.0.1:9999/x/approve/" + token,
		"https://a.test:4711/", "https://a.test/approve/" + token,
	} {
		if holds(url) {
			t.Errorf("%s is held", url)
		}
	}
}
