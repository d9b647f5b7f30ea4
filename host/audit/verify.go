package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tabvalet/tabvalet/protocol"
)

// A Problem is a place where the record contradicts itself or what was kept elsewhere.
type Problem struct {
	File string `json:"file"`
	Seq  int64  `json:"seq,omitzero"` // the first row that is wrong or missing; 0: the file as a whole
	What string `json:"what"`
}

func (p Problem) String() string {
	if p.Seq == 0 {
		return p.File + ": " + p.What
	}
	return fmt.Sprintf("%s: row %d: %s", p.File, p.Seq, p.What)
}

// A Report is the result of [Verify].
type Report struct {
	Files    int       `json:"files"`
	Rows     int64     `json:"rows"`
	Attested int       `json:"attested"` // heads kept elsewhere that the files agree with
	Problems []Problem `json:"problems"` // in the order of the files; the first of a file is its first bad row
	Notes    []Problem `json:"notes"`    // worth knowing, and not a contradiction: torn tails, gaps, a clock set back
}

// OK says that nothing contradicts.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// witness is one head that is kept outside the file: by the extension, or in the first row of a later file.
type witness struct {
	protocol.Head
	by string
}

// Verify reads all files of the record in dir and compares them with themselves, with one another and with what was
// mirrored. It finds rows that were edited, swapped, inserted or removed, files that were renamed, copied or are
// missing, and, as far as the mirror or a later file attests them, tails that were cut and chains that were made anew.
// What was written after the last witness can be cut unseen. A directory that is not there is an empty record.
func Verify(dir string, mirror []protocol.Head) Report {
	v := verifier{witnesses: make(map[string][]witness)}
	for _, h := range mirror {
		v.witness(h, "the extension")
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		v.problem(Problem{File: filepath.Base(dir), What: reason(err).Error()})
	}
	var order []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == "mirror" && e.IsDir(), strings.HasPrefix(name, "."):
		case !namePattern.MatchString(name):
			v.problem(Problem{File: name, What: "not a file of the record"})
		default:
			order = append(order, name)
			v.links(dir, name)
		}
	}
	files := make(map[string]*content)
	for _, name := range order {
		files[name] = v.read(dir, name)
	}
	for _, name := range order {
		v.compare(name, files)
	}
	v.missing(files)
	v.instances(order, files)
	slices.SortStableFunc(v.report.Problems, func(a, b Problem) int { return strings.Compare(a.File, b.File) })
	return v.report
}

type verifier struct {
	report    Report
	witnesses map[string][]witness
}

// content is what is kept of a file that was read: its first and last row, and the hashes of the rows that somebody keeps.
type content struct {
	first, last *Row
	hashes      map[int64]string
	bad         bool // has a problem already: what follows from it is not told again
}

func (v *verifier) problem(p Problem) { v.report.Problems = append(v.report.Problems, p) }
func (v *verifier) note(p Problem)    { v.report.Notes = append(v.report.Notes, p) }

func (v *verifier) witness(h protocol.Head, by string) {
	v.witnesses[h.File] = append(v.witnesses[h.File], witness{h, by})
}

// links collects what a file's first row attests of others.
func (v *verifier) links(dir, name string) {
	first, _, err := ends(filepath.Join(dir, name))
	if err != nil {
		return
	}
	if row, err := decode(first); err == nil && row.Open != nil {
		for _, h := range row.Open.Links {
			v.witness(h, name)
		}
	}
}

// read follows the chain inside one file.
func (v *verifier) read(dir, name string) *content {
	c := &content{hashes: make(map[int64]string)}
	for _, w := range v.witnesses[name] {
		c.hashes[w.Seq] = ""
	}
	v.report.Files++
	f, err := openRead(filepath.Join(dir, name))
	if err != nil {
		c.bad = true
		v.problem(Problem{File: name, What: reason(err).Error()})
		return c
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !private(info) {
		v.note(Problem{File: name, What: "others may read or write it, or it has a second name"})
	}
	bad := func(seq int64, format string, args ...any) {
		c.bad = true
		v.problem(Problem{File: name, Seq: seq, What: fmt.Sprintf(format, args...)})
	}
	lines := bufio.NewReaderSize(f, maxLine+1)
	var prev string // hash of the row before
	for {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF {
			if len(line) > 0 {
				v.note(Problem{File: name, Seq: c.seq() + 1, What: "torn: the file ends inside a row"})
			}
			if c.first == nil {
				v.note(Problem{File: name, What: "no whole row"})
			}
			return c
		}
		next := c.seq() + 1
		if err != nil {
			bad(next, "a row that is too long")
			return c
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		row, err := decode(line)
		if err != nil {
			bad(next, "not a row of the record")
			return c
		}
		switch {
		case c.first == nil && row.Kind != Opened:
			bad(max(1, row.Seq-1), "missing: the file does not begin with its first row")
		case c.first == nil && row.Open.V > Version:
			bad(row.Seq, "written by a newer version")
		case c.first == nil && row.Open.File != name:
			bad(row.Seq, "the file is called %s inside", row.Open.File)
		case c.first == nil && namePattern.FindStringSubmatch(name)[2] != row.Instance:
			bad(row.Seq, "the row belongs to another instance")
		case c.first == nil:
			if row.Open.Gap > 0 {
				v.note(Problem{File: name, Seq: row.Seq, What: fmt.Sprintf("%d rows before it could not be written: %s", row.Open.Gap, row.Open.Cause)})
			}
		case row.Seq > next:
			bad(next, "missing: row %d stands in its place", row.Seq)
		case row.Seq < next:
			bad(row.Seq, "it stands here a second time")
		case row.Kind == Opened:
			bad(row.Seq, "a second first row")
		case row.Prev != prev:
			bad(c.guilty(row, line, lines), "the chain is broken here")
		case row.Instance != c.first.Instance:
			bad(row.Seq, "the row belongs to another instance")
		case row.Mono < c.last.Mono:
			bad(row.Seq, "it was written before the row before")
		case row.Back != row.Time.Before(c.last.Time):
			bad(row.Seq, "its time does not fit the row before")
		}
		if c.bad {
			return c
		}
		if row.Back {
			v.note(Problem{File: name, Seq: row.Seq, What: "the clock was set back"})
		}
		if c.first == nil {
			c.first = row
		}
		c.last, prev = row, hash(line)
		if _, kept := c.hashes[row.Seq]; kept {
			c.hashes[row.Seq] = prev
		}
		v.report.Rows++
	}
}

func (c *content) seq() int64 {
	if c.last == nil {
		return 0
	}
	return c.last.Seq
}

// guilty names the row that was edited where the chain breaks between two: the second one if the row after it does not
// accept it either, else the first.
func (c *content) guilty(row *Row, line []byte, rest *bufio.Reader) int64 {
	own := hash(line) // before the reader's buffer moves
	seq, before := row.Seq, c.last.Seq
	after, err := rest.ReadSlice('\n')
	if err != nil {
		return before
	}
	next, err := decode(bytes.TrimSuffix(after, []byte("\n")))
	if err == nil && next.Seq == seq+1 && next.Prev != own {
		return seq
	}
	return before
}

// compare holds a file against what is kept of it elsewhere. Of several contradictions the earliest is told. A witness
// that is bad itself is not heard.
func (v *verifier) compare(name string, files map[string]*content) {
	c := files[name]
	if c.bad {
		return
	}
	ws := slices.DeleteFunc(slices.Clone(v.witnesses[name]), func(w witness) bool { return files[w.by] != nil && files[w.by].bad })
	slices.SortFunc(ws, func(a, b witness) int { return cmp.Compare(a.Seq, b.Seq) })
	var good int64
	for _, w := range ws {
		switch have := c.hashes[w.Seq]; have {
		case w.Hash:
			good = w.Seq
			v.report.Attested++
			continue
		case "":
			v.problem(Problem{name, c.seq() + 1, fmt.Sprintf("cut: %s keeps row %d of it, it ends at %d", w.by, w.Seq, c.seq())})
		default:
			v.problem(Problem{name, max(good+1, c.first.Seq), fmt.Sprintf("rows up to %d are not those that %s keeps", w.Seq, w.by)})
		}
		c.bad = true
		return
	}
}

// missing tells of files that somebody attests and nobody has.
func (v *verifier) missing(files map[string]*content) {
	for name, ws := range v.witnesses {
		if files[name] == nil {
			v.problem(Problem{File: name, What: "missing: " + ws[0].by + " keeps its end"})
		}
	}
}

// instances checks that the files of one instance follow each other: numbers go on, and what is left out was announced.
func (v *verifier) instances(order []string, files map[string]*content) {
	last := make(map[string]*content)
	sorted := slices.DeleteFunc(slices.Clone(order), func(n string) bool { return files[n].first == nil })
	slices.SortStableFunc(sorted, func(a, b string) int { return cmp.Compare(files[a].first.Seq, files[b].first.Seq) })
	for _, name := range sorted {
		c := files[name]
		before := last[c.first.Instance]
		last[c.first.Instance] = c
		if c.bad {
			continue
		}
		switch {
		case before == nil && c.first.Seq != 1+c.first.Open.Gap:
			v.problem(Problem{name, c.first.Seq, "the files of this instance before it are missing"})
		case before != nil && before.bad:
		case before != nil && !slices.ContainsFunc(c.first.Open.Links, func(h protocol.Head) bool {
			return h.File == before.first.Open.File && h.Seq+c.first.Open.Gap+1 == c.first.Seq
		}):
			v.problem(Problem{name, c.first.Seq, "it does not follow " + before.first.Open.File})
		}
	}
}
