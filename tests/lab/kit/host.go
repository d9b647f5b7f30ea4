package kit

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Host is a real tabvalet process as an MCP client sees it.
type Host struct {
	Session *mcp.ClientSession
	cmd     *exec.Cmd
	exited  chan struct{}
}

// A Result is what a tool answered.
type Result struct {
	Text    string         // all text blocks, joined by newlines
	IsError bool           //
	Meta    map[string]any // _meta["tabvalet/result"]
	Images  []*mcp.ImageContent
	Took    time.Duration
}

// Code is the failure code of the result, "" when it is none.
func (r *Result) Code() string { s, _ := r.Meta["code"].(string); return s }

// Outcome is the receipt of the act, "" when it is none.
func (r *Result) Outcome() string { s, _ := r.Meta["outcome"].(string); return s }

var refPattern = regexp.MustCompile(`\[ref=([a-z0-9]+)\]`)

// Ref gives the ref on the first line of the text that contains all of the words; "" when there is none.
func (r *Result) Ref(words ...string) string {
next:
	for line := range strings.Lines(r.Text) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		if m := refPattern.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
}

// StartHost starts tabvalet with the lab's state and connects to it as the named MCP client.
func (l *Lab) StartHost(ctx context.Context, client string, args ...string) (*Host, error) {
	cmd := exec.Command(l.Binary, args...)
	cmd.Env = l.Env()
	log, err := os.OpenFile(l.path("host.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	cmd.WaitDelay = 2 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the host: %w", err)
	}
	h := &Host{cmd: cmd, exited: make(chan struct{})}
	c := mcp.NewClient(&mcp.Implementation{Name: client, Version: "1"}, nil)
	h.Session, err = c.Connect(ctx, &mcp.IOTransport{Reader: stdout, Writer: stdin}, nil)
	go func() { cmd.Wait(); close(h.exited) }()
	if err != nil {
		h.Kill()
		return nil, fmt.Errorf("connecting to the host: %w", err)
	}
	l.onClose(func() { h.Close() })
	return h, nil
}

// Call calls a tool. Only what is not a tool's answer is an error.
func (h *Host) Call(ctx context.Context, tool string, args map[string]any) (*Result, error) {
	if args == nil {
		args = map[string]any{}
	}
	start := time.Now()
	r, err := h.Session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	out := &Result{IsError: r.IsError, Took: time.Since(start)}
	var texts []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			out.Images = append(out.Images, c)
		}
	}
	out.Text = strings.Join(texts, "\n")
	out.Meta, _ = r.Meta["tabvalet/result"].(map[string]any)
	return out, nil
}

// PID of the process.
func (h *Host) PID() int { return h.cmd.Process.Pid }

// Kill ends the process at once, without a chance to tidy up.
func (h *Host) Kill() { h.cmd.Process.Kill(); <-h.exited }

// Signal stops or continues the process.
func (h *Host) Signal(s os.Signal) { h.cmd.Process.Signal(s) }

// Close ends the session as a client does, by closing stdin, and tells how long the process took to exit.
func (h *Host) Close() time.Duration {
	start := time.Now()
	select {
	case <-h.exited:
		return 0
	default:
	}
	go h.Session.Close()
	select {
	case <-h.exited:
	case <-time.After(5 * time.Second):
		h.Kill()
	}
	return time.Since(start)
}

var linkPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+/approve/[A-Za-z0-9_-]+`)

// Link finds the approval link in a tool's answer; "" when there is none.
func Link(text string) string { return linkPattern.FindString(text) }

// tee passes MCP lines through and hands each approval link to found, once.
func tee(dst io.Writer, src io.Reader, found func(link string)) error {
	seen := map[string]bool{}
	buf, keep := make([]byte, 64<<10), ""
	for {
		n, err := src.Read(buf)
		if n > 0 {
			if _, werr := dst.Write(buf[:n]); werr != nil {
				return werr
			}
			text := keep + string(buf[:n])
			for _, link := range linkPattern.FindAllString(text, -1) {
				if !seen[link] && len(link) > 40 {
					seen[link] = true
					found(link)
				}
			}
			keep = text[max(0, len(text)-128):]
		}
		if err != nil {
			return err
		}
	}
}
