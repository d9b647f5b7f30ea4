package setup

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// poll is how often the window is looked at: a pairing takes as long as a person takes.
const poll = 100 * time.Millisecond

func runPair(c *call) error {
	manual := c.flags.Bool("manual", false, "print a code to type into the popup, for browsers that may not start programs")
	label := c.flags.String("label", "", "name of the profile (with --manual)")
	life := c.window()
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	if *manual {
		return c.pairManually(*label, life())
	}
	if *label != "" {
		return usageError("--label goes with --manual: the popup names a profile itself")
	}
	w, err := c.store.OpenWindow(store.WindowPair, "", life())
	if err != nil {
		return fmt.Errorf("opening a pairing window: %w", err)
	}
	c.say("A pairing window is open for %s. In Tab Valet's popup press Pair this profile.", seconds(life()))
	return c.wait(w, "paired")
}

// pairManually prints the one secret that is ever printed.
func (c *call) pairManually(label string, life time.Duration) error {
	if label == "" {
		label = "Paired by code"
	}
	w, key, err := c.store.OpenManual(label, protocol.ExtensionID, life)
	if err != nil {
		return fmt.Errorf("opening a pairing window: %w", err)
	}
	c.say("%s", protocol.ManualCode(w.Profile, key[:]))
	fmt.Fprintf(c.Err, "Type this code into Tab Valet's popup within %s. It is a secret and works once.\n", seconds(life))
	return c.wait(w, "paired")
}

func runRotate(c *call) error {
	profile := c.flags.String("profile", "", "only this profile, by name or id")
	life := c.window()
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	id := ""
	if *profile != "" {
		p, err := c.store.Find(*profile)
		if err != nil {
			return err
		}
		id = p.ID
	}
	if err := c.store.Rotate(id); err != nil {
		return fmt.Errorf("replacing the keys: %w", err)
	}
	w, err := c.store.OpenWindow(store.WindowRenew, id, life())
	if err != nil {
		return fmt.Errorf("opening a pairing window: %w", err)
	}
	c.say("The old keys are void and live links end. For %s, Tab Valet's popup offers Renew pairing: press it.", seconds(life()))
	if p, err := c.store.Load(); err == nil && id == "" && len(p.Profiles) > 1 {
		c.say("One profile can renew in this window; run `tabvalet pair` for each of the others.")
	}
	return c.wait(w, "renewed")
}

func runRevoke(c *call) error {
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	p, err := c.store.Remove(args[0])
	if err != nil {
		return err
	}
	c.say("forgotten: %s", profileName(p))
	return nil
}

func runRecover(c *call) error {
	confirm := c.flags.Bool("confirm", false, "yes, every profile has to be paired again")
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	if !*confirm {
		return usageError("this puts the pairing file aside, and every profile has to be paired again: say --confirm")
	}
	aside, err := c.store.Recover()
	if err != nil {
		return err
	}
	c.say("The pairing file was moved to %s, as it was.\nNext: tabvalet pair", aside)
	return nil
}

// window adds the flag for how long a window stays open: the protocol's time, or less.
func (c *call) window() func() time.Duration {
	d := c.flags.Duration("for", protocol.PairingWindow, "close the window after this time, if it is shorter")
	return func() time.Duration { return max(time.Second, min(*d, protocol.PairingWindow)) }
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// wait counts down until somebody used the window, it ran out, or the person gave up; then it is closed.
func (c *call) wait(w store.Window, done string) error {
	defer c.store.CloseWindow()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	line := c.countdown()
	for {
		now, err := c.store.Window()
		switch {
		case err == nil && now.Used != "":
			line("")
			return c.report(now.Used, done)
		case protocol.CodeOf(err) == protocol.PairingClosed && time.Now().Before(w.Expires):
			line("")
			return protocol.Errorf(protocol.PairingClosed, "the window was closed before a profile was %s", done)
		case err != nil && protocol.CodeOf(err) != protocol.PairingClosed:
			line("")
			return err
		case !time.Now().Before(w.Expires):
			line("")
			return protocol.Errorf(protocol.PairingClosed, "no profile was %s in time", done)
		}
		line(fmt.Sprintf("waiting: %s ", seconds(time.Until(w.Expires).Round(time.Second))))
		select {
		case <-c.ctx.Done():
			line("")
			return protocol.Errorf(protocol.PairingClosed, "interrupted, and the window is closed")
		case <-tick.C:
		}
	}
}

// report names the profile that used the window.
func (c *call) report(id, done string) error {
	p, err := c.store.Find(id)
	if err != nil {
		return err
	}
	c.say("%s: %s", done, profileName(p))
	return nil
}

// countdown rewrites one line of a terminal; where Err is none it says nothing.
func (c *call) countdown() func(string) {
	f, ok := c.Err.(*os.File)
	if !ok {
		return func(string) {}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return func(string) {}
	}
	width := 0
	return func(s string) {
		fmt.Fprintf(f, "\r%s%s\r%s", s, strings.Repeat(" ", max(0, width-len(s))), s)
		width = len(s)
	}
}

func profileName(p store.Profile) string {
	name := audit.Escape(p.Label)
	if p.Browser != "" {
		name += " (" + audit.Escape(p.Browser) + ")"
	}
	return name + ", " + p.ID
}
