// Tabvalet lends an AI agent single tabs of its owner's own Chrome.
//
// It is three programs in one file. Started by Chrome (the first argument is a chrome-extension:// origin) it answers one
// native message and ends. With a verb it is what a person runs in a terminal: see package setup. Else it serves one MCP
// client on standard input and output, and ends with it.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/pflag"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/host/native"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/setup"
)

func main() {
	args := os.Args[1:]
	// Whoever prints by accident prints to stderr: stdout carries protocol and nothing else.
	out := os.Stdout
	os.Stdout = os.Stderr
	switch {
	case native.IsNative(args):
		os.Exit(answer(args, out))
	case len(args) > 0 && setup.IsVerb(args[0]):
		os.Stdout = out
		os.Exit(setup.Main(args, setup.Std{In: os.Stdin, Out: out, Err: os.Stderr}))
	}
	s, err := parse(args, os.Environ())
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(out, setup.Help()+"\nFlags of the server (also TABVALET_NAME in the environment):\n\n"+usage())
	case err != nil:
		fmt.Fprintln(os.Stderr, "tabvalet:", err)
		os.Exit(2)
	case s.version:
		fmt.Fprintln(out, "tabvalet", extension.Version())
	default:
		if err := serve(s, os.Stdin, out); err != nil {
			fmt.Fprintln(os.Stderr, "tabvalet:", err)
			os.Exit(1)
		}
	}
}

// answer is the native-messaging host.
func answer(args []string, out *os.File) int {
	dirs, err := store.FindDirs()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tabvalet:", err)
		return 1
	}
	browser, _ := parents()
	return native.Run(native.Config{
		Args: args, Stdin: os.Stdin, Stdout: out, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Store: store.Open(dirs), Extension: extension.Version(), Browser: browser,
	})
}
