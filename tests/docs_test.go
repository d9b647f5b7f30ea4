package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/setup"
)

// tracked lists the files of the repository, those that are about to be added too.
func tracked(t *testing.T, patterns ...string) []string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"ls-files", "-co", "--exclude-standard", "--"}, patterns...)...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	var files []string
	for _, name := range strings.Fields(string(out)) {
		if _, err := os.Stat(filepath.Join("..", name)); err == nil {
			files = append(files, name)
		}
	}
	return files
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// documents are the texts for people; testdata is not.
func documents(t *testing.T) []string {
	return slices.DeleteFunc(tracked(t, "*.md"), func(n string) bool { return strings.Contains(n, "testdata/") || strings.Contains(n, "/cases/") })
}

var (
	fences  = regexp.MustCompile("(?ms)^```.*?^```$")
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+\s+(.*)$`)
	makes   = regexp.MustCompile("(?m)(?:`|^)make ([a-z0-9]+)")
	verbs   = regexp.MustCompile("(?m)(?:`|^\\$? ?)tabvalet ([a-z]+)")
	flags   = regexp.MustCompile(`--([a-z][a-z-]+)`)
)

func TestLinksOfDocumentsResolve(t *testing.T) {
	for _, name := range documents(t) {
		text := fences.ReplaceAllString(read(t, name), "")
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			path := name
			if target != "" {
				path = filepath.Join(filepath.Dir(name), target)
			}
			info, err := os.Stat(filepath.Join("..", path))
			if err != nil {
				t.Errorf("%s links %s, which is not there", name, m[1])
				continue
			}
			if anchor != "" && !info.IsDir() && strings.HasSuffix(path, ".md") && !slices.Contains(anchors(read(t, path)), anchor) {
				t.Errorf("%s links %s, which has no such heading", name, m[1])
			}
		}
	}
}

// anchors spells headings as GitHub does.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		s := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(m[1]))
		out = append(out, s)
	}
	return out
}

func TestCommandsOfDocumentsExist(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, name := range documents(t) {
		text := read(t, name)
		for _, m := range makes.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s says make %s, which the Makefile does not have", name, m[1])
			}
		}
		for _, m := range verbs.FindAllStringSubmatch(text, -1) {
			if !setup.IsVerb(m[1]) {
				t.Errorf("%s says tabvalet %s, which is no command", name, m[1])
			}
		}
	}
}

func TestMakefileHasNoLogic(t *testing.T) {
	text := read(t, "Makefile")
	for _, script := range regexp.MustCompile(`\.ci/[a-z0-9.-]+`).FindAllString(text, -1) {
		if script == ".ci/" || strings.HasSuffix(script, "*.sh") {
			continue
		}
		info, err := os.Stat(filepath.Join("..", script))
		if err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("the Makefile calls %s, which is no program", script)
		}
	}
	for _, word := range []string{"$(shell", "ifeq", "ifdef", "&&", ";"} {
		for line := range strings.Lines(text) {
			if strings.Contains(line, word) && strings.HasPrefix(line, "\t") {
				t.Errorf("logic in the Makefile: %s", line)
			}
		}
	}
	for _, target := range strings.Fields(regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(text)[1]) {
		if !regexp.MustCompile(`(?m)^` + target + `:.* ## `).MatchString(text) {
			t.Errorf("make %s has no line for make help", target)
		}
	}
}

// Every flag of the program stands in the README, with the words of its variable derived from it.
func TestFlagsAreDocumented(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Skip("there is no README yet")
	}
	out, err := exec.Command("go", "run", "../host/cmd/tabvalet", "--help").Output()
	if err != nil {
		t.Fatalf("tabvalet --help: %v", err)
	}
	_, server, ok := strings.Cut(string(out), "Flags of the server")
	if !ok {
		t.Fatalf("tabvalet --help has no flags of the server:\n%s", out)
	}
	for _, m := range flags.FindAllStringSubmatch(server, -1) {
		if m[1] != "help" && m[1] != "version" && !strings.Contains(string(readme), "--"+m[1]) {
			t.Errorf("README.md does not tell of --%s", m[1])
		}
	}
}

func TestDependenciesAreExplained(t *testing.T) {
	text := read(t, "CONTRIBUTING.md")
	direct := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)
	for _, m := range direct.FindAllStringSubmatch(read(t, "go.mod"), -1) {
		if name := strings.TrimPrefix(m[1], "github.com/"); !strings.Contains(text, "`"+name+"`") {
			t.Errorf("CONTRIBUTING.md does not say why we need %s", m[1])
		}
	}
}

func TestChangelogSpeaksOfThisVersion(t *testing.T) {
	if version := extension.Version(); !strings.Contains(read(t, "CHANGELOG.md"), "\n## "+version) {
		t.Errorf("CHANGELOG.md has no heading for %s", version)
	}
}
