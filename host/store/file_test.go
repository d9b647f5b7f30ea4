//go:build unix

package store_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/store"
)

// refusedFile changes a good pairing file, and says how Load must refuse it.
type refusedFile struct {
	name   string
	change func(t *testing.T, path string)
	want   []string
}

func rewrite(edits ...string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		text := strings.NewReplacer(edits...).Replace(read(t, path))
		if text == read(t, path) {
			t.Fatalf("the edit %q changed nothing", edits)
		}
		os.WriteFile(path, []byte(text), 0o600)
	}
}

func replace(make func(t *testing.T, path string)) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		os.Remove(path)
		make(t, path)
	}
}

// changeKey writes another spelling of the key.
func changeKey(spell func(key string) string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		_, rest, _ := strings.Cut(read(t, path), `"key": "`)
		key, _, _ := strings.Cut(rest, `"`)
		rewrite(key, spell(key))(t, path)
	}
}

var refusedFiles = []refusedFile{
	{"empty", func(t *testing.T, p string) { os.Truncate(p, 0) }, []string{"pairing_size"}},
	{"64 KiB and a byte", func(t *testing.T, p string) { os.Truncate(p, 64<<10+1) }, []string{"pairing_size"}},
	{"a sparse gigabyte", func(t *testing.T, p string) { os.Truncate(p, 1<<30) }, []string{"pairing_size"}},
	{"mode 0644", func(t *testing.T, p string) { os.Chmod(p, 0o644) }, []string{"pairing_perms"}},
	{"mode 0640", func(t *testing.T, p string) { os.Chmod(p, 0o640) }, []string{"pairing_perms"}},
	{"mode 0604", func(t *testing.T, p string) { os.Chmod(p, 0o604) }, []string{"pairing_perms"}},
	{"mode 0660", func(t *testing.T, p string) { os.Chmod(p, 0o660) }, []string{"pairing_perms"}},
	{"owned by another", func(t *testing.T, p string) {
		if os.Chown(p, 12345, -1) != nil {
			t.Skip("only root can give a file away")
		}
	}, []string{"pairing_owner"}},
	{"a symbolic link", func(t *testing.T, p string) {
		os.Rename(p, p+".real")
		os.Symlink(p+".real", p)
	}, []string{"pairing_symlink"}},
	{"a dangling link", replace(func(t *testing.T, p string) { os.Symlink(p+".nothing", p) }), []string{"pairing_symlink"}},
	{"a hard link", func(t *testing.T, p string) { os.Link(p, p+".2") }, []string{"pairing_hardlink"}},
	{"a pipe", replace(func(t *testing.T, p string) { syscall.Mkfifo(p, 0o600) }), []string{"pairing_not_regular"}},
	{"a folder", replace(func(t *testing.T, p string) { os.Mkdir(p, 0o700) }), []string{"pairing_not_regular"}},
	{"a device", replace(func(t *testing.T, p string) {
		if syscall.Mknod(p, syscall.S_IFCHR|0o600, 1<<8|5) != nil { // /dev/zero
			t.Skip("only root can make a device")
		}
	}), []string{"pairing_not_regular"}},
	{"a socket", replace(func(t *testing.T, p string) {
		t.Chdir(filepath.Dir(p)) // a socket's name is short
		l, err := net.Listen("unix", filepath.Base(p))
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { l.Close() })
	}), []string{"pairing_not_regular"}},
	{"folder 0777", func(t *testing.T, p string) { os.Chmod(filepath.Dir(p), 0o777) }, []string{"pairing_dir_perms"}},
	{"folder 0770", func(t *testing.T, p string) { os.Chmod(filepath.Dir(p), 0o770) }, []string{"pairing_dir_perms"}},

	{"not JSON", replace(func(t *testing.T, p string) { os.WriteFile(p, []byte("x"), 0o600) }), []string{"pairing_json"}},
	{"null", replace(func(t *testing.T, p string) { os.WriteFile(p, []byte("null"), 0o600) }), []string{"pairing_schema"}},
	{"a list", replace(func(t *testing.T, p string) { os.WriteFile(p, []byte("[]"), 0o600) }), []string{"pairing_schema"}},
	{"bytes after it", rewrite("]\n}\n", "]\n}\nx"), []string{"pairing_json"}},
	{"a byte order mark", func(t *testing.T, p string) { os.WriteFile(p, []byte("\ufeff"+read(t, p)), 0o600) }, []string{"pairing_json"}},
	{"invalid UTF-8", rewrite(`"work"`, "\"wo\xffrk\""), []string{"pairing_json"}},
	{"a lone surrogate", rewrite(`"work"`, `"wo\ud800rk"`), []string{"pairing_json"}},
	{"a doubled member", rewrite(`"epoch"`, `"epoch": 9, "epoch"`), []string{"pairing_json"}},
	{"a doubled key", rewrite(`"key": "`, `"key": "x", "key": "`), []string{"pairing_json"}},
	{"a member in capitals", rewrite(`"key"`, `"KEY"`), []string{"pairing_schema"}},
	{"a Kelvin sign", rewrite(`"key"`, "\"\u212aey\""), []string{"pairing_schema"}},
	{"an unknown member", rewrite(`"epoch"`, `"more": 1, "epoch"`), []string{"pairing_schema"}},
	{"a missing member", rewrite(`"epoch": 1,`, ``), []string{"pairing_schema"}},
	{"a null member", rewrite(`"browser": "chromium"`, `"browser": null`), []string{"pairing_schema"}},
	{"an optional member that is empty", rewrite(`"browser": "chromium"`, `"browser": ""`), []string{"pairing_schema"}},
	{"profiles null", replace(func(t *testing.T, p string) {
		os.WriteFile(p, []byte(`{"format":"tabvalet-pairing/1","epoch":1,"profiles":null}`), 0o600)
	}), []string{"pairing_schema"}},
	{"epoch 0", rewrite(`"epoch": 1`, `"epoch": 0`), []string{"pairing_schema"}},
	{"another format", rewrite("tabvalet-pairing/1", "pairing/1"), []string{"pairing_schema"}},
	{"a newer format", rewrite("tabvalet-pairing/1", "tabvalet-pairing/2"), []string{"pairing_newer"}},
	{"a newer format with more in it", rewrite("tabvalet-pairing/1", `tabvalet-pairing/12", "more": "`), []string{"pairing_newer"}},
	{"a label of control characters", rewrite(`"work"`, `"wo\u0007rk"`), []string{"pairing_schema"}},
	{"another extension", rewrite(extension, "x"+extension[1:]), []string{"pairing_schema"}},
	{"a time of another form", rewrite(`Z"`, `+00:00"`), []string{"pairing_schema"}},
	{"key of 31 bytes", changeKey(func(k string) string { return base64.RawURLEncoding.EncodeToString(make([]byte, 31)) }), []string{"pairing_schema"}},
	{"key of 33 bytes", changeKey(func(k string) string { return base64.RawURLEncoding.EncodeToString(make([]byte, 33)) }), []string{"pairing_schema"}},
	{"key with padding", changeKey(func(k string) string { return k + "=" }), []string{"pairing_schema"}},
	{"key in standard base64", changeKey(func(k string) string { return "+/" + k[2:] }), []string{"pairing_schema"}},
	{"key of zeros", changeKey(func(k string) string { return base64.RawURLEncoding.EncodeToString(make([]byte, 32)) }), []string{"pairing_schema"}},
	{"key with stray bits", changeKey(func(k string) string { return k[:42] + "B" }), []string{"pairing_schema"}},
	{"the same profile twice", func(t *testing.T, p string) {
		_, rest, _ := strings.Cut(read(t, p), `"profiles": [`)
		entry, _, _ := strings.Cut(rest, "]")
		rewrite(entry, entry+","+entry)(t, p)
	}, []string{"pairing_schema"}},
}

func TestRefusedFiles(t *testing.T) {
	for _, tt := range refusedFiles {
		t.Run(tt.name, func(t *testing.T) {
			s, work := paired(t)
			tt.change(t, s.PairingPath())
			before, err := os.Lstat(s.PairingPath())
			if err != nil {
				t.Fatal(err)
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			used, start := memory.TotalAlloc, time.Now()
			_, err = s.Load()
			if took := time.Since(start); took > 100*time.Millisecond {
				t.Errorf("Load took %v", took)
			}
			if runtime.ReadMemStats(&memory); memory.TotalAlloc-used > 2<<20 {
				t.Errorf("Load allocated %d bytes", memory.TotalAlloc-used)
			}
			wantCode(t, "Load", err, tt.want...)
			if strings.Contains(fmt.Sprint(err), "AAAAAAAA") {
				t.Errorf("the error shows a key: %v", err)
			}
			if _, ok := s.Key(work.ID); ok {
				t.Error("a key was given")
			}
			wantCode(t, "Rotate", s.Rotate(""), tt.want...)
			_, err = s.OpenWindow(store.WindowPair, "", time.Minute)
			wantCode(t, "OpenWindow", err, tt.want...)
			after, err := os.Lstat(s.PairingPath())
			if err != nil || !os.SameFile(before, after) || after.ModTime() != before.ModTime() || after.Mode() != before.Mode() ||
				after.Size() != before.Size() {
				t.Errorf("the refused file was touched: %v", err)
			}
		})
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	s, _ := paired(t)
	whole := read(t, s.PairingPath())
	for n := 1; n < len(whole)-1; n++ { // the last byte is a line break
		os.WriteFile(s.PairingPath(), []byte(whole[:n]), 0o600)
		_, err := s.Load()
		wantCode(t, fmt.Sprintf("the first %d bytes", n), err, "pairing_json", "pairing_schema")
	}
}

// Whoever swaps a link in at any moment never has another file read.
func TestLinkSwappedInBetween(t *testing.T) {
	s, work := paired(t)
	other, _ := paired(t)
	good, bait := s.PairingPath()+".good", s.PairingPath()+".bait"
	os.Rename(s.PairingPath(), good)
	os.Symlink(other.PairingPath(), bait)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Link(good, s.PairingPath()+".n")
			os.Rename(s.PairingPath()+".n", s.PairingPath())
			os.Symlink(other.PairingPath(), s.PairingPath()+".l")
			os.Rename(s.PairingPath()+".l", s.PairingPath())
		}
	})
	tries := 10_000
	if testing.Short() {
		tries = 500
	}
	for range tries {
		if p, err := s.Load(); err == nil && p.Profiles[0].ID != work.ID {
			t.Fatal("the other file was read")
		}
	}
	close(stop)
	wg.Wait()
}

// A write that fails at any step leaves the old file or the new one, and says so.
func TestFailedWriteLeavesAWholeFile(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EDQUOT} {
		for _, at := range store.Steps {
			t.Run(fmt.Sprint(errno, " at ", at), func(t *testing.T) {
				s, work := paired(t)
				old, _ := s.Key(work.ID)
				restore := store.SetFault(func(step string) error {
					if step == at {
						return errno
					}
					return nil
				})
				err := s.Rotate("")
				restore()
				if !errors.Is(err, errno) {
					t.Errorf("Rotate: got %v, want %v", err, errno)
				}
				now, ok := s.Key(work.ID)
				if !ok || at != "sync dir" && string(now) != string(old) {
					t.Error("the old key does not work any more")
				}
				if left, _ := filepath.Glob(s.Dirs().Config + "/*.tmp"); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// A process killed at any step leaves the old file or the new one; the next write takes away what it left.
func TestKilledWriteLeavesAWholeFile(t *testing.T) {
	if root := os.Getenv("STORE_TEST_ROOT"); root != "" {
		store.SetFault(func(step string) error {
			if step == os.Getenv("STORE_TEST_STEP") {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			return nil
		})
		store.Open(store.UnderRoot(root)).Rotate("")
		return
	}
	for _, at := range store.Steps {
		root := t.TempDir()
		s := store.Open(store.UnderRoot(root))
		work := pair(t, s, "work")
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "STORE_TEST_ROOT="+root, "STORE_TEST_STEP="+at)
		if err := cmd.Run(); err == nil {
			t.Fatalf("%s: the process was not killed", at)
		}
		if _, ok := s.Key(work.ID); !ok {
			t.Errorf("killed before %s: no valid key", at)
		}
		if err := s.Rotate(""); err != nil {
			t.Errorf("killed before %s: the next rotation: %v", at, err)
		}
		if left, _ := filepath.Glob(s.Dirs().Config + "/*.tmp"); len(left) > 0 {
			t.Errorf("killed before %s: left behind %v", at, left)
		}
	}
}

func TestRotationsAtOnce(t *testing.T) {
	s, work := paired(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 8 {
		wg.Go(func() {
			err := s.Rotate("")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
				return
			}
			wantCode(t, "Rotate", err, "busy")
		})
	}
	wg.Wait()
	if p, err := s.Load(); err != nil || p.Epoch != 1+done || p.Profiles[0].ID != work.ID {
		t.Errorf("after %d rotations: %+v, %v", done, p, err)
	}
}

func TestWhoWaitsTooLongIsBusy(t *testing.T) {
	s, _ := paired(t)
	f, err := os.OpenFile(filepath.Join(s.Dirs().Config, "pairing.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	wantCode(t, "Rotate", s.Rotate(""), "busy")
}

func TestReadOnlyHome(t *testing.T) {
	root := t.TempDir()
	os.WriteFile(filepath.Join(root, "config"), nil, 0o600) // no folder can be made there
	s := store.Open(store.UnderRoot(root))
	if _, err := s.OpenWindow(store.WindowPair, "", time.Minute); err == nil || !strings.Contains(err.Error(), root) {
		t.Errorf("got %v, want an error that names the folder", err)
	}
	if entries, _ := os.ReadDir(root); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
