// Package tests holds what is true of the repository as a whole.
package tests

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tabvalet/tabvalet/"

// allowed says which packages of ours each package may import, and nothing else. A subfolder without a row of its own is
// held to its parent's.
var allowed = map[string][]string{
	"protocol":          {},                         // what crosses the link: a stranger must be able to read it alone
	"extension":         {},                         // files and their version
	"host/store":        {},                         // what this machine remembers
	"host/policy":       {},                         // pure: tables and functions
	"host/audit":        {"host/store", "protocol"}, // protocol: heads and rows as they are mirrored
	"host/native":       {"host/store", "protocol"},
	"host/link":         {"protocol"},                    // knows nothing of what is said over it
	"host/browser":      {"protocol", "host/browser/js"}, // never link: it declares the interface it needs
	"host/browser/js":   {},
	"host/guard":        {"host/policy", "host/browser"},
	"host/session":      {"host/policy", "host/guard", "host/browser", "host/audit", "protocol"},
	"host/script":       {},                                                          // declares the interface it needs
	"host/mcpserver":    {"host/session", "host/script", "host/browser", "protocol"}, // browser: the types of what a tab answers
	"setup":             {"host/store", "protocol", "host/audit", "extension"},
	"host/cmd/tabvalet": {"*"},
	"tests":             {"*"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

// list asks the go command for every package of the module, for the systems whose files differ.
func list(t *testing.T) []listed {
	t.Helper()
	var out []listed
	for _, goos := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-json", "./...")
		cmd.Dir = ".."
		cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		data, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for dec := json.NewDecoder(strings.NewReader(string(data))); ; {
			var p listed
			err := dec.Decode(&p)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
	}
	return out
}

func rule(pkg string) (string, []string, bool) {
	for at := pkg; ; {
		if list, ok := allowed[at]; ok {
			return at, list, true
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 {
			return "", nil, false
		}
		at = at[:i]
	}
}

func TestImportsGoOneWay(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range list(t) {
		pkg, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			continue // the module's own folder
		}
		at, may, ok := rule(pkg)
		if !ok {
			t.Errorf("%s has no row in the table: say what it may import", pkg)
			continue
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, module)
			if !ours || slices.Contains(may, "*") || slices.Contains(may, other) || within(at, other) {
				continue
			}
			if line := pkg + " imports " + other; !seen[line] {
				seen[line] = true
				t.Errorf("%s, which the table does not allow", line)
			}
		}
	}
}

// within says that a package is below the row that speaks for both: link/linktest may import link.
func within(at, other string) bool {
	return other == at || strings.HasPrefix(other, at+"/") && allowed[other] == nil
}

func TestEveryRowIsNeededOrPlanned(t *testing.T) {
	planned := []string{"host/script"}
	have := make(map[string]bool)
	for _, p := range list(t) {
		have[strings.TrimPrefix(p.ImportPath, module)] = true
	}
	for pkg := range allowed {
		if !have[pkg] && !slices.Contains(planned, pkg) {
			t.Errorf("the table speaks of %s, which does not exist", pkg)
		}
	}
}
