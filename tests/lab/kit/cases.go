package kit

import (
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Cases serves a folder of cases in the format of shared/cases/INDEX.md: /<slug>/… with {{A}}, {{B}}, {{C}} and {{S}}
// replaced by the case's address on the site's origins, and the routes of its server.json. The site is asked for late,
// because it needs the handler first.
func Cases(folder fs.FS, site func() *Site) http.Handler {
	return &cases{folder, site}
}

type cases struct {
	folder fs.FS
	site   func() *Site
}

type caseServer struct {
	TLS    bool             `json:"tls,omitzero"`
	Routes map[string]route `json:"routes"`
}

type route struct {
	Status     int               `json:"status,omitzero"`
	Headers    map[string]string `json:"headers,omitzero"`
	Body       string            `json:"body,omitzero"`
	File       string            `json:"file,omitzero"`
	DelayMS    int               `json:"delay_ms,omitzero"`
	NeverEnds  bool              `json:"never_ends,omitzero"`
	Only       string            `json:"only,omitzero"`
	Auth       *route            `json:"auth,omitzero"`
	Comment    string            `json:"comment,omitzero"`
	ChunkDelay int               `json:"chunk_delay_ms,omitzero"`
}

func (c *cases) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	slug, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || slug == "" || !fs.ValidPath(slug) {
		http.NotFound(w, r)
		return
	}
	if rest == "" {
		rest = "index.html"
	}
	body, _ := io.ReadAll(r.Body)
	fill := c.filler(slug, r, string(body))
	if found, err := c.route(slug, "/"+rest, r); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	} else if found != nil {
		c.serve(w, r, slug, found, fill)
		return
	}
	c.file(w, path.Join(slug, rest), fill)
}

func (c *cases) route(slug, rest string, r *http.Request) (*route, error) {
	text, err := fs.ReadFile(c.folder, path.Join(slug, "server.json"))
	if err != nil {
		return nil, nil // a case without routes
	}
	var server caseServer
	if err := json.Unmarshal(text, &server, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%s/server.json: %w", slug, err)
	}
	for _, key := range []string{r.Method + " " + rest, rest} {
		if found, ok := server.Routes[key]; ok && (found.Only == "" || found.Only == letter(r)) {
			if _, _, signed := r.BasicAuth(); signed && found.Auth != nil {
				return found.Auth, nil
			}
			return &found, nil
		}
	}
	return nil, nil
}

func (c *cases) serve(w http.ResponseWriter, r *http.Request, slug string, found *route, fill func(string) string) {
	if found.DelayMS > 0 {
		select {
		case <-time.After(time.Duration(found.DelayMS) * time.Millisecond):
		case <-r.Context().Done():
			return
		}
	}
	for k, v := range found.Headers {
		w.Header().Set(k, fill(v))
	}
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-store")
	}
	body := []byte(found.Body)
	if found.File != "" {
		text, err := fs.ReadFile(c.folder, path.Join(slug, found.File))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		body = text
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(found.File)))
		}
	}
	if utf8.Valid(body) {
		body = []byte(fill(string(body)))
	}
	status := found.Status
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	w.Write(body)
	if found.NeverEnds {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func (c *cases) file(w http.ResponseWriter, name string, fill func(string) string) {
	text, err := fs.ReadFile(c.folder, name)
	if err != nil || path.Base(name) == "server.json" || path.Base(name) == "case.md" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	if strings.HasPrefix(kind, "text/") || strings.Contains(kind, "javascript") || strings.Contains(kind, "json") || strings.Contains(kind, "svg") {
		io.WriteString(w, fill(string(text)))
		return
	}
	w.Write(text)
}

func (c *cases) filler(slug string, r *http.Request, body string) func(string) string {
	s := c.site()
	return strings.NewReplacer(
		"{{A}}", s.A+"/"+slug, "{{B}}", s.B+"/"+slug, "{{C}}", s.C+"/"+slug, "{{S}}", s.S+"/"+slug,
		"{{METHOD}}", html.EscapeString(r.Method), "{{BODY}}", html.EscapeString(body), "{{QUERY}}", html.EscapeString(r.URL.RawQuery),
	).Replace
}
