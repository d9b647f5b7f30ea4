// Package store is what this machine remembers: where the folders are, which Chrome profiles are paired, whether a pairing
// window is open, and which hosts run now.
//
// [FindDirs] and [Open] come first. [Store.Key] is what a host asks at every handshake; [Store.Pair] and [Store.Renew] are
// what the native-messaging host does while a window is open; [Register] enters a host into the list that the extension
// sees.
//
// Every file is 0600 in a folder of 0700 and written whole: to a new file, synced, renamed. It is read through one
// descriptor that was opened without following links, and refused if it is not ours alone. A file that is refused is left
// as it is; only [Store.Recover], which a person runs, puts it aside. Nothing of this package logs, and errors name paths
// and codes, never keys.
package store

import (
	"errors"
	"fmt"
	"log/slog"
)

// An Error says by a stable code why something that is stored cannot be used. The codes are those of package protocol.
type Error struct {
	Code string
	Path string
	Err  error // more, or nil
}

// The codes of this package.
const (
	codeNotPaired     = "not_paired"
	codeClosed        = "pairing_closed"
	codeBusy          = "busy"
	codeUnknown       = "profile_unknown"
	codePerms         = "pairing_perms"
	codeOwner         = "pairing_owner"
	codeSymlink       = "pairing_symlink"
	codeNotRegular    = "pairing_not_regular"
	codeHardlink      = "pairing_hardlink"
	codeSize          = "pairing_size"
	codeJSON          = "pairing_json"
	codeSchema        = "pairing_schema"
	codeNewer         = "pairing_newer"
	codeDirPerms      = "pairing_dir_perms"
	codeBadArgument   = "bad_argument"
	codeNotRecovering = "invalid_transition"
)

// ErrorCode is the code as package protocol reads it.
func (e *Error) ErrorCode() string { return e.Code }

// Error names the code, the file and the cause.
func (e *Error) Error() string {
	switch {
	case e.Err == nil && e.Path == "":
		return e.Code
	case e.Err == nil:
		return fmt.Sprintf("%s: %s", e.Code, e.Path)
	case e.Path == "":
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return fmt.Sprintf("%s: %s: %v", e.Code, e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func hasCode(err error, code string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// A Key is the secret of one pairing. It prints as "redacted".
type Key [32]byte

// String keeps the key out of texts.
func (Key) String() string { return "redacted" }

// GoString keeps the key out of %#v.
func (Key) GoString() string { return "redacted" }

// LogValue keeps the key out of logs.
func (Key) LogValue() slog.Value { return slog.StringValue("redacted") }
