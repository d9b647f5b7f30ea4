package browser

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"

	"github.com/tabvalet/tabvalet/protocol"
)

// A key is one key of a US keyboard. What it types is taken from the layout and never from a character's code: as a
// virtual key code '(' is an arrow.
type key struct {
	key      string // KeyboardEvent.key
	code     string // KeyboardEvent.code, the place on the keyboard
	vk       int64  // Windows virtual key code
	text     string // what it types, "" for none
	shifted  bool   // typed with Shift
	location int64  // 1 left, 2 right, 3 keypad
}

// keys holds every key by the names it goes by: what it types, its key, its code.
var keys = layout()

func layout() map[string]key {
	m := map[string]key{}
	add := func(k key) {
		for _, name := range []string{k.key, k.text} {
			if _, taken := m[name]; name != "" && !taken {
				m[name] = k
			}
		}
		if _, taken := m[k.code]; !taken && !k.shifted {
			m[k.code] = k
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		upper := strings.ToUpper(string(c))
		add(key{key: string(c), code: "Key" + upper, vk: int64(c - 'a' + 'A'), text: string(c)})
		add(key{key: upper, code: "Key" + upper, vk: int64(c - 'a' + 'A'), text: upper, shifted: true})
	}
	for i, above := range ")!@#$%^&*(" {
		digit := string(rune('0' + i))
		add(key{key: digit, code: "Digit" + digit, vk: int64('0' + i), text: digit})
		add(key{key: string(above), code: "Digit" + digit, vk: int64('0' + i), text: string(above), shifted: true})
	}
	for _, p := range []struct {
		code         string
		vk           int64
		plain, shift string
	}{
		{"Backquote", 192, "`", "~"}, {"Minus", 189, "-", "_"}, {"Equal", 187, "=", "+"}, {"BracketLeft", 219, "[", "{"},
		{"BracketRight", 221, "]", "}"}, {"Backslash", 220, `\`, "|"}, {"Semicolon", 186, ";", ":"}, {"Quote", 222, "'", `"`},
		{"Comma", 188, ",", "<"}, {"Period", 190, ".", ">"}, {"Slash", 191, "/", "?"},
	} {
		add(key{key: p.plain, code: p.code, vk: p.vk, text: p.plain})
		add(key{key: p.shift, code: p.code, vk: p.vk, text: p.shift, shifted: true})
	}
	for _, k := range []key{
		{key: " ", code: "Space", vk: 32, text: " "}, {key: "Enter", code: "Enter", vk: 13, text: "\r"},
		{key: "Tab", code: "Tab", vk: 9}, {key: "Backspace", code: "Backspace", vk: 8}, {key: "Delete", code: "Delete", vk: 46},
		{key: "Escape", code: "Escape", vk: 27}, {key: "Insert", code: "Insert", vk: 45},
		{key: "ArrowLeft", code: "ArrowLeft", vk: 37}, {key: "ArrowUp", code: "ArrowUp", vk: 38},
		{key: "ArrowRight", code: "ArrowRight", vk: 39}, {key: "ArrowDown", code: "ArrowDown", vk: 40},
		{key: "Home", code: "Home", vk: 36}, {key: "End", code: "End", vk: 35}, {key: "PageUp", code: "PageUp", vk: 33},
		{key: "PageDown", code: "PageDown", vk: 34}, {key: "CapsLock", code: "CapsLock", vk: 20},
		{key: "NumLock", code: "NumLock", vk: 144}, {key: "ScrollLock", code: "ScrollLock", vk: 145},
		{key: "PrintScreen", code: "PrintScreen", vk: 44}, {key: "Pause", code: "Pause", vk: 19},
		{key: "ContextMenu", code: "ContextMenu", vk: 93},
		{key: "Shift", code: "ShiftLeft", vk: 16, location: 1}, {key: "Shift", code: "ShiftRight", vk: 16, location: 2},
		{key: "Control", code: "ControlLeft", vk: 17, location: 1}, {key: "Control", code: "ControlRight", vk: 17, location: 2},
		{key: "Alt", code: "AltLeft", vk: 18, location: 1}, {key: "Alt", code: "AltRight", vk: 18, location: 2},
		{key: "Meta", code: "MetaLeft", vk: 91, location: 1}, {key: "Meta", code: "MetaRight", vk: 92, location: 2},
		{key: "*", code: "NumpadMultiply", vk: 106, text: "*", location: 3}, {key: "+", code: "NumpadAdd", vk: 107, text: "+", location: 3},
		{key: "-", code: "NumpadSubtract", vk: 109, text: "-", location: 3}, {key: ".", code: "NumpadDecimal", vk: 110, text: ".", location: 3},
		{key: "/", code: "NumpadDivide", vk: 111, text: "/", location: 3}, {key: "Enter", code: "NumpadEnter", vk: 13, text: "\r", location: 3},
	} {
		add(k)
	}
	for i := range 10 {
		digit := string(rune('0' + i))
		add(key{key: digit, code: "Numpad" + digit, vk: int64(96 + i), text: digit, location: 3})
	}
	for i := range 12 {
		name := "F" + []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}[i]
		add(key{key: name, code: name, vk: int64(112 + i)})
	}
	for alias, name := range map[string]string{
		"Esc": "Escape", "Return": "Enter", "Del": "Delete", "Spacebar": "Space", "Up": "ArrowUp", "Down": "ArrowDown",
		"Left": "ArrowLeft", "Right": "ArrowRight", "Ctrl": "Control", "Cmd": "Meta", "Command": "Meta", "Option": "Alt",
		"\n": "Enter", "\r": "Enter", "\t": "Tab",
	} {
		m[alias] = m[name]
	}
	return m
}

// Modifiers as CDP counts them.
const (
	altKey     = 1
	controlKey = 2
	metaKey    = 4
	shiftKey   = 8
)

var modifierBits = map[string]int64{
	"Alt": altKey, "Option": altKey, "Control": controlKey, "Ctrl": controlKey, "ControlOrMeta": controlKey, "Meta": metaKey,
	"Cmd": metaKey, "Command": metaKey, "Shift": shiftKey,
}

// modifierKeys are pressed before and released after what they modify, in this order.
var modifierKeys = []struct {
	bit  int64
	name string
}{{controlKey, "Control"}, {altKey, "Alt"}, {metaKey, "Meta"}, {shiftKey, "Shift"}}

// modifiersOf adds up modifier names.
func modifiersOf(names []string) (bits int64, err error) {
	for _, name := range names {
		bit, ok := modifierBits[name]
		if !ok {
			return 0, protocol.Errorf(protocol.BadArgument, "there is no modifier %q", name).With("hint", "Alt, Control, ControlOrMeta, Meta or Shift")
		}
		bits |= bit
	}
	return bits, nil
}

// parseKeys reads "Control+Shift+a", "Enter", "(", "+" or "Control++".
func parseKeys(combination string) (k key, modifiers int64, err error) {
	parts := strings.Split(combination, "+")
	if strings.HasSuffix(combination, "+") { // the plus key itself
		parts = append(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "+")
	}
	last := parts[len(parts)-1]
	if modifiers, err = modifiersOf(parts[:len(parts)-1]); err != nil {
		return k, 0, err
	}
	k, ok := keys[last]
	switch {
	case ok:
	case utf8.RuneCountInString(last) == 1:
		k = key{key: last, text: last} // not on this keyboard: it types itself
	default:
		return k, 0, protocol.Errorf(protocol.BadArgument, "there is no key %q", last).With("hint", `Use names like Enter, Tab, ArrowDown, a, "Control+a".`)
	}
	if modifiers&shiftKey != 0 && !k.shifted && len(k.text) == 1 && k.location == 0 {
		for _, other := range keys {
			if other.code == k.code && other.shifted {
				k = other
			}
		}
	}
	if k.shifted {
		modifiers |= shiftKey
	}
	return k, modifiers, nil
}

// stroke gives the events of pressing and releasing a key, its modifiers around it.
func stroke(k key, modifiers int64) []Command {
	var events []Command
	held := int64(0)
	for _, m := range modifierKeys {
		if modifiers&m.bit != 0 {
			held |= m.bit
			events = append(events, keyEvent(input.DispatchKeyEventTypeRawKeyDown, keys[m.name], held))
		}
	}
	down := input.DispatchKeyEventTypeRawKeyDown
	if types(k, modifiers) {
		down = input.DispatchKeyEventTypeKeyDown
	}
	events = append(events, keyEvent(down, k, modifiers), keyEvent(input.DispatchKeyEventTypeKeyUp, k, modifiers))
	for _, m := range slices.Backward(modifierKeys) {
		if modifiers&m.bit != 0 {
			held &^= m.bit
			events = append(events, keyEvent(input.DispatchKeyEventTypeKeyUp, keys[m.name], held))
		}
	}
	return events
}

// types tells whether the key puts text in: not while Control, Alt or Meta is held.
func types(k key, modifiers int64) bool {
	return k.text != "" && modifiers&(controlKey|altKey|metaKey) == 0
}

func keyEvent(kind input.DispatchKeyEventType, k key, modifiers int64) Command {
	p := input.DispatchKeyEventParams{
		Type: kind, Modifiers: modifiers, Key: k.key, Code: k.code, WindowsVirtualKeyCode: k.vk, NativeVirtualKeyCode: k.vk, Location: k.location,
	}
	if k.location == 3 {
		p.Location, p.IsKeypad = 0, ptr(true)
	}
	if kind == input.DispatchKeyEventTypeKeyDown {
		p.Text, p.UnmodifiedText = k.text, k.text
	}
	if kind == input.DispatchKeyEventTypeRawKeyDown && k.key == "a" && modifiers&(controlKey|metaKey) != 0 {
		p.Commands = []string{"selectAll"} // editing shortcuts are the browser's, not the page's
	}
	return command(input.DispatchKeyEvent, p)
}

// inserts puts a text in line by line, as an input method does. Newlines are as in strokes.
func inserts(text string) []Command {
	var events []Command
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if i > 0 {
			events = append(events, stroke(keys["Enter"], shiftKey)...)
		}
		if line != "" {
			events = append(events, command(input.InsertText, input.InsertTextParams{Text: line}))
		}
	}
	return events
}

// strokes types a text key by key. Newlines are Enter with Shift, so that a chat box does not send; what is on no key is
// put in as text.
func strokes(text string) []Command {
	var events []Command
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		k, ok := keys[string(r)]
		switch {
		case r == '\n':
			events = append(events, stroke(keys["Enter"], shiftKey)...)
		case r == '\t' || !ok || utf8.RuneCountInString(k.text) != 1:
			events = append(events, command(input.InsertText, input.InsertTextParams{Text: string(r)}))
		case k.shifted:
			events = append(events, keyEvent(input.DispatchKeyEventTypeKeyDown, k, shiftKey), keyEvent(input.DispatchKeyEventTypeKeyUp, k, shiftKey))
		default:
			events = append(events, keyEvent(input.DispatchKeyEventTypeKeyDown, k, 0), keyEvent(input.DispatchKeyEventTypeKeyUp, k, 0))
		}
	}
	return events
}
