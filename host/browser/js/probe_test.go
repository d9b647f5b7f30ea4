package js_test

import (
	"fmt"
	"os"
	"testing"
)

func TestProbe(t *testing.T) {
	f := os.Getenv("PROBE")
	if f == "" {
		t.Skip()
	}
	text, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	p := open(t, string(text))
	s := p.snapshot(nil)
	fmt.Println(s)
	fmt.Println(s.Total, s.Chars, s.HiddenText)
}
