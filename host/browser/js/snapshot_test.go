package js_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// golden compares a text with testdata/golden/<name>, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestSnapshotGolden(t *testing.T) {
	for _, fixture := range fixtures(t) {
		t.Run(fixture, func(t *testing.T) {
			p := open(t, fixture)
			name := strings.TrimSuffix(fixture, ".html")
			golden(t, name+".tree", p.snapshot(nil).String())
			golden(t, name+".text", call[reading](p, "read", args{}).Text+"\n")
		})
	}
}

type reading struct {
	Text  string `json:"text"`
	Total int    `json:"total"`
	Links []struct {
		Text string `json:"text"`
		URL  string `json:"url"`
	} `json:"links"`
	Frames []struct {
		At  int    `json:"at"`
		Key string `json:"key"`
	} `json:"frames"`
	HiddenText int `json:"hidden_text"`
}
