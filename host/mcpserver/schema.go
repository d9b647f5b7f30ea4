package mcpserver

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/protocol"
)

// An input struct is a tool's arguments: `json` gives the name (",omitzero" makes it optional), `doc` a few words for
// the model, `enum` the allowed values with spaces between. An embedded struct adds its fields.

type field struct {
	name     string
	index    []int
	typ      reflect.Type
	optional bool
	doc      string
	enum     []string
}

func fieldsOf(t reflect.Type) []field {
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, field{name, f.Index, f.Type, options == "omitzero", f.Tag.Get("doc"), strings.Fields(f.Tag.Get("enum"))})
	}
	return out
}

// anyValue is an argument that takes several kinds of value.
var anyValue = reflect.TypeFor[jsontext.Value]()

// rows is the struct a list argument is made of, nil when it is made of something else.
func rows(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice && t != anyValue && t.Elem().Kind() == reflect.Struct {
		return t.Elem()
	}
	return nil
}

// schemaOf renders an input struct as compact JSON Schema, in the order of its fields.
func schemaOf(t reflect.Type) jsontext.Value {
	var b strings.Builder
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, f := range fieldsOf(t) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s:{"type":%s`, quote(f.name), typeOf(f.typ))
		if f.doc != "" {
			fmt.Fprintf(&b, `,"description":%s`, quote(f.doc))
		}
		enum := f.enum
		if len(enum) > 0 && f.typ.Kind() != reflect.Slice {
			fmt.Fprintf(&b, `,"enum":%s`, list(enum))
		}
		if row := rows(f.typ); row != nil {
			fmt.Fprintf(&b, `,"items":%s`, schemaOf(row))
		} else if f.typ.Kind() == reflect.Slice && f.typ != anyValue {
			fmt.Fprintf(&b, `,"items":{"type":%s`, typeOf(f.typ.Elem()))
			if len(enum) > 0 {
				fmt.Fprintf(&b, `,"enum":%s`, list(enum))
			}
			b.WriteByte('}')
		}
		b.WriteByte('}')
		if !f.optional {
			required = append(required, f.name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		fmt.Fprintf(&b, `,"required":%s`, list(required))
	}
	b.WriteByte('}')
	return jsontext.Value(b.String())
}

func typeOf(t reflect.Type) string {
	if t == anyValue {
		return `["string","boolean","number","array"]`
	}
	switch t.Kind() {
	case reflect.String:
		return `"string"`
	case reflect.Bool:
		return `"boolean"`
	case reflect.Int:
		return `"integer"`
	case reflect.Float64:
		return `"number"`
	case reflect.Slice:
		return `"array"`
	case reflect.Pointer:
		return typeOf(t.Elem())
	}
	panic(fmt.Sprintf("mcpserver: an argument of type %s", t))
}

func quote(s string) string {
	b, _ := jsontext.AppendQuote(nil, s)
	return string(b)
}

func list(ss []string) string {
	quoted := make([]string, len(ss))
	for i, s := range ss {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// decode reads a tool's arguments strictly. Whatever is wrong is a bad_argument that says what would be right.
func decode(raw []byte, in any) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	v := reflect.ValueOf(in).Elem()
	fields := fieldsOf(v.Type())
	if err := names(raw, fields); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, in, json.RejectUnknownMembers(true)); err != nil {
		if se, ok := errors.AsType[*json.SemanticError](err); ok {
			name := strings.TrimPrefix(string(se.JSONPointer), "/")
			name, _, _ = strings.Cut(name, "/")
			for _, f := range fields {
				if f.name == name {
					return bad(fmt.Sprintf("%s must be %s, not %s", name, strings.Trim(typeOf(f.typ), `"`), kindName(se.JSONKind)), fields)
				}
			}
		}
		return bad("the arguments cannot be read", fields)
	}
	for _, f := range fields {
		if err := checkEnum(f, v.FieldByIndex(f.index), fields); err != nil {
			return err
		}
	}
	return nil
}

// names looks for arguments that are missing or unknown, in the rows of lists too.
func names(raw []byte, fields []field) error {
	var given map[string]jsontext.Value
	if err := json.Unmarshal(raw, &given); err != nil {
		return bad("the arguments are not an object", fields)
	}
	for name := range given {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return bad(fmt.Sprintf("there is no argument %s", quote(clip(name, 40))), fields)
		}
	}
	for _, f := range fields {
		value, ok := given[f.name]
		if !f.optional && (!ok || value.Kind() == 'n') {
			return bad(fmt.Sprintf("%s is missing", f.name), fields)
		}
		row := rows(f.typ)
		if row == nil || value.Kind() != '[' {
			continue
		}
		var list []jsontext.Value
		if err := json.Unmarshal(value, &list); err != nil {
			return bad(fmt.Sprintf("%s cannot be read", f.name), fields)
		}
		for i, item := range list {
			if item.Kind() != '{' {
				return bad(fmt.Sprintf("%s[%d] must be object, not %s", f.name, i, kindName(item.Kind())), fields)
			}
			if err := names(item, fieldsOf(row)); err != nil {
				return within(fmt.Sprintf("%s[%d]", f.name, i), err)
			}
		}
	}
	return nil
}

// within says of an error where it is.
func within(where string, err error) error {
	e := *toolError(err)
	e.Message = where + ": " + e.Message
	return &e
}

func checkEnum(f field, v reflect.Value, fields []field) error {
	if len(f.enum) == 0 {
		return nil
	}
	values := []string{}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			values = append(values, v.Index(i).String())
		}
	} else if s := v.String(); s != "" {
		values = append(values, s)
	}
	for _, s := range values {
		if !slices.Contains(f.enum, s) {
			return bad(fmt.Sprintf("%s cannot be %s; it is one of %s", f.name, quote(clip(s, 40)), strings.Join(f.enum, ", ")), fields)
		}
	}
	return nil
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 'f', 't':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return "that"
}

// bad makes the error of an argument, with all arguments there are as the hint.
func bad(message string, fields []field) error {
	var names []string
	for _, f := range fields {
		if f.optional {
			names = append(names, f.name+"?")
		} else {
			names = append(names, f.name)
		}
	}
	hint := "This tool takes no arguments."
	if names != nil {
		hint = "Arguments: " + strings.Join(names, ", ") + "."
	}
	return protocol.Errorf(protocol.BadArgument, "%s", message).With("hint", hint)
}

func clip(s string, n int) string {
	r := []rune(strings.ToValidUTF8(s, "\uFFFD"))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
