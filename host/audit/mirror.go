package audit

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// maxHeads bounds what is kept of a mirror; the oldest files go first.
const maxHeads = 4096

// A Mirror is what the extension of one profile was last seen to keep of the record.
type Mirror struct {
	Profile string          `json:"profile"`
	Seen    time.Time       `json:"seen"`
	Heads   []protocol.Head `json:"heads"` // by file
}

// SaveMirror stores what an extension has shown of its heads under dir. Heads only grow: an extension that was installed
// anew shows little, and that takes nothing back.
func SaveMirror(dir, profile string, heads []protocol.Head) error {
	path, err := mirrorPath(dir, profile)
	if err != nil {
		return err
	}
	unlock, err := store.Lock(filepath.Join(dir, "mirror", "lock")) // several hosts may serve one profile
	if err != nil {
		return fmt.Errorf("storing the mirror: %w", err)
	}
	defer unlock()
	old, err := loadMirror(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("storing the mirror: %w", err)
	}
	m := Mirror{Profile: profile, Seen: time.Now().UTC().Truncate(time.Second), Heads: merge(old.Heads, heads)}
	data, err := json.Marshal(m)
	if err == nil {
		err = store.WriteFile(path, data)
	}
	if err != nil {
		return fmt.Errorf("storing the mirror: %w", err)
	}
	return nil
}

// Mirrors reads all stored mirrors of dir.
func Mirrors(dir string) ([]Mirror, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "mirror", "*.json"))
	if err != nil {
		return nil, err
	}
	var out []Mirror
	for _, path := range paths {
		m, err := loadMirror(path)
		if err != nil {
			return nil, fmt.Errorf("reading the mirror %s: %w", filepath.Base(path), err)
		}
		out = append(out, m)
	}
	return out, nil
}

// merge keeps the later head of each file; between two of the same row it keeps the older witness.
func merge(old, heads []protocol.Head) []protocol.Head {
	byFile := make(map[string]protocol.Head, len(old)+len(heads))
	for _, h := range append(slices.Clone(old), heads...) {
		if !namePattern.MatchString(h.File) || h.Seq < 1 || !isHash(h.Hash) {
			continue
		}
		if h.Seq > byFile[h.File].Seq {
			byFile[h.File] = h
		}
	}
	out := make([]protocol.Head, 0, len(byFile))
	for _, h := range byFile {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b protocol.Head) int { return cmp.Compare(a.File, b.File) })
	return out[max(0, len(out)-maxHeads):]
}

// mirrorPath takes a profile id (letters, digits, - and _) only: it becomes a file name.
func mirrorPath(dir, profile string) (string, error) {
	if !instancePattern.MatchString(profile) {
		return "", fmt.Errorf("storing the mirror: profile id %q", profile)
	}
	return filepath.Join(dir, "mirror", profile+".json"), nil
}

func loadMirror(path string) (Mirror, error) {
	f, err := openRead(path)
	if err != nil {
		return Mirror{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20+1))
	if err != nil {
		return Mirror{}, err
	}
	if len(data) > 1<<20 {
		return Mirror{}, errors.New("too large")
	}
	return decodeMirror(data, strings.TrimSuffix(filepath.Base(path), ".json"))
}

func decodeMirror(data []byte, profile string) (Mirror, error) {
	var m Mirror
	if err := json.Unmarshal(data, &m, json.RejectUnknownMembers(true)); err != nil {
		return Mirror{}, err
	}
	if m.Profile != profile {
		return Mirror{}, fmt.Errorf("it names the profile %q", m.Profile)
	}
	for _, h := range m.Heads {
		if _, err := hex.DecodeString(h.Hash); err != nil || !namePattern.MatchString(h.File) {
			return Mirror{}, fmt.Errorf("a malformed head of %q", h.File)
		}
	}
	return m, nil
}
