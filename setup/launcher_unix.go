//go:build unix

package setup

import "strings"

const launcherName = "tabvalet-native"

// launcher is what Chrome starts in place of the binary: Chrome's environment knows nothing of our folders.
func launcher(binary string, environ []string) []byte {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Written by tabvalet setup, which also mends it. Chrome starts this.\n")
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		b.WriteString("export " + name + "=" + quote(value) + "\n")
	}
	b.WriteString("exec " + quote(binary) + ` "$@"` + "\n")
	return []byte(b.String())
}

// quote makes one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
