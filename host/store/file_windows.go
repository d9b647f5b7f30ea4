package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// Windows keeps others out by the access list of the user's profile folder, which new files inherit; modes say nothing.

func openNoFollow(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("opening a file of ours: %w", err)
	}
	if info.Mode()&(os.ModeSymlink|os.ModeIrregular) != 0 {
		return nil, &Error{Code: codeSymlink, Path: path}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening a file of ours: %w", err)
	}
	return f, nil
}

func checkOwned(string, os.FileInfo) error { return nil }

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("checking a folder: %w", err)
	}
	if !info.IsDir() {
		return &Error{codeDirPerms, dir, errors.New("not a folder")}
	}
	return nil
}

func syncDir(string) error { return nil }

func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0,
		1, 0, new(windows.Overlapped))
	if err != nil {
		f.Close()
		if err == windows.ERROR_LOCK_VIOLATION {
			return nil, errLocked
		}
		return nil, err
	}
	return f, nil
}
