package setup

import (
	"os"
	"path/filepath"
)

// A row of the table of browsers. Data is relative to the local application data; keys are below HKEY_CURRENT_USER.
type row struct {
	name, title string
	data        string
	vendors     []string // below Software: whose NativeMessagingHosts it reads
	policies    string   // below Software\Policies
}

// Brave and Vivaldi read keys of their own or Chrome's, depending on the version: both are written.
var table = []row{
	{"chrome", "Google Chrome", `Google\Chrome\User Data`, []string{`Google\Chrome`}, `Google\Chrome`},
	{"chrome-beta", "Google Chrome Beta", `Google\Chrome Beta\User Data`, []string{`Google\Chrome`}, `Google\Chrome`},
	{"chrome-dev", "Google Chrome Dev", `Google\Chrome Dev\User Data`, []string{`Google\Chrome`}, `Google\Chrome`},
	{"chrome-canary", "Google Chrome Canary", `Google\Chrome SxS\User Data`, []string{`Google\Chrome`}, `Google\Chrome`},
	{"chrome-for-testing", "Chrome for Testing", `Google\Chrome for Testing\User Data`, []string{`Google\Chrome`}, `Google\Chrome`},
	{"chromium", "Chromium", `Chromium\User Data`, []string{`Chromium`, `Google\Chrome`}, `Chromium`},
	{"edge", "Microsoft Edge", `Microsoft\Edge\User Data`, []string{`Microsoft\Edge`}, `Microsoft\Edge`},
	{"edge-beta", "Microsoft Edge Beta", `Microsoft\Edge Beta\User Data`, []string{`Microsoft\Edge`}, `Microsoft\Edge`},
	{"edge-dev", "Microsoft Edge Dev", `Microsoft\Edge Dev\User Data`, []string{`Microsoft\Edge`}, `Microsoft\Edge`},
	{"brave", "Brave", `BraveSoftware\Brave-Browser\User Data`, []string{`BraveSoftware\Brave-Browser`, `Google\Chrome`}, `BraveSoftware\Brave`},
	{"vivaldi", "Vivaldi", `Vivaldi\User Data`, []string{`Vivaldi`, `Google\Chrome`}, `Vivaldi`},
	{"opera", "Opera", `..\Roaming\Opera Software\Opera Stable`, []string{`Google\Chrome`}, `Opera Software\Opera`},
}

func knownBrowsers() ([]browser, error) {
	local := os.Getenv("LOCALAPPDATA")
	if local == "" {
		home, err := home()
		if err != nil {
			return nil, err
		}
		local = filepath.Join(home, "AppData", "Local")
	}
	var out []browser
	for _, r := range table {
		b := browser{Name: r.name, Title: r.title, Data: filepath.Join(local, r.data), Policies: []string{`Software\Policies\` + r.policies}}
		for _, vendor := range r.vendors {
			key := `Software\` + vendor + `\NativeMessagingHosts`
			b.Hosts = append(b.Hosts, key)
			b.System = append(b.System, key) // the same, below HKEY_LOCAL_MACHINE
		}
		out = append(out, b)
	}
	return out, nil
}

// customBrowser does not exist here: Chrome on Windows finds manifests by the registry, whatever --user-data-dir says.
func customBrowser(string) ([]browser, error) {
	return nil, usageError("on Windows --user-data-dir has no effect on native messaging; use --browser NAME")
}
