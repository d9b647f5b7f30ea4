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
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
)

// An Entry is a row as it was found in a file.
type Entry struct {
	File string
	Line []byte // as it stands there, without the newline
	Row

	at time.Time // Time, or that of an earlier row of the instance when its clock was set back
}

// Select says which rows to read. The zero value selects all.
type Select struct {
	Day      string // "2006-01-02", as in the file's name
	Instance string // or the beginning of it
	Tab      string
	Last     int // only the newest so many, 0: all
}

// Entries reads rows of the record in dir, in the order of their time. Lines that are no rows are left out: finding them
// is Verify's work.
func Entries(dir string, sel Select) ([]Entry, error) {
	list, err := names(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record: %w", err)
	}
	var out []Entry
	for _, name := range list {
		m := namePattern.FindStringSubmatch(name)
		if sel.Day != "" && m[1] != sel.Day || !strings.HasPrefix(m[2], sel.Instance) {
			continue
		}
		entries, err := fileEntries(dir, name, sel.Tab)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, reason(err))
		}
		out = append(out, entries...)
	}
	order(out)
	if sel.Last > 0 {
		out = out[max(0, len(out)-sel.Last):]
	}
	return out, nil
}

// order sorts by time, and keeps each instance's own order where its clock was set back.
func order(entries []Entry) {
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(strings.Compare(a.Instance, b.Instance), cmp.Compare(a.Seq, b.Seq))
	})
	for i := range entries {
		e := &entries[i]
		e.at = e.Time
		if i > 0 && entries[i-1].Instance == e.Instance && e.at.Before(entries[i-1].at) {
			e.at = entries[i-1].at
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.at.Compare(b.at) })
}

func fileEntries(dir, name, tab string) ([]Entry, error) {
	f, err := openRead(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Entry
	for lines := bufio.NewReaderSize(f, maxLine+1); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return out, nil // a torn tail is not a row yet
		}
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if row, err := decode(line); err == nil && (tab == "" || row.Tab == tab) {
			out = append(out, Entry{File: name, Line: line, Row: *row})
		}
	}
}

// String is the entry as one line for a person: safe for any terminal, whatever a page called its buttons.
func (e Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s #%d %s", e.Time.Local().Format("2006-01-02 15:04:05.000"), e.Instance[:min(6, len(e.Instance))], e.Seq, e.Kind)
	if e.Of != 0 {
		fmt.Fprintf(&b, " of #%d", e.Of)
	}
	for _, s := range []string{e.Tab, e.Tool, e.Target, e.Method, e.Origin} {
		if s != "" {
			b.WriteString(" " + Escape(s))
		}
	}
	if e.To != "" {
		b.WriteString(" → " + Escape(e.To))
	}
	for _, f := range [][2]string{{"capability", e.Capability}, {"grant", e.Grant}, {"consent", e.Consent}, {"verdict", e.Verdict},
		{"outcome", e.Outcome}, {"code", e.Code}} {
		if f[1] != "" {
			fmt.Fprintf(&b, " %s=%s", f[0], Escape(f[1]))
		}
	}
	if e.Chars != 0 {
		fmt.Fprintf(&b, " chars=%d", e.Chars)
	}
	if e.Open != nil {
		fmt.Fprintf(&b, " pid=%d client=%s links=%d", e.Open.PID, Escape(e.Client), len(e.Open.Links))
		if e.Open.Gap > 0 {
			fmt.Fprintf(&b, " lost=%d (%s)", e.Open.Gap, Escape(e.Open.Cause))
		}
	}
	if e.Note != "" {
		b.WriteString(" · " + Escape(e.Note))
	}
	return b.String()
}

// JSON is the row as it stands in the file, with the same escapes where a terminal could be fooled; its value is the same.
func (e Entry) JSON() string {
	var b strings.Builder
	for _, r := range string(e.Line) {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\t' || r == '\r': // between tokens: within a string they would not have been read
			b.WriteByte(' ')
		default:
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, u)
			}
		}
	}
	return b.String()
}

// Escape makes a text safe to print: control characters, escape sequences and what turns the direction of writing come out
// as \x1b or \u202e.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}
