package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// Limits of what a new file looks at. Files that are older have been linked long ago.
const (
	maxScan  = 256
	maxLinks = 64
)

// A segment is the file that rows go to now.
type segment struct {
	file
	path, name, day string
	size            int64
	lstat           func(string) (fs.FileInfo, error)
	sealed          atomic.Bool // synced for the last time and closed
}

var namePattern = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)-([A-Za-z0-9_-]{1,64}?)(?:\.(\d{1,6}))?\.jsonl$`)

// fileName is <day>-<instance>.jsonl, and .2, .3 … when a file was left after a failure.
func fileName(day, instance string, n int) string {
	if n == 1 {
		return day + "-" + instance + ".jsonl"
	}
	return fmt.Sprintf("%s-%s.%d.jsonl", day, instance, n)
}

// begin starts a new file: the first one, the next day's, or the one after a failure. Its first row is on disk when begin
// returns nil.
func (l *Log) begin(now time.Time) (err error) {
	if err := l.disk.mkdir(l.dir); err != nil {
		return err
	}
	day := max(now.Format(time.DateOnly), l.day)
	s, err := l.create(day)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.Close()
			l.disk.remove(s.path) // nothing links it yet
		}
	}()
	opening := &Opening{V: Version, File: s.name, PID: os.Getpid(), Gap: l.seq - l.head.Seq, Links: tips(l.dir, s.name)}
	if l.head.Hash != "" {
		opening.Links = withLink(opening.Links, l.head)
	}
	if l.cause != nil {
		opening.Cause = clip(reason(l.cause).Error())
	}
	old := l.out
	if old != nil {
		if err := old.seal(); err != nil {
			return err
		}
	}
	row, line, err := l.compose(Row{Kind: Opened, Open: opening}, now)
	if err != nil {
		return err
	}
	if err := errors.Join(s.append(line), s.file.Sync(), l.disk.syncDir(l.dir)); err != nil {
		return err
	}
	l.out, l.day, l.cause = s, day, nil
	l.commit(s, row, line)
	return nil
}

func (l *Log) create(day string) (*segment, error) {
	for n := 1; ; n++ {
		name := fileName(day, l.instance, n)
		path := filepath.Join(l.dir, name)
		f, err := l.disk.create(path)
		if errors.Is(err, fs.ErrExist) && n < 1e6 {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &segment{file: f, path: path, name: name, day: day, lstat: l.disk.lstat}, nil
	}
}

// append writes one line, after a look whether the file is still the one it was.
func (s *segment) append(line []byte) error {
	if err := s.intact(); err != nil {
		return err
	}
	line = append(line[:len(line):len(line)], '\n')
	n, err := s.Write(line)
	s.size += int64(n)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	return err
}

// errTouched says that somebody else had a hand on the file.
var errTouched = errors.New("the file was replaced, cut, extended or opened to others")

func (s *segment) intact() error {
	held, err := s.Stat()
	if err != nil {
		return err
	}
	named, err := s.lstat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return errTouched
	}
	if err != nil {
		return err
	}
	if !os.SameFile(held, named) || held.Size() != s.size || !private(held) {
		return errTouched
	}
	return nil
}

// Sync waits for the disk. A file that was sealed meanwhile is on disk already.
func (s *segment) Sync() error {
	err := s.file.Sync()
	if err != nil && s.sealed.Load() {
		return nil
	}
	return err
}

// seal syncs the file for the last time and closes it.
func (s *segment) seal() error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.sealed.Store(true)
	return s.Close()
}

// names lists the files of the record in dir, oldest day first.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if namePattern.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil // ReadDir sorts, and names begin with the day
}

// tips gives the ends of the newest files in dir that no other file's first row links at that very end. What cannot be
// read is left out here and found by Verify.
func tips(dir, except string) []protocol.Head {
	list, err := names(dir)
	if err != nil {
		return nil
	}
	list = list[max(0, len(list)-maxScan):]
	var heads []protocol.Head
	linked := make(map[protocol.Head]bool)
	for _, name := range list {
		if name == except {
			continue
		}
		first, last, err := ends(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		row, err := decode(last)
		if err != nil {
			continue
		}
		heads = append(heads, protocol.Head{File: name, Seq: row.Seq, Hash: hash(last)})
		if row, err := decode(first); err == nil && row.Open != nil {
			for _, h := range row.Open.Links {
				linked[h] = true
			}
		}
	}
	heads = slices.DeleteFunc(heads, func(h protocol.Head) bool { return linked[h] })
	return heads[max(0, len(heads)-maxLinks):]
}

// withLink puts a head of ours in the place of what the disk said of that file.
func withLink(links []protocol.Head, own protocol.Head) []protocol.Head {
	links = slices.DeleteFunc(links, func(h protocol.Head) bool { return h.File == own.File })
	return append(links, own)
}

// ends reads the first and the last whole line of a file.
func ends(path string) (first, last []byte, err error) {
	f, err := openRead(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	first, err = bufio.NewReader(io.LimitReader(f, maxLine+1)).ReadBytes('\n')
	if err != nil {
		return nil, nil, err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, err
	}
	start := max(0, size-2*maxLine) // a torn line and the one before it
	block := make([]byte, size-start)
	if _, err := f.ReadAt(block, start); err != nil {
		return nil, nil, err
	}
	block = block[:bytes.LastIndexByte(block, '\n')+1]
	block = bytes.TrimSuffix(block, []byte("\n"))
	last = block[bytes.LastIndexByte(block, '\n')+1:]
	return bytes.TrimSuffix(first, []byte("\n")), last, nil
}
