package setup

import (
	"fmt"
	"path/filepath"
)

// A row of the table of browsers. Folders are relative to Application Support; domain names its managed preferences.
type row struct {
	name, title string
	data        string
	hosts       []string // folders whose NativeMessagingHosts it reads; nil: data
	system      string
	domain      string
}

const (
	chromeHosts   = "/Library/Google/Chrome/NativeMessagingHosts"
	testingHosts  = "/Library/Google/ChromeForTesting/NativeMessagingHosts"
	chromiumHosts = "/Library/Application Support/Chromium/NativeMessagingHosts"
	edgeHosts     = "/Library/Microsoft/Edge/NativeMessagingHosts"
)

// Chrome for Testing keeps its manifests in a folder without spaces, and before 146 in Chrome's; Opera reads Chrome's.
var table = []row{
	{"chrome", "Google Chrome", "Google/Chrome", nil, chromeHosts, "com.google.Chrome"},
	{"chrome-beta", "Google Chrome Beta", "Google/Chrome Beta", nil, chromeHosts, "com.google.Chrome.beta"},
	{"chrome-dev", "Google Chrome Dev", "Google/Chrome Dev", nil, chromeHosts, "com.google.Chrome.dev"},
	{"chrome-canary", "Google Chrome Canary", "Google/Chrome Canary", nil, chromeHosts, "com.google.Chrome.canary"},
	{"chrome-for-testing", "Chrome for Testing", "Google/Chrome for Testing", []string{"Google/ChromeForTesting", "Google/Chrome"}, testingHosts, "com.google.chrome.for.testing"},
	{"chromium", "Chromium", "Chromium", nil, chromiumHosts, "org.chromium.Chromium"},
	{"edge", "Microsoft Edge", "Microsoft Edge", nil, edgeHosts, "com.microsoft.Edge"},
	{"edge-beta", "Microsoft Edge Beta", "Microsoft Edge Beta", nil, edgeHosts, "com.microsoft.Edge.Beta"},
	{"edge-dev", "Microsoft Edge Dev", "Microsoft Edge Dev", nil, edgeHosts, "com.microsoft.Edge.Dev"},
	{"edge-canary", "Microsoft Edge Canary", "Microsoft Edge Canary", nil, edgeHosts, "com.microsoft.Edge.Canary"},
	{"brave", "Brave", "BraveSoftware/Brave-Browser", nil, chromeHosts, "com.brave.Browser"},
	{"brave-beta", "Brave Beta", "BraveSoftware/Brave-Browser-Beta", nil, chromeHosts, "com.brave.Browser.beta"},
	{"brave-nightly", "Brave Nightly", "BraveSoftware/Brave-Browser-Nightly", nil, chromeHosts, "com.brave.Browser.nightly"},
	{"vivaldi", "Vivaldi", "Vivaldi", nil, chromeHosts, "com.vivaldi.Vivaldi"},
	{"arc", "Arc", "Arc/User Data", nil, chromeHosts, "company.thebrowser.Browser"},
	{"opera", "Opera", "com.operasoftware.Opera", []string{"com.operasoftware.Opera", "Google/Chrome"}, chromeHosts, "com.operasoftware.Opera"},
}

func knownBrowsers() ([]browser, error) {
	home, err := home()
	if err != nil {
		return nil, err
	}
	support := filepath.Join(home, "Library", "Application Support")
	var out []browser
	for _, r := range table {
		b := browser{Name: r.name, Title: r.title, Data: filepath.Join(support, filepath.FromSlash(r.data)),
			System: []string{r.system}, Policies: managed(r.domain)}
		if r.hosts == nil {
			r.hosts = []string{r.data}
		}
		for _, dir := range r.hosts {
			b.Hosts = append(b.Hosts, filepath.Join(support, filepath.FromSlash(dir), "NativeMessagingHosts"))
		}
		out = append(out, b)
	}
	return out, nil
}

func managed(domain string) []string {
	return []string{filepath.Join("/Library/Managed Preferences", domain+".plist")}
}

// customBrowser is one that is started with --user-data-dir.
func customBrowser(dir string) ([]browser, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding %s: %w", dir, err)
	}
	return []browser{{Name: "custom", Title: "the browser of " + abs, Data: abs, Forced: true,
		Hosts: []string{filepath.Join(abs, "NativeMessagingHosts")}, System: []string{chromeHosts, chromiumHosts},
		Policies: append(managed("com.google.Chrome"), managed("org.chromium.Chromium")...)}}, nil
}
