package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
	"github.com/tabvalet/tabvalet/setup"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tabvalet": func() { os.Exit(setup.Main(os.Args[1:], setup.Std{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})) },
	})
}

// Each script runs in its own home, where no browser has been started yet.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_CONFIG_HOME", "")
			e.Setenv("CHROME_CONFIG_HOME", "")
			e.Setenv("TABVALET_STATE_DIR", filepath.Join(e.WorkDir, "tv"))
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"press":  press,
			"record": record,
			"opened": opened,
		},
	})
}

func dirs(ts *testscript.TestScript) *store.Dirs {
	return store.UnderRoot(ts.Getenv("TABVALET_STATE_DIR"))
}

// press does what Chrome does when the owner presses a button of the popup: "pair LABEL" or "renew LABEL". It waits for the
// window that a command in the background opens.
func press(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: press pair|renew LABEL")
	}
	s := store.Open(dirs(ts))
	var err error
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		switch args[0] {
		case "pair":
			_, _, err = s.Pair(args[1], "Chromium", protocol.ExtensionID)
		case "renew":
			var p store.Profile
			if p, err = s.Find(args[1]); err == nil {
				_, _, err = s.Renew(p.ID)
			}
		}
		if code := protocol.CodeOf(err); code != protocol.PairingClosed {
			break
		}
		if neg {
			break
		}
	}
	if (err != nil) != neg {
		ts.Fatalf("press %s: %v", args[0], err)
	}
}

// opened waits until a command in the background has opened a window.
func opened(ts *testscript.TestScript, neg bool, _ []string) {
	s := store.Open(dirs(ts))
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if _, err := s.Window(); (err == nil) != neg {
			return
		}
	}
	ts.Fatalf("no window")
}

// record writes some acts as a host would, and keeps their ends as an extension would.
func record(ts *testscript.TestScript, neg bool, args []string) {
	dir := setup.RecordDir(dirs(ts).State)
	l, err := audit.Open(dir, args[0], "scripted client")
	ts.Check(err)
	var heads []protocol.Head
	l.OnRow = func(file string, r protocol.Row) {
		heads = append(heads, protocol.Head{File: file, Seq: r.Seq, Hash: r.Hash})
	}
	for range 5 {
		seq, err := l.Intent(audit.Row{Tab: "t1", Origin: "https://shop.test", Tool: "browser_click", Target: "button \"\x1b[31mSave\""})
		ts.Check(err)
		l.Result(seq, audit.Row{Tab: "t1", Outcome: "confirmed"})
	}
	ts.Check(l.Close())
	ts.Check(audit.SaveMirror(dir, "profile", heads))
}

// No command prints a key, whatever state the pairing is in.
func TestNothingPrintsAKey(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TABVALET_STATE_DIR", root)
	t.Setenv("HOME", t.TempDir())
	s := store.Open(store.UnderRoot(root))
	var secrets []string
	if _, err := s.OpenWindow(store.WindowPair, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	p, key, err := s.Pair("laptop", "Chromium", protocol.ExtensionID)
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, protocol.EncodeBytes(key[:]))
	_, manual, err := s.OpenManual("other", protocol.ExtensionID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	secrets = append(secrets, protocol.EncodeBytes(manual[:]))
	run := func(args ...string) {
		var out strings.Builder
		setup.Main(args, setup.Std{In: strings.NewReader(""), Out: &out, Err: &out})
		for _, secret := range secrets {
			if strings.Contains(out.String(), secret) || strings.Contains(out.String(), strings.TrimRight(secret, "=")) {
				t.Errorf("tabvalet %s prints a key:\n%s", strings.Join(args, " "), &out)
			}
		}
	}
	all := func() {
		run("setup")
		run("status")
		run("status", "--json")
		run("doctor")
		run("doctor", "--json")
		run("pair", "--for", "1s")
		run("rotate", "--for", "1s")
		run("client", "print", "generic")
		run("audit", "verify")
		run("revoke", "nobody")
	}
	all()
	// A file that is refused must not be quoted either.
	path := s.PairingPath()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := s.Key(p.ID)
	if !ok {
		t.Fatal("the profile has no key")
	}
	secrets = append(secrets, protocol.EncodeBytes(k))
	for _, broken := range []string{string(data) + "x", strings.Replace(string(data), `"key"`, `"kee"`, 1), string(data[:len(data)/2])} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		all()
	}
	run("recover", "--confirm")
}
