package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/store"
)

const extension = "kabegceaidfheajlmbdeclmnnflkndej"

func open(t *testing.T) *store.Store {
	t.Helper()
	return store.Open(store.UnderRoot(t.TempDir()))
}

// paired is a store with one profile.
func paired(t *testing.T) (*store.Store, store.Profile) {
	t.Helper()
	s := open(t)
	return s, pair(t, s, "work")
}

func pair(t *testing.T, s *store.Store, label string) store.Profile {
	t.Helper()
	if _, err := s.OpenWindow(store.WindowPair, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	p, _, err := s.Pair(label, "chromium", extension)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func wantCode(t *testing.T, what string, err error, want ...string) {
	t.Helper()
	e, ok := errors.AsType[*store.Error](err)
	if !ok || !slices.Contains(want, e.Code) {
		t.Errorf("%s: got %v, want %s", what, err, strings.Join(want, " or "))
	}
}

func TestLoadWithoutAFile(t *testing.T) {
	s := open(t)
	_, err := s.Load()
	wantCode(t, "Load", err, "not_paired")
	if _, ok := s.Key("x"); ok || s.Epoch() != 0 {
		t.Error("there is a key, or an epoch")
	}
	if _, err := os.Stat(s.Dirs().Config); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made the folder: %v", err)
	}
}

func TestPairRoundTrip(t *testing.T) {
	s, work := paired(t)
	home := pair(t, s, "home")
	got, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Profiles) != 2 || got.Epoch != 1 || got.Profiles[0].ID != work.ID || got.Profiles[1].Label != "home" ||
		got.Profiles[0].Extension != extension || got.Profiles[0].Browser != "chromium" {
		t.Errorf("Load: got %+v", got)
	}
	a, _ := s.Key(work.ID)
	b, _ := s.Key(home.ID)
	if len(a) != 32 || string(a) == string(b) {
		t.Error("the profiles share a key")
	}
	for path, want := range map[string]fs.FileMode{s.PairingPath(): 0o600, s.Dirs().Config: 0o700 | fs.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", path, info.Mode(), want)
		}
	}
}

func TestFindTakesIDOrLabel(t *testing.T) {
	s, work := paired(t)
	for _, name := range []string{work.ID, "work"} {
		if p, err := s.Find(name); err != nil || p.ID != work.ID {
			t.Errorf("Find(%q): got %v, %v", name, p, err)
		}
	}
	_, err := s.Find("nobody")
	wantCode(t, "an unknown label", err, "profile_unknown")
	pair(t, s, "work")
	_, err = s.Find("work")
	wantCode(t, "a label of two", err, "bad_argument")
}

func TestRemoveForgetsOneProfileOnly(t *testing.T) {
	s, work := paired(t)
	home := pair(t, s, "home")
	if _, err := s.Remove("work"); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Key(work.ID); ok {
		t.Error("the removed profile still has a key")
	}
	if _, ok := s.Key(home.ID); !ok {
		t.Error("the other profile lost its key")
	}
	if s.Epoch() != 2 {
		t.Errorf("epoch %d, want 2", s.Epoch())
	}
}

func TestRotateAndRenew(t *testing.T) {
	s, work := paired(t)
	home := pair(t, s, "home")
	old, _ := s.Key(work.ID)
	others, _ := s.Key(home.ID)
	if err := s.Rotate("work"); err != nil {
		t.Fatal(err)
	}
	rotated, _ := s.Key(work.ID)
	kept, _ := s.Key(home.ID)
	if string(rotated) == string(old) || string(kept) != string(others) || s.Epoch() != 2 {
		t.Error("rotating one profile: the wrong keys changed, or the epoch did not")
	}
	_, _, err := s.Renew(work.ID)
	wantCode(t, "renewing without a window", err, "pairing_closed")

	s.OpenWindow(store.WindowRenew, home.ID, time.Minute)
	_, _, err = s.Renew(work.ID)
	wantCode(t, "renewing in another's window", err, "pairing_closed")
	_, _, err = s.Pair("new", "", extension)
	wantCode(t, "pairing in a window for renewal", err, "pairing_closed")

	s.OpenWindow(store.WindowRenew, "", time.Minute)
	_, _, err = s.Renew(store.NewID())
	wantCode(t, "renewing an unknown profile", err, "profile_unknown")
	_, key, err := s.Renew(work.ID)
	if got, _ := s.Key(work.ID); err != nil || string(key[:]) != string(got) || string(got) == string(rotated) {
		t.Errorf("renewing: %v, or the key that rotation made is still there", err)
	}
	_, _, err = s.Renew(home.ID)
	wantCode(t, "a second renewal", err, "pairing_closed")
	if w, err := s.Window(); err != nil || w.Used != work.ID {
		t.Errorf("the window says %+v, %v; want who used it", w, err)
	}

	if err := s.Rotate(""); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Key(home.ID); string(got) == string(others) {
		t.Error("rotating all left a key")
	}
	wantCode(t, "rotating nobody", s.Rotate("nobody"), "profile_unknown")
}

func TestWindow(t *testing.T) {
	s := open(t)
	_, _, err := s.Pair("x", "", extension)
	wantCode(t, "without a window", err, "pairing_closed")

	s.OpenWindow(store.WindowPair, "", time.Second)
	windowPath := filepath.Join(s.Dirs().Config, "window.json")
	fresh := read(t, windowPath)
	past := strings.NewReplacer("20", "19").Replace(fresh)
	for what, text := range map[string]string{
		"of the past":      past,
		"from the future":  strings.Replace(fresh, `"opened": "20`, `"opened": "21`, 1),
		"for a year":       strings.Replace(fresh, `"expires": "20`, `"expires": "21`, 1),
		"of another kind":  strings.Replace(fresh, `"pair"`, `"open"`, 1),
		"of a new format":  strings.Replace(fresh, "window/1", "window/2", 1),
		"that is cut off":  fresh[:len(fresh)/2],
		"with more in it":  strings.Replace(fresh, `"kind"`, `"more": 1, "kind"`, 1),
		"that was used":    strings.Replace(fresh, `"kind"`, `"used": "AAAAAAAAAAAAAAAAAAAAAA", "kind"`, 1),
		"with a key in it": strings.Replace(fresh, `"kind"`, `"key": "x", "kind"`, 1),
	} {
		if err := os.WriteFile(windowPath, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := s.Pair("x", "", extension)
		wantCode(t, "a window "+what, err, "pairing_closed")
	}
	os.Remove(windowPath)
	os.WriteFile(windowPath, []byte(fresh), 0o644)
	_, _, err = s.Pair("x", "", extension)
	wantCode(t, "a window that others can read", err, "pairing_closed")
	if _, err := s.Load(); err == nil {
		t.Error("something was paired")
	}

	s.OpenWindow(store.WindowPair, "", time.Minute)
	s.CloseWindow()
	_, _, err = s.Pair("x", "", extension)
	wantCode(t, "a closed window", err, "pairing_closed")
	if err := s.CloseWindow(); err != nil {
		t.Errorf("closing a closed window: %v", err)
	}

	first := pair(t, s, "one")
	_, _, err = s.Pair("two", "", extension)
	wantCode(t, "after the first success", err, "pairing_closed")
	if w, err := s.Window(); err != nil || w.Used != first.ID {
		t.Errorf("the window says %+v, %v; want who used it", w, err)
	}
}

func TestWindowDoesNotOpenOverARefusedFile(t *testing.T) {
	s, _ := paired(t)
	os.Chmod(s.PairingPath(), 0o644)
	_, err := s.OpenWindow(store.WindowPair, "", time.Minute)
	wantCode(t, "OpenWindow", err, "pairing_perms")
}

func TestManualCodeBecomesAnEntryByItsFirstProof(t *testing.T) {
	s := open(t)
	w, key, err := s.OpenManual("laptop", extension, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Key(w.Profile); !ok || string(got) != string(key[:]) {
		t.Fatal("the code's key does not count while its window is open")
	}
	_, _, err = s.Pair("x", "", extension)
	wantCode(t, "pairing through the native host meanwhile", err, "pairing_closed")
	wantCode(t, "a proof of somebody else", s.Proved(store.NewID()), "profile_unknown")
	if err := s.Proved(w.Profile); err != nil {
		t.Fatal(err)
	}
	p, err := s.Find("laptop")
	if err != nil || p.ID != w.Profile || p.Seen.IsZero() {
		t.Errorf("the entry: %+v, %v", p, err)
	}
	if got, ok := s.Key(w.Profile); !ok || string(got) != string(key[:]) {
		t.Error("the entry has another key")
	}
	if text := read(t, filepath.Join(s.Dirs().Config, "window.json")); strings.Contains(text, "key") {
		t.Error("the used window still holds the key")
	}
}

func TestManualCodeEndsWithItsWindow(t *testing.T) {
	s := open(t)
	w, _, err := s.OpenManual("laptop", extension, -time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Key(w.Profile); ok {
		t.Error("the key counts after the window")
	}
	wantCode(t, "a late proof", s.Proved(w.Profile), "profile_unknown")
}

func TestProvedKeepsTheTimeOncePerHour(t *testing.T) {
	s, work := paired(t)
	if err := s.Proved(work.ID); err != nil {
		t.Fatal(err)
	}
	first := read(t, s.PairingPath())
	if p, _ := s.Find(work.ID); time.Since(p.Seen) > time.Minute {
		t.Errorf("seen %v", p.Seen)
	}
	defer store.SetFault(func(string) error { return errors.New("written again") })()
	if err := s.Proved(work.ID); err != nil {
		t.Error(err)
	}
	if read(t, s.PairingPath()) != first {
		t.Error("the file was written again")
	}
}

func TestLabelsAreCleaned(t *testing.T) {
	s := open(t)
	for given, want := range map[string]string{
		"a\x1b[31mb\n": "a[31mb", "\u202egnp": "gnp", "": "Chrome", "  x  ": "x", "\xff\xfe": "Chrome",
		strings.Repeat("é", 100): strings.Repeat("é", 64), "Zoë 🙂 «work»": "Zoë 🙂 «work»",
	} {
		p := pair(t, s, given)
		if p.Label != want {
			t.Errorf("label %q became %q, want %q", given, p.Label, want)
		}
		if _, err := s.Load(); err != nil {
			t.Errorf("label %q: %v", given, err)
		}
	}
}

func TestTooManyProfiles(t *testing.T) {
	s := open(t)
	for range 32 {
		pair(t, s, "x")
	}
	s.OpenWindow(store.WindowPair, "", time.Minute)
	_, _, err := s.Pair("x", "", extension)
	wantCode(t, "the 33rd", err, "bad_argument")
	if p, err := s.Load(); err != nil || len(p.Profiles) != 32 {
		t.Errorf("after that: %v", err)
	}
}

func TestRecover(t *testing.T) {
	s, _ := paired(t)
	_, err := s.Recover()
	wantCode(t, "with a usable file", err, "invalid_transition")

	bad := []byte("{half of a fi")
	os.WriteFile(s.PairingPath(), bad, 0o600)
	os.Chmod(s.PairingPath(), 0o640)
	aside, err := s.Recover()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(aside)
	if err != nil || info.Mode() != 0o640 || read(t, aside) != string(bad) {
		t.Errorf("put aside as %v, %v; want the same bytes and mode", info, err)
	}
	_, err = s.Load()
	wantCode(t, "afterwards", err, "not_paired")
	_, err = s.Recover()
	wantCode(t, "once more", err, "invalid_transition")
	pair(t, s, "new")

	newer := strings.Replace(read(t, s.PairingPath()), "pairing/1", "pairing/2", 1)
	os.WriteFile(s.PairingPath(), []byte(newer), 0o600)
	_, err = s.Recover()
	wantCode(t, "a newer file", err, "pairing_newer")
	if read(t, s.PairingPath()) != newer {
		t.Error("the newer file was touched")
	}
}

func printed(p store.Profile, k store.Key) string {
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "profile", p, "key", k)
	return b.String() + fmt.Sprintf("%v %+v %#v %v %#v", p, p, k, k, &k)
}

func TestSecretsDoNotPrint(t *testing.T) {
	s, work := paired(t)
	key, _ := s.Key(work.ID)
	if text := printed(work, store.Key(key)); strings.Contains(text, string(key)) || strings.Count(text, "redacted") < 3 {
		t.Errorf("printed as %s", text)
	}
}

// What is read is written again with the same meaning; what is refused leaves nothing behind and shows no key.
func FuzzFiles(f *testing.F) {
	s := store.Open(store.UnderRoot(f.TempDir()))
	s.OpenWindow(store.WindowPair, "", time.Minute)
	s.Pair("Work", "chromium", extension)
	s.OpenManual("Home", extension, time.Minute)
	for _, name := range []string{"pairing.json", "window.json"} {
		data, err := os.ReadFile(filepath.Join(s.Dirs().Config, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"format":"tabvalet-pairing/2"}`))
	f.Add([]byte(`{"format":"tabvalet-window/1","kind":"renew","opened":"2026-11-30T12:00:00Z","expires":"2026-11-30T12:02:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range []string{"pairing", "window"} {
			once, err := store.Reencode(kind, data)
			if err != nil {
				if e, ok := errors.AsType[*store.Error](err); once != nil || !ok || !strings.HasPrefix(e.Code, "pairing_") {
					t.Fatalf("refused with %v, and left %q", err, once)
				}
				continue
			}
			if twice, err := store.Reencode(kind, once); err != nil || string(twice) != string(once) {
				t.Fatalf("%s: %q became %q, then %q, %v", kind, data, once, twice, err)
			}
		}
	})
}

func TestNewIDNeverLooksLikeAFlag(t *testing.T) {
	for range 5000 {
		if id := store.NewID(); id[0] == '-' || len(id) != 22 {
			t.Fatalf("id %q", id)
		}
	}
}
