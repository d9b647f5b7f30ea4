// Demo plays the main job as a real MCP client against the real thing: a disposable browser, the real extension paired
// through native messaging, a scripted owner, and a little tea shop. Each step is one line with its time; two
// screenshots go to out/demo/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tabvalet/tabvalet/tests/demo/shop"
	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

func main() {
	picture := flag.String("picture", "", "write README's picture to this `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	d := &demo{ctx: ctx, out: filepath.Join("out", "demo"), show: *picture}
	err := d.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
	}
	fmt.Printf("demo: %d steps, %d failed\n", d.steps, d.failed)
	if err != nil || d.failed > 0 {
		os.Exit(1)
	}
}

type demo struct {
	ctx    context.Context
	out    string
	show   string // file of README's picture, or ""
	steps  int
	failed int

	lab  *kit.Lab
	host *kit.Host
	site *kit.Site
	shop *shop.Shop
}

// step runs one step and prints it; after a failure the rest still runs, so that one look shows everything.
func (d *demo) step(what string, do func() (string, error)) {
	d.steps++
	start := time.Now()
	said, err := do()
	mark := "ok  "
	if err != nil {
		d.failed++
		mark, said = "FAIL", err.Error()
	}
	fmt.Printf("%2d  %s %6d ms  %-46s %s\n", d.steps, mark, time.Since(start).Milliseconds(), what, firstLine(said))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(line); len(r) > 110 {
		return string(r[:109]) + "…"
	}
	return line
}

// call calls a tool and expects it to succeed, or to fail with code.
func (d *demo) call(tool, code string, args map[string]any) (*kit.Result, error) {
	if d.host == nil {
		return nil, errors.New("no host")
	}
	r, err := d.host.Call(d.ctx, tool, args)
	if err != nil {
		return nil, err
	}
	if r.Code() != code {
		return r, fmt.Errorf("%s answered code %q, wanted %q: %s", tool, r.Code(), code, firstLine(r.Text))
	}
	return r, nil
}

// expect is call, and the text must contain what is wanted.
func (d *demo) expect(tool, want string, args map[string]any) (string, error) {
	r, err := d.call(tool, "", args)
	if err != nil {
		return "", err
	}
	if !strings.Contains(r.Text, want) {
		return "", fmt.Errorf("%s: %q is not in the answer: %s", tool, want, r.Text)
	}
	return firstLine(r.Text), nil
}

// ref takes a snapshot and finds the element whose line has all the words.
func (d *demo) ref(words ...string) (string, error) {
	r, err := d.call("browser_snapshot", "", nil)
	if err != nil {
		return "", err
	}
	if ref := r.Ref(words...); ref != "" {
		return ref, nil
	}
	return "", fmt.Errorf("no line with %q in:\n%s", words, r.Text)
}

func (d *demo) run() error {
	if err := needBrowser(d.ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(d.out, 0o755); err != nil {
		return err
	}
	d.shop = &shop.Shop{}
	var err error
	if d.site, err = kit.NewSite(d.shop); err != nil {
		return err
	}
	defer d.site.Close()
	d.shop.Partner = d.site.B + "/tea/assam"

	d.step("start a browser, install, pair", func() (string, error) {
		d.lab, err = kit.Start(d.ctx, kit.Options{})
		return "through the real native messaging", err
	})
	if d.lab == nil {
		return errors.New("there is no lab to go on with")
	}
	defer d.lab.Close()
	d.play()
	return nil
}

func (d *demo) play() {
	ctx, owner := d.ctx, d.lab.Owner
	var link string
	d.step("the agent's program starts", func() (s string, err error) {
		d.host, err = d.lab.StartHost(ctx, "Demo Agent")
		return "initialize answered", err
	})
	d.step("the agent asks for a tab", func() (string, error) {
		r, err := d.call("browser_connect", "", map[string]any{"reason": "Order some tea for the office"})
		if err != nil {
			return "", err
		}
		if link = kit.Link(r.Text); link == "" {
			return "", fmt.Errorf("no link in: %s", r.Text)
		}
		return firstLine(r.Text), nil
	})
	d.step("the owner opens the link and shares the shop", func() (string, error) {
		return "Leaf & Kettle, read and act", owner.Share(ctx, link, kit.Sharing{URL: d.site.A + "/"})
	})
	d.step("connected", func() (string, error) {
		return d.expect("browser_connect", d.site.A, map[string]any{"wait_ms": 10000})
	})
	d.step("snapshot", func() (string, error) { return d.expect("browser_snapshot", "Sencha Asahi", nil) })
	d.step("read", func() (string, error) { return d.expect("browser_read", "Smoked over pine", nil) })
	d.step("type into the search box and press Enter", func() (string, error) {
		ref, err := d.ref("Search teas")
		if err != nil {
			return "", err
		}
		return d.expect("browser_type", "/search?q=oolong", map[string]any{"element": "search box", "target": ref, "text": "oolong", "submit": true})
	})
	d.step("click the result", func() (string, error) {
		return d.expect("browser_click", "/tea/oolong", map[string]any{"element": "the tea", "target": `role=link[name="Oolong Tie Guan Yin"]`})
	})
	d.step("fill in the name", func() (string, error) {
		return d.expect("browser_type", "confirmed", map[string]any{"target": "label=Your name", "text": "Robin Vale"})
	})
	if d.show != "" {
		d.step("take README's picture", func() (string, error) { return d.show, d.picture(d.show) })
	}
	d.step("an order that was not announced is refused", func() (string, error) {
		r, err := d.call("browser_click", "would_submit", map[string]any{"target": `role=button[name="Place order"]`})
		if err != nil {
			return "", err
		}
		return firstLine(r.Text), nil
	})
	d.step("announced: the owner is asked, and says yes", func() (string, error) {
		answered := make(chan error, 1)
		go func() {
			q, err := owner.Question(ctx)
			if err == nil {
				err = owner.Answer(ctx, q, "once")
			}
			answered <- err
		}()
		said, err := d.expect("browser_click", "/order", map[string]any{"target": `role=button[name="Place order"]`, "submits": true})
		return said, errors.Join(err, <-answered)
	})
	d.step("the shop got it once", func() (string, error) {
		if n := len(d.shop.Orders()); n != 1 {
			return "", fmt.Errorf("%d orders", n)
		}
		return d.shop.Orders()[0], nil
	})
	d.step("leave for another site: the owner says no", func() (string, error) {
		answered := make(chan error, 1)
		go func() {
			q, err := owner.Question(ctx)
			if err == nil {
				err = owner.Answer(ctx, q, "no")
			}
			answered <- err
		}()
		r, err := d.call("browser_click", "blocked_by_policy", map[string]any{"target": `role=link[name="Bean Brothers"]`})
		if err := errors.Join(err, <-answered); err != nil {
			return "", err
		}
		if n := len(d.site.Requests("B")); n != 0 {
			return "", fmt.Errorf("%d requests reached the other site", n)
		}
		return firstLine(r.Text), nil
	})
	d.step("the page stands", func() (string, error) { return d.expect("browser_snapshot", "Thank you", nil) })
	d.step("screenshot of the background tab", func() (string, error) {
		r, err := d.call("browser_take_screenshot", "", nil)
		if err != nil {
			return "", err
		}
		if len(r.Images) != 1 {
			return "", fmt.Errorf("%d images", len(r.Images))
		}
		return d.save("agent.png", r.Images[0].Data)
	})
	d.step("the owner takes over", func() (string, error) {
		if err := owner.TakeOver(ctx, ""); err != nil {
			return "", err
		}
		r, err := d.call("browser_click", "owner_has_control", map[string]any{"target": `role=link[name="All teas"]`})
		if err != nil {
			return "", err
		}
		return firstLine(r.Text), nil
	})
	d.step("… types, and hands back", func() (string, error) {
		p, err := owner.Page(ctx, d.site.A+"/order")
		if err != nil {
			return "", err
		}
		if err := p.Click(ctx, `[name="later"]`); err != nil {
			return "", err
		}
		if err := p.Type(ctx, "less caffeine"); err != nil {
			return "", err
		}
		if err := d.saveDesk(); err != nil {
			return "", err
		}
		return "a note for next time", owner.HandBack(ctx, "")
	})
	d.step("the agent sees that the owner was there", func() (string, error) {
		return d.expect("browser_snapshot", "Leave a note for next time", nil)
	})
	d.step("disconnect", func() (string, error) { return d.expect("browser_disconnect", "detach", nil) })
	d.step("the record verifies", func() (string, error) {
		d.host.Close()
		out, err := d.lab.CLI(ctx, "audit", "verify")
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return out, nil
	})
}

// saveDesk takes a picture of the popup while the owner drives.
func (d *demo) saveDesk() error {
	png, err := d.lab.Owner.Desk().Screenshot(d.ctx)
	if err != nil {
		return err
	}
	_, err = d.save("owner.png", png)
	return err
}

func (d *demo) save(name string, data []byte) (string, error) {
	path := filepath.Join(d.out, name)
	return path, os.WriteFile(path, data, 0o644)
}

// needBrowser makes sure that there is a browser: as root on Debian it installs one, else it says what to install.
func needBrowser(ctx context.Context) error {
	_, err := kit.FindBrowser()
	if err == nil || runtime.GOOS != "linux" || os.Geteuid() != 0 {
		return err
	}
	if _, missing := exec.LookPath("apt-get"); missing != nil {
		return err
	}
	fmt.Println("demo: installing chromium by apt")
	for _, args := range [][]string{{"update", "-qq"}, {"install", "-y", "-qq", "--no-install-recommends", "chromium"}} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", args[0], err, out)
		}
	}
	_, err = kit.FindBrowser()
	return err
}
