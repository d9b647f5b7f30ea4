package protocol

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal reads the parameters or the result of a message of ours into v, a pointer to one of the structs of this
// package. A member without omitzero in its tag must be there; null stands for nothing; a raw member must be an object.
// The error is a [BadParams].
func Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		dec := jsontext.NewDecoder(bytes.NewBuffer(data))
		err = checkShape(dec, reflect.TypeOf(v).Elem())
	}
	if err != nil {
		return Errorf(BadParams, "%s", clip(err.Error()))
	}
	return nil
}

// Marshal writes the parameters or the result of a message of ours.
func Marshal(v any) (jsontext.Value, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", v, err)
	}
	return data, nil
}

var rawType = reflect.TypeFor[jsontext.Value]()

// checkShape holds one JSON value against t for what the decoder lets pass: unknown, absent and null members.
func checkShape(dec *jsontext.Decoder, t reflect.Type) error {
	kind := dec.PeekKind()
	switch {
	case kind == 'n':
		return fmt.Errorf("null at %q", dec.StackPointer())
	case t == rawType && kind != '{':
		return fmt.Errorf("no object after %q", dec.StackPointer())
	case t == rawType:
		return dec.SkipValue()
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return checkArray(dec, t.Elem())
	case t.Kind() == reflect.Struct:
		return checkObject(dec, shapeOf(t))
	}
	return dec.SkipValue()
}

func checkArray(dec *jsontext.Decoder, elem reflect.Type) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if err := checkShape(dec, elem); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func checkObject(dec *jsontext.Decoder, s *shape) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	missing := len(s.required)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		member := name.String()
		field, ok := s.fields[member]
		if !ok {
			return fmt.Errorf("unknown member %q", member)
		}
		if s.required[member] {
			missing--
		}
		if err := checkShape(dec, field); err != nil {
			return err
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d members are missing at %q", missing, dec.StackPointer())
	}
	_, err := dec.ReadToken()
	return err
}

// A shape is what the tags of a struct say about its JSON.
type shape struct {
	fields   map[string]reflect.Type
	required map[string]bool
}

var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{make(map[string]reflect.Type), make(map[string]bool)}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.fields[name] = f.Type
		if options != "omitzero" {
			s.required[name] = true
		}
	}
	shapes.Store(t, s)
	return s
}

// oneOf reads a name of a closed list.
func oneOf[T ~string](dst *T, text []byte, list ...T) error {
	for _, v := range list {
		if string(text) == string(v) {
			*dst = v
			return nil
		}
	}
	return fmt.Errorf("no such %T", *dst)
}

// UnmarshalText refuses what is not a value of Access.
func (a *Access) UnmarshalText(b []byte) error {
	return oneOf(a, b, AccessRead, AccessAct, AccessSubmit)
}

// UnmarshalText refuses what is not a value of EndReason.
func (r *EndReason) UnmarshalText(b []byte) error {
	return oneOf(r, b, EndStopped, EndDragged, EndClosed, EndCanceled, EndRefused, EndOwnPage, EndExpired, EndHost,
		EndLinkLost, EndForgotten, EndReplaced, EndReconciled)
}

// UnmarshalText refuses what is not a value of VerdictAction.
func (a *VerdictAction) UnmarshalText(b []byte) error {
	return oneOf(a, b, VerdictContinue, VerdictRefuse, VerdictFail, VerdictArrive)
}

// UnmarshalText refuses what is not a value of PromptKind.
func (k *PromptKind) UnmarshalText(b []byte) error {
	return oneOf(k, b, PromptNavigate, PromptSubmit, PromptRead, PromptUpload, PromptDownload, PromptPublish, PromptScript,
		PromptPopup)
}

// UnmarshalText refuses what is not a value of PromptChoice.
func (c *PromptChoice) UnmarshalText(b []byte) error {
	return oneOf(c, b, ChoiceOnce, ChoiceTenMinutes, ChoiceWhileShared, ChoiceNo)
}
