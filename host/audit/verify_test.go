package audit

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/protocol"
)

// A book is a record of three instances, the second of two days, with the mirror that an extension would have of it.
type book struct {
	files  map[string][][]byte
	mirror []protocol.Head
}

var theBook *book

// writeBook writes the book once: tests change copies of its files.
func writeBook(t *testing.T) *book {
	t.Helper()
	if theBook != nil {
		return theBook
	}
	b := &book{files: make(map[string][][]byte)}
	dir := t.TempDir()
	heads := make(map[string]protocol.Head)
	for i, instance := range []string{"first", "second", "third"} {
		l := newLog(t, dir, instance)
		l.OnRow = func(file string, r protocol.Row) { heads[file] = protocol.Head{File: file, Seq: r.Seq, Hash: r.Hash} }
		for n := range 12 {
			if i == 1 && n == 6 {
				late := l.now().AddDate(0, 0, 1)
				l.now = func() time.Time { return late }
			}
			seq := intent(t, l)
			l.Result(seq, Row{Outcome: "confirmed", Chars: n})
		}
		l.Close()
	}
	for name, h := range heads {
		b.mirror = append(b.mirror, h)
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b.files[name] = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	}
	theBook = b
	return b
}

// of gives the names of an instance's files, oldest first.
func (b *book) of(instance string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(b.files)), func(n string) bool { return !strings.Contains(n, instance) })
}

// store writes the book's files into an empty directory and returns it.
func (b *book) store(t *testing.T, files map[string][][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, lines := range files {
		data := append(bytes.Join(lines, []byte("\n")), '\n')
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// rechain gives the lines from i on the hashes that fit.
func rechain(lines [][]byte, i int) {
	for ; i < len(lines); i++ {
		row := must(decode(lines[i]))
		if i > 0 {
			row.Prev = hash(lines[i-1])
		}
		lines[i] = must(row.encode())
	}
}

// An edit changes one file and names the first row that is wrong then; 0 stands for the file as a whole, -1 for a row
// that cannot be told exactly.
type edit struct {
	name string
	do   func(r *rand.Rand, b *book, files map[string][][]byte, name string) (bad int64)
}

func change(line []byte, r *rand.Rand) []byte {
	row := must(decode(line))
	switch r.IntN(3) {
	case 0:
		row.Note = "forged"
	case 1:
		row.Origin = "https://other.test"
	default:
		row.Time = row.Time.Add(1000)
	}
	return must(row.encode())
}

func seqOf(line []byte) int64 { return must(decode(line)).Seq }

var edits = []edit{
	{"edit", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := r.IntN(len(lines))
		lines[i] = change(lines[i], r)
		if i == len(lines)-1 {
			return -1 // no row follows: all before it could have been made anew
		}
		return seqOf(lines[i])
	}},
	{"edit a byte", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := r.IntN(len(lines))
		seq := seqOf(lines[i])
		lines[i][r.IntN(len(lines[i]))] ^= 1 << r.IntN(7)
		return seq
	}},
	{"delete", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := r.IntN(len(lines))
		seq := seqOf(lines[i])
		files[name] = slices.Delete(lines, i, i+1)
		return seq
	}},
	{"swap", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := r.IntN(len(lines) - 1)
		seq := seqOf(lines[i])
		lines[i], lines[i+1] = lines[i+1], lines[i]
		return seq
	}},
	{"insert", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := 1 + r.IntN(len(lines)-1)
		seq := seqOf(lines[i])
		row := must(decode(lines[i]))
		row.Note, row.Prev = "inserted", hash(lines[i-1])
		files[name] = slices.Insert(lines, i, must(row.encode()))
		return seq
	}},
	{"duplicate", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := r.IntN(len(lines))
		files[name] = slices.Insert(lines, i, lines[i])
		return seqOf(lines[i])
	}},
	{"edit and chain anew", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := r.IntN(len(lines))
		lines[i] = change(lines[i], r)
		rechain(lines, i+1)
		return -1
	}},
	{"delete and chain anew", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		i := 1 + r.IntN(len(lines)-1)
		first := seqOf(lines[0])
		lines = slices.Delete(lines, i, i+1)
		for n, line := range lines {
			row := must(decode(line))
			row.Seq = first + int64(n)
			lines[n] = must(row.encode())
		}
		rechain(lines, 1)
		files[name] = lines
		return -1
	}},
	{"cut the tail", func(r *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		lines := files[name]
		n := 1 + r.IntN(len(lines)-1)
		seq := seqOf(lines[n])
		files[name] = lines[:n]
		return seq
	}},
	{"remove the file", func(_ *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		delete(files, name)
		return 0
	}},
	{"copy to another name", func(_ *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		files["2020-01-01-"+name[11:]] = files[name]
		return -1
	}},
	{"foreign file", func(_ *rand.Rand, _ *book, files map[string][][]byte, name string) int64 {
		files["notes.txt"] = [][]byte{[]byte("hello")}
		return -1
	}},
	{"forge a whole file", func(r *rand.Rand, b *book, files map[string][][]byte, name string) int64 {
		var forged [][]byte
		for i, line := range files[name] {
			row := must(decode(line))
			if row.Client = "forged"; i > 0 {
				row.Prev = hash(forged[i-1])
			}
			forged = append(forged, must(row.encode()))
		}
		files[name] = forged
		return -1
	}},
}

func TestVerifyAcceptsWhatWasWritten(t *testing.T) {
	b := writeBook(t)
	dir := b.store(t, b.files)
	r := check(t, dir, b.mirror...)
	if r.Files != 4 || r.Attested != 4+3 || len(r.Notes) != 0 {
		t.Errorf("%d files, %d attested, notes %v; want 4, 7 and none", r.Files, r.Attested, r.Notes)
	}
	if r := Verify(filepath.Join(dir, "none"), nil); !r.OK() || r.Files != 0 {
		t.Errorf("an absent directory: %+v", r)
	}
}

func TestVerifyFindsEveryKindOfEdit(t *testing.T) {
	b := writeBook(t)
	trials := 60
	if testing.Short() {
		trials = 10
	}
	for k, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			for trial := range trials {
				r := rand.New(rand.NewPCG(uint64(k), uint64(trial)))
				files := make(map[string][][]byte)
				var list []string
				for name, lines := range b.files {
					list = append(list, name)
					for _, line := range lines {
						files[name] = append(files[name], bytes.Clone(line))
					}
				}
				slices.Sort(list)
				name := list[r.IntN(len(list))]
				bad := e.do(r, b, files, name)
				if same(files, b.files) {
					continue
				}
				report := Verify(b.store(t, files), b.mirror)
				if report.OK() {
					t.Fatalf("trial %d: not found in %s", trial, name)
				}
				i := slices.IndexFunc(report.Problems, func(p Problem) bool { return p.File == name })
				if i < 0 && bad >= 0 {
					t.Fatalf("trial %d: %s is not blamed: %v", trial, name, report.Problems)
				}
				if bad > 0 && report.Problems[i].Seq != bad {
					t.Errorf("trial %d: %s, want row %d", trial, report.Problems[i], bad)
				}
			}
		})
	}
}

func same(a, b map[string][][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for name, lines := range a {
		if !slices.EqualFunc(lines, b[name], bytes.Equal) {
			return false
		}
	}
	return true
}

// Without a mirror the later files still attest the earlier ones; the newest end has no witness.
func TestVerifyWithoutMirrorHearsTheOtherFiles(t *testing.T) {
	b := writeBook(t)
	for name, lines := range b.files {
		for n := 1; n < len(lines); n++ {
			files := map[string][][]byte{}
			for other, lines := range b.files {
				files[other] = lines
			}
			files[name] = lines[:n]
			// The third instance's file is linked by none.
			if got, want := Verify(b.store(t, files), nil).OK(), strings.Contains(name, "third"); got != want {
				t.Errorf("%s cut to %d rows: OK is %v, want %v", name, n, got, want)
			}
		}
	}
}

// Rows that chain and have no witness must still fit one another.
func TestVerifyRefusesRowsThatDoNotFit(t *testing.T) {
	b := writeBook(t)
	name := b.of("third")[0]
	for what, change := range map[string]func(r *Row){
		"number repeated":  func(r *Row) { r.Seq-- },
		"number left out":  func(r *Row) { r.Seq++ },
		"other instance":   func(r *Row) { r.Instance = "other" },
		"earlier":          func(r *Row) { r.Mono = 0 },
		"clock not told":   func(r *Row) { r.Time = r.Time.AddDate(0, 0, -1) },
		"clock told wrong": func(r *Row) { r.Back = true },
		"second opening":   func(r *Row) { r.Kind, r.Of, r.Open, r.Prev = Opened, 0, &Opening{V: Version, File: name}, "" },
	} {
		t.Run(what, func(t *testing.T) {
			lines := slices.Clone(b.files[name][:8])
			row := must(decode(lines[6]))
			change(row)
			lines[6] = must(row.encode())
			if row.Kind != Opened {
				rechain(lines, 6)
			}
			files := maps.Clone(b.files)
			files[name] = lines
			r := Verify(b.store(t, files), nil)
			if len(r.Problems) != 1 || r.Problems[0].File != name {
				t.Errorf("problems %v, want one in %s", r.Problems, name)
			}
		})
	}
}

// A file in the middle of an instance's files that was forged to know nothing of the one before, which is gone.
func TestVerifyMissesTheFileBefore(t *testing.T) {
	b := writeBook(t)
	before, after := b.of("second")[0], b.of("second")[1]
	forge := func(links func([]protocol.Head) []protocol.Head) map[string][][]byte {
		files := maps.Clone(b.files)
		lines := slices.Clone(files[after])
		row := must(decode(lines[0]))
		row.Open.Links = links(row.Open.Links)
		lines[0] = must(row.encode())
		rechain(lines, 1)
		files[after] = lines
		return files
	}
	files := forge(func([]protocol.Head) []protocol.Head { return []protocol.Head{} })
	delete(files, b.of("third")[0]) // its own witness
	if r := Verify(b.store(t, files), nil); !blames(r, after, "it does not follow "+before) {
		t.Errorf("without the link: %v", r.Problems)
	}
	for name := range files { // nor does anybody else know
		if name != after {
			delete(files, name)
		}
	}
	if r := Verify(b.store(t, files), nil); !blames(r, after, "before it are missing") {
		t.Errorf("alone: %v", r.Problems)
	}
}

func blames(r Report, file, what string) bool {
	return slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.File == file && strings.Contains(p.What, what) })
}

// A witness that was edited must not speak against the file that it names.
func TestVerifyHearsNoBadWitness(t *testing.T) {
	b := writeBook(t)
	name := b.of("third")[0]
	lines := slices.Clone(b.files[name])
	row := must(decode(lines[0]))
	for i := range row.Open.Links {
		row.Open.Links[i].Hash = strings.Repeat("0", 64)
	}
	lines[0] = must(row.encode())
	files := maps.Clone(b.files)
	files[name] = lines
	r := Verify(b.store(t, files), nil)
	if len(r.Problems) != 1 || r.Problems[0].File != name || r.Problems[0].Seq != 1 {
		t.Errorf("problems %v, want one, in row 1 of %s", r.Problems, name)
	}
}

func TestVerifyRefusesFileUnderAnotherName(t *testing.T) {
	b := writeBook(t)
	for name, lines := range b.files {
		if r := Verify(b.store(t, map[string][][]byte{"2020-01-01" + name[10:]: lines}), nil); !strings.Contains(fmt.Sprint(r.Problems), "is called "+name) {
			t.Errorf("%s: %v", name, r.Problems)
		}
	}
}

func TestVerifyRefusesNewerFormat(t *testing.T) {
	b := writeBook(t)
	name := b.mirror[0].File
	row := must(decode(b.files[name][0]))
	row.Open.V = Version + 1
	r := Verify(b.store(t, map[string][][]byte{name: {must(row.encode())}}), nil)
	if r.OK() || !strings.Contains(fmt.Sprint(r.Problems), "newer") {
		t.Errorf("problems %v", r.Problems)
	}
}

func FuzzDecode(f *testing.F) {
	dir := f.TempDir()
	l := must(Open(dir, "one", "agent"))
	must(l.Intent(Row{Tab: "t1", Origin: "https://shop.test", Target: "button \"\u202e\""}))
	l.Result(2, Row{Outcome: "unknown"})
	l.Close()
	data := must(os.ReadFile(filepath.Join(dir, l.head.File)))
	for line := range bytes.Lines(data) {
		f.Add(bytes.TrimSuffix(line, []byte("\n")))
	}
	f.Add([]byte(`{"seq":1,"seq":2}`))
	f.Add([]byte(`{"Seq":1,"time":"2026-11-30T00:00:00Z","mono_ns":0,"instance":"","kind":"note","prev":""}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		row, err := decode(line)
		if err != nil {
			if row != nil {
				t.Fatal("an error leaves a row behind")
			}
			return
		}
		again, err := row.encode()
		if err != nil {
			t.Fatalf("encoding what was decoded: %v", err)
		}
		twice, err := decode(again)
		if err != nil {
			t.Fatalf("decoding what was encoded: %v\n%s", err, again)
		}
		if a, b := must(json.Marshal(row)), must(json.Marshal(twice)); !bytes.Equal(a, b) {
			t.Fatalf("%s\nbecomes\n%s", a, b)
		}
		same := must(decode([]byte(Entry{Line: line}.JSON())))
		if a, b := must(json.Marshal(row)), must(json.Marshal(same)); utf8.Valid(line) && !bytes.Equal(a, b) {
			t.Fatalf("%s\nis printed as\n%s", a, b)
		}
		if strings.ContainsFunc(Entry{Row: *row}.String(), func(r rune) bool { return r < ' ' || r == 0x202e }) {
			t.Fatalf("the line for people is not safe: %q", Entry{Row: *row}.String())
		}
	})
}
