package session

import (
	"io"
	"net/http"
	"strings"

	"github.com/tabvalet/tabvalet/protocol"
)

// ApproveHandler serves the plain page behind an approval link. A paired Chrome never shows it for long: the extension
// puts its own page in its place. Whoever sees it is told what is missing. It has no effect and says the same for every
// token, so that opening it teaches nothing.
func ApproveHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		token, ok := strings.CutPrefix(r.URL.Path, protocol.ApprovePath)
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		case !ok || len(token) != 43 || strings.Contains(token, "/"):
			http.Error(w, "not found", http.StatusNotFound)
		default:
			h.Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, approvePage)
		}
	})
}

const approvePage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Tab Valet</title>
<style>
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem }
code { font-size: .95em }
</style>
<h1>Tab Valet</h1>
<p>An agent on this computer asks to borrow one tab of your browser. The page on which you decide opens by itself in a
Chrome that is paired with Tab Valet.</p>
<p>If you still read this, one of these is missing here:</p>
<ul>
<li>This is not the Chrome you paired. Open the link there.</li>
<li>The extension is not loaded. Run <code>tabvalet setup</code> in a terminal; it says what to do.</li>
<li>This profile is not paired. Run <code>tabvalet pair</code> and press <b>Pair this profile</b> in the extension's popup.</li>
</ul>
<p><code>tabvalet doctor</code> checks all three. Nothing was shared by opening this page.</p>
</html>
`
