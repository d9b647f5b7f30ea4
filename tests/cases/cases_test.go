package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

func TestCases(t *testing.T) {
	if _, err := kit.FindBrowser(); err != nil && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	s, err := newStage(t.Context(), os.DirFS(folder()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	passed, failed := 0, 0
	for _, c := range all {
		t.Run(c.slug, func(t *testing.T) {
			if c.waits != "" {
				t.Skip(c.waits)
			}
			failed++
			if err := s.play(t.Context(), &c); err != nil {
				t.Fatal(err)
			}
			failed--
			passed++
		})
	}
	t.Logf("cases: %d passed, %d failed", passed, failed)
}

// Every folder of pages is a case, and every case has its folder.
func TestEveryCaseHasItsPages(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(folder(), "*", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]bool{}
	for _, f := range found {
		pages[filepath.Base(filepath.Dir(f))] = true
	}
	delete(pages, "front") // the owner's
	for _, c := range all {
		if !pages[c.slug] && c.steps != nil {
			t.Errorf("%s has no pages, or stands twice", c.slug)
		}
		delete(pages, c.slug)
	}
	for slug := range pages {
		t.Errorf("%s is in no table", slug)
	}
}
