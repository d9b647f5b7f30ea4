package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// background opens a page in a tab behind the one in front.
func (w *world) background(url string) {
	w.t.Helper()
	if _, err := w.owner.OpenBackground(w.ctx, url); err != nil {
		w.t.Fatalf("opening %s: %v", url, err)
	}
}

// bringFront puts the owner's own tab in front again, by the owner's hand.
func (w *world) bringFront() {
	w.t.Helper()
	if err := w.owner.Activate(w.ctx, w.front); err != nil {
		w.t.Fatal(err)
	}
}

// leases waits until so many tabs are lent, as the popup says.
func (w *world) leases(n int) {
	w.t.Helper()
	if err := w.owner.Desk().WaitFor(w.ctx, fmt.Sprintf(`chrome.runtime.sendMessage({type: "status.get"}).then((a) => a.value.leases.length === %d)`, n)); err != nil {
		w.t.Fatalf("waiting for %d leases: %v", n, err)
	}
}

// marked waits until so many tabs carry that badge.
func (w *world) marked(badge string, n int) {
	w.t.Helper()
	if err := w.owner.Desk().WaitFor(w.ctx, fmt.Sprintf(`chrome.tabs.query({}).then((tabs) => Promise.all(tabs.map((tab) => chrome.action.getBadgeText({tabId: tab.id})))).then((texts) => texts.filter((text) => text === %q).length === %d)`, badge, n)); err != nil {
		w.t.Fatalf("waiting for %d badges %q: %v", n, badge, err)
	}
}

var errSkip = errors.New("skip")

func errorsOf(errs ...error) error { return errors.Join(errs...) }

// lastRecord gives the file of the record that was written to last.
func (w *world) lastRecord() (path string, rows []byte) {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.lab.StateDir(), "*", "audit", "*.jsonl"))
	var latest time.Time
	for _, f := range files {
		if info, e := os.Stat(f); e == nil && info.ModTime().After(latest) {
			path, latest = f, info.ModTime()
		}
	}
	if err == nil {
		rows, err = os.ReadFile(path)
	}
	if err != nil {
		w.t.Fatalf("the record among %d files: %v", len(files), err)
	}
	return path, rows
}
