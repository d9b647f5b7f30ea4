package store

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
)

const (
	pairingFormat = "tabvalet-pairing/1"
	maxProfiles   = 32
	seenEvery     = time.Hour // the file that holds the keys is not rewritten at every link
)

// A Profile is one paired Chrome profile.
type Profile struct {
	ID        string // 22 characters
	Label     string
	Browser   string // what the native host was started by, or ""
	Extension string // extension id
	Created   time.Time
	Seen      time.Time // last proof that verified, to the hour; zero: never
	key       Key
}

// A Pairing is the pairing file as it was read.
type Pairing struct {
	Epoch    int // grows with every key that is replaced or dropped
	Profiles []Profile
}

// A Store is the pairing of one user. Its methods may be used by any goroutine and by several processes.
type Store struct{ dirs *Dirs }

// Open makes a store of the folders; it touches nothing.
func Open(dirs *Dirs) *Store { return &Store{dirs} }

// Dirs gives the folders.
func (s *Store) Dirs() *Dirs { return s.dirs }

// PairingPath is where the pairing file is.
func (s *Store) PairingPath() string { return filepath.Join(s.dirs.Config, "pairing.json") }

// Load reads the pairing. Without a file the code is not_paired; a file that cannot be used has its own.
func (s *Store) Load() (*Pairing, error) {
	data, err := readFile(s.PairingPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Code: codeNotPaired, Path: s.PairingPath()}
	}
	if err != nil {
		return nil, err
	}
	return decodePairing(s.PairingPath(), data)
}

// Epoch is the pairing's epoch, 0 if nothing can be read.
func (s *Store) Epoch() int {
	p, err := s.Load()
	if err != nil {
		return 0
	}
	return p.Epoch
}

// Find gives the profile with that id, or with that label if only one has it.
func (s *Store) Find(name string) (Profile, error) {
	p, err := s.Load()
	if err != nil {
		return Profile{}, err
	}
	i, err := p.find(name)
	if err != nil {
		return Profile{}, err
	}
	return p.Profiles[i], nil
}

// Key gives the current key of a profile, read afresh. The profile of a manual code counts while its window is open.
func (s *Store) Key(profile string) ([]byte, bool) {
	p, err := s.Load()
	if err != nil && !hasCode(err, codeNotPaired) {
		return nil, false
	}
	if err == nil {
		if i := p.index(profile); i >= 0 {
			return p.Profiles[i].key[:], true
		}
	}
	if w, err := s.readWindow(); err == nil && w.isOpen() && w.Kind == WindowManual && w.Profile == profile {
		return w.key[:], true
	}
	return nil, false
}

// Proved notes that a profile has proved its key: a manual code becomes an entry, and the time is kept.
func (s *Store) Proved(profile string) error {
	return s.update(func(p *Pairing) error {
		now := time.Now()
		if i := p.index(profile); i >= 0 {
			if now.Sub(p.Profiles[i].Seen) < seenEvery {
				return errUnchanged
			}
			p.Profiles[i].Seen = now
			return nil
		}
		w, err := s.readWindow()
		if err != nil || !w.isOpen() || w.Kind != WindowManual || w.Profile != profile {
			return &Error{Code: codeUnknown, Path: s.PairingPath()}
		}
		if err := s.useWindow(w, profile); err != nil {
			return err
		}
		return p.add(Profile{ID: profile, Label: w.label, Extension: w.extension, Created: now, Seen: now, key: w.key})
	})
}

// Pair makes an entry with a fresh key, while a window for it is open, and closes the window.
func (s *Store) Pair(label, browser, extension string) (Profile, Key, error) {
	profile := Profile{ID: NewID(), Label: cleanLabel(label), Browser: cleanLabel(browser), Extension: extension,
		Created: time.Now(), key: newKey()}
	err := s.update(func(p *Pairing) error {
		w, err := s.readWindow()
		if err != nil {
			return err
		}
		if !w.isOpen() || w.Kind != WindowPair {
			return &Error{Code: codeClosed}
		}
		if err := p.add(profile); err != nil {
			return err
		}
		return s.useWindow(w, profile.ID)
	})
	if err != nil {
		return Profile{}, Key{}, err
	}
	return profile, profile.key, nil
}

// Renew gives a known profile a fresh key, while a window for it is open, and closes the window.
func (s *Store) Renew(profile string) (Profile, Key, error) {
	var renewed Profile
	err := s.update(func(p *Pairing) error {
		w, err := s.readWindow()
		if err != nil {
			return err
		}
		if !w.isOpen() || (w.Profile != "" && w.Profile != profile) {
			return &Error{Code: codeClosed}
		}
		i := p.index(profile)
		if i < 0 {
			return &Error{Code: codeUnknown, Path: s.PairingPath()}
		}
		p.Profiles[i].key = newKey()
		renewed = p.Profiles[i]
		return s.useWindow(w, profile)
	})
	if err != nil {
		return Profile{}, Key{}, err
	}
	return renewed, renewed.key, nil
}

// Rotate replaces the key of one profile, by id or label, or of all for "", by keys that nobody has.
func (s *Store) Rotate(name string) error {
	return s.update(func(p *Pairing) error {
		if len(p.Profiles) == 0 {
			return &Error{Code: codeNotPaired, Path: s.PairingPath()}
		}
		p.Epoch++
		if name == "" {
			for i := range p.Profiles {
				p.Profiles[i].key = newKey()
			}
			return nil
		}
		i, err := p.find(name)
		if err != nil {
			return err
		}
		p.Profiles[i].key = newKey()
		return nil
	})
}

// Remove forgets a profile, by id or label.
func (s *Store) Remove(name string) (Profile, error) {
	var removed Profile
	err := s.update(func(p *Pairing) error {
		i, err := p.find(name)
		if err != nil {
			return err
		}
		removed = p.Profiles[i]
		p.Profiles = slices.Delete(p.Profiles, i, i+1)
		p.Epoch++
		return nil
	})
	return removed, err
}

// Recover puts a pairing file that is refused aside, with its bytes and mode, and says where. A file that can be used, one
// of a newer version and one in a folder that others can write stay where they are.
func (s *Store) Recover() (aside string, err error) {
	unlock, err := lock(s.lockPath())
	if err != nil {
		return "", err
	}
	defer unlock()
	path := s.PairingPath()
	_, err = s.Load()
	switch {
	case err == nil || hasCode(err, codeNotPaired):
		return "", &Error{codeNotRecovering, path, errors.New("there is nothing to recover from")}
	case hasCode(err, codeNewer) || hasCode(err, codeDirPerms):
		return "", err
	}
	aside = path + ".bad-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("putting %s aside: %w", path, err)
	}
	return aside, syncDir(s.dirs.Config)
}

var errUnchanged = errors.New("nothing to write")

// update changes the pairing under the lock. A file that is refused is not touched; a missing one is as good as an empty.
func (s *Store) update(change func(*Pairing) error) error {
	unlock, err := lock(s.lockPath())
	if err != nil {
		return err
	}
	defer unlock()
	p, err := s.Load()
	if hasCode(err, codeNotPaired) {
		p, err = &Pairing{Epoch: 1}, nil
	}
	if err != nil {
		return err
	}
	if err := change(p); err != nil {
		if errors.Is(err, errUnchanged) {
			return nil
		}
		return err
	}
	data, err := encodePairing(p)
	if err != nil {
		return err
	}
	return writeFile(s.PairingPath(), data)
}

func (s *Store) lockPath() string { return filepath.Join(s.dirs.Config, "pairing.lock") }

func (p *Pairing) index(id string) int {
	return slices.IndexFunc(p.Profiles, func(q Profile) bool { return q.ID == id })
}

func (p *Pairing) find(name string) (int, error) {
	if i := p.index(name); i >= 0 {
		return i, nil
	}
	found := -1
	for i, q := range p.Profiles {
		if q.Label != name {
			continue
		}
		if found >= 0 {
			return -1, &Error{codeBadArgument, "", fmt.Errorf("two profiles are called %q; give the id", name)}
		}
		found = i
	}
	if found < 0 {
		return -1, &Error{codeUnknown, "", fmt.Errorf("no profile is called %q", name)}
	}
	return found, nil
}

func (p *Pairing) add(q Profile) error {
	if len(p.Profiles) == maxProfiles {
		return &Error{codeBadArgument, "", fmt.Errorf("there are %d profiles already; revoke one", maxProfiles)}
	}
	p.Profiles = append(p.Profiles, q)
	return nil
}

// The file. Optional members are those with omitzero.
type pairingFile struct {
	Format   string        `json:"format"`
	Epoch    int           `json:"epoch"`
	Profiles []profileFile `json:"profiles"`
}

type profileFile struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	Browser   string `json:"browser,omitzero"`
	Extension string `json:"extension"`
	Key       string `json:"key"`
	Created   string `json:"created"`
	Seen      string `json:"seen,omitzero"`
}

var extensionID = regexp.MustCompile(`^[a-p]{32}$`)

func decodePairing(path string, data []byte) (*Pairing, error) {
	if err := checkFormat(path, data, pairingFormat); err != nil {
		return nil, err
	}
	var file pairingFile
	if err := decodeFile(path, data, &file); err != nil {
		return nil, err
	}
	bad := func(what string) error { return &Error{codeSchema, path, errors.New(what)} }
	if file.Epoch < 1 {
		return nil, bad("the epoch counts from 1")
	}
	if len(file.Profiles) > maxProfiles {
		return nil, bad("too many profiles")
	}
	p := &Pairing{Epoch: file.Epoch}
	for i, f := range file.Profiles {
		q := Profile{ID: f.ID, Label: f.Label, Browser: f.Browser, Extension: f.Extension}
		_, idOK := decodeID(f.ID)
		keyOK := q.key.parse(f.Key)
		createdOK, seenOK := parseTime(f.Created, &q.Created), f.Seen == "" || parseTime(f.Seen, &q.Seen)
		switch {
		case !idOK || p.index(f.ID) >= 0:
			return nil, bad(fmt.Sprintf("profile %d: the id", i))
		case f.Label == "" || f.Label != cleanLabel(f.Label) || f.Browser != "" && f.Browser != cleanLabel(f.Browser):
			return nil, bad(fmt.Sprintf("profile %d: the label or the browser", i))
		case !extensionID.MatchString(f.Extension):
			return nil, bad(fmt.Sprintf("profile %d: the extension id", i))
		case !keyOK:
			return nil, bad(fmt.Sprintf("profile %d: the key", i))
		case !createdOK || !seenOK:
			return nil, bad(fmt.Sprintf("profile %d: a time", i))
		}
		p.Profiles = append(p.Profiles, q)
	}
	return p, nil
}

func encodePairing(p *Pairing) ([]byte, error) {
	file := pairingFile{Format: pairingFormat, Epoch: p.Epoch}
	for _, q := range p.Profiles {
		file.Profiles = append(file.Profiles, profileFile{ID: q.ID, Label: q.Label, Browser: q.Browser,
			Extension: q.Extension, Key: q.key.text(), Created: formatTime(q.Created), Seen: formatTime(q.Seen)})
	}
	return encodeFile(&file)
}

// checkFormat tells a newer file from a malformed one, before anything else in it counts.
func checkFormat(path string, data []byte, want string) error {
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return decodeFile(path, data, &head) // fails too, with the right code
	}
	name, version, _ := strings.Cut(head.Format, "/")
	switch wantName, _, _ := strings.Cut(want, "/"); {
	case head.Format == want:
		return nil
	case name == wantName && regexp.MustCompile(`^[1-9][0-9]*$`).MatchString(version):
		return &Error{codeNewer, path, fmt.Errorf("format %s", head.Format)}
	}
	return &Error{codeSchema, path, errors.New("the format is not ours")}
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func parseTime(s string, t *time.Time) bool {
	parsed, err := time.Parse(time.RFC3339, s)
	*t = parsed
	return err == nil && formatTime(parsed) == s
}

// cleanLabel makes a name of a profile or a browser fit for one line of a terminal.
func cleanLabel(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 64 {
		s = strings.TrimSpace(string(r[:64]))
	}
	if s == "" {
		return "Chrome"
	}
	return s
}

func newKey() (k Key) {
	rand.Read(k[:])
	return k
}

func (k *Key) text() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

func (k *Key) parse(s string) bool {
	b, ok := decodeText(s, len(k))
	copy(k[:], b)
	return ok && *k != Key{}
}

// NewID makes an id of an instance or of a profile: 16 random bytes in 22 characters, the first of them not a dash, which
// would look like a flag where a person types the id.
func NewID() string {
	var b [16]byte
	for {
		rand.Read(b[:])
		if id := base64.RawURLEncoding.EncodeToString(b[:]); id[0] != '-' {
			return id
		}
	}
}

func decodeID(s string) ([]byte, bool) { return decodeText(s, 16) }

func decodeText(s string, size int) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return b, err == nil && len(b) == size && base64.RawURLEncoding.EncodeToString(b) == s
}
