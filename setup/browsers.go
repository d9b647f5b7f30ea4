package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// A browser is one Chrome-family browser as its system's table has it.
type browser struct {
	Name  string // what --browser takes: "chrome", "edge-beta"
	Title string // for people
	Data  string // its user data folder
	// Hosts is where native-messaging manifests of this user belong: folders, on Windows keys of the registry.
	Hosts []string
	// System is where manifests for all users stand; read only.
	System []string
	// Policies is where the managed policies stand: folders of JSON files, property lists, or keys of the registry.
	Policies []string
	// Sandbox is "snap" or "flatpak" for a packaging that keeps the browser from starting other programs.
	Sandbox string
	// Forced browsers were named by the person, so their folders are made.
	Forced bool
}

// found says that the browser has been started once by this user: it keeps Local State from then on.
func (b browser) found() bool {
	_, err := os.Stat(filepath.Join(b.Data, "Local State"))
	return err == nil
}

// address is the page where the extension is loaded.
func (b browser) address() string {
	scheme, _, _ := strings.Cut(b.Name, "-")
	switch scheme {
	case "edge", "brave", "vivaldi", "opera":
	default:
		scheme = "chrome"
	}
	return scheme + "://extensions"
}

// A choice is what the person said about browsers: nothing, a name, or a folder.
type choice struct{ name, dataDir string }

// browsers gives those to work with: the named one, the one of a folder, or all that are found.
func (ch choice) browsers() ([]browser, error) {
	all, err := knownBrowsers()
	if err != nil {
		return nil, err
	}
	if ch.dataDir != "" {
		return customBrowser(ch.dataDir)
	}
	var out []browser
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
		switch {
		case ch.name == b.Name:
			b.Forced = true
			out = append(out, b)
		case ch.name == "" && b.found():
			out = append(out, b)
		}
	}
	if ch.name != "" && out == nil {
		return nil, usageError(fmt.Sprintf("no browser is called %q; known: %s", ch.name, strings.Join(names, ", ")))
	}
	return out, nil
}

// installed are the browsers that status and doctor look at: those that are found, and those that setup was told to register
// with, found or not.
func installed(dirs *store.Dirs) ([]browser, error) {
	all, err := knownBrowsers()
	if err != nil {
		return nil, err
	}
	r, err := readReceipt(dirs)
	if err != nil {
		return nil, err
	}
	var out []browser
	known := make(map[string]bool)
	for _, b := range all {
		listed := false
		for _, host := range b.Hosts {
			known[manifestIn(host)] = true
			listed = listed || slices.Contains(r.Files, manifestIn(host))
		}
		if b.found() || listed && !shared(b, all) {
			out = append(out, b)
		}
	}
	for _, path := range r.Files {
		if filepath.Base(path) == protocol.NativeName+".json" && !known[path] && filepath.Dir(path) != dirs.Data {
			custom, err := customBrowser(filepath.Dir(filepath.Dir(path)))
			if err != nil {
				return nil, err
			}
			out = append(out, custom...)
		}
	}
	return out, nil
}

// shared says that all of the browser's manifests are some other browser's too, so that they tell nothing about it.
func shared(b browser, all []browser) bool {
	for _, host := range b.Hosts {
		if !slices.ContainsFunc(all, func(o browser) bool { return o.Name != b.Name && slices.Contains(o.Hosts, host) }) {
			return false
		}
	}
	return true
}

// home is the user's home folder; every table begins there.
func home() (string, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("looking for browsers: %w", err)
	}
	return dir, nil
}
