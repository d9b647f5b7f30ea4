package setup

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/audit"
)

// A grade is how a check came out.
type grade string

// The values of grade. Only a fail makes doctor's exit code 1.
const (
	gradeOK   grade = "ok"
	gradeWarn grade = "warn" // works, but something may surprise
	gradeFail grade = "fail" // does not work
)

// A finding is the outcome of one check.
type finding struct {
	Check string `json:"check"` // what was looked at: "extension", "chromium registration"
	Grade grade  `json:"grade"`
	What  string `json:"what"`
	Fix   string `json:"fix"` // what to do, "" if nothing
}

// An examination collects findings. Each check_* looks at one thing, changes nothing, and adds at least one finding.
type examination struct {
	*call
	in       installation
	browsers []browser
	found    []finding
}

func (x *examination) add(check string, g grade, fix, format string, args ...any) {
	x.found = append(x.found, finding{check, g, fmt.Sprintf(format, args...), fix})
}

func runDoctor(c *call) error {
	asJSON := c.flags.Bool("json", false, "as JSON")
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	x := &examination{call: c}
	if err := x.run(); err != nil {
		return err
	}
	if *asJSON {
		data, err := json.Marshal(map[string]any{"checks": x.found, "ok": x.ok()}, json.Deterministic(true), jsontext.WithIndent("  "))
		if err != nil {
			return err
		}
		c.say("%s", data)
	} else {
		x.tell()
	}
	if !x.ok() {
		return quietError(exitFailed)
	}
	return nil
}

func (x *examination) run() (err error) {
	if x.in, err = locate(x.dirs); err != nil {
		return err
	}
	x.checkProgram()
	x.checkReceipt()
	x.checkExtension()
	x.checkLauncher()
	for _, b := range x.browsers {
		x.checkPackaging(b)
		x.checkRegistration(b)
		x.checkPolicies(b)
		x.checkProfiles(b)
	}
	x.checkPairing()
	x.checkRecord()
	x.checkHosts()
	return nil
}

func (x *examination) ok() bool {
	for _, f := range x.found {
		if f.Grade == gradeFail {
			return false
		}
	}
	return true
}

func (x *examination) tell() {
	fails := 0
	for _, f := range x.found {
		x.say("%-5s %s: %s", f.Grade, f.Check, audit.Escape(f.What))
		if f.Fix != "" {
			x.say("      → %s", audit.Escape(f.Fix))
		}
		if f.Grade == gradeFail {
			fails++
		}
	}
	if fails == 0 {
		x.say("\nEverything that could be checked works.")
	} else {
		x.say("\n%d of %d checks failed.", fails, len(x.found))
	}
}
