// Package native is the program that Chrome starts: it answers one message of the extension on standard output and ends.
package native

import (
	"io"

	"github.com/tabvalet/tabvalet/host/store"
)

// IsNative reports whether the arguments (without the program's name) are those of a native-messaging host.
func IsNative(args []string) bool { panic("todo") }

// Config is what the answer is made of.
type Config struct {
	Args      []string // without the program's name
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	Store     *store.Store
	Extension string // version of the extension that the binary carries
	Browser   string // what started us, for the pairing's entry
}

// Run answers one message and gives the exit code.
func Run(cfg Config) int { panic("todo") }
