package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// unpack makes dir hold exactly the files of tree, and says whether it had to. The new files are complete beside dir before
// they take its place: a browser never loads half of them.
func unpack(tree fs.FS, dir string) (changed bool, err error) {
	if same(tree, dir) {
		return false, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("unpacking the extension: %w", err)
		}
	}()
	fresh, old := dir+".new", dir+".old"
	if err := errors.Join(os.RemoveAll(fresh), os.RemoveAll(old)); err != nil { // of a run that was cut short
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return false, err
	}
	if err := os.CopyFS(fresh, tree); err != nil {
		return false, errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, dir); err != nil {
		return false, errors.Join(err, os.Rename(old, dir))
	}
	return true, os.RemoveAll(old)
}

// same says that dir holds the files of tree, all of them and no others.
func same(tree fs.FS, dir string) bool {
	count := func(fsys fs.FS) (n int) {
		fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return nil
		})
		return n
	}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return errors.Join(fs.ErrInvalid, err)
		}
		have, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(have, want) {
			return errors.Join(fs.ErrInvalid, err)
		}
		return nil
	})
	return err == nil && count(os.DirFS(dir)) == count(tree)
}

// unpackedVersion is what the manifest in dir says, "" if there is none.
func unpackedVersion(dir string) string {
	var manifest struct {
		Version string `json:"version"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil || json.Unmarshal(data, &manifest) != nil {
		return ""
	}
	return manifest.Version
}
