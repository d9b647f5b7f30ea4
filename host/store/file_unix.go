//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNoFollow opens without following a link and without waiting for whoever writes a pipe.
func openNoFollow(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK): // the latter on FreeBSD
		return nil, &Error{Code: codeSymlink, Path: path}
	case errors.Is(err, unix.ENXIO): // a socket
		return nil, &Error{Code: codeNotRegular, Path: path}
	case errors.Is(err, fs.ErrPermission):
		return nil, &Error{codePerms, path, errors.New("it may not be opened")}
	case err != nil:
		return nil, fmt.Errorf("opening a file of ours: %w", err)
	}
	return f, nil
}

func checkOwned(path string, info os.FileInfo) error {
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case int(st.Uid) != os.Geteuid():
		return &Error{codeOwner, path, fmt.Errorf("user %d", st.Uid)}
	case info.Mode().Perm()&0o077 != 0:
		return &Error{codePerms, path, fmt.Errorf("mode %04o", info.Mode().Perm())}
	case st.Nlink != 1:
		return &Error{codeHardlink, path, fmt.Errorf("%d names", st.Nlink)}
	}
	return nil
}

// checkDir refuses a folder that others can write. A missing one is fs.ErrNotExist.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("checking a folder: %w", err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || int(st.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return &Error{codeDirPerms, dir, fmt.Errorf("user %d, mode %04o", st.Uid, info.Mode().Perm())}
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// tryLock takes the lock that ends with the file's last descriptor, so with the process at the latest.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}
