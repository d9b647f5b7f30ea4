package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

// ownLab starts a browser for one test only.
func ownLab(t *testing.T, opt kit.Options) *kit.Lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	opt.Binary = shared.Binary
	lab, err := kit.Start(ctx, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lab.Close)
	return lab
}

// pairs presses Pair this profile without waiting for success and gives what the popup then says.
func pairingSays(t *testing.T, lab *kit.Lab, want string) {
	t.Helper()
	if err := lab.Owner.Desk().Click(t.Context(), `[data-act="pair"]`); err != nil {
		t.Fatal(err)
	}
	if err := lab.Owner.Desk().WaitFor(t.Context(), `document.body.innerText.includes("`+want+`")`); err != nil {
		text, _ := lab.Owner.Desk().Text(t.Context())
		t.Fatalf("the popup does not say %q: %s", want, text)
	}
}

func TestPairing(t *testing.T) {
	lab := ownLab(t, kit.Options{Unpaired: true})
	ctx := t.Context()

	pairingSays(t, lab, "tabvalet pair") // without a window: what to run
	if out, _ := lab.CLI(ctx, "status"); strings.Contains(out, "paired profile:") {
		t.Errorf("paired without a window: %s", out)
	}
	if err := lab.Pair(ctx); err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, lab, routes{"/": plain})
	a := w.lend(w.site.A + "/")
	a.sees("Plain page")

	t.Run("rotate closes the link and renew brings it back", func(t *testing.T) {
		if out, err := lab.Renew(ctx); err != nil {
			t.Fatalf("rotate and renew: %v\n%s", err, out)
		}
		w.leases(0)
		if r := a.call("browser_snapshot"); !r.IsError {
			t.Errorf("the lease outlived the key: %s", r.Text)
		}
		b := w.lend(w.site.A + "/")
		b.sees("Plain page")
	})

	t.Run("revoke ends it", func(t *testing.T) {
		profile := profileID(t, lab)
		if out, err := lab.CLI(ctx, "revoke", profile); err != nil {
			t.Fatalf("revoke: %v\n%s", err, out)
		}
		w.leases(0)
		r := w.newAgent().call("browser_connect")
		if r.Code() != "not_paired" {
			t.Errorf("code %q: %s", r.Code(), r.Text)
		}
	})
}

var idPattern = regexp.MustCompile(`"id":\s*"([A-Za-z0-9_-]{22})"`)

func profileID(t *testing.T, lab *kit.Lab) string {
	t.Helper()
	out, err := lab.CLI(t.Context(), "status", "--json")
	m := idPattern.FindStringSubmatch(out)
	if err != nil || m == nil {
		t.Fatalf("status --json: %v\n%s", err, out)
	}
	return m[1]
}

func TestManualPairing(t *testing.T) {
	lab := ownLab(t, kit.Options{Unpaired: true})
	if err := lab.PairManually(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, lab, routes{"/": plain})
	w.lend(w.site.A + "/").sees("Plain page")
}

func TestSecondProfileHasItsOwnKey(t *testing.T) {
	first := ownLab(t, kit.Options{})
	second := ownLab(t, kit.Options{State: first.Dir(), Profile: "second"})
	w := newWorldIn(t, second, routes{"/": plain})
	w.lend(w.site.A + "/").Close()

	if out, err := first.CLI(t.Context(), "status", "--json"); err != nil || len(idPattern.FindAllString(out, -1)) != 2 {
		t.Fatalf("two profiles are paired; status says (%v):\n%s", err, out)
	}
	if out, err := first.CLI(t.Context(), "revoke", profileID(t, first)); err != nil {
		t.Fatalf("revoke: %v\n%s", err, out)
	}
	w.lend(w.site.A + "/").sees("Plain page") // the other one goes on
}

func TestBadPairingFilesAreRefusedAndLeftAlone(t *testing.T) {
	lab := shared
	path := filepath.Join(lab.StateDir(), "config", "pairing.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	restore := func() {
		os.Remove(path)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o600)
	}
	defer restore()
	aside := filepath.Join(t.TempDir(), "pairing.json")
	for _, c := range []struct {
		code  string
		spoil func() error
	}{
		{"pairing_json", func() error { return os.WriteFile(path, good[:len(good)/2], 0o600) }},
		{"pairing_size", func() error { return os.WriteFile(path, nil, 0o600) }},
		{"pairing_perms", func() error { return os.Chmod(path, 0o644) }},
		{"pairing_symlink", func() error {
			return errorsOf(os.WriteFile(aside, good, 0o600), os.Remove(path), os.Symlink(aside, path))
		}},
		{"pairing_owner", func() error {
			if os.Geteuid() != 0 {
				return errSkip
			}
			return os.Chown(path, 12345, -1)
		}},
		{"pairing_newer", func() error {
			return os.WriteFile(path, bytes.Replace(good, []byte("pairing/1"), []byte("pairing/2"), 1), 0o600)
		}},
	} {
		t.Run(c.code, func(t *testing.T) {
			restore()
			if err := c.spoil(); err == errSkip {
				t.Skip("only root can give a file away")
			} else if err != nil {
				t.Fatal(err)
			}
			before, ino := look(t, path)
			w := newWorld(t, nil)
			r := w.newAgent().call("browser_connect")
			if r.Code() != "not_paired" && r.Code() != c.code || !strings.Contains(r.Text, c.code) {
				t.Errorf("code %q: %s", r.Code(), r.Text)
			}
			out, err := lab.CLI(w.ctx, "doctor")
			if err == nil || !strings.Contains(out, c.code) {
				t.Errorf("doctor (%v): %s", err, out)
			}
			if after, ino2 := look(t, path); after != before || ino2 != ino {
				t.Error("the file was touched")
			}
		})
	}
}

// look gives a file's content, mode and time as text, and its inode.
func look(t *testing.T, path string) (string, uint64) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(path)
	return info.Mode().String() + info.ModTime().String() + string(content), info.Sys().(*syscall.Stat_t).Ino
}
