package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
)

// A row of the table of browsers. Folders are relative to the configuration folder.
type row struct {
	name, title string
	data        string
	hosts       []string // folders whose NativeMessagingHosts it reads; nil: data
	system      []string // names in systemHosts
	policies    string   // folder of managed policies
}

var (
	chromeHosts   = "/etc/opt/chrome/native-messaging-hosts"
	chromiumHosts = "/etc/chromium/native-messaging-hosts"
	edgeHosts     = "/etc/opt/edge/native-messaging-hosts"
	testingHosts  = "/etc/opt/chrome_for_testing/native-messaging-hosts"
)

const (
	chromePolicies   = "/etc/opt/chrome/policies/managed"
	chromiumPolicies = "/etc/chromium/policies/managed"
	edgePolicies     = "/etc/opt/edge/policies/managed"
	bravePolicies    = "/etc/brave/policies/managed"
	vivaldiPolicies  = "/etc/opt/vivaldi/policies/managed"
	operaPolicies    = "/etc/opt/opera/policies/managed"
)

// Chrome for Testing before 146 reads Chrome's folder; Opera always does.
var table = []row{
	{"chrome", "Google Chrome", "google-chrome", nil, []string{chromeHosts}, chromePolicies},
	{"chrome-beta", "Google Chrome Beta", "google-chrome-beta", nil, []string{chromeHosts}, chromePolicies},
	{"chrome-dev", "Google Chrome Dev", "google-chrome-unstable", nil, []string{chromeHosts}, chromePolicies},
	{"chrome-canary", "Google Chrome Canary", "google-chrome-canary", nil, []string{chromeHosts}, chromePolicies},
	{"chrome-for-testing", "Chrome for Testing", "google-chrome-for-testing", []string{"google-chrome-for-testing", "google-chrome"}, []string{testingHosts, chromeHosts}, chromePolicies},
	{"chromium", "Chromium", "chromium", nil, []string{chromiumHosts}, chromiumPolicies},
	{"edge", "Microsoft Edge", "microsoft-edge", nil, []string{edgeHosts, chromeHosts}, edgePolicies},
	{"edge-beta", "Microsoft Edge Beta", "microsoft-edge-beta", nil, []string{edgeHosts, chromeHosts}, edgePolicies},
	{"edge-dev", "Microsoft Edge Dev", "microsoft-edge-dev", nil, []string{edgeHosts, chromeHosts}, edgePolicies},
	{"brave", "Brave", "BraveSoftware/Brave-Browser", nil, []string{chromeHosts}, bravePolicies},
	{"brave-beta", "Brave Beta", "BraveSoftware/Brave-Browser-Beta", nil, []string{chromeHosts}, bravePolicies},
	{"brave-nightly", "Brave Nightly", "BraveSoftware/Brave-Browser-Nightly", nil, []string{chromeHosts}, bravePolicies},
	{"vivaldi", "Vivaldi", "vivaldi", nil, []string{chromeHosts}, vivaldiPolicies},
	{"vivaldi-snapshot", "Vivaldi Snapshot", "vivaldi-snapshot", nil, []string{chromeHosts}, vivaldiPolicies},
	{"opera", "Opera", "opera", []string{"google-chrome"}, []string{chromeHosts}, operaPolicies},
}

// Browsers in a sandbox of their packaging, with the folder that stands in for the configuration folder.
var sandboxes = []struct{ name, title, sandbox, config, data string }{
	{"chromium-snap", "Chromium (Snap)", "snap", "snap/chromium/common", "chromium"},
	{"brave-snap", "Brave (Snap)", "snap", "snap/brave/current/.config", "BraveSoftware/Brave-Browser"},
	{"opera-snap", "Opera (Snap)", "snap", "snap/opera/current/.config", "opera"},
	{"chrome-flatpak", "Google Chrome (Flatpak)", "flatpak", ".var/app/com.google.Chrome/config", "google-chrome"},
	{"chromium-flatpak", "Chromium (Flatpak)", "flatpak", ".var/app/org.chromium.Chromium/config", "chromium"},
	{"edge-flatpak", "Microsoft Edge (Flatpak)", "flatpak", ".var/app/com.microsoft.Edge/config", "microsoft-edge"},
	{"brave-flatpak", "Brave (Flatpak)", "flatpak", ".var/app/com.brave.Browser/config", "BraveSoftware/Brave-Browser"},
	{"vivaldi-flatpak", "Vivaldi (Flatpak)", "flatpak", ".var/app/com.vivaldi.Vivaldi/config", "vivaldi"},
}

func knownBrowsers() ([]browser, error) {
	home, err := home()
	if err != nil {
		return nil, err
	}
	config := cmp.Or(os.Getenv("CHROME_CONFIG_HOME"), os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	var out []browser
	for _, r := range table {
		b := browser{Name: r.name, Title: r.title, Data: filepath.Join(config, r.data), System: r.system, Policies: []string{r.policies}}
		if r.hosts == nil {
			r.hosts = []string{r.data}
		}
		for _, dir := range r.hosts {
			b.Hosts = append(b.Hosts, filepath.Join(config, dir, "NativeMessagingHosts"))
		}
		out = append(out, b)
	}
	for _, s := range sandboxes {
		data := filepath.Join(home, s.config, s.data)
		out = append(out, browser{Name: s.name, Title: s.title, Data: data, Sandbox: s.sandbox,
			Hosts: []string{filepath.Join(data, "NativeMessagingHosts")}})
	}
	return out, nil
}

// customBrowser is one that is started with --user-data-dir. Brave and Opera do not follow it.
func customBrowser(dir string) ([]browser, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding %s: %w", dir, err)
	}
	return []browser{{Name: "custom", Title: "the browser of " + abs, Data: abs, Forced: true,
		Hosts: []string{filepath.Join(abs, "NativeMessagingHosts")}, System: []string{chromeHosts, chromiumHosts},
		Policies: []string{chromePolicies, chromiumPolicies}}}, nil
}
