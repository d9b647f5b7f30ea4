package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const windowFormat = "tabvalet-window/1"

// maxWindow bounds how long any window is believed, whatever its file says.
const maxWindow = 10 * time.Minute

// WindowKind is what a pairing window is open for.
type WindowKind string

// The values of WindowKind.
const (
	WindowPair   WindowKind = "pair"   // a new profile; a known one may renew too
	WindowRenew  WindowKind = "renew"  // a known profile
	WindowManual WindowKind = "manual" // the first proof with a code
)

// A Window is a time in which a profile may be paired. It closes after its first success.
type Window struct {
	Kind    WindowKind
	Profile string // for whom, "": anyone
	Opened  time.Time
	Expires time.Time
	Used    string // id of the profile that used it, "": nobody yet

	// Of a manual code.
	label, extension string
	key              Key
}

// isOpen goes by the wall clock: a window outlives no restart of the clock, in either direction.
func (w *Window) isOpen() bool {
	now := time.Now()
	return w.Used == "" && !now.Before(w.Opened) && now.Before(w.Expires) && w.Expires.Sub(w.Opened) <= maxWindow
}

// OpenWindow opens a window for life, in place of any other. profile narrows a renewal, and is "" otherwise. While the
// pairing file is refused, no window opens.
func (s *Store) OpenWindow(kind WindowKind, profile string, life time.Duration) (Window, error) {
	return s.openWindow(Window{Kind: kind, Profile: profile}, life)
}

// OpenManual opens a window for a new profile, whose id (Window.Profile) and key go into a manual code.
func (s *Store) OpenManual(label, extension string, life time.Duration) (Window, Key, error) {
	w, err := s.openWindow(Window{Kind: WindowManual, Profile: NewID(), label: cleanLabel(label), extension: extension,
		key: newKey()}, life)
	return w, w.key, err
}

func (s *Store) openWindow(w Window, life time.Duration) (Window, error) {
	unlock, err := lock(s.lockPath())
	if err != nil {
		return Window{}, err
	}
	defer unlock()
	if _, err := s.Load(); err != nil && !hasCode(err, codeNotPaired) {
		return Window{}, err
	}
	w.Opened = time.Now().Truncate(time.Second)
	w.Expires = w.Opened.Add(life)
	return w, s.writeWindow(&w)
}

// Window gives the window that is open, or was used and not closed yet. If there is none the code is pairing_closed. It
// waits for a pairing that is being written, so that whoever sees a used window finds the profile.
func (s *Store) Window() (Window, error) {
	unlock, err := lock(s.lockPath())
	if err != nil {
		return Window{}, err
	}
	defer unlock()
	w, err := s.readWindow()
	if err != nil {
		return Window{}, err
	}
	if w.Used == "" && !w.isOpen() {
		return Window{}, &Error{Code: codeClosed}
	}
	return *w, nil
}

// CloseWindow closes it, whoever opened it.
func (s *Store) CloseWindow() error {
	unlock, err := lock(s.lockPath())
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(s.windowPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// useWindow closes w before the pairing is written: a crash in between costs one more try, never a second profile.
func (s *Store) useWindow(w *Window, profile string) error {
	used := *w
	used.Used, used.key = profile, Key{}
	return s.writeWindow(&used)
}

func (s *Store) windowPath() string { return filepath.Join(s.dirs.Config, "window.json") }

type windowFile struct {
	Format    string     `json:"format"`
	Kind      WindowKind `json:"kind"`
	Profile   string     `json:"profile,omitzero"`
	Opened    string     `json:"opened"`
	Expires   string     `json:"expires"`
	Used      string     `json:"used,omitzero"`
	Label     string     `json:"label,omitzero"`
	Extension string     `json:"extension,omitzero"`
	Key       string     `json:"key,omitzero"`
}

func (s *Store) writeWindow(w *Window) error {
	data, err := encodeWindow(w)
	if err != nil {
		return err
	}
	return writeFile(s.windowPath(), data)
}

func encodeWindow(w *Window) ([]byte, error) {
	file := windowFile{Format: windowFormat, Kind: w.Kind, Profile: w.Profile, Opened: formatTime(w.Opened),
		Expires: formatTime(w.Expires), Used: w.Used, Label: w.label, Extension: w.extension}
	if w.key != (Key{}) {
		file.Key = w.key.text()
	}
	return encodeFile(&file)
}

// readWindow fails closed: whatever is wrong with the file, no window is open.
func (s *Store) readWindow() (*Window, error) {
	path := s.windowPath()
	data, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{Code: codeClosed}
	}
	if err != nil {
		return nil, &Error{codeClosed, path, err}
	}
	w, err := decodeWindow(path, data)
	if err != nil {
		return nil, &Error{codeClosed, path, err}
	}
	return w, nil
}

func decodeWindow(path string, data []byte) (*Window, error) {
	if err := checkFormat(path, data, windowFormat); err != nil {
		return nil, err
	}
	var file windowFile
	if err := decodeFile(path, data, &file); err != nil {
		return nil, err
	}
	w := &Window{Kind: file.Kind, Profile: file.Profile, Used: file.Used, label: file.Label, extension: file.Extension}
	_, profileOK := decodeID(file.Profile)
	_, usedOK := decodeID(file.Used)
	manual := file.Kind == WindowManual
	switch {
	case !manual && file.Kind != WindowPair && file.Kind != WindowRenew,
		file.Profile != "" && !profileOK,
		file.Used != "" && !usedOK,
		!parseTime(file.Opened, &w.Opened) || !parseTime(file.Expires, &w.Expires),
		manual && (!profileOK || file.Label == "" || file.Label != cleanLabel(file.Label)),
		manual && !extensionID.MatchString(file.Extension),
		manual && file.Used == "" && !w.key.parse(file.Key),
		!manual && (file.Key != "" || file.Label != "" || file.Extension != ""):
		return nil, &Error{codeSchema, path, errors.New("a member is missing or malformed")}
	}
	return w, nil
}
