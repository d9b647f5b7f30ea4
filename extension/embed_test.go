package extension_test

import (
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/protocol"
)

func TestManifestHasTheIdentityOfTheProtocol(t *testing.T) {
	var manifest struct {
		Key     string `json:"key"`
		Version string `json:"version"`
	}
	text, err := fs.ReadFile(extension.Files(), "manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Key != protocol.ExtensionKey {
		t.Error("the manifest's key is not protocol.ExtensionKey")
	}
	der, err := base64.StdEncoding.DecodeString(protocol.ExtensionKey)
	if err != nil {
		t.Fatal(err)
	}
	var id strings.Builder
	for _, b := range sha256.Sum256(der) {
		if id.Len() == 32 {
			break
		}
		id.WriteByte('a' + b>>4)
		id.WriteByte('a' + b&15)
	}
	if id.String() != protocol.ExtensionID {
		t.Errorf("the key makes the id %s, want %s", id.String(), protocol.ExtensionID)
	}
	if got := extension.Version(); got != manifest.Version || got == "" {
		t.Errorf("Version() = %q, the manifest says %q", got, manifest.Version)
	}
}

// Everything that a file of the extension names must be in the binary, and nothing that Chrome does not load.
func TestFilesAreWhatChromeLoads(t *testing.T) {
	files := extension.Files()
	named := regexp.MustCompile(`(?:from '|src="|href="|"service_worker": "|"(?:16|32|48|128)": "|_popup": "|"page": ")((?:\.\.?/)?[\w/.-]+\.\w+)`)
	comment := regexp.MustCompile(`(?s)/\*.*?\*/`) // names types, which Chrome does not load
	seen := 0
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch path.Ext(name) {
		case ".png":
			return nil
		case ".js", ".html", ".css", ".json":
		default:
			t.Errorf("%s is not for Chrome", name)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		for _, m := range named.FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
			seen++
			if _, err := fs.Stat(files, path.Join(path.Dir(name), m[1])); err != nil {
				t.Errorf("%s names %s: %v", name, m[1], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Errorf("only %d names were looked up", seen)
	}
	if _, err := fs.Stat(files, "_locales/en/messages.json"); err != nil {
		t.Error(err)
	}
}
