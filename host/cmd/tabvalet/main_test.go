package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

const asProgram = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A process is tabvalet with a state folder of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr bytes.Buffer
	dirs   *store.Dirs
}

// start runs the server for a client that was paired once, as far as the file says.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	root := t.TempDir()
	p := &process{t: t, dirs: store.UnderRoot(root)}
	s := store.Open(p.dirs)
	if _, err := s.OpenWindow(store.WindowPair, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Pair("test", "chromium", protocol.ExtensionID); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1", store.RootVariable+"="+root)
	p.cmd.Stderr = &p.stderr
	p.in, _ = p.cmd.StdinPipe()
	out, _ := p.cmd.StdoutPipe()
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, 1<<20)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	return p
}

// ask sends lines and reads one answer.
func (p *process) ask(lines ...string) string {
	p.t.Helper()
	for _, l := range lines {
		fmt.Fprintln(p.in, l)
	}
	if !p.out.Scan() {
		p.t.Fatalf("no answer; stderr: %s", p.stderr.String())
	}
	if !strings.HasPrefix(p.out.Text(), `{"jsonrpc":"2.0",`) {
		p.t.Fatalf("not MCP on stdout: %q", p.out.Text())
	}
	return p.out.Text()
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"An\u202eAgent","version":"1"}}}`

func TestServerServesAndEndsInOrder(t *testing.T) {
	p := start(t, "--log-level=debug")
	if got := p.ask(hello); !strings.Contains(got, `"serverInfo":{"name":"tabvalet"`) || !strings.Contains(got, "never open it yourself") {
		t.Errorf("%s", got)
	}
	if got := p.ask("garbage"); !strings.Contains(got, "-32700") {
		t.Errorf("%s", got)
	}
	got := p.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_connect","arguments":{"reason":"test"}}}`)
	link := regexp.MustCompile(`http://127\.0\.0\.1:(\d+)/approve/[\w-]{43}`).FindStringSubmatch(got)
	if link == nil {
		t.Fatalf("%s", got)
	}
	var entries []store.Entry
	for range 100 { // the list is written in the background
		if entries, _ = store.List(p.dirs); len(entries) == 1 && entries[0].Name == "An Agent" {
			break
		}
		time.Sleep(10 * time.Millisecond) // another process writes it, and says nothing
	}
	if len(entries) != 1 || entries[0].Name != "An Agent" || fmt.Sprint(entries[0].Port) != link[1] || entries[0].PID != p.cmd.Process.Pid || entries[0].Connected {
		t.Errorf("the list of hosts: %+v", entries)
	}
	r, err := http.Get(link[0])
	if err != nil {
		t.Fatal(err)
	}
	page, _ := io.ReadAll(r.Body)
	r.Body.Close()
	if r.StatusCode != http.StatusOK || !bytes.Contains(page, []byte("tabvalet setup")) {
		t.Errorf("%d %s", r.StatusCode, page)
	}
	p.ends()
	if entries, err := store.List(p.dirs); err != nil || len(entries) != 0 {
		t.Errorf("still listed: %v %v", entries, err)
	}
	if _, err := http.Get(link[0]); err == nil {
		t.Error("the port still answers")
	}
	if strings.Contains(p.stderr.String(), link[0][len(link[0])-43:]) {
		t.Error("the token is in the log")
	}
}

// ends closes stdin and expects a clean end within two seconds.
func (p *process) ends() {
	p.t.Helper()
	p.in.Close()
	begin := time.Now()
	for p.out.Scan() {
		var v any
		if json.Unmarshal(p.out.Bytes(), &v) != nil {
			p.t.Errorf("not JSON on stdout: %q", p.out.Text())
		}
	}
	if err := p.cmd.Wait(); err != nil || time.Since(begin) > 2*time.Second {
		p.t.Errorf("ended after %s: %v; stderr: %s", time.Since(begin), err, p.stderr.String())
	}
}

func TestServerEndsWhileACallWaitsForTheOwner(t *testing.T) {
	p := start(t)
	p.ask(hello)
	fmt.Fprintln(p.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(p.in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_connect","arguments":{"wait_ms":50000}}}`)
	time.Sleep(50 * time.Millisecond) // the call shows no sign of having begun
	p.ends()
}

func TestUnpairedHostSaysSo(t *testing.T) {
	p := start(t)
	if err := os.Remove(filepath.Join(p.dirs.Config, "pairing.json")); err != nil {
		t.Fatal(err)
	}
	p.ask(hello)
	got := p.ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_connect"}}`)
	if !strings.Contains(got, "error not_paired") || strings.Contains(got, p.dirs.Config) {
		t.Errorf("%s", got)
	}
}

func TestVersionHelpAndWrongFlags(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		out  string
	}{
		{"--version", 0, "tabvalet "},
		{"--help", 0, "--call-budget"},
		{"help", 0, "tabvalet pair"},
		{"--nope", 2, ""},
		{"nonsense", 2, ""},
	} {
		cmd := exec.Command(os.Args[0], strings.Fields(tt.args)...)
		cmd.Env = append(os.Environ(), asProgram+"=1", store.RootVariable+"="+t.TempDir())
		out, _ := cmd.Output()
		if cmd.ProcessState.ExitCode() != tt.code || !strings.Contains(string(out), tt.out) || tt.out == "" && len(out) > 0 {
			t.Errorf("%s: exit %d, %s", tt.args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

func TestStartedByChromeItIsTheNativeHost(t *testing.T) {
	cmd := exec.Command(os.Args[0], "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/")
	cmd.Env = append(os.Environ(), asProgram+"=1", store.RootVariable+"="+t.TempDir())
	cmd.Stdin = strings.NewReader("\x0f\x00\x00\x00{\"type\":\"list\"}")
	if out, err := cmd.Output(); err == nil || len(out) != 0 {
		t.Errorf("a stranger was answered: %q", out)
	}
}
