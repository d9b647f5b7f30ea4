package setup

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// maxPreferences bounds what is read of a browser's own file.
const maxPreferences = 32 << 20

// A loaded is our extension as a profile of a browser has it. Browsers write these files when they like, last when they
// end, so this is what was true a while ago.
type loaded struct {
	Profile string // name of the profile's folder
	Path    string // folder it was loaded from
	Version string // of the worker that was registered last, "" if unknown
	Off     bool
	Files   bool // may read file URLs
}

// loadedIn looks for our extension in all profiles of a user data folder. What cannot be read is not there.
func loadedIn(data string) []loaded {
	var out []loaded
	paths, _ := filepath.Glob(filepath.Join(data, "*", "Preferences"))
	for _, path := range paths {
		dir := filepath.Dir(path)
		for _, file := range []string{filepath.Join(dir, "Secure Preferences"), path} {
			if l, ok := readLoaded(file); ok {
				l.Profile = filepath.Base(dir)
				out = append(out, l)
				break
			}
		}
	}
	return out
}

// readLoaded reads one preferences file of Chromium: extensions.settings.<id>.
func readLoaded(path string) (loaded, bool) {
	if info, err := os.Stat(path); err != nil || info.Size() > maxPreferences {
		return loaded{}, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return loaded{}, false
	}
	return decodeLoaded(data)
}

func decodeLoaded(data []byte) (loaded, bool) {
	var prefs struct {
		Extensions struct {
			Settings map[string]jsontext.Value `json:"settings"`
		} `json:"extensions"`
	}
	// A stranger's file: what we do not ask for may be anything.
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if json.Unmarshal(data, &prefs, lenient) != nil {
		return loaded{}, false
	}
	value, ok := prefs.Extensions.Settings[protocol.ExtensionID]
	if !ok {
		return loaded{}, false
	}
	var entry struct {
		Path       string         `json:"path"`
		FileAccess bool           `json:"newAllowFileAccess"`
		State      *int           `json:"state"`
		Reasons    jsontext.Value `json:"disable_reasons"` // a number, or in newer versions a list of them
		Worker     struct {
			Version string `json:"version"`
		} `json:"service_worker_registration_info"`
	}
	if json.Unmarshal(value, &entry, lenient) != nil || entry.Path == "" {
		return loaded{}, false
	}
	off := entry.State != nil && *entry.State == 0
	if r := string(entry.Reasons); r != "" && !slices.Contains([]string{"0", "[]", "null"}, r) {
		off = true
	}
	return loaded{Path: entry.Path, Version: entry.Worker.Version, Off: off, Files: entry.FileAccess}, true
}
