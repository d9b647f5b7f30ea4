package setup

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// A policySet is the managed policies of one browser, as JSON values by name, with the place each was read at. Reading
// them is policies_*.go's.
type policySet map[string]policy

type policy struct {
	value  jsontext.Value
	source string
}

// A hindrance is a managed policy that keeps Tab Valet from working.
type hindrance struct {
	policy, source, what string
}

// hindrances judges the policies that matter. They are the administrator's: the fix is to ask.
func (set policySet) hindrances() []hindrance {
	var out []hindrance
	add := func(name, format string, args ...any) {
		out = append(out, hindrance{name, set[name].source, fmt.Sprintf(format, args...)})
	}
	if set.number("ExtensionDeveloperModeSettings") == 1 {
		add("ExtensionDeveloperModeSettings", "developer mode is off: no unpacked extension can be loaded")
	}
	if set.number("DeveloperToolsAvailability") == 2 {
		add("DeveloperToolsAvailability", "developer tools are off, and with them loading unpacked extensions")
	}
	if set.is("NativeMessagingUserLevelHosts", false) {
		add("NativeMessagingUserLevelHosts", "programs of one user cannot be started: pair by code (`tabvalet pair --manual`)")
	}
	blocked := covers(set.list("NativeMessagingBlocklist"), protocol.NativeName)
	if blocked && !covers(set.list("NativeMessagingAllowlist"), protocol.NativeName) {
		add("NativeMessagingBlocklist", "%s may not be started: pair by code (`tabvalet pair --manual`)", protocol.NativeName)
	}
	if covers(set.list("ExtensionInstallBlocklist"), protocol.ExtensionID) && !covers(set.list("ExtensionInstallAllowlist"), protocol.ExtensionID) {
		add("ExtensionInstallBlocklist", "the extension may not be installed")
	}
	if strings.Contains(string(set["ExtensionSettings"].value), `"runtime_blocked_hosts"`) {
		add("ExtensionSettings", "sites are blocked for extensions: Chrome refuses the debugger on every tab")
	}
	return out
}

func (set policySet) number(name string) int {
	var n int
	if json.Unmarshal(set[name].value, &n) != nil {
		return -1
	}
	return n
}

// is understands the numbers that Windows keeps in place of true and false.
func (set policySet) is(name string, want bool) bool {
	switch strings.TrimSpace(string(set[name].value)) {
	case "true", "1":
		return want
	case "false", "0":
		return !want
	}
	return false
}

func (set policySet) list(name string) []string {
	var out []string
	if json.Unmarshal(set[name].value, &out) != nil {
		return nil
	}
	return out
}

func covers(list []string, name string) bool {
	for _, s := range list {
		if s == "*" || s == name {
			return true
		}
	}
	return false
}

// add keeps the first place that sets a policy.
func (set policySet) add(source string, data []byte) {
	var values map[string]jsontext.Value
	if json.Unmarshal(data, &values, jsontext.AllowDuplicateNames(true)) != nil {
		return
	}
	for name, value := range values {
		if _, ok := set[name]; !ok {
			set[name] = policy{value.Clone(), source}
		}
	}
}
