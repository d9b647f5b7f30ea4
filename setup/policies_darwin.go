package setup

import "os/exec"

// readPolicies has the system's own tool turn the property lists into JSON.
func readPolicies(paths []string) policySet {
	set := make(policySet)
	for _, path := range paths {
		if data, err := exec.Command("/usr/bin/plutil", "-convert", "json", "-o", "-", path).Output(); err == nil {
			set.add(path, data)
		}
	}
	return set
}
