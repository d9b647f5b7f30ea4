package browser

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/chromedp/cdproto/input"
	"github.com/google/go-cmp/cmp"

	"github.com/tabvalet/tabvalet/protocol"
)

// inputText draws events: + down, - up, = text.
func inputText(events []Command) string {
	var out []string
	for _, e := range events {
		switch p := e.Params.(type) {
		case input.InsertTextParams:
			out = append(out, "="+p.Text)
		case input.DispatchKeyEventParams:
			sign := "+"
			if p.Type == input.DispatchKeyEventTypeKeyUp {
				sign = "-"
			}
			text := ""
			if p.Text != "" {
				text = fmt.Sprintf("=%q", p.Text)
			}
			mods := ""
			if p.Modifiers != 0 {
				mods = fmt.Sprintf("/%d", p.Modifiers)
			}
			out = append(out, fmt.Sprintf("%s%s(%s %d)%s%s", sign, p.Key, p.Code, p.WindowsVirtualKeyCode, mods, text))
		}
	}
	return strings.Join(out, " ")
}

func TestPressedKeys(t *testing.T) {
	for name, want := range map[string]string{
		"a":               `+a(KeyA 65)="a" -a(KeyA 65)`,
		"A":               `+Shift(ShiftLeft 16)/8 +A(KeyA 65)/8="A" -A(KeyA 65)/8 -Shift(ShiftLeft 16)`,
		"Shift+a":         `+Shift(ShiftLeft 16)/8 +A(KeyA 65)/8="A" -A(KeyA 65)/8 -Shift(ShiftLeft 16)`,
		"(":               `+Shift(ShiftLeft 16)/8 +((Digit9 57)/8="(" -((Digit9 57)/8 -Shift(ShiftLeft 16)`,
		"Enter":           `+Enter(Enter 13)="\r" -Enter(Enter 13)`,
		"ArrowDown":       `+ArrowDown(ArrowDown 40) -ArrowDown(ArrowDown 40)`,
		"Control+a":       `+Control(ControlLeft 17)/2 +a(KeyA 65)/2 -a(KeyA 65)/2 -Control(ControlLeft 17)`,
		"ControlOrMeta+c": `+Control(ControlLeft 17)/2 +c(KeyC 67)/2 -c(KeyC 67)/2 -Control(ControlLeft 17)`,
		"+":               `+Shift(ShiftLeft 16)/8 ++(Equal 187)/8="+" -+(Equal 187)/8 -Shift(ShiftLeft 16)`,
		"Control++":       `+Control(ControlLeft 17)/2 +Shift(ShiftLeft 16)/10 ++(Equal 187)/10 -+(Equal 187)/10 -Shift(ShiftLeft 16)/2 -Control(ControlLeft 17)`,
		"Shift+Tab":       `+Shift(ShiftLeft 16)/8 +Tab(Tab 9)/8 -Tab(Tab 9)/8 -Shift(ShiftLeft 16)`,
		"Alt+ArrowLeft":   `+Alt(AltLeft 18)/1 +ArrowLeft(ArrowLeft 37)/1 -ArrowLeft(ArrowLeft 37)/1 -Alt(AltLeft 18)`,
		"Esc":             `+Escape(Escape 27) -Escape(Escape 27)`,
		"Space":           `+ (Space 32)=" " - (Space 32)`,
		"KeyB":            `+b(KeyB 66)="b" -b(KeyB 66)`,
		"Numpad5":         `+5(Numpad5 101)="5" -5(Numpad5 101)`,
		"F5":              `+F5(F5 116) -F5(F5 116)`,
		"ü":               `+ü( 0)="ü" -ü( 0)`,
	} {
		k, modifiers, err := parseKeys(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, inputText(stroke(k, modifiers))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, name := range []string{"", "Hyper+a", "Bogus", "Control+", "Control+Bogus", "a+b"} {
		if _, _, err := parseKeys(name); name != "Control+" && protocol.CodeOf(err) != protocol.BadArgument {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

// As a virtual key code, the character code of '(' is an arrow, that of '.' is Delete, and so on.
func TestNoCharacterIsTypedByAKeyThatMoves(t *testing.T) {
	moving := map[int64]bool{}
	for _, name := range []string{"ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "Home", "End", "PageUp", "PageDown", "Delete", "Insert", "Backspace"} {
		moving[keys[name].vk] = true
	}
	for r := rune(' '); r <= '~'; r++ {
		k, ok := keys[string(r)]
		switch {
		case !ok:
			t.Errorf("%q is on no key", r)
		case moving[k.vk] || k.text != string(r) || k.vk == 0:
			t.Errorf("%q is typed by %+v", r, k)
		case unicode.IsUpper(r) != (k.shifted && unicode.IsLetter(r)):
			t.Errorf("%q: shifted is %v", r, k.shifted)
		}
	}
}

func TestTypedText(t *testing.T) {
	for text, want := range map[string]string{
		"aB":     `+a(KeyA 65)="a" -a(KeyA 65) +B(KeyB 66)/8="B" -B(KeyB 66)/8`,
		"é😀":     `=é =😀`,
		"x\r\ny": `+x(KeyX 88)="x" -x(KeyX 88) +Shift(ShiftLeft 16)/8 +Enter(Enter 13)/8="\r" -Enter(Enter 13)/8 -Shift(ShiftLeft 16) +y(KeyY 89)="y" -y(KeyY 89)`,
		"a\tb":   "+a(KeyA 65)=\"a\" -a(KeyA 65) =\t +b(KeyB 66)=\"b\" -b(KeyB 66)",
		"Shift":  `+S(KeyS 83)/8="S" -S(KeyS 83)/8 +h(KeyH 72)="h" -h(KeyH 72) +i(KeyI 73)="i" -i(KeyI 73) +f(KeyF 70)="f" -f(KeyF 70) +t(KeyT 84)="t" -t(KeyT 84)`,
	} {
		if diff := cmp.Diff(want, inputText(strokes(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestClickEvents(t *testing.T) {
	var got []string
	for _, e := range clickEvents(Point{3, 4}, Right, 2, shiftKey) {
		p := e.Params.(input.DispatchMouseEventParams)
		got = append(got, fmt.Sprintf("%s %v,%v %s %d ×%d /%d", p.Type, p.X, p.Y, p.Button, p.Buttons, p.ClickCount, p.Modifiers))
	}
	want := []string{
		"mouseMoved 3,4  0 ×0 /8", "mousePressed 3,4 right 2 ×1 /8", "mouseReleased 3,4 right 0 ×1 /8",
		"mousePressed 3,4 right 2 ×2 /8", "mouseReleased 3,4 right 0 ×2 /8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
