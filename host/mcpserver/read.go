package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

func readTools() []tool {
	return []tool{
		define(looks, "browser_snapshot", "Snapshot",
			"The page as a tree of roles and names with refs (e12) for other tools. Better than a screenshot for acting.", snapshot),
		define(looks, "browser_read", "Read text",
			"The page's visible text in reading order, in windows. cache_key of an earlier answer reads on, or searches, without reading the page again.", read),
		define(looks, "browser_take_screenshot", "Screenshot", "A picture of the page or of one element, saved and shown.", screenshot),
	}
}

type snapshotInput struct {
	tabInput
	Target      string `json:"target,omitzero" doc:"ref or selector: only this part"`
	Depth       int    `json:"depth,omitzero"`
	Interactive bool   `json:"interactive,omitzero" doc:"only what can be acted on"`
	Boxes       bool   `json:"boxes,omitzero"`
	MaxChars    int    `json:"max_chars,omitzero" doc:"default 20000"`
	Cursor      string `json:"cursor,omitzero" doc:"next of an earlier answer"`
	Filename    string `json:"filename,omitzero" doc:"save there instead"`
}

func snapshot(ctx context.Context, c *call, in *snapshotInput) (*answer, error) {
	if in.Depth < 0 || in.MaxChars < 0 || in.MaxChars > maxWindow {
		return nil, protocol.Errorf(protocol.BadArgument, "depth and max_chars are positive, max_chars at most %d", maxWindow)
	}
	if err := c.server.opt.Shots.check(in.Filename); err != nil {
		return nil, err
	}
	var got *browser.Snapshot
	r, err := c.server.opt.Session.Read(ctx, c.on(in.Tab), session.Reading{Fresh: in.Cursor == "", Do: func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		got, err = t.Snapshot(ctx, browser.SnapshotOptions{Target: in.Target, Depth: in.Depth, Interactive: in.Interactive,
			Boxes: in.Boxes, MaxChars: in.MaxChars, Cursor: in.Cursor, Readable: may})
		if err != nil {
			return doc, 0, err
		}
		return got.Document, len(got.Text), nil
	}})
	a := &answer{report: r, did: "snapshot"}
	if err != nil {
		return a, err
	}
	a.hidden(got.HiddenText, got.Withheld)
	if got.Next != "" {
		a.fact("next", "%s (of %d characters in all)", got.Next, got.Chars)
		a.set("next", got.Next)
	}
	a.set("chars", got.Chars)
	if in.Filename != "" {
		return a, a.save(c, in.Filename, []byte(got.Text))
	}
	a.page(got.Origin, "page content", got.Text)
	return a, nil
}

// maxWindow bounds what one call reads.
const maxWindow = 200_000

type readInput struct {
	tabInput
	Target       string `json:"target,omitzero"`
	Start        int    `json:"start,omitzero" doc:"first character"`
	MaxChars     int    `json:"max_chars,omitzero" doc:"default 20000, at most 200000"`
	Links        bool   `json:"links,omitzero" doc:"list the links too"`
	Search       string `json:"search,omitzero" doc:"only around this text"`
	CacheKey     string `json:"cache_key,omitzero"`
	CaptureChars int    `json:"capture_chars,omitzero" doc:"keep so much for cache_key"`
}

func read(ctx context.Context, c *call, in *readInput) (*answer, error) {
	if in.Start < 0 || in.MaxChars < 0 || in.MaxChars > maxWindow || in.CaptureChars < 0 || in.CaptureChars > 10*maxWindow {
		return nil, protocol.Errorf(protocol.BadArgument, "start, max_chars and capture_chars are positive; max_chars is at most %d", maxWindow)
	}
	var got *browser.Reading
	r, err := c.server.opt.Session.Read(ctx, c.on(in.Tab), session.Reading{Do: func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		got, err = t.Read(ctx, browser.ReadOptions{Target: in.Target, Start: in.Start, MaxChars: in.MaxChars, Links: in.Links,
			Search: in.Search, CacheKey: in.CacheKey, CaptureChars: in.CaptureChars, Readable: may})
		if err != nil {
			return doc, 0, err
		}
		return got.Document, len(got.Text), nil
	}})
	a := &answer{report: r, did: "read"}
	if err != nil {
		return a, err
	}
	if in.Search != "" {
		a.fact("matches", "%d", got.Matches)
		a.set("matches", got.Matches)
	}
	a.fact("coverage", "characters %d to %d of %d", got.Start, got.Start+len([]rune(got.Text)), got.Total)
	if got.Next != 0 {
		a.fact("next", "start=%d", got.Next)
		a.set("next", got.Next)
	}
	if got.CacheKey != "" {
		a.fact("cache_key", "%s (keeps %d characters)", got.CacheKey, got.Captured)
		a.set("cache_key", got.CacheKey)
	}
	a.set("total_chars", got.Total)
	a.hidden(got.HiddenText, got.Withheld)
	a.page(got.Origin, "page content", got.Text)
	if in.Links {
		var b strings.Builder
		for _, l := range got.Links {
			fmt.Fprintf(&b, "- %s: %s\n", l.Text, l.URL)
		}
		a.page(got.Origin, "links", strings.TrimRight(b.String(), "\n"))
	}
	return a, nil
}

// hidden tells what was left out and why.
func (a *answer) hidden(hidden, withheld int) {
	if hidden > 0 {
		a.fact("hidden_text", "%d pieces of invisible text look like instructions; they were left out", hidden)
		a.set("hidden_text", hidden)
	}
	if withheld > 0 {
		a.fact("withheld", "%d frames of other sites are not shared", withheld)
		a.set("withheld", withheld)
	}
}

type screenshotInput struct {
	tabInput
	Target   string `json:"target,omitzero" doc:"ref or selector: only this element"`
	Element  string `json:"element,omitzero" doc:"human description of the target"`
	Type     string `json:"type,omitzero" enum:"png jpeg"`
	Filename string `json:"filename,omitzero" doc:"bare name"`
	FullPage bool   `json:"fullPage,omitzero"`
	Scale    string `json:"scale,omitzero" enum:"css device" doc:"either way at most 1568 px"`
	Inline   *bool  `json:"inline,omitzero" doc:"false: file only"`
}

func screenshot(ctx context.Context, c *call, in *screenshotInput) (*answer, error) {
	if in.Target != "" && in.FullPage {
		return nil, protocol.Errorf(protocol.BadArgument, "target and fullPage exclude each other")
	}
	if err := c.server.opt.Shots.check(in.Filename); err != nil {
		return nil, err
	}
	jpeg := in.Type == "jpeg"
	var got *browser.Image
	r, err := c.server.opt.Session.Read(ctx, c.on(in.Tab), session.Reading{Do: func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		got, err = t.Screenshot(ctx, browser.ScreenshotOptions{Target: in.Target, FullPage: in.FullPage, JPEG: jpeg, Readable: may})
		if err != nil {
			return doc, 0, err
		}
		return got.Document, len(got.Data), nil
	}})
	a := &answer{report: r, did: "screenshot"}
	if err != nil {
		return a, err
	}
	a.fact("size", "%d×%d, %d bytes", got.W, got.H, len(got.Data))
	if got.Masked > 0 {
		a.fact("masked", "%d frames of other sites are painted over", got.Masked)
	}
	if in.Inline == nil || *in.Inline {
		a.content = append(a.content, &mcp.ImageContent{Data: got.Data, MIMEType: got.MIME})
	}
	name := in.Filename
	if name == "" {
		name = c.server.opt.Shots.name(r.Tab, got.MIME)
	}
	return a, a.save(c, name, got.Data)
}

// save puts a file into the capture folder. That it could not does not undo the call.
func (a *answer) save(c *call, name string, data []byte) error {
	path, err := c.server.opt.Shots.save(name, data)
	if err != nil {
		a.fact("file", "not saved: %s", toolError(err).Message)
		return nil
	}
	a.fact("file", "%s", path)
	a.set("file", path)
	return nil
}
