package store

import "time"

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
	Expires time.Time
	Used    string // id of the profile that used it, "": it is open
}

// OpenWindow opens a window for life, in place of any other. profile narrows a renewal, and is "" otherwise.
func (s *Store) OpenWindow(kind WindowKind, profile string, life time.Duration) (Window, error) {
	panic("todo")
}

// OpenManual opens a window for a new profile whose id and key go into a manual code.
func (s *Store) OpenManual(label, extension string, life time.Duration) (Window, Key, error) {
	panic("todo")
}

// Window gives the window that is open or was just used; the code is pairing_closed if there is none.
func (s *Store) Window() (Window, error) { panic("todo") }

// CloseWindow closes it, whoever opened it.
func (s *Store) CloseWindow() error { panic("todo") }
