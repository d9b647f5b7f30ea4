package session

import "testing"

func TestCleanLeavesOneHarmlessLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\x1b[0m":                "a b [0m",
		"\u202emoc.elgoog":           "moc.elgoog",
		"a\u061cb\u2066c\u200bd":     "a b c d",
		"pay\U000E0061\U000E0062now": "pay  now", // tag characters, which nobody sees
		"much too long a name":       "much too lon…",
		"\xff":                       "\uFFFD",
	} {
		if got := clean(in, 12); got != want {
			t.Errorf("clean(%q) = %q, not %q", in, got, want)
		}
	}
}
