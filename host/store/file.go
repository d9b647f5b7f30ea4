package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxFile bounds what is read of any file of ours.
const maxFile = 64 << 10

// fault stands before each step of a write; tests make it fail, or kill the process there.
var fault = func(step string) error { return nil }

// readFile reads a file that must be ours alone. A missing file is fs.ErrNotExist.
func readFile(path string) ([]byte, error) {
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := openNoFollow(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened, whatever the path means by now
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Code: codeNotRegular, Path: path}
	}
	if err := checkOwned(path, info); err != nil {
		return nil, err
	}
	if size := info.Size(); size == 0 || size > maxFile {
		return nil, &Error{codeSize, path, fmt.Errorf("%d bytes", size)}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, &Error{Code: codeSize, Path: path}
	}
	return data, nil
}

// writeFile puts a whole file in place of another, or leaves the other as it was. Whoever calls it is the only writer of
// path: the name of the unfinished file is fixed, so that the next write takes away what a crash left.
func writeFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return err
	}
	tmp := path + ".tmp"
	defer func() {
		if err != nil {
			os.Remove(tmp)
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fault("create"); err != nil {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	write := func() error {
		if err := fault("write"); err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := fault("sync"); err != nil {
			return err
		}
		return f.Sync()
	}
	if err := errors.Join(write(), f.Close()); err != nil {
		return err
	}
	if err := fault("rename"); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	if err := fault("sync dir"); err != nil {
		return err
	}
	return syncDir(dir)
}

// makeDir makes a folder of ours, and refuses one that others can write.
func makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	return checkDir(dir)
}

// lock keeps other processes from writing into a folder of ours until unlock is called.
func lock(path string) (unlock func(), err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) {
		f, err := tryLock(path)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if time.Now().After(deadline) {
			return nil, &Error{codeBusy, path, errLocked}
		}
	}
}

var errLocked = errors.New("another process is writing")

// decodeFile reads strict JSON into v. What v would not write again exactly so (a missing or null member, another spelling
// of a value) is refused.
func decodeFile(path string, data []byte, v any) error {
	// The parser's own words could quote a key.
	if !jsontext.Value(data).IsValid() {
		return &Error{codeJSON, path, errors.New("not strict JSON")}
	}
	if err := json.Unmarshal(data, v, json.RejectUnknownMembers(true)); err != nil {
		return &Error{codeSchema, path, errors.New("a member is unknown or of the wrong kind")}
	}
	again, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	given, written := jsontext.Value(data).Clone(), jsontext.Value(again)
	if given.Canonicalize() != nil || written.Canonicalize() != nil || string(given) != string(written) {
		return &Error{codeSchema, path, errors.New("a member is missing or null")}
	}
	return nil
}

// encodeFile writes what a person may want to read.
func encodeFile(v any) ([]byte, error) {
	data, err := json.Marshal(v, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", v, err)
	}
	return append(data, '\n'), nil
}
