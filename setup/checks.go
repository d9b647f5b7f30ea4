package setup

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"github.com/tabvalet/tabvalet/extension"
	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

const fixSetup = "tabvalet setup"

func (x *examination) checkProgram() {
	if temporary(x.in.binary) {
		x.add("program", gradeWarn, "install it where it will stay, and run setup from there", "it runs from a temporary folder")
		return
	}
	x.add("program", gradeOK, "", "tabvalet %s at %s", version(), x.in.binary)
}

// checkReceipt also finds out which browsers there are to look at.
func (x *examination) checkReceipt() {
	r, err := readReceipt(x.dirs)
	if err != nil {
		x.add("receipt", gradeFail, "look at it, remove it, and run `tabvalet setup`", "%v", err)
		return
	}
	if r.Binary == "" {
		x.add("receipt", gradeFail, fixSetup, "setup has not been run")
	} else if r.Binary != x.in.binary {
		x.add("receipt", gradeWarn, fixSetup+" (with the program that is to be used)", "setup was run by %s", r.Binary)
	} else {
		x.add("receipt", gradeOK, "", "%s", receiptPath(x.dirs))
	}
	if x.browsers, err = installed(x.dirs); err != nil {
		x.add("browsers", gradeFail, "", "%v", err)
	} else if len(x.browsers) == 0 {
		x.add("browsers", gradeFail, "install Chrome or Chromium and start it once, then: "+fixSetup, "no Chrome-family browser of this user was found")
	}
}

func (x *examination) checkExtension() {
	have := unpackedVersion(x.in.extension)
	switch {
	case have == "":
		x.add("extension", gradeFail, fixSetup, "it is not unpacked")
	case have != version():
		x.add("extension", gradeFail, fixSetup+", then Reload the extension in the popup", "%s is unpacked, this program carries %s", have, version())
	case !same(extension.Files(), x.in.extension):
		x.add("extension", gradeFail, fixSetup, "its files in %s were changed", x.in.extension)
	default:
		x.add("extension", gradeOK, "", "%s in %s", have, x.in.extension)
	}
}

func (x *examination) checkLauncher() {
	have, err := os.ReadFile(x.in.launcher)
	info, statErr := os.Stat(x.in.launcher)
	switch {
	case err != nil || statErr != nil:
		x.add("launcher", gradeFail, fixSetup, "Chrome has nothing to start: %s is missing", x.in.launcher)
	case !bytes.Equal(have, launcher(x.in.binary, x.dirs.Environ())):
		x.add("launcher", gradeFail, fixSetup, "it starts another program, or with other folders")
	case info.Mode().Perm()&0o022 != 0 || info.Mode().Perm()&0o100 == 0 && filepath.Ext(launcherName) == "":
		x.add("launcher", gradeFail, fixSetup, "it has mode %04o", info.Mode().Perm())
	default:
		x.add("launcher", gradeOK, "", "%s", x.in.launcher)
	}
}

func (x *examination) checkPackaging(b browser) {
	if b.Sandbox == "" {
		return
	}
	x.add(b.Name, gradeWarn, "use the browser's own package (.deb, .rpm); Tab Valet needs to start a program of yours",
		"%s is packaged as a %s, which keeps it from starting programs outside", b.Title, b.Sandbox)
}

// checkRegistration looks at the manifests in the order in which browsers do: the user's, then the system's.
func (x *examination) checkRegistration(b browser) {
	if b.Sandbox != "" && !b.Forced {
		return
	}
	check := b.Name + " registration"
	want := ourManifest(x.in.launcher)
	fix := fixSetup
	if b.Name == "custom" {
		fix += " --user-data-dir " + word(b.Data)
	}
	for _, host := range b.Hosts {
		path := manifestIn(host)
		m, err := manifestOf(path)
		switch {
		case err != nil && !present(path):
			x.add(check, gradeFail, fix, "%s does not know Tab Valet: no manifest in %s", b.Title, host)
		case err != nil:
			x.add(check, gradeFail, fix, "%s cannot be read: %v", path, err)
		case m.Path != want.Path:
			x.add(check, gradeFail, fix+" (it takes over)", "%s belongs to another installation: it starts %s", path, m.Path)
		case m.Name != want.Name || m.Type != want.Type || !slices.Equal(m.AllowedOrigins, want.AllowedOrigins):
			x.add(check, gradeFail, fix, "%s is not as setup writes it", path)
		default:
			x.add(check, gradeOK, "", "%s", path)
		}
	}
	for _, host := range b.System {
		path := systemManifest(host)
		if m, err := manifestOf(path); err == nil && m.Path != want.Path {
			x.add(check, gradeWarn, "remove it if nobody needs it", "a second manifest of our name, for all users: %s starts %s", path, m.Path)
		}
	}
}

func (x *examination) checkPolicies(b browser) {
	list := readPolicies(b.Policies).hindrances()
	for _, h := range list {
		x.add(b.Name+" policy", gradeFail, "ask who manages this browser", "%s in %s: %s", h.policy, h.source, h.what)
	}
	if len(list) == 0 && len(b.Policies) > 0 {
		x.add(b.Name+" policy", gradeOK, "", "no managed policy is in the way")
	}
}

// checkProfiles goes by the browser's own files, which it writes when it likes.
func (x *examination) checkProfiles(b browser) {
	list := loadedIn(b.Data)
	if len(list) == 0 {
		x.add(b.Name+" profiles", gradeWarn, "open "+b.address()+", turn on Developer mode, Load unpacked: "+x.in.extension,
			"no profile is known to have loaded the extension (a running browser may not have written it down yet)")
	}
	for _, l := range list {
		check := b.Name + " profile " + l.Profile
		switch {
		case l.Off:
			x.add(check, gradeFail, "turn it on in "+b.address(), "the extension is turned off")
		case !sameFolder(l.Path, x.in.extension):
			x.add(check, gradeWarn, "remove it there and load "+x.in.extension, "the extension was loaded from %s", l.Path)
		case l.Version != "" && l.Version != version():
			x.add(check, gradeFail, "press Reload the extension in the popup", "the extension that runs is %s, this program carries %s", l.Version, version())
		default:
			x.add(check, gradeOK, "", "the extension is loaded, version %s", cmp.Or(l.Version, "unknown"))
		}
		if !l.Files {
			x.add(check+" files", gradeWarn, `only for uploads: in the extension's details turn on "Allow access to file URLs"`, "file URLs are not allowed, so files cannot be handed to pages")
		}
	}
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (x *examination) checkPairing() {
	p, err := x.store.Load()
	switch {
	case protocol.CodeOf(err) == protocol.NotPaired, err == nil && len(p.Profiles) == 0:
		x.add("pairing", gradeFail, "run `tabvalet pair`, then press Pair this profile in the popup", "no profile is paired")
		return
	case err != nil:
		x.add("pairing", gradeFail, hintOf(err), "%v", err)
		return
	}
	for _, q := range p.Profiles {
		if q.Extension != protocol.ExtensionID {
			x.add("pairing", gradeFail, "tabvalet revoke "+q.ID, "%s was paired with another extension", profileName(q))
			continue
		}
		x.add("pairing", gradeOK, "", "%s", profileName(q))
	}
}

func (x *examination) checkRecord() {
	dir := RecordDir(x.dirs.State)
	if present(dir) {
		f, err := os.CreateTemp(dir, ".probe-*")
		if err != nil {
			x.add("record", gradeFail, "check the disk and who owns the folder: nothing can be done without a record", "%s cannot be written: %v", dir, err)
			return
		}
		f.Close()
		os.Remove(f.Name())
	}
	mirrors, err := audit.Mirrors(dir)
	if err != nil {
		x.add("record", gradeWarn, "look at it, then remove it", "%v", err)
	}
	var heads []protocol.Head
	for _, m := range mirrors {
		heads = append(heads, m.Heads...)
	}
	if r := audit.Verify(dir, heads); !r.OK() {
		x.add("record", gradeWarn, "tabvalet audit verify", "it contradicts itself: %s", r.Problems[0])
	} else {
		x.add("record", gradeOK, "", "%d rows in %s", r.Rows, dir)
	}
}

func (x *examination) checkHosts() {
	if hosts, err := store.List(x.dirs); err != nil {
		x.add("hosts", gradeFail, "", "%v", err)
	} else {
		x.add("hosts", gradeOK, "", "%d running", len(hosts))
	}
}
