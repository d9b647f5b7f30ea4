package tests

import (
	"regexp"
	"strings"
	"testing"
)

// A habit is something that no file of a kind may hold.
type habit struct {
	name  string
	files func(name string) bool
	never *regexp.Regexp
	why   string
}

// A sleep is right in a bubble, where it moves the clock, and where nothing may happen, which a comment on its line says.
var sleep = regexp.MustCompile(`time\.Sleep\([^/]*$`)

func product(suffix string) func(string) bool {
	return func(n string) bool {
		return strings.HasSuffix(n, suffix) && !strings.HasSuffix(n, "_test.go") && !strings.HasPrefix(n, "tests/") && !strings.Contains(n, "testdata/")
	}
}

func kind(suffix string) func(string) bool {
	return func(n string) bool { return strings.HasSuffix(n, suffix) && !strings.Contains(n, "testdata/") }
}

var habits = []habit{
	{"strict JSON", product(".go"), regexp.MustCompile(`"encoding/json"`), "it folds case and takes duplicates: go-json-experiment/json"},
	{"no sleep in tests", kind("_test.go"), sleep, "wait for what you wait for, or use testing/synctest"},
	{"no markup from strings", product(".js"), regexp.MustCompile(`\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write)\b`), "build nodes"},
	{"no machine's paths", func(n string) bool {
		return !strings.HasSuffix(n, ".md") && !strings.Contains(n, "testdata/") && n != "tests/house_test.go"
	},
		regexp.MustCompile(`/(work|farm|root|home/[a-z]{3,})/`), "it will not be there"},
	{"errors say what was being done", product(".go"), regexp.MustCompile(`(?i)errorf?\("(failed|unable|could not|cannot) `), "a gerund: `reading the receipt: %w`"},
}

func TestHabits(t *testing.T) {
	for _, h := range habits {
		t.Run(h.name, func(t *testing.T) {
			for _, name := range tracked(t) {
				if !h.files(name) {
					continue
				}
				text, n := read(t, name), 0
				if h.never == sleep && strings.Contains(text, `"testing/synctest"`) {
					continue
				}
				for line := range strings.Lines(text) {
					if n++; h.never.MatchString(line) {
						t.Errorf("%s:%d: %s: %s", name, n, h.why, strings.TrimSpace(line))
					}
				}
			}
		})
	}
}

// A file is one topic: beyond 600 lines it is two.
func TestFilesAreOneTopic(t *testing.T) {
	for _, name := range tracked(t, "*.go", "*.js") {
		if strings.Contains(name, "testdata/") || strings.Contains(name, "_test.") || strings.HasSuffix(name, ".test.js") {
			continue
		}
		if n := strings.Count(read(t, name), "\n"); n > 600 {
			t.Errorf("%s has %d lines", name, n)
		}
	}
}

// The owner's side must be readable in one sitting: the worker and all it imports, blank lines and comments left out.
func TestWorkerIsSmall(t *testing.T) {
	code := regexp.MustCompile(`(?m)^\s*[^\s/*].*$`)
	total := 0
	for _, name := range tracked(t, "extension/*.js") {
		if strings.Count(name, "/") == 1 {
			total += len(code.FindAllString(read(t, name), -1))
		}
	}
	if total > 2000 {
		t.Errorf("the worker and its modules have %d lines of code, more than 2,000", total)
	}
}
