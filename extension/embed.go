// Package extension carries what Chrome loads, so that one binary installs everything.
package extension

import (
	"embed"
	"io/fs"

	"github.com/go-json-experiment/json"
)

// Each kind of file is named by itself: what is not for Chrome (types, configuration, this file) stays out.
//
//go:embed manifest.json *.js pages/*.html pages/*.css pages/*.js icons/*.png all:_locales
var files embed.FS

// Files is the extension as a tree with manifest.json at its root.
func Files() fs.FS { return files }

// Version is the version in the manifest.
func Version() string { return version }

var version = func() string {
	var manifest struct {
		Version string `json:"version"`
	}
	text, err := files.ReadFile("manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		panic("extension: reading the embedded manifest: " + err.Error())
	}
	return manifest.Version
}()
