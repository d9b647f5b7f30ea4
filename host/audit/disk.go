package audit

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// file and disk are all that writing asks of the system, so that a test can make any one of these calls fail.
type file interface {
	io.WriteCloser
	Sync() error
	Stat() (fs.FileInfo, error)
}

type disk struct {
	mkdir   func(dir string) error
	create  func(path string) (file, error)
	lstat   func(path string) (fs.FileInfo, error)
	remove  func(path string) error
	syncDir func(dir string) error
}

var realDisk = disk{
	mkdir: func(dir string) error { return os.MkdirAll(dir, 0o700) },
	create: func(path string) (file, error) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND|noFollow, 0o600)
		if err != nil {
			return nil, err
		}
		return f, nil
	},
	lstat:   os.Lstat,
	remove:  os.Remove,
	syncDir: syncDir,
}

var errNotRegular = errors.New("not a regular file")

// openRead opens a file of the record, never through a link and never a pipe that would block.
func openRead(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(errNotRegular, err)
	}
	return f, nil
}

// reason is the system's word without the path.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
