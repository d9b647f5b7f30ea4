// Package setup is the part of tabvalet that a person runs in a terminal: it installs, pairs, checks and removes.
//
// [Main] runs one verb. Every verb looks first, says what is already true, does the rest, and may be repeated at any
// time. What was written into the user's folders stands in a receipt, and "setup --uninstall" removes exactly that.
// Nothing here prints a key; the code of "pair --manual" is the one exception, and says so.
//
// Where browsers keep their things is in one file of tables per system: browsers_linux.go, browsers_darwin.go,
// browsers_windows.go. What doctor looks at is in doctor.go and the checks_*.go beside it.
package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// Std is where a verb reads and writes: results to Out, everything else to Err.
type Std struct {
	In       io.Reader
	Out, Err io.Writer
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for is not so, or could not be done
	exitUsage  = 2 // the arguments are wrong; audit verify: the record contradicts itself
)

// A verb is one command of the terminal.
type verb struct {
	name  string
	args  string // after the name, for the usage line
	short string // one line
	run   func(*call) error
}

func verbs() []verb {
	return []verb{
		{"setup", "[--browser NAME] [--user-data-dir DIR] [--uninstall]", "install the extension's folder and register with the browsers", runSetup},
		{"pair", "[--manual]", "pair one Chrome profile: opens a window of 120 s", runPair},
		{"rotate", "[--profile NAME]", "replace the keys; the popup's Renew pairing takes the new one", runRotate},
		{"revoke", "PROFILE", "forget one profile", runRevoke},
		{"recover", "--confirm", "put a pairing file that is refused aside and start anew", runRecover},
		{"status", "[--json]", "what is installed, paired and running", runStatus},
		{"doctor", "[--json]", "check everything and say how to mend it", runDoctor},
		{"client", "print NAME", "the configuration of an MCP client: " + strings.Join(clientNames(), ", "), runClient},
		{"audit", "tail|show|verify", "read and check the record", runAudit},
	}
}

// IsVerb says whether Main knows that name.
func IsVerb(name string) bool {
	if name == "help" {
		return true
	}
	for _, v := range verbs() {
		if v.name == name {
			return true
		}
	}
	return false
}

// Help is the text for a person who asks what tabvalet can do.
func Help() string {
	var b strings.Builder
	b.WriteString("Tab Valet lends an AI agent one tab of your own Chrome.\n\n")
	b.WriteString("  tabvalet                    serve one MCP client on standard input and output\n")
	for _, v := range verbs() {
		if usage := "tabvalet " + v.name + " " + v.args; len(usage) < 28 {
			fmt.Fprintf(&b, "  %-27s %s\n", usage, v.short)
		} else {
			fmt.Fprintf(&b, "  %s\n  %-27s %s\n", usage, "", v.short)
		}
	}
	b.WriteString("\nFirst time:\n\n  tabvalet setup\n  tabvalet pair\n  tabvalet client print claude-code\n\n")
	b.WriteString("Each command explains itself with --help. TABVALET_STATE_DIR=DIR keeps everything in one folder.\n")
	return b.String()
}

// Main runs the verb in args[0] with the rest of args and returns the exit code. An interrupt ends what waits.
func Main(args []string, std Std) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) == 0 || args[0] == "help" {
		fmt.Fprint(std.Out, Help())
		return exitOK
	}
	for _, v := range verbs() {
		if v.name == args[0] {
			return v.main(ctx, args[1:], std)
		}
	}
	fmt.Fprintf(std.Err, "tabvalet: there is no command %q\n\n%s", audit.Escape(args[0]), Help())
	return exitUsage
}

// A call is one run of a verb.
type call struct {
	Std
	ctx   context.Context
	verb  verb
	args  []string
	flags *pflag.FlagSet
	dirs  *store.Dirs
	store *store.Store
}

func (v verb) main(ctx context.Context, args []string, std Std) int {
	c := &call{Std: std, ctx: ctx, verb: v, args: args, flags: pflag.NewFlagSet(v.name, pflag.ContinueOnError)}
	c.flags.SortFlags = false
	c.flags.SetOutput(io.Discard)
	var err error
	if c.dirs, err = store.FindDirs(); err == nil {
		c.store = store.Open(c.dirs)
		err = v.run(c)
	}
	return c.exit(err)
}

// exit tells an error with its hint and gives its exit code.
func (c *call) exit(err error) int {
	var usage usageError
	var quiet quietError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(c.Out, "tabvalet %s %s\n\n%s.\n", c.verb.name, c.verb.args, c.verb.short)
		if flags := c.flags.FlagUsages(); flags != "" {
			fmt.Fprintf(c.Out, "\n%s", flags)
		}
		return exitOK
	case errors.As(err, &quiet):
		return int(quiet)
	case errors.As(err, &usage):
		fmt.Fprintf(c.Err, "tabvalet %s: %v\nusage: tabvalet %[1]s %[3]s\n", c.verb.name, err, c.verb.args)
		return exitUsage
	}
	fmt.Fprintf(c.Err, "tabvalet %s: %v\n", c.verb.name, err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(c.Err, "hint: %s\n", hint)
	}
	return exitFailed
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Hint()
	}
	if code := protocol.CodeOf(err); code != protocol.Internal {
		return protocol.Lookup(code).Hint
	}
	return ""
}

// A usageError says what is wrong with the arguments.
type usageError string

func (e usageError) Error() string { return string(e) }

// A quietError is an exit code whose reason has been told already.
type quietError int

func (quietError) Error() string { return "it has been told already" }

// parse reads the flags and leaves the other arguments, at least low and at most high of them.
func (c *call) parse(low, high int) ([]string, error) {
	if err := c.flags.Parse(c.args); errors.Is(err, pflag.ErrHelp) {
		return nil, err
	} else if err != nil {
		return nil, usageError(err.Error())
	}
	switch rest := c.flags.Args(); {
	case len(rest) < low:
		return nil, usageError("something is missing")
	case len(rest) > high:
		return nil, usageError(fmt.Sprintf("unexpected %q", rest[high]))
	default:
		return rest, nil
	}
}

// say prints one line of result.
func (c *call) say(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }

// version is that of the binary and of the extension in it: they are released as one.
func version() string { return extension.Version() }
