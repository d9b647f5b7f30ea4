package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// faults makes the Nth call to the disk fail, and every later one while it lasts.
type faults struct {
	calls, from, to int
	err             error // nil: a short write
}

func (f *faults) hit() bool {
	f.calls++
	return f.calls >= f.from && f.calls < f.to
}

func (f *faults) disk() disk {
	fail := func() error {
		if f.hit() {
			return &fs.PathError{Op: "x", Path: "/secret", Err: f.err}
		}
		return nil
	}
	d := realDisk
	d.mkdir = func(dir string) error { return errors.Join(fail(), realDisk.mkdir(dir)) }
	d.create = func(path string) (file, error) {
		if err := fail(); err != nil {
			return nil, err
		}
		real, err := realDisk.create(path)
		if err != nil {
			return nil, err
		}
		return &faultyFile{file: real, faults: f}, nil
	}
	d.lstat = func(path string) (fs.FileInfo, error) {
		if err := fail(); err != nil {
			return nil, err
		}
		return os.Lstat(path)
	}
	d.syncDir = func(dir string) error { return errors.Join(fail(), realDisk.syncDir(dir)) }
	return d
}

type faultyFile struct {
	file
	*faults
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if !f.hit() {
		return f.file.Write(b)
	}
	n, err := f.file.Write(b[:len(b)/2])
	return n, errors.Join(f.err, err)
}

func (f *faultyFile) Sync() error {
	if f.hit() {
		return syscall.EIO
	}
	return f.file.Sync()
}

func (f *faultyFile) Stat() (fs.FileInfo, error) {
	if f.hit() {
		return nil, syscall.EIO
	}
	return f.file.Stat()
}

func newLog(t *testing.T, dir, instance string) *Log {
	t.Helper()
	l, err := Open(dir, instance, "agent")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func intent(t *testing.T, l *Log) int64 {
	t.Helper()
	seq, err := l.Intent(Row{Tab: "t1", Origin: "https://shop.test", Tool: "browser_click", Target: `button "Save"`})
	if err != nil {
		t.Fatalf("Intent: %v", err)
	}
	return seq
}

// check verifies dir without a mirror and fails on problems.
func check(t *testing.T, dir string, mirror ...protocol.Head) Report {
	t.Helper()
	r := Verify(dir, mirror)
	if !r.OK() {
		t.Fatalf("Verify: %v", r.Problems)
	}
	return r
}

func TestRowsAreWrittenInOrderAndChained(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	var told []int64
	l.OnRow = func(file string, r protocol.Row) {
		told = append(told, r.Seq)
		if hash(r.Row) != r.Hash || !namePattern.MatchString(file) {
			t.Errorf("OnRow(%s, %d): hash %s does not fit the row", file, r.Seq, r.Hash)
		}
	}
	seq := intent(t, l)
	l.Result(seq, Row{Tab: "t1", Tool: "browser_click", Outcome: "confirmed"})
	l.Note(Row{Kind: Read, Tab: "t1", Tool: "browser_snapshot", Chars: 4000})
	l.Note(Row{Kind: Hop, Tab: "t1", Origin: "https://shop.test", To: "https://pay.test", Method: "POST", Verdict: "refuse"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []int64{1, 2, 3, 4, 5, 6}; !slices.Equal(told, want) {
		t.Errorf("OnRow was told of %v, want %v", told, want)
	}
	if r := check(t, dir); r.Rows != 6 || r.Files != 1 {
		t.Errorf("Verify found %d rows in %d files, want 6 in 1", r.Rows, r.Files)
	}
	entries, err := Entries(dir, Select{})
	if err != nil {
		t.Fatal(err)
	}
	var got []Kind
	for _, e := range entries {
		got = append(got, e.Kind)
	}
	if want := []Kind{Opened, Intent, Result, Read, Hop, Closed}; !slices.Equal(got, want) {
		t.Errorf("Entries gives %v, want %v", got, want)
	}
	if info, _ := os.Stat(filepath.Join(dir, entries[0].File)); info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, want 0600", info.Mode())
	}
	if _, err := l.Intent(Row{}); protocol.CodeOf(err) != protocol.AuditUnavailable {
		t.Errorf("Intent after Close: %v, want audit_unavailable", err)
	}
}

func TestHostThatDidNothingLeavesNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	newLog(t, dir, "idle").Close()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is there: %v", err)
	}
}

func TestOnlyIntentsWaitForTheDisk(t *testing.T) {
	var f faults
	l := newLog(t, t.TempDir(), "one")
	l.disk = f.disk()
	first := intent(t, l)
	before := f.calls
	l.Result(first, Row{})
	l.Note(Row{Kind: Hop})
	if n := f.calls - before; n != 6 { // stat, lstat, write, twice
		t.Errorf("two rows without sync took %d calls, want 6", n)
	}
	before = f.calls
	intent(t, l)
	if n := f.calls - before; n != 4 {
		t.Errorf("an intent took %d calls, want 4", n)
	}
}

// Every call to the disk fails once, for a while, in each way. No act may pass whose intent is not on disk, the log must
// recover, and the record must tell what it lost.
func TestNthFailureRefusesTheActAndIsTold(t *testing.T) {
	for _, how := range []error{syscall.ENOSPC, nil} {
		for from := 1; from <= 40; from++ {
			for _, length := range []int{1, 12} {
				if testing.Short() && from%4 > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%v/%d+%d", how, from, length), func(t *testing.T) {
					dir := t.TempDir()
					f := &faults{from: from, to: from + length, err: how}
					if how == nil {
						f.err = io.ErrShortWrite
					}
					l := newLog(t, dir, "one")
					l.disk = f.disk()
					allowed := make(map[int64]bool)
					tried := int64(0)
					for range 6 {
						tried++
						seq, err := l.Intent(Row{Tool: "browser_click"})
						switch {
						case err == nil:
							allowed[seq] = true
							tried++
							l.Result(seq, Row{Outcome: "confirmed"})
						case protocol.CodeOf(err) != protocol.AuditUnavailable:
							t.Fatalf("Intent: %v, want audit_unavailable", err)
						case strings.Contains(err.Error(), "/secret"):
							t.Errorf("the error names a path: %v", err)
						}
						tried++
						l.Note(Row{Kind: Hop})
					}
					f.from = 1 << 30
					intent(t, l)
					tried++
					report := check(t, dir)
					entries, err := Entries(dir, Select{})
					if err != nil {
						t.Fatal(err)
					}
					var found int64
					for _, e := range entries {
						delete(allowed, e.Seq)
						if e.Kind == Opened {
							found += e.Open.Gap
						} else {
							found++
						}
					}
					if len(allowed) > 0 {
						t.Errorf("acts passed without an intent on disk: %v", allowed)
					}
					if found != tried {
						t.Errorf("%d rows and announced gaps, want %d; notes %v", found, tried, report.Notes)
					}
				})
			}
		}
	}
}

func TestTouchedFileRefusesTheActAndIsTold(t *testing.T) {
	for _, c := range []struct {
		name  string
		touch func(path string) error
		shows bool // Verify sees it afterwards
	}{
		{"deleted", os.Remove, true},
		{"renamed", func(p string) error { return os.Rename(p, p+".old") }, true},
		{"truncated", func(p string) error { return os.Truncate(p, 10) }, true},
		{"opened to others", func(p string) error { return os.Chmod(p, 0o644) }, false},
		{"given a second name", func(p string) error { return os.Link(p, p+".link") }, true},
		{"replaced by its copy", func(p string) error {
			b, err := os.ReadFile(p)
			return errors.Join(err, os.Remove(p), os.WriteFile(p, b, 0o600))
		}, false},
		{"extended", func(p string) error {
			f, err := os.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("x")
			return err
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := newLog(t, dir, "one")
			intent(t, l)
			if err := c.touch(filepath.Join(dir, l.head.File)); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Intent(Row{}); protocol.CodeOf(err) != protocol.AuditUnavailable {
				t.Fatalf("Intent: %v, want audit_unavailable", err)
			}
			if l.Err() == nil {
				t.Error("Err is nil")
			}
			intent(t, l)
			entries := must(Entries(dir, Select{}))
			i := slices.IndexFunc(entries, func(e Entry) bool { return e.Kind == Opened && e.Open.Cause != "" })
			if i < 0 || entries[i].Open.Gap != 1 {
				t.Error("no row tells of the failure")
			}
			if r := Verify(dir, nil); r.OK() == c.shows {
				t.Errorf("Verify: %v", r.Problems)
			}
		})
	}
}

func TestLinkInPlaceOfTheFileIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	os.WriteFile(victim, nil, 0o600)
	l := newLog(t, dir, "one")
	name := fileName(time.Now().UTC().Format(time.DateOnly), "one", 1)
	if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	intent(t, l)
	if b, _ := os.ReadFile(victim); len(b) > 0 {
		t.Errorf("the row went through the link: %s", b)
	}
	if r := Verify(dir, nil); r.OK() {
		t.Error("Verify accepts a link")
	}
}

func TestClockSetBackIsFlaggedAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	now := time.Now()
	l.now = func() time.Time { return now }
	intent(t, l)
	now = now.Add(-72 * time.Hour)
	seq := intent(t, l)
	r := check(t, dir)
	if len(r.Notes) != 1 || r.Notes[0].Seq != seq {
		t.Errorf("notes %v, want one of row %d", r.Notes, seq)
	}
	if r.Files != 1 {
		t.Errorf("%d files: the day went back", r.Files)
	}
	day := l.day
	l.stop(syscall.EIO)
	intent(t, l)
	if l.day != day || !strings.HasPrefix(l.head.File, day) {
		t.Errorf("the next file is %s, want one of %s", l.head.File, day)
	}
	entries, _ := Entries(dir, Select{})
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			t.Errorf("Entries puts row %d in place %d", e.Seq, i+1)
		}
	}
}

func TestNextDayBeginsALinkedFile(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	now := time.Now()
	l.now = func() time.Time { return now }
	intent(t, l)
	head := l.head
	now = now.Add(24 * time.Hour)
	intent(t, l)
	if r := check(t, dir); r.Files != 2 || r.Attested != 1 {
		t.Errorf("%d files, %d attested, want 2 and 1", r.Files, r.Attested)
	}
	if err := os.Remove(filepath.Join(dir, head.File)); err != nil {
		t.Fatal(err)
	}
	if r := Verify(dir, nil); r.OK() || r.Problems[0].File != head.File {
		t.Errorf("Verify without the first file: %v", r.Problems)
	}
}

func TestTornTailIsLinkedAndNoted(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	intent(t, l)
	torn := l.head
	path := filepath.Join(dir, torn.File)
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"seq":3,"time":"20`)
	f.Close()

	m := newLog(t, dir, "two")
	intent(t, m)
	r := check(t, dir, torn)
	if len(r.Notes) != 1 || r.Notes[0].Seq != 3 || r.Attested != 2 {
		t.Errorf("notes %v, %d attested; want one of row 3, and 2", r.Notes, r.Attested)
	}
}

// A new file links what no file has linked yet: two that ran at once, then only the one that joined them.
func TestFilesLinkEachOtherOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := newLog(t, dir, "a"), newLog(t, dir, "b")
	intent(t, a)
	intent(t, b)
	intent(t, a) // b's file does not know this row
	a.Close()
	b.Close()
	links := func(instance string) []string {
		l := newLog(t, dir, instance)
		intent(t, l)
		l.Close()
		entries, _ := Entries(dir, Select{Instance: instance})
		var out []string
		for _, h := range entries[0].Open.Links {
			out = append(out, namePattern.FindStringSubmatch(h.File)[2])
		}
		return out
	}
	if got, want := links("c"), []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("c links %v, want %v", got, want)
	}
	if got, want := links("d"), []string{"c"}; !slices.Equal(got, want) {
		t.Errorf("d links %v, want %v", got, want)
	}
	check(t, dir)
}

func TestManyWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	var last int64
	l.OnRow = func(_ string, r protocol.Row) {
		if r.Seq != last+1 {
			t.Errorf("OnRow: %d after %d", r.Seq, last)
		}
		last = r.Seq
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				seq, err := l.Intent(Row{Tool: "browser_click"})
				if err != nil {
					t.Error(err)
				}
				l.Note(Row{Kind: Hop})
				l.Result(seq, Row{})
			}
		})
	}
	wg.Wait()
	if r := check(t, dir); r.Rows != 8*20*3+1 {
		t.Errorf("%d rows, want %d", r.Rows, 8*20*3+1)
	}
}

func TestRowsHoldNoAddressAndNoLongText(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir, "one")
	l.SetClient("bad \xff name")
	for in, want := range map[string]string{
		"https://user:canary@shop.test:8443/canary?canary#canary": "https://shop.test:8443",
		`https://shop.test\canary`:                                "https://shop.test",
		"data:text/html,canary":                                   "data",
		"https://shop.test":                                       "https://shop.test",
		"null":                                                    "null",
		"":                                                        "",
	} {
		l.Note(Row{Kind: Hop, Origin: in})
		entries, _ := Entries(dir, Select{Last: 1})
		if got := entries[0].Origin; got != want {
			t.Errorf("origin %q is recorded as %q, want %q", in, got, want)
		}
	}
	l.Note(Row{Kind: Event, Target: strings.Repeat("ä", 5000)})
	entries, _ := Entries(dir, Select{Last: 1})
	if n := len([]rune(entries[0].Target)); n != maxText {
		t.Errorf("a target of 5000 characters is recorded with %d, want %d", n, maxText)
	}
	for _, name := range must(names(dir)) {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		if bytes.Contains(b, []byte("canary")) {
			t.Errorf("%s holds the canary", name)
		}
	}
	check(t, dir)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestDigestTellsEqualArgumentsOnlyWithinALog(t *testing.T) {
	a, b := newLog(t, t.TempDir(), "a"), newLog(t, t.TempDir(), "b")
	once, again := a.Digest([]byte("1234")), a.Digest([]byte("1234"))
	if once != again || once == a.Digest([]byte("1235")) {
		t.Error("digests of one log do not tell arguments apart")
	}
	if a.Digest([]byte("1234")) == b.Digest([]byte("1234")) {
		t.Error("two logs give the same digest: arguments could be guessed")
	}
}

func TestRecentGivesTheLastRowsByFile(t *testing.T) {
	l := newLog(t, t.TempDir(), "one")
	now := time.Now()
	l.now = func() time.Time { return now }
	for range 40 {
		intent(t, l)
	}
	now = now.Add(24 * time.Hour)
	for range 30 {
		intent(t, l)
	}
	rows := l.Recent()
	if len(rows) != 2 || len(rows[0].Rows)+len(rows[1].Rows) != recent || rows[1].Rows[30].Hash != l.head.Hash {
		t.Errorf("Recent gives %d files, want 2 with %d rows up to the head", len(rows), recent)
	}
}

// A host is killed in the middle of its work, again and again: what it was allowed to do is on disk, and the record of all
// of them is in order.
func TestKilledWriterLosesNoIntent(t *testing.T) {
	const variable = "TABVALET_TEST_KILLED_WRITER"
	if arg := os.Getenv(variable); arg != "" {
		dir, instance, _ := strings.Cut(arg, "|")
		l := must(Open(dir, instance, "agent"))
		for {
			seq := must(l.Intent(Row{Tool: "browser_click"}))
			fmt.Println(seq)
			l.Result(seq, Row{Outcome: "confirmed"})
		}
	}
	dir := t.TempDir()
	for n := range 8 {
		instance := fmt.Sprintf("host%d", n)
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), variable+"="+dir+"|"+instance)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var allowed int64
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, err := fmt.Sscan(lines.Text(), &allowed); err != nil {
				t.Fatal(err)
			}
			if allowed > int64(10+7*n) {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		entries := must(Entries(dir, Select{Instance: instance}))
		found := slices.ContainsFunc(entries, func(e Entry) bool { return e.Kind == Intent && e.Seq == allowed })
		if !found {
			t.Errorf("%s: the act of row %d was allowed, and is not on the record", instance, allowed)
		}
	}
	check(t, dir)
}
