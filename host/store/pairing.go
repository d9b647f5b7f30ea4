package store

import "time"

// A Profile is one paired Chrome profile.
type Profile struct {
	ID        string // 22 characters
	Label     string
	Browser   string // what the native host was started by, or ""
	Extension string // extension id
	Created   time.Time
	Seen      time.Time // last proof that verified; zero: never
	key       Key
}

// A Pairing is the pairing file as it was read.
type Pairing struct {
	Epoch    int
	Profiles []Profile
}

// A Store is the pairing of one user. Its methods may be used by any goroutine and by several processes.
type Store struct{ dirs *Dirs }

// Open makes a store of the folders; it touches nothing.
func Open(dirs *Dirs) *Store { return &Store{dirs} }

// Dirs gives the folders.
func (s *Store) Dirs() *Dirs { return s.dirs }

// PairingPath is where the pairing file is.
func (s *Store) PairingPath() string { panic("todo") }

// Load reads the pairing. Without a file the error has the code not_paired.
func (s *Store) Load() (*Pairing, error) { panic("todo") }

// Epoch is the pairing's epoch, which grows with every key that is replaced or dropped; 0 if nothing can be read.
func (s *Store) Epoch() int { panic("todo") }

// Key gives the current key of a profile, read afresh. A manual code that waits for its first proof counts, while its
// window is open.
func (s *Store) Key(profile string) ([]byte, bool) { panic("todo") }

// Proved notes that a profile has proved its key: a manual code becomes an entry, and the time is kept.
func (s *Store) Proved(profile string) error { panic("todo") }

// Pair makes an entry with a fresh key, while a window for it is open, and closes the window.
func (s *Store) Pair(label, browser, extension string) (Profile, Key, error) { panic("todo") }

// Renew gives a known profile a fresh key, while a window for it is open, and closes the window.
func (s *Store) Renew(profile string) (Profile, Key, error) { panic("todo") }

// Rotate replaces the key of one profile, or of all for "", by keys that nobody has.
func (s *Store) Rotate(profile string) error { panic("todo") }

// Remove forgets a profile, by id or label.
func (s *Store) Remove(profile string) (Profile, error) { panic("todo") }

// Find gives the profile with that id, or with that label if only one has it.
func (s *Store) Find(name string) (Profile, error) { panic("todo") }

// Recover puts a pairing file that is refused aside and says where; with a usable file or none it does nothing and says so.
func (s *Store) Recover() (aside string, err error) { panic("todo") }
