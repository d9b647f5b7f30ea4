package mcpserver

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tabvalet/tabvalet/protocol"
)

// Shots is the capture folder: screenshots, and what a tool was told to put into a file. Of the files that it named
// itself it keeps the newest Keep; what has another name is not its to remove.
type Shots struct {
	Dir  string
	Keep int

	count atomic.Int64
}

// bareName is a name that stays inside the folder on every system.
var bareName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9 ._-]{0,99}$`)

// check tells whether a file may have that name; "" is none.
func (s *Shots) check(name string) error {
	if name == "" {
		return nil
	}
	if s == nil || s.Dir == "" {
		return protocol.Errorf(protocol.BadArgument, "there is no capture folder, so filename cannot be used")
	}
	if !bareName.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".") {
		return protocol.Errorf(protocol.BadArgument, "filename must be a bare name of letters, digits, spaces, dots, dashes and underscores")
	}
	return nil
}

// ownName is a name that we gave.
var ownName = regexp.MustCompile(`^\d{8}-\d{6}\.\d{3}-t\d+-\d+\.(png|jpeg|webp|pdf|bin)$`)

// name makes a name that was not used.
func (s *Shots) name(tab, mime string) string {
	if s == nil {
		return ""
	}
	ext := strings.TrimPrefix(mime, "image/")
	return fmt.Sprintf("%s-%s-%d.%s", time.Now().Format("20060102-150405.000"), tab, s.count.Add(1), ext)
}

// save writes a file, replacing one of that name, and gives its path.
func (s *Shots) save(name string, data []byte) (string, error) {
	if s == nil || s.Dir == "" {
		return "", errors.New("no capture folder")
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", fmt.Errorf("making the capture folder: %w", err)
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", fmt.Errorf("opening the capture folder: %w", err)
	}
	defer root.Close()
	root.Remove(name) // a link of that name is replaced, not followed
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("saving a capture: %w", err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("saving a capture: %w", err)
	}
	s.prune(root)
	return filepath.Join(s.Dir, name), nil
}

// prune removes the oldest files over Keep.
func (s *Shots) prune(root *os.Root) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil || s.Keep <= 0 {
		return
	}
	type file struct {
		name string
		time time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && ownName.MatchString(e.Name()) {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.name, b.name)) })
	for _, f := range files[:max(0, len(files)-s.Keep)] {
		root.Remove(f.name)
	}
}
