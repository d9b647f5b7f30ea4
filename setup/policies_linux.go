package setup

import (
	"os"
	"path/filepath"
)

// readPolicies reads every JSON file of the folders, as Chromium does.
func readPolicies(dirs []string) policySet {
	set := make(policySet)
	for _, dir := range dirs {
		paths, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		for _, path := range paths {
			if data, err := os.ReadFile(path); err == nil {
				set.add(path, data)
			}
		}
	}
	return set
}
