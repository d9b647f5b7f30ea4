package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/store"
)

func entry(name string, started time.Time) store.Entry {
	return store.Entry{Instance: store.NewID(), Name: name, PID: os.Getpid(), Port: 4711, Started: started}
}

func list(t *testing.T, dirs *store.Dirs) []store.Entry {
	t.Helper()
	entries, err := store.List(dirs)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestRegistry(t *testing.T) {
	dirs := store.UnderRoot(t.TempDir())
	if got := list(t, dirs); len(got) != 0 {
		t.Errorf("before anything: %v", got)
	}
	now := time.Now().UTC().Truncate(time.Second)
	later, err := store.Register(dirs, entry("later", now))
	if err != nil {
		t.Fatal(err)
	}
	first, err := store.Register(dirs, entry("first", now.Add(-time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Update(func(e *store.Entry) { e.Connected, e.Name = true, "fi\x1brst" }); err != nil {
		t.Fatal(err)
	}
	got := list(t, dirs)
	if len(got) != 2 || got[0].Name != "first" || !got[0].Connected || got[1].Name != "later" || !got[1].Started.Equal(now) {
		t.Errorf("List: %+v", got)
	}
	info, _ := os.Stat(filepath.Join(dirs.Runtime, got[0].Instance+".json"))
	if info.Mode() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
	if err := later.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := later.Update(func(e *store.Entry) { e.Name = "ghost" }); err != nil {
		t.Error(err)
	}
	if got := list(t, dirs); len(got) != 1 || got[0].Name != "first" {
		t.Errorf("after one has gone: %+v", got)
	}
	if err := first.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dirs.Runtime); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What a killed process leaves is its files, without the lock: nothing that a reused process id could revive.
func TestListForgetsTheDead(t *testing.T) {
	dirs := store.UnderRoot(t.TempDir())
	alive, err := store.Register(dirs, entry("alive", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Remove()
	id := list(t, dirs)[0].Instance
	dead := store.NewID()
	text := strings.ReplaceAll(read(t, filepath.Join(dirs.Runtime, id+".json")), id, dead)
	os.WriteFile(filepath.Join(dirs.Runtime, dead+".json"), []byte(text), 0o600)
	os.WriteFile(filepath.Join(dirs.Runtime, dead+".lock"), nil, 0o600)
	os.WriteFile(filepath.Join(dirs.Runtime, "note.txt"), nil, 0o600)
	if got := list(t, dirs); len(got) != 1 || got[0].Name != "alive" {
		t.Errorf("List: %+v", got)
	}
	if left, _ := os.ReadDir(dirs.Runtime); len(left) != 3 { // two of the living, and what is not ours
		t.Errorf("in the folder: %v", left)
	}
}

func TestListSkipsWhatItCannotTrust(t *testing.T) {
	dirs := store.UnderRoot(t.TempDir())
	r, err := store.Register(dirs, entry("x", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Remove()
	path := filepath.Join(dirs.Runtime, list(t, dirs)[0].Instance+".json")
	good := read(t, path)
	for what, text := range map[string]string{
		"an empty file":    "",
		"half a file":      good[:len(good)/2],
		"another instance": strings.Replace(good, `"instance": "`, `"instance": "x`, 1),
		"port 0":           strings.Replace(good, "4711", "0", 1),
		"port 65536":       strings.Replace(good, "4711", "65536", 1),
		"more in it":       strings.Replace(good, `"port"`, `"more": 1, "port"`, 1),
	} {
		os.WriteFile(path, []byte(text), 0o600)
		if got := list(t, dirs); len(got) != 0 {
			t.Errorf("%s: %+v", what, got)
		}
	}
	os.WriteFile(path, []byte(good), 0o600)
	os.Chmod(path, 0o644)
	if got := list(t, dirs); len(got) != 0 {
		t.Errorf("a file that others can read: %+v", got)
	}
}

func TestRegisterWhileOthersList(t *testing.T) {
	dirs := store.UnderRoot(t.TempDir())
	stop := make(chan struct{})
	var listers, hosts sync.WaitGroup
	for range 2 {
		listers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					store.List(dirs)
				}
			}
		})
	}
	for range 4 {
		hosts.Go(func() {
			for range 50 {
				e := entry("x", time.Now())
				r, err := store.Register(dirs, e)
				if err != nil {
					t.Error(err)
					return
				}
				found := false
				for _, other := range list(t, dirs) {
					found = found || other.Instance == e.Instance
				}
				if !found {
					t.Error("a host that runs is not in the list")
				}
				if err := r.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	hosts.Wait()
	close(stop)
	listers.Wait()
}

func TestDirsFromTheEnvironment(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"TABVALET_CONFIG_HOME", "TABVALET_STATE_HOME", "TABVALET_DATA_HOME", "TABVALET_RUNTIME_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv(store.RootVariable, root)
	got, err := store.FindDirs()
	if err != nil || *got != *store.UnderRoot(root) {
		t.Errorf("under one folder: got %+v, %v", got, err)
	}
	// A launcher passes the folders on, whatever else its environment says.
	for _, v := range got.Environ() {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	t.Setenv(store.RootVariable, t.TempDir())
	if again, err := store.FindDirs(); err != nil || *again != *got {
		t.Errorf("from a launcher: got %+v, %v, want %+v", again, err, got)
	}
}
