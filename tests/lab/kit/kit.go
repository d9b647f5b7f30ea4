// Package kit is the lab: a disposable Chrome-family browser with the real extension, paired through real native
// messaging with a real tabvalet, and a scripted owner at the other side.
//
//	lab, err := kit.Start(ctx, kit.Options{})
//	defer lab.Close()
//	host, err := lab.StartHost(ctx, "Demo")
//	r, err := host.Call(ctx, "browser_connect", nil)
//	err = lab.Owner.Share(ctx, kit.Link(r.Text), kit.Sharing{URL: "http://…"})
//
// The owner works through the browser's debugging pipe, which an extension cannot see: opens links, clicks the
// extension's own buttons with real input, and reads what the pages show. Nothing here reaches into tabvalet.
package kit

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options say what to start. The zero value is a headless browser in a temporary folder that Close removes.
type Options struct {
	State    string // folder for everything; "": a temporary one
	Keep     bool   // Close leaves the folder
	Headed   bool
	Binary   string // a built tabvalet; "": built once per process
	Unpaired bool   // stop before pairing
	Profile  string // folder of the browser's profile, "profile"
}

// A Lab is one browser, one state folder and one owner. Its methods may be called from several goroutines.
type Lab struct {
	Binary string
	Owner  *Owner

	opt     Options
	dir     string
	browser *chromium

	mu    sync.Mutex
	close []func()
}

// Start builds, installs, starts and pairs. It takes a few seconds.
func Start(ctx context.Context, opt Options) (_ *Lab, err error) {
	ctx, cancel := context.WithTimeout(ctx, 120*time.Second)
	defer cancel()
	opt.Profile = or(opt.Profile, "profile")
	l := &Lab{opt: opt, dir: opt.State, Binary: opt.Binary}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.dir == "" {
		if l.dir, err = os.MkdirTemp("", "tabvalet-lab-"); err != nil {
			return nil, err
		}
	} else if err = os.MkdirAll(l.dir, 0o700); err != nil {
		return nil, err
	}
	if l.Binary == "" {
		if l.Binary, err = Build(ctx); err != nil {
			return nil, err
		}
	}
	if err = os.MkdirAll(l.path(l.opt.Profile), 0o700); err != nil {
		return nil, err
	}
	if out, err := l.CLI(ctx, "setup", "--user-data-dir", l.path(l.opt.Profile)); err != nil {
		return nil, fmt.Errorf("tabvalet setup: %w\n%s", err, out)
	}
	if err = l.StartBrowser(ctx); err != nil {
		return nil, err
	}
	if !opt.Unpaired {
		if err = l.Pair(ctx); err != nil {
			return nil, fmt.Errorf("pairing: %w", err)
		}
	}
	return l, nil
}

// StartBrowser starts the browser on the lab's profile and loads the extension; after KillBrowser it does so again.
func (l *Lab) StartBrowser(ctx context.Context) error {
	b, err := startChromium(ctx, chromiumOptions{profile: l.path(l.opt.Profile), headed: l.opt.Headed, log: l.path("browser.log")})
	if err != nil {
		return err
	}
	l.browser = b
	id, err := b.loadExtension(ctx, l.ExtensionDir())
	if err != nil {
		return fmt.Errorf("loading the extension: %w", err)
	}
	l.Owner, err = newOwner(ctx, b, id)
	return err
}

// KillBrowser ends the browser as a crash would.
func (l *Lab) KillBrowser() { l.browser.kill() }

// ExtensionDir is the folder that setup unpacked.
func (l *Lab) ExtensionDir() string { return l.path("state", "data", "extension") }

// Env is the environment of every tabvalet of this lab.
func (l *Lab) Env() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TABVALET_") {
			env = append(env, kv)
		}
	}
	return append(env, "TABVALET_STATE_DIR="+l.path("state"))
}

func (l *Lab) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, l.Binary, args...)
	cmd.Env = l.Env()
	return cmd
}

// CLI runs a setup command and gives what it printed on both streams.
func (l *Lab) CLI(ctx context.Context, args ...string) (string, error) {
	out, err := l.command(ctx, args...).CombinedOutput()
	return string(out), err
}

// StateDir is the folder of TABVALET_STATE_DIR.
func (l *Lab) StateDir() string { return l.path("state") }

func (l *Lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

func (l *Lab) onClose(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.close = append(l.close, f)
}

// Close ends hosts and browser, and removes the folder unless it is to be kept.
func (l *Lab) Close() {
	l.mu.Lock()
	list := l.close
	l.close = nil
	l.mu.Unlock()
	for i := len(list) - 1; i >= 0; i-- {
		list[i]()
	}
	if l.browser != nil {
		l.browser.stop()
	}
	if l.opt.State == "" && !l.opt.Keep && l.dir != "" {
		os.RemoveAll(l.dir)
	}
}

var built struct {
	sync.Mutex
	path string
	err  error
}

// Build builds tabvalet once per process and gives its path. It stays in the user's cache folder, so that the next
// build is a look at the clock.
func Build(ctx context.Context) (string, error) {
	built.Lock()
	defer built.Unlock()
	if built.path != "" || built.err != nil {
		return built.path, built.err
	}
	dir, err := os.MkdirTemp("", "tabvalet-bin-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tabvalet")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/tabvalet/tabvalet/host/cmd/tabvalet").CombinedOutput()
	if err != nil {
		built.err = fmt.Errorf("building tabvalet: %w\n%s", err, out)
		return "", built.err
	}
	built.path = path
	return path, nil
}
