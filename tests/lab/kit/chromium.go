package kit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/extensions"
)

// ErrNoBrowser says that no Chrome-family browser was found; its text tells what to install.
var ErrNoBrowser = errors.New("no Chrome-family browser on PATH: install chromium (Debian: apt-get install chromium) or set CHROME to one")

// FindBrowser gives the path of a Chrome-family browser: $CHROME, or the first known name on PATH.
func FindBrowser() (string, error) {
	if c := os.Getenv("CHROME"); c != "" {
		return c, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "brave-browser"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	if mac := "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; runtime.GOOS == "darwin" {
		if _, err := os.Stat(mac); err == nil {
			return mac, nil
		}
	}
	return "", ErrNoBrowser
}

// chromium is a disposable browser: its own profile, no port open, driven through its debugging pipe.
type chromium struct {
	cmd     *exec.Cmd
	pipe    *pipe
	exited  chan struct{} // closed when the process was waited for
	Session               // of the browser itself
}

type chromiumOptions struct {
	profile string // user data directory
	headed  bool
	log     string // file for its stderr
}

func startChromium(ctx context.Context, opt chromiumOptions) (*chromium, error) {
	path, err := FindBrowser()
	if err != nil {
		return nil, err
	}
	args := []string{
		"--remote-debugging-pipe", "--enable-unsafe-extension-debugging",
		"--user-data-dir=" + opt.profile, "--window-size=1280,900",
		"--no-first-run", "--no-default-browser-check", "--password-store=basic", "--use-mock-keychain",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
		"--disable-search-engine-choice-screen", "--hide-crash-restore-bubble",
	}
	if !opt.headed {
		args = append(args, "--headless=new", "--disable-gpu")
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	// The browser reads descriptor 3 and writes descriptor 4.
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	log, err := os.Create(opt.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, append(args, "about:blank")...)
	cmd.ExtraFiles = []*os.File{inR, outW}
	cmd.Stdout, cmd.Stderr = log, log
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	inR.Close()
	outW.Close()
	c := &chromium{cmd: cmd, pipe: newPipe(inW, outR), exited: make(chan struct{})}
	c.Session = Session{p: c.pipe}
	go func() {
		cmd.Wait()
		c.pipe.close()
		close(c.exited)
	}()
	if _, err := cdp.Call(ctx, c, browser.GetVersion, cdp.Empty{}); err != nil {
		c.stop()
		text, _ := os.ReadFile(opt.log)
		return nil, fmt.Errorf("starting %s: %w\n%s", filepath.Base(path), err, tail(text, 800))
	}
	return c, nil
}

func (c *chromium) loadExtension(ctx context.Context, dir string) (string, error) {
	r, err := cdp.Call(ctx, c, extensions.LoadUnpacked, extensions.LoadUnpackedParams{Path: dir})
	return r.ID, err
}

// stop ends the browser and everything it started, politely first.
func (c *chromium) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	cdp.Call(ctx, c, browser.Close, cdp.Empty{})
	select {
	case <-c.exited:
	case <-ctx.Done():
	}
	killGroup(c.cmd)
	<-c.exited
}

// quit ends the browser as a crash would.
func (c *chromium) kill() {
	c.cmd.Process.Signal(syscall.SIGKILL)
	<-c.exited
}

func tail(b []byte, n int) []byte {
	if len(b) > n {
		return b[len(b)-n:]
	}
	return b
}
