package setup

import "strings"

const launcherName = "tabvalet-native.bat"

// launcher is what Chrome starts in place of the binary: Chrome's environment knows nothing of our folders.
func launcher(binary string, environ []string) []byte {
	var b strings.Builder
	b.WriteString("@echo off\r\nrem Written by tabvalet setup, which also mends it. Chrome starts this.\r\n")
	for _, kv := range environ {
		b.WriteString(`set "` + escape(kv) + "\"\r\n")
	}
	b.WriteString(`"` + escape(binary) + "\" %*\r\n")
	return []byte(b.String())
}

// escape keeps cmd from expanding; a path holds no quotes there.
func escape(s string) string { return strings.ReplaceAll(s, "%", "%%") }
