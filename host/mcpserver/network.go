package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"mime"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

func networkTools() []tool {
	return more([]tool{
		define(looks, "browser_network_requests", "Network requests", "The tab's requests since it was lent, numbered. Static ones that succeeded only with static.", networkRequests),
		define(looks, "browser_network_request", "Network request", "One request of that list, with headers; a part of it on demand.", networkRequest),
		define(looks, "browser_console_messages", "Console", "What the page's console has said, and errors nothing caught.", consoleMessages),
		define(looks, "browser_pdf_save", "Save PDF", "Print the page into a PDF file.", savePDF),
	})
}

// more marks tools that most pages can be used without.
func more(tools []tool) []tool {
	for i := range tools {
		tools[i].core = false
	}
	return tools
}

type requestsInput struct {
	tabInput
	Static   bool   `json:"static,omitzero"`
	Filter   string `json:"filter,omitzero" doc:"regex for the address"`
	Since    int    `json:"since,omitzero" doc:"only after this number"`
	Filename string `json:"filename,omitzero"`
}

// fixtures are the types that are only listed on demand when nothing is wrong with them.
var fixtures = map[string]bool{"Stylesheet": true, "Image": true, "Media": true, "Font": true, "Script": true, "Manifest": true, "TextTrack": true}

func networkRequests(ctx context.Context, c *call, in *requestsInput) (*answer, error) {
	filter, err := regexp.Compile(in.Filter)
	if err != nil || in.Since < 0 {
		return nil, protocol.Errorf(protocol.BadArgument, "filter is a regular expression, since is a number of the list")
	}
	if err := c.server.opt.Shots.check(in.Filename); err != nil {
		return nil, err
	}
	var b strings.Builder
	var shown, withheld, static, last int
	r, err := c.look(ctx, in.Tab, func(_ context.Context, t session.Tab, may func(string) bool) (browser.Document, int, error) {
		b.Reset()
		shown, static, last = 0, 0, in.Since
		var all []browser.Request
		all, withheld = t.Requests(in.Since, may)
		for _, q := range all {
			if !filter.MatchString(q.URL) {
				continue
			}
			if !in.Static && fixtures[q.Type] && q.Error == "" && q.Status < 400 {
				static++
				continue
			}
			line := requestLine(q)
			if b.Len()+len(line) > listMax && in.Filename == "" {
				break
			}
			b.WriteString(line)
			shown, last = shown+1, q.Number
		}
		return t.Document(), b.Len(), nil
	})
	a := &answer{report: r, did: "network requests"}
	if err != nil {
		return a, err
	}
	a.fact("requests", "%d", shown)
	a.set("requests", shown)
	if static > 0 {
		a.fact("static", "%d that succeeded are not listed", static)
	}
	if withheld > 0 {
		a.fact("withheld", "%d of sites that are not shared", withheld)
		a.set("withheld", withheld)
	}
	a.fact("next", "since=%d", last)
	a.set("since", last)
	return a, a.give(c, in.Filename, "requests", strings.TrimRight(b.String(), "\n"))
}

// listMax bounds what is answered in one piece.
const listMax = 20_000

func requestLine(q browser.Request) string {
	how := "pending"
	switch {
	case q.Error != "":
		how = "failed: " + q.Error
	case q.Status != 0:
		how = fmt.Sprint(q.Status)
	}
	return fmt.Sprintf("%d. [%s] %s => [%s] %s\n", q.Number, oneLine(q.Method, 20), oneLine(q.URL, 400), oneLine(how, 60), strings.ToLower(q.Type))
}

type requestInput struct {
	tabInput
	Index    int    `json:"index" doc:"its number"`
	Part     string `json:"part,omitzero" enum:"request-headers request-body response-headers response-body"`
	Filename string `json:"filename,omitzero" doc:"save the part there"`
}

func networkRequest(ctx context.Context, c *call, in *requestInput) (*answer, error) {
	if in.Index < 1 {
		return nil, protocol.Errorf(protocol.BadArgument, "index counts from 1")
	}
	if in.Part == "request-body" {
		return nil, protocol.Errorf(protocol.Unavailable, "what a request sent is never given: it can hold what the owner typed")
	}
	if err := c.server.opt.Shots.check(in.Filename); err != nil {
		return nil, err
	}
	var got *browser.Request
	var body []byte
	r, err := c.look(ctx, in.Tab, func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		if got, err = t.Request(in.Index, may); err == nil && in.Part == "response-body" {
			body, err = t.Body(ctx, got)
		}
		return t.Document(), len(body), err
	})
	a := &answer{report: r, did: "network request"}
	if err != nil {
		return a, err
	}
	a.set("number", got.Number)
	a.set("http_status", got.Status)
	switch in.Part {
	case "request-headers":
		return a, a.give(c, in.Filename, "request headers", headerLines(got.RequestHeaders))
	case "response-headers":
		return a, a.give(c, in.Filename, "response headers", headerLines(got.ResponseHeaders))
	case "response-body":
		return a, a.body(c, got, body, in.Filename)
	}
	text := requestLine(*got)
	if got.ContentType != "" {
		text += "content type: " + oneLine(got.ContentType, 80) + "\n"
	}
	if got.Posted {
		text += "it had a body, which is not given\n"
	}
	if got.Done {
		text += fmt.Sprintf("transferred: %d bytes\n", got.Bytes)
	}
	text += "request headers:\n" + headerLines(got.RequestHeaders) + "\nresponse headers:\n" + headerLines(got.ResponseHeaders)
	a.fact("headers", "cookies, authorization and all that could be a secret are redacted: not taken from Chrome")
	return a, a.give(c, in.Filename, "request", text)
}

func headerLines(headers map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, "  "+name+": "+oneLine(headers[name], 1000))
	}
	return strings.Join(lines, "\n")
}

// body shows text, and pictures as such; all else becomes a file.
func (a *answer) body(c *call, q *browser.Request, data []byte, filename string) error {
	a.fact("size", "%d bytes, %s", len(data), oneLine(q.ContentType, 80))
	binary := !utf8.Valid(data) || strings.ContainsRune(string(data[:min(len(data), 1000)]), 0)
	switch {
	case filename == "" && binary && strings.HasPrefix(q.ContentType, "image/") && len(data) <= 4<<20:
		a.content = append(a.content, &mcp.ImageContent{Data: data, MIMEType: q.ContentType})
		return nil
	case filename == "" && binary:
		return a.save(c, c.server.opt.Shots.name(a.report.Tab, extension(q.ContentType)), data)
	case filename != "":
		return a.save(c, filename, data)
	}
	text := []rune(string(data))
	if len(text) > listMax {
		a.fact("cut", "the first %d of %d characters; filename saves it whole", listMax, len(text))
		text = text[:listMax]
	}
	a.page(a.origin(), "body", string(text))
	return nil
}

// extension gives the kind of file of a type, as [Shots.name] takes it.
func extension(contentType string) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	if kind == "application/pdf" {
		return "pdf"
	}
	return "bin"
}

// give shows a text of the page, or saves it where a name was given.
func (a *answer) give(c *call, filename, what, text string) error {
	if filename != "" {
		return a.save(c, filename, []byte(text+"\n"))
	}
	if text != "" {
		a.page(a.origin(), what, text)
	}
	return nil
}

type consoleInput struct {
	tabInput
	Level    string `json:"level,omitzero" enum:"error warning info debug" doc:"and what is worse; default info"`
	All      bool   `json:"all,omitzero" doc:"no difference: Chrome keeps this page's only"`
	Since    int    `json:"since,omitzero" doc:"since of an earlier answer"`
	Filename string `json:"filename,omitzero"`
}

var levels = []string{"error", "warning", "info", "debug"}

func consoleMessages(ctx context.Context, c *call, in *consoleInput) (*answer, error) {
	if err := c.server.opt.Shots.check(in.Filename); err != nil {
		return nil, err
	}
	if in.Since < 0 {
		return nil, protocol.Errorf(protocol.BadArgument, "since comes from an earlier answer")
	}
	least := slices.Index(levels, in.Level)
	if least < 0 {
		least = slices.Index(levels, "info")
	}
	var lines []string
	var got *browser.Console
	r, err := c.look(ctx, in.Tab, func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		if got, err = t.Console(ctx, may); err != nil {
			return doc, 0, err
		}
		lines, chars = consoleLines(got.Messages, least, in.Since)
		return got.Document, chars, nil
	})
	a := &answer{report: r, did: "console"}
	if err != nil {
		return a, err
	}
	errors, warnings, last := 0, 0, in.Since
	for _, m := range got.Messages {
		last = max(last, int(m.Time.UnixMicro()))
		switch m.Level {
		case "error":
			errors++
		case "warning":
			warnings++
		}
	}
	a.fact("messages", "%d of this page (%d errors, %d warnings); %d fit what was asked", len(got.Messages), errors, warnings, len(lines))
	a.set("messages", len(lines))
	a.set("since", last)
	a.fact("next", "since=%d", last)
	if got.Withheld > 0 {
		a.fact("withheld", "%d of documents that are not shared, or gone", got.Withheld)
		a.set("withheld", got.Withheld)
	}
	a.fact("how", "Chrome kept them; reading them enabled its Runtime domain for a moment, which a page can notice")
	if in.Filename == "" {
		lines = fitting(a, lines)
	}
	return a, a.give(c, in.Filename, "console", strings.Join(lines, "\n"))
}

func consoleLines(messages []browser.Message, least, since int) (lines []string, chars int) {
	for _, m := range messages {
		if slices.Index(levels, m.Level) > least || int(m.Time.UnixMicro()) <= since {
			continue
		}
		line := fmt.Sprintf("[%s] %s", strings.ToUpper(m.Level), oneLine(m.Text, 2000))
		if m.URL != "" {
			line += fmt.Sprintf(" @ %s:%d", oneLine(m.URL, 200), m.Line)
		}
		lines = append(lines, line)
		chars += len(line)
	}
	return lines, chars
}

// fitting keeps the newest lines that fit into one answer.
func fitting(a *answer, lines []string) []string {
	size := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if size += len(lines[i]) + 1; size > listMax {
			a.fact("cut", "the newest %d lines; filename saves all", len(lines)-1-i)
			return lines[i+1:]
		}
	}
	return lines
}

type pdfInput struct {
	tabInput
	Filename string `json:"filename,omitzero"`
}

func savePDF(ctx context.Context, c *call, in *pdfInput) (*answer, error) {
	shots := c.server.opt.Shots
	if err := shots.check(in.Filename); err != nil {
		return nil, err
	}
	if shots == nil || shots.Dir == "" {
		return nil, protocol.Errorf(protocol.Unavailable, "there is no capture folder")
	}
	var got *browser.Printout
	r, err := c.look(ctx, in.Tab, func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		if got, err = t.PDF(ctx, may); err != nil {
			return doc, 0, err
		}
		return got.Document, len(got.Data), nil
	})
	a := &answer{report: r, did: "printed"}
	if err != nil {
		return a, err
	}
	a.fact("size", "%d bytes", len(got.Data))
	name := in.Filename
	if name == "" {
		name = shots.name(r.Tab, "pdf")
	}
	return a, a.save(c, name, got.Data)
}
