package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Entry is one host that runs now.
type Entry struct {
	Instance  string
	Name      string // the client's claimed name
	PID       int
	Port      int
	Started   time.Time
	Connected bool
}

// A Registration is this host's place in the list. It ends with the process at the latest: the host holds a lock beside
// its entry, and who finds the lock free takes the entry away. So a reused process id deceives nobody.
type Registration struct {
	path string
	lock *os.File

	mu      sync.Mutex
	entry   Entry
	removed bool
}

// Register enters a host into the list.
func Register(dirs *Dirs, e Entry) (*Registration, error) {
	if _, ok := decodeID(e.Instance); !ok {
		return nil, &Error{codeBadArgument, "", errors.New("an instance has an id of NewID")}
	}
	if err := makeDir(dirs.Runtime); err != nil {
		return nil, err
	}
	r := &Registration{path: filepath.Join(dirs.Runtime, e.Instance+".json"), entry: e}
	var err error
	if r.lock, err = holdLock(lockOf(r.path)); err != nil {
		return nil, fmt.Errorf("registering a host: %w", err)
	}
	if err := r.write(); err != nil {
		r.lock.Close()
		os.Remove(lockOf(r.path))
		return nil, err
	}
	return r, nil
}

// Update changes the entry; the instance stays. After Remove it does nothing.
func (r *Registration) Update(change func(*Entry)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return nil
	}
	instance := r.entry.Instance
	change(&r.entry)
	r.entry.Instance = instance
	return r.write()
}

// Remove takes the entry out of the list.
func (r *Registration) Remove() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return nil
	}
	r.removed = true
	err := errors.Join(os.Remove(r.path), r.lock.Close())
	if lockErr := os.Remove(lockOf(r.path)); !errors.Is(lockErr, fs.ErrNotExist) { // List may be faster
		err = errors.Join(err, lockErr)
	}
	return err
}

// holdLock takes a lock that List may just be trying, or taking away with a file that looked left behind.
func holdLock(path string) (*os.File, error) {
	for tries := 0; ; tries++ {
		f, err := tryLock(path)
		if err == nil {
			held, heldErr := f.Stat()
			named, namedErr := os.Stat(path)
			if heldErr == nil && namedErr == nil && os.SameFile(held, named) {
				return f, nil
			}
			f.Close()
		} else if !errors.Is(err, errLocked) || tries == 100 {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

func (r *Registration) write() error {
	data, err := encodeFile(&entryFile{Instance: r.entry.Instance, Name: cleanLabel(r.entry.Name), PID: r.entry.PID,
		Port: r.entry.Port, Started: formatTime(r.entry.Started), Connected: r.entry.Connected})
	if err != nil {
		return err
	}
	return writeFile(r.path, data)
}

type entryFile struct {
	Instance  string `json:"instance"`
	Name      string `json:"name"`
	PID       int    `json:"pid"`
	Port      int    `json:"port"`
	Started   string `json:"started"`
	Connected bool   `json:"connected"`
}

// List gives the hosts that run, oldest first, and takes away the entries of those that ended. What cannot be read is no
// entry.
func List(dirs *Dirs) ([]Entry, error) {
	files, err := os.ReadDir(dirs.Runtime)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing hosts: %w", err)
	}
	var entries []Entry
	for _, f := range files {
		instance, ok := strings.CutSuffix(f.Name(), ".lock")
		if _, isID := decodeID(instance); !ok || !isID {
			continue
		}
		path := filepath.Join(dirs.Runtime, instance+".json")
		if lock, err := tryLock(lockOf(path)); err == nil {
			os.Remove(path)
			os.Remove(path + ".tmp")
			lock.Close()
			os.Remove(lockOf(path))
			continue
		}
		if e, err := readEntry(path); err == nil && e.Instance == instance {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Instance, b.Instance))
	})
	return entries, nil
}

func lockOf(path string) string { return strings.TrimSuffix(path, ".json") + ".lock" }

func readEntry(path string) (Entry, error) {
	data, err := readFile(path)
	if err != nil {
		return Entry{}, err
	}
	var f entryFile
	if err := decodeFile(path, data, &f); err != nil {
		return Entry{}, err
	}
	e := Entry{Instance: f.Instance, Name: f.Name, PID: f.PID, Port: f.Port, Connected: f.Connected}
	if !parseTime(f.Started, &e.Started) || f.Port < 1 || f.Port > 65535 || f.PID < 1 {
		return Entry{}, &Error{Code: codeSchema, Path: path}
	}
	return e, nil
}
