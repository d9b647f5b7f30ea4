package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxID is the largest id of a call: JavaScript counts no further.
const MaxID = 1<<53 - 1

// Kind is what a message is for.
type Kind int

// The values of Kind.
const (
	Call   Kind = iota // wants one answer
	Note               // wants none
	Answer             // of an earlier call
)

// A Message is one JSON-RPC 2.0 message. Which fields are set follows from its [Kind].
type Message struct {
	ID     int64          // of a call or an answer, 1 to MaxID
	Method string         // of a call or a note
	Params jsontext.Value // of a call or a note: an object
	Result jsontext.Value // of an answer without Error: an object
	Error  *Error
}

// Kind tells calls, notes and answers apart.
func (m *Message) Kind() Kind {
	switch {
	case m.Method == "":
		return Answer
	case m.ID == 0:
		return Note
	}
	return Call
}

// envelope is the frame as it stands; raw members keep absent and null apart.
type envelope struct {
	JSONRPC jsontext.Value `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  jsontext.Value `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
}

// Decode reads one message. Its error is a [BadMessage], or [TooLarge] for text over [MaxMessage]; the Message is then
// zero. The raw members of the Message share data's memory.
func Decode(data []byte) (Message, error) {
	if len(data) > MaxMessage {
		return Message{}, Errorf(TooLarge, "a message of %d bytes", len(data))
	}
	m, err := decode(data)
	if err != nil {
		return Message{}, Errorf(BadMessage, "%s", clip(err.Error()))
	}
	return m, nil
}

func decode(data []byte) (m Message, err error) {
	if tooDeep(data) {
		return m, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	var e envelope
	if err := json.Unmarshal(data, &e, json.RejectUnknownMembers(true)); err != nil {
		return m, err
	}
	if string(e.JSONRPC) != `"2.0"` {
		return m, errors.New("jsonrpc is not 2.0")
	}
	if e.ID != nil {
		if m.ID, err = strconv.ParseInt(string(e.ID), 10, 64); err != nil || m.ID < 1 || m.ID > MaxID {
			return m, errors.New("an id is an integer from 1 to 2^53-1")
		}
	}
	if e.Method == nil {
		return m, decodeAnswer(&m, &e)
	}
	if e.Result != nil || e.Error != nil {
		return m, errors.New("a message with a method has no result and no error")
	}
	if err := json.Unmarshal(e.Method, &m.Method); err != nil || m.Method == "" {
		return m, errors.New("a method is a name")
	}
	if !isObject(e.Params) {
		return m, errors.New("params are an object")
	}
	m.Params = e.Params
	return m, nil
}

func decodeAnswer(m *Message, e *envelope) error {
	switch {
	case e.ID == nil:
		return errors.New("neither a method nor an id")
	case e.Params != nil:
		return errors.New("an answer has no params")
	case (e.Result == nil) == (e.Error == nil):
		return errors.New("an answer has a result or an error")
	case e.Result != nil && !isObject(e.Result):
		return errors.New("a result is an object")
	case e.Result != nil:
		m.Result = e.Result
		return nil
	}
	m.Error = new(Error)
	if err := Unmarshal(e.Error, m.Error); err != nil {
		return err
	}
	if !m.Error.Code.wellFormed() {
		return errors.New("an error's code is a short lower-case name")
	}
	return nil
}

// Encode writes the message as one text without line breaks. It refuses what [Decode] at the other end would refuse.
func (m *Message) Encode() ([]byte, error) {
	e := envelope{JSONRPC: jsontext.Value(`"2.0"`), Params: m.Params, Result: m.Result}
	if m.ID != 0 {
		e.ID = strconv.AppendInt(nil, m.ID, 10)
	}
	var err error
	if m.Method != "" {
		if e.Method, err = json.Marshal(m.Method); err != nil {
			return nil, fmt.Errorf("encoding a method: %w", err)
		}
	}
	if m.Error != nil {
		if e.Error, err = json.Marshal(m.Error); err != nil {
			return nil, fmt.Errorf("encoding an error: %w", err)
		}
	}
	data, err := json.Marshal(&e)
	if err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	if len(data) > MaxMessage {
		return nil, Errorf(TooLarge, "a message of %d bytes", len(data))
	}
	if tooDeep(data) {
		return nil, Errorf(TooLarge, "a message nested deeper than %d", MaxDepth)
	}
	return data, nil
}

// wellFormed reports whether c looks like a code. Codes of a newer peer are let through: they are text to us.
func (c Code) wellFormed() bool {
	for _, r := range c {
		if (r < 'a' || r > 'z') && r != '_' {
			return false
		}
	}
	return c != "" && len(c) <= 40
}

// tooDeep counts brackets outside strings, before a parser's stack would grow with them.
func tooDeep(data []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

func isObject(v jsontext.Value) bool {
	v = bytes.TrimLeft(v, " \t\r\n")
	return len(v) > 0 && v[0] == '{'
}

// clip keeps what a parser says short: it may quote the peer.
func clip(s string) string {
	if len(s) > 200 {
		s = s[:200]
	}
	return string(bytes.ToValidUTF8([]byte(s), nil))
}
