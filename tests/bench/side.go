package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Pinned peers: what the figures are about.
const (
	playwrightMCP = "@playwright/mcp@0.0.83"
	devtoolsMCP   = "chrome-devtools-mcp@1.11.0"
)

// A side is one MCP server under measurement.
type side struct {
	name    string
	command []string
	env     []string
	speak   dialect

	cmd     *exec.Cmd
	session *mcp.ClientSession
}

// A dialect is how a side is asked for what all can do.
type dialect struct {
	snapshot, click, fill, navigate, screenshot string // tools
	target, text                                string // their arguments
	ref                                         *regexp.Regexp
}

// common is ours and Playwright MCP's.
var common = dialect{
	snapshot: "browser_snapshot", click: "browser_click", fill: "browser_type", navigate: "browser_navigate", screenshot: "browser_take_screenshot",
	target: "target", text: "text", ref: regexp.MustCompile(`\[ref=([a-z0-9]+)\]`),
}

var devtools = dialect{
	snapshot: "take_snapshot", click: "click", fill: "fill", navigate: "navigate_page", screenshot: "take_screenshot",
	target: "uid", text: "value", ref: regexp.MustCompile(`uid=(\w+)`),
}

// installPeers puts the pinned peers into a temporary folder by npm and gives them as sides that drive that browser.
func installPeers(ctx context.Context, browser string) (dir string, peers []*side, err error) {
	if dir, err = os.MkdirTemp("", "tabvalet-bench-"); err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", playwrightMCP, devtoolsMCP)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, nil, fmt.Errorf("installing the peers: %w\n%s", err, out)
	}
	modules := filepath.Join(dir, "node_modules")
	playwright := &side{name: "Playwright MCP", env: os.Environ(), speak: common, command: []string{
		"node", filepath.Join(modules, "@playwright", "mcp", "cli.js"), "--headless", "--isolated", "--executable-path", browser}}
	chrome := &side{name: "chrome-devtools-mcp", env: os.Environ(), speak: devtools, command: []string{
		"node", filepath.Join(modules, "chrome-devtools-mcp", "build", "src", "bin", "chrome-devtools-mcp.js"), "--headless", "--isolated",
		"--executablePath", browser, "--no-page-id-routing", "--no-usage-statistics", "--no-performance-crux"}}
	if os.Geteuid() == 0 {
		playwright.command = append(playwright.command, "--no-sandbox")
		chrome.command = append(chrome.command, "--chrome-arg=--no-sandbox")
	}
	return dir, []*side{playwright, chrome}, nil
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// birth measures one process from its start to the answer to initialize, and its resident memory just then.
func (s *side) birth(ctx context.Context) (took time.Duration, rss float64, err error) {
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Env, cmd.Dir = s.env, os.TempDir() // peers leave files where they run
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	defer cmd.Wait()
	defer in.Close()
	defer cmd.Process.Kill()
	if _, err := io.WriteString(in, initialize); err != nil {
		return 0, 0, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	took = time.Since(start)
	if err != nil || !strings.Contains(line, "protocolVersion") {
		return 0, 0, fmt.Errorf("%s: no answer to initialize: %q: %w", s.name, line, err)
	}
	rss, err = resident(cmd.Process.Pid)
	return took, rss, err
}

var vmRSS = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident gives the resident memory of a process in MiB.
func resident(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err == nil {
		if m := vmRSS.FindSubmatch(text); m != nil {
			kb, err := strconv.ParseFloat(string(m[1]), 64)
			return kb / 1024, err
		}
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("reading memory of process %d: %w", pid, err)
	}
	kb, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return kb / 1024, err
}

// start begins a session that stays.
func (s *side) start(ctx context.Context) (err error) {
	s.cmd = exec.Command(s.command[0], s.command[1:]...)
	s.cmd.Env, s.cmd.Dir = s.env, os.TempDir()
	s.session, err = mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: s.cmd}, nil)
	return err
}

// call calls a tool, expects success, and gives its text and how long it took.
func (s *side) call(ctx context.Context, tool string, args map[string]any) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	start := time.Now()
	r, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	took := time.Since(start)
	if err != nil {
		return "", took, fmt.Errorf("%s: %s: %w", s.name, tool, err)
	}
	var text strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text + "\n")
		}
	}
	if r.IsError {
		return text.String(), took, fmt.Errorf("%s: %s: %s", s.name, tool, text.String())
	}
	return text.String(), took, nil
}

// ref finds the ref on the first line of a new snapshot that has the words.
func (s *side) ref(ctx context.Context, words string) (string, error) {
	text, _, err := s.call(ctx, s.speak.snapshot, map[string]any{})
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			if m := s.speak.ref.FindStringSubmatch(line); m != nil {
				return m[1], nil
			}
		}
	}
	return "", fmt.Errorf("%s: no ref beside %q in %.400s", s.name, words, text)
}

// goTo opens an address.
func (s *side) goTo(ctx context.Context, url string) (time.Duration, error) {
	_, took, err := s.call(ctx, s.speak.navigate, map[string]any{"url": url})
	return took, err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
