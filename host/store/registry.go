package store

import "time"

// An Entry is one host that runs now.
type Entry struct {
	Instance  string
	Name      string // the client's claimed name
	PID       int
	Port      int
	Started   time.Time
	Connected bool
}

// A Registration is this host's place in the list; it ends with the process at the latest.
type Registration struct{}

// Register enters a host into the list.
func Register(dirs *Dirs, e Entry) (*Registration, error) { panic("todo") }

// Update changes the entry; the instance stays.
func (r *Registration) Update(change func(*Entry)) error { panic("todo") }

// Remove takes the entry out of the list.
func (r *Registration) Remove() error { panic("todo") }

// List gives the hosts that run, oldest first, and forgets those that ended.
func List(dirs *Dirs) ([]Entry, error) { panic("todo") }

// NewID makes an id of an instance or of a profile: 16 random bytes in 22 characters.
func NewID() string { panic("todo") }
