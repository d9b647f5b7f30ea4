package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// put makes path hold data with that mode, as a whole or not at all, and says whether it had to.
func put(path string, data []byte, mode fs.FileMode) (changed bool, err error) {
	if info, err := os.Lstat(path); err == nil && info.Mode() == mode {
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			return false, nil
		}
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tabvalet-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return false, err
	}
	return true, os.Rename(f.Name(), path)
}

// absent lists the folders that making dir would make, the innermost first.
func absent(dir string) []string {
	var out []string
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			return out
		}
		out = append(out, dir)
		dir = filepath.Dir(dir)
	}
}

// present says that path names something.
func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
