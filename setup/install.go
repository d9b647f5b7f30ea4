package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// A hostManifest is what tells a browser which program may be started by which extension.
type hostManifest struct {
	Name           string   `json:"name"`
	Description    string   `json:"description"`
	Path           string   `json:"path"`
	Type           string   `json:"type"`
	AllowedOrigins []string `json:"allowed_origins"`
}

func ourManifest(launcher string) hostManifest {
	return hostManifest{
		Name:           protocol.NativeName,
		Description:    protocol.ProductName,
		Path:           launcher,
		Type:           "stdio",
		AllowedOrigins: []string{protocol.ExtensionOrigin + "/"},
	}
}

func (m hostManifest) encode() ([]byte, error) {
	data, err := json.Marshal(m, jsontext.WithIndent("  "))
	return append(data, '\n'), err
}

// manifestOf reads the manifest that a browser finds at path.
func manifestOf(path string) (m hostManifest, err error) {
	data, err := readManifest(path)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

// An installation is where the parts of ours are.
type installation struct {
	binary    string
	extension string
	launcher  string
}

func extensionDir(dirs *store.Dirs) string { return filepath.Join(dirs.Data, "extension") }

func locate(dirs *store.Dirs) (installation, error) {
	binary, err := os.Executable()
	if err != nil {
		return installation{}, fmt.Errorf("finding this program: %w", err)
	}
	return installation{
		binary:    binary,
		extension: extensionDir(dirs),
		launcher:  filepath.Join(dirs.Data, launcherName),
	}, nil
}

func runSetup(c *call) error {
	var ch choice
	c.flags.StringVar(&ch.name, "browser", "", "register with this browser only, found or not")
	c.flags.StringVar(&ch.dataDir, "user-data-dir", "", "register with a browser that is started with this user data folder")
	uninstall := c.flags.Bool("uninstall", false, "remove exactly what setup has written; pairing and record stay")
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	if *uninstall {
		return c.uninstall()
	}
	list, err := ch.browsers()
	if err != nil {
		return err
	}
	return c.install(list)
}

// install lists everything in the receipt first, then writes it, telling each part's state.
func (c *call) install(list []browser) error {
	in, err := locate(c.dirs)
	if err != nil {
		return err
	}
	manifest, err := ourManifest(in.launcher).encode()
	if err != nil {
		return err
	}
	r, err := readReceipt(c.dirs)
	if err != nil {
		return err
	}
	moved := r.Binary != "" && r.Binary != in.binary
	before := unpackedVersion(in.extension)
	r.Version, r.Binary = version(), in.binary
	r.Dirs = append(r.Dirs, absent(c.dirs.Data)...)
	r.Trees = append(r.Trees, in.extension)
	r.file(in.launcher)
	for _, b := range list {
		for _, host := range b.hosts() {
			plan(r, c.dirs, host)
		}
	}
	if err := r.write(c.dirs); err != nil {
		return err
	}

	unpacked, err := unpack(extension.Files(), in.extension)
	if err != nil {
		return err
	}
	c.say("extension  %s in %s", did(unpacked, before != "", "version "+version()), in.extension)
	changed, err := put(in.launcher, launcher(in.binary, c.dirs.Environ()), 0o700)
	if err != nil {
		return err
	}
	c.say("launcher   %s for %s", did(changed, moved, "written"), in.binary)
	if temporary(in.binary) {
		c.say("           this program is in a temporary folder: run setup again from where it will stay")
	}
	for _, b := range list {
		if b.Sandbox != "" && !b.Forced {
			c.say("%-10s not registered: a %s cannot start programs of yours; use the browser's own package", b.Name, strings.ToUpper(b.Sandbox[:1])+b.Sandbox[1:])
			continue
		}
		any, other := false, ""
		for _, host := range b.hosts() {
			if m, err := manifestOf(manifestIn(host)); err == nil && m.Path != in.launcher {
				other = m.Path
			}
			changed, err := register(c.dirs, host, manifest)
			if err != nil {
				return fmt.Errorf("registering with %s: %w", b.Title, err)
			}
			any = any || changed
		}
		c.say("%-10s %s with %s", b.Name, did(any, other != "", "registered"), b.Title)
		if other != "" {
			c.say("           in place of %s", other)
		}
	}
	c.next(list, in, unpacked && before != "")
	return nil
}

// did puts what happened into a word or two.
func did(changed, again bool, what string) string {
	switch {
	case !changed:
		return "already " + what
	case again:
		return "now " + what
	}
	return what
}

// next says what the owner does now: only what is still to be done.
func (c *call) next(list []browser, in installation, newer bool) {
	pairing, err := c.store.Load()
	paired := err == nil && len(pairing.Profiles) > 0
	switch {
	case len(list) == 0:
		c.say("\nNo Chrome-family browser of this user was found. Install one and start it once, or name one: tabvalet setup --browser chromium")
	case paired && newer:
		c.say("\nNext: open Tab Valet's popup in each paired profile and press Reload the extension.")
	case paired:
		c.say("\nNothing else is to be done: %d paired. `tabvalet doctor` checks it.", len(pairing.Profiles))
	default:
		c.say("\nNext:")
		c.say("  1. Open %s and turn on Developer mode.", list[0].address())
		c.say("  2. Press Load unpacked and choose %s", in.extension)
		c.say("  3. Run `tabvalet pair`, then press Pair this profile in Tab Valet's popup.")
		c.say("  4. Run `tabvalet client print claude-code` (or another client) and add what it says.")
	}
}

// hosts are the registrations that setup makes for a browser: none into a sandbox that nobody asked for.
func (b browser) hosts() []string {
	if b.Sandbox != "" && !b.Forced {
		return nil
	}
	return b.Hosts
}

// temporary recognises what `go run` and `go test` start.
func temporary(binary string) bool {
	return strings.Contains(filepath.ToSlash(binary), "/go-build")
}
