package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tabvalet/tabvalet/protocol"
)

func head(file string, seq int64, digit string) protocol.Head {
	return protocol.Head{File: file, Seq: seq, Hash: strings.Repeat(digit, 64)}
}

func TestMirrorOnlyGrows(t *testing.T) {
	dir := t.TempDir()
	const a, b = "2026-11-30-a.jsonl", "2026-11-30-b.jsonl"
	for _, heads := range [][]protocol.Head{
		{head(a, 5, "1"), head(b, 9, "2")},
		{head(a, 7, "3"), head(b, 9, "4")}, // the same row under another hash: the older witness stays
		{head(a, 1, "5")},                  // an extension that was installed anew
		{head("../evil", 1, "6"), {File: a, Seq: 99, Hash: "short"}, head(a, -1, "7")},
		nil,
	} {
		if err := SaveMirror(dir, "profile", heads); err != nil {
			t.Fatal(err)
		}
	}
	mirrors, err := Mirrors(dir)
	if err != nil || len(mirrors) != 1 {
		t.Fatalf("Mirrors: %d, %v", len(mirrors), err)
	}
	want := []protocol.Head{head(a, 7, "3"), head(b, 9, "2")}
	if diff := cmp.Diff(want, mirrors[0].Heads); diff != "" {
		t.Errorf("heads (-want +got):\n%s", diff)
	}
	if info, _ := os.Stat(filepath.Join(dir, "mirror", "profile.json")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	if r := Verify(dir, mirrors[0].Heads); len(r.Problems) != 2 {
		t.Errorf("Verify of files that are gone: %v", r.Problems)
	}
}

func TestMirrorThatIsNotOursIsRefusedAndKept(t *testing.T) {
	for name, data := range map[string]string{
		"not json":      "{",
		"unknown field": `{"profile":"p","seen":"2026-11-30T00:00:00Z","heads":[],"more":1}`,
		"other profile": `{"profile":"q","seen":"2026-11-30T00:00:00Z","heads":[]}`,
		"bad hash":      `{"profile":"p","seen":"2026-11-30T00:00:00Z","heads":[{"file":"2026-11-30-a.jsonl","seq":1,"hash":"x"}]}`,
		"bad file":      `{"profile":"p","seen":"2026-11-30T00:00:00Z","heads":[{"file":"../x","seq":1,"hash":""}]}`,
		"too large":     strings.Repeat(" ", 1<<20+1),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "mirror", "p.json")
			os.MkdirAll(filepath.Dir(path), 0o700)
			os.WriteFile(path, []byte(data), 0o600)
			if _, err := Mirrors(dir); err == nil {
				t.Error("Mirrors accepts it")
			}
			if err := SaveMirror(dir, "p", nil); err == nil {
				t.Error("SaveMirror replaces it")
			}
			if b, _ := os.ReadFile(path); string(b) != data {
				t.Error("the file was changed")
			}
		})
	}
	if err := SaveMirror(t.TempDir(), "../evil", nil); err == nil {
		t.Error("SaveMirror takes a profile that leaves its folder")
	}
}

func TestEntriesAreSafeToPrint(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	l.SetClient("\x1b]52;c;evil\a")
	l.Note(Row{Kind: Event, Tab: "t1", Target: "button \"\x1b[2Ja\u202eb\n\u0085\u200b\"", Note: "\x00"})
	entries, err := Entries(dir, Select{Tab: "t1"})
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	line := entries[0].String()
	for _, want := range []string{`\x1b[2Ja\u202eb\n\u0085\u200b`, `\x00`} {
		if !strings.Contains(line, want) {
			t.Errorf("%s\nhas no %s", line, want)
		}
	}
	all, _ := Entries(dir, Select{})
	if line := all[0].String(); strings.ContainsAny(line, "\x1b\a") {
		t.Errorf("not escaped: %q", line)
	}
}
