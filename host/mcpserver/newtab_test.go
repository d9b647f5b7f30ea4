package mcpserver

import (
	"testing"

	"github.com/tabvalet/tabvalet/protocol"
)

// The page can only say that a click would open a tab if it hears with which keys: such a tab is guarded by nobody.
func TestClickIsCheckedWithItsKeysAndButton(t *testing.T) {
	c := newClient(t, Options{}).lend(protocol.AccessAct)
	if r := c.raw("browser_click", `{"target":"e1","button":"middle","modifiers":["Control","Shift"]}`); r.code() != "" {
		t.Fatalf("%+v", r)
	}
	o := c.tab.checked
	if o.Button != "middle" || len(o.Modifiers) != 2 {
		t.Errorf("checked with %+v", o)
	}
}
