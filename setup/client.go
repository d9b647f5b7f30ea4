package setup

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/store"
)

// A client is an MCP client whose configuration we know. The block goes to standard output, where it belongs to standard
// error, so that it can be piped.
type client struct {
	name  string
	where string
	block func(server) (string, error)
}

// A server is what a client has to start.
type server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitzero"`
}

var clients = []client{
	{"claude-code", "Run this in a terminal (--scope project writes it into the project's .mcp.json).", claudeCode},
	{"claude-desktop", "Put this into claude_desktop_config.json: " + desktopConfig(), under("mcpServers")},
	{"cursor", "Put this into ~/.cursor/mcp.json, or .cursor/mcp.json of a project.", under("mcpServers")},
	{"vscode", "Put this into .vscode/mcp.json of a project, or into the user's mcp.json (MCP: Open User Configuration).", under("servers")},
	{"codex", "Put this into ~/.codex/config.toml.", codex},
	{"gemini", "Put this into ~/.gemini/settings.json.", under("mcpServers")},
	{"generic", "Most clients take this block; the command speaks MCP on standard input and output.", under("mcpServers")},
}

func clientNames() []string {
	var out []string
	for _, c := range clients {
		out = append(out, c.name)
	}
	return out
}

func desktopConfig() string {
	switch runtime.GOOS {
	case "darwin":
		return "~/Library/Application Support/Claude/claude_desktop_config.json"
	case "windows":
		return `%APPDATA%\Claude\claude_desktop_config.json`
	}
	return "~/.config/Claude/claude_desktop_config.json"
}

func runClient(c *call) error {
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	if args[0] != "print" {
		return usageError(fmt.Sprintf("client can print, not %q", args[0]))
	}
	in, err := locate(c.dirs)
	if err != nil {
		return err
	}
	s := server{Command: in.binary, Args: []string{}}
	if root := os.Getenv(store.RootVariable); root != "" {
		s.Env = map[string]string{store.RootVariable: root}
	}
	for _, cl := range clients {
		if cl.name == args[1] {
			block, err := cl.block(s)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.Err, cl.where)
			c.say("%s", block)
			return nil
		}
	}
	return usageError(fmt.Sprintf("no client is called %q; known: %s", args[1], strings.Join(clientNames(), ", ")))
}

// under gives the usual block: the servers' names as members of one object.
func under(member string) func(server) (string, error) {
	return func(s server) (string, error) {
		var v any = s
		if member == "servers" { // VS Code wants the kind of transport as well
			v = struct {
				Type string `json:"type"`
				server
			}{"stdio", s}
		}
		data, err := json.Marshal(map[string]any{member: map[string]any{"tabvalet": v}}, jsontext.WithIndent("  "))
		return string(data), err
	}
}

func claudeCode(s server) (string, error) {
	var b strings.Builder
	b.WriteString("claude mcp add tabvalet")
	for name, value := range s.Env {
		b.WriteString(" --env " + name + "=" + word(value))
	}
	b.WriteString(" -- " + word(s.Command))
	return b.String(), nil
}

func codex(s server) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "[mcp_servers.tabvalet]\ncommand = %s\nargs = []", strconv.Quote(s.Command))
	for name, value := range s.Env {
		fmt.Fprintf(&b, "\n\n[mcp_servers.tabvalet.env]\n%s = %s", name, strconv.Quote(value))
	}
	return b.String(), nil
}

// word quotes for a shell where that is needed.
func word(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:\\", r))
	})
	switch {
	case plain:
		return s
	case runtime.GOOS == "windows":
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
