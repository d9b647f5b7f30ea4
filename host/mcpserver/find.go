package mcpserver

import (
	"context"
	"regexp/syntax"
	"strings"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

func findTools() []tool {
	return []tool{
		define(looks, "browser_find", "Find", "Find elements by text, regex or role and name: their lines, with refs. Cheaper than a snapshot.", find),
		more([]tool{define(looks, "browser_read_form", "Read form",
			"The fields of a form, or of the whole page: labels, names, types, options, what they hold, whether they can be used, and what submits.", readForm)})[0],
	}
}

type findInput struct {
	tabInput
	Text  string `json:"text,omitzero" doc:"part of it; ignores case"`
	Regex string `json:"regex,omitzero"`
	Role  string `json:"role,omitzero"`
	Name  string `json:"name,omitzero" doc:"accessible name"`
}

const findLimit = 50

func find(ctx context.Context, c *call, in *findInput) (*answer, error) {
	if in.Text == "" && in.Regex == "" && in.Role == "" && in.Name == "" {
		return nil, protocol.Errorf(protocol.BadArgument, "nothing to find").With("hint", "Give text, regex, role or name.")
	}
	pattern, err := harmless(in.Regex)
	if err != nil {
		return nil, err
	}
	var got *browser.Finding
	r, err := c.look(ctx, in.Tab, func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		got, err = t.Find(ctx, browser.FindOptions{Text: in.Text, Regex: pattern, Role: in.Role, Name: in.Name, Limit: findLimit, Readable: may})
		if err != nil {
			return doc, 0, err
		}
		for _, f := range got.Found {
			chars += len(f.Line)
		}
		return got.Document, chars, nil
	})
	a := &answer{report: r, did: "found"}
	if err != nil {
		return a, err
	}
	if got.Total == 0 {
		a.did = "nothing found"
	}
	a.fact("matches", "%d", got.Total)
	a.set("matches", got.Total)
	if more := got.Total - len(got.Found); more > 0 {
		a.fact("not shown", "%d; look for something narrower", more)
	}
	a.hidden(0, got.Withheld)
	var b strings.Builder
	for _, f := range got.Found {
		b.WriteString(f.Line)
		if !strings.Contains(f.Line, "[ref="+f.Ref+"]") { // text inside something with a ref
			b.WriteString(" (in " + f.Describe + " [ref=" + f.Ref + "])")
		}
		b.WriteByte('\n')
	}
	if b.Len() > 0 {
		a.page(got.Origin, "matches", strings.TrimRight(b.String(), "\n"))
	}
	return a, nil
}

// harmless takes a regular expression, as it is or between slashes, that cannot keep a page busy: JavaScript's engine
// tries all ways through a repetition of repetitions, and nothing stops it.
func harmless(pattern string) (string, error) {
	if rest, ok := strings.CutPrefix(pattern, "/"); ok {
		if i := strings.LastIndexByte(rest, '/'); i > 0 && strings.Trim(rest[i+1:], "gimsuy") == "" {
			pattern = rest[:i]
		}
	}
	if pattern == "" {
		return "", nil
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || len(pattern) > 500 {
		return "", protocol.Errorf(protocol.BadArgument, "that regular expression cannot be read").With("hint", "It is one without lookaround and back references, of at most 500 characters.")
	}
	if !tame(tree, false) {
		return "", protocol.Errorf(protocol.BadArgument, "a regular expression that repeats repetitions or alternatives is not run in a page").With("hint", "Write it without + or * around a group, or look for text.")
	}
	return pattern, nil
}

// tame tells whether nothing that can match in several ways is repeated.
func tame(r *syntax.Regexp, repeated bool) bool {
	switch r.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		if repeated {
			return false
		}
		repeated = true
	case syntax.OpAlternate, syntax.OpQuest:
		if repeated {
			return false
		}
	}
	for _, sub := range r.Sub {
		if !tame(sub, repeated) {
			return false
		}
	}
	return true
}

type readFormInput struct {
	tabInput
	Target string `json:"target,omitzero" doc:"ref or selector of a form, or of something in or around it"`
}

func readForm(ctx context.Context, c *call, in *readFormInput) (*answer, error) {
	var got *browser.FormReading
	r, err := c.look(ctx, in.Tab, func(ctx context.Context, t session.Tab, may func(string) bool) (doc browser.Document, chars int, err error) {
		if got, err = t.ReadForm(ctx, in.Target, may); err != nil {
			return doc, 0, err
		}
		return got.Document, len(got.Text), nil
	})
	a := &answer{report: r, did: "read the form"}
	if err != nil {
		return a, err
	}
	a.fact("fields", "%d", got.Fields)
	a.set("fields", got.Fields)
	if got.Hidden > 0 {
		a.fact("hidden inputs", "%d", got.Hidden)
		a.set("hidden_inputs", got.Hidden)
	}
	if got.More > 0 {
		a.fact("not shown", "%d fields; give a target", got.More)
	}
	a.hidden(0, got.Withheld)
	if got.Text != "" {
		a.page(got.Origin, "form", strings.TrimRight(got.Text, "\n"))
	}
	return a, nil
}

// look reads something of a tab that gives no refs of its own time.
func (c *call) look(ctx context.Context, tab string, do func(context.Context, session.Tab, func(string) bool) (browser.Document, int, error)) (*session.Report, error) {
	return c.server.opt.Session.Read(ctx, c.on(tab), session.Reading{Do: do})
}
