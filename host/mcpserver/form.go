package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/host/session"
	"github.com/tabvalet/tabvalet/protocol"
)

func formTools() []tool {
	return []tool{
		define(acts, "browser_fill_form", "Fill a form", "Fill fields of any kind at once; each is read back and told. Does not send the form.", fillForm),
		define(acts, "browser_select_option", "Select options", "Choose options of a list; they replace what was chosen.", selectOption),
	}
}

// maxFields is how many fields one call fills.
const maxFields = 200

type formInput struct {
	tabInput
	Fields []fieldInput `json:"fields"`
}

type fieldInput struct {
	Target string         `json:"target,omitzero" doc:"default: the field labelled name"`
	Name   string         `json:"name,omitzero" doc:"what people call it"`
	Value  jsontext.Value `json:"value" doc:"text; true or false; option or list of options; 2031-02-28, 18:55, 2031-W09, #rrggbb"`
	Type   string         `json:"type,omitzero" doc:"not needed"`
	Ref    string         `json:"ref,omitzero" doc:"as target"`
	Nth    int            `json:"nth,omitzero"`
}

func fillForm(ctx context.Context, c *call, in *formInput) (*answer, error) {
	if len(in.Fields) == 0 || len(in.Fields) > maxFields {
		return nil, protocol.Errorf(protocol.BadArgument, "fields is a list of 1 to %d fields", maxFields)
	}
	plan := session.Plan{Past: fmt.Sprintf("filled in a form of %d fields", len(in.Fields))}
	fields := make([]browser.Field, len(in.Fields))
	for i, f := range in.Fields {
		target, err := f.target()
		if err == nil {
			fields[i].Values, err = texts(f.Value)
		}
		if err != nil {
			return nil, within(fmt.Sprintf("fields[%d]", i), err)
		}
		fields[i].Target = &browser.CheckOptions{Target: target, Nth: f.Nth, For: browser.Type}
		plan.Also = append(plan.Also, fields[i].Target)
		for _, v := range fields[i].Values {
			plan.Chars += utf8.RuneCountInString(v)
		}
	}
	if plan.Chars > maxWindow {
		return nil, protocol.Errorf(protocol.BadArgument, "the values are longer than %d characters", maxWindow)
	}
	var filled []browser.Filled
	plan.Do = func(ctx context.Context, a session.Act, _ *browser.Checked) error {
		filled = a.FillForm(ctx, fields)
		return nil
	}
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), plan)
	a := &answer{report: r, did: done(r)}
	if failed := a.filled(in.Fields, filled); err == nil {
		err = failed
	}
	return a, err
}

func (f *fieldInput) target() (string, error) {
	switch {
	case f.Target != "" && f.Ref != "" && f.Target != f.Ref:
		return "", protocol.Errorf(protocol.BadArgument, "target and ref differ")
	case f.Target != "":
		return f.Target, nil
	case f.Ref != "":
		return f.Ref, nil
	case strings.TrimSpace(f.Name) != "":
		return "label=" + f.Name, nil
	}
	return "", protocol.Errorf(protocol.BadArgument, "it has neither target nor name")
}

// texts gives a value as the texts that are entered.
func texts(v jsontext.Value) ([]string, error) {
	switch v.Kind() {
	case '"':
		var s string
		err := json.Unmarshal(v, &s)
		return []string{s}, err
	case 't', 'f', '0':
		return []string{string(v)}, nil
	case '[':
		var list []string
		if json.Unmarshal(v, &list) == nil {
			return list, nil
		}
	}
	return nil, protocol.Errorf(protocol.BadArgument, "value is a text, a number, true, false or a list of texts")
}

// filled tells of each field: how it is called here, and by the page in a block of the page's. It answers the first error.
func (a *answer) filled(in []fieldInput, out []browser.Filled) error {
	var first error
	var lines []string
	var meta []map[string]any
	bad := 0
	for i, f := range out {
		line := fmt.Sprintf("- fields[%d] %s: ", i, f.Describe)
		m := map[string]any{"outcome": string(f.Outcome), "kind": f.Kind, "matches": f.Matches}
		switch {
		case f.Err != nil:
			e := toolError(f.Err)
			line += fmt.Sprintf("%s, error %s: %s", f.Outcome, e.Code, oneLine(e.Message, 200))
			m["code"] = string(e.Code)
			if options, ok := e.Data["options"]; ok {
				line += "; options: " + oneLine(fmt.Sprint(options), 400)
			}
		case f.Matches:
			line += fmt.Sprintf("%s, %d characters", f.Outcome, f.Length)
			m["length"] = f.Length
		default:
			line += fmt.Sprintf("%s, but it holds %d characters that are not what was meant", f.Outcome, f.Length)
			m["length"] = f.Length
		}
		if f.Text != "" && (!f.Matches || f.Kind == "select") {
			line += fmt.Sprintf(": %q", clip(f.Text, 100))
		}
		if f.Err != nil || !f.Matches {
			if bad++; first == nil {
				first = cmp.Or(f.Err, errOther)
			}
		}
		lines, meta = append(lines, line), append(meta, m)
	}
	if out == nil {
		return nil
	}
	a.fact("fields", "%d of %d hold what was meant", len(out)-bad, len(out))
	a.set("fields", meta)
	a.page(a.origin(), "the fields,", strings.Join(lines, "\n"))
	if first == nil {
		return nil
	}
	if r := a.report; r != nil && r.Outcome == browser.Confirmed {
		r.Outcome = browser.Dispatched
	}
	return protocol.Errorf(protocol.CodeOf(first), "%d of %d fields do not hold what was meant; the others do", bad, len(in)).
		With("hint", "See each field below; call again with those alone.")
}

// errOther is the error of a field that took what was entered, and holds something else now.
var errOther error = protocol.Errorf(protocol.NotEditable, "it holds something else")

type selectInput struct {
	targetInput
	Values    []string `json:"values,omitzero" doc:"values or visible texts"`
	Labels    []string `json:"labels,omitzero" doc:"visible texts; \"Group: text\" where two read the same"`
	Indexes   []int    `json:"indexes,omitzero" doc:"from 0"`
	Submits   bool     `json:"submits,omitzero" doc:"choosing is meant to send a form"`
	TimeoutMS int      `json:"timeout_ms,omitzero"`
}

func selectOption(ctx context.Context, c *call, in *selectInput) (*answer, error) {
	timeout, err := late(in.TimeoutMS)
	if err != nil {
		return nil, err
	}
	if in.Values == nil && in.Labels == nil && in.Indexes == nil {
		return nil, protocol.Errorf(protocol.BadArgument, "values, labels or indexes is missing").With("hint", `values: ["France"]`)
	}
	var s browser.Selected
	var failed error
	r, err := c.server.opt.Session.Act(ctx, c.on(in.Tab), session.Plan{
		Past:    "chose in",
		Target:  &browser.CheckOptions{Target: in.Target, Nth: in.Nth, For: browser.Select, Timeout: timeout},
		Submits: in.Submits,
		Do: func(ctx context.Context, a session.Act, _ *browser.Checked) error {
			s, failed = a.Select(ctx, browser.SelectOptions{Values: in.Values, Labels: in.Labels, Indexes: in.Indexes})
			return failed
		},
	})
	a := &answer{report: r, did: done(r)}
	if err == nil {
		a.fact("chosen", "%d options, as asked: %t", len(s.Labels), s.Matches)
		a.set("value_matches", s.Matches)
		a.page(a.origin(), "options that are chosen,", strings.Join(s.Labels, "\n"))
	} else if options, ok := toolError(err).Data["options"]; ok {
		a.page(a.origin(), "options of the list,", clip(optionLines(options), 3000))
	}
	return a, err
}

// optionLines renders the options that the engine names with an error: texts, or where there are several of one text,
// their group, value and index.
func optionLines(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	var b strings.Builder
	for _, o := range list {
		if m, ok := o.(map[string]any); ok {
			fmt.Fprintf(&b, "- index %v, group %q, value %q\n", m["index"], fmt.Sprint(m["group"]), fmt.Sprint(m["value"]))
		} else {
			fmt.Fprintf(&b, "- %q\n", fmt.Sprint(o))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
