package guard

import (
	"testing"

	"github.com/tabvalet/tabvalet/host/policy"
)

var (
	states = []state{fresh, guarding, acting, driven, frozen, over}
	events = []event{started, actBegan, actEnded, takenOver, handedBack, escaped, ended}
)

func TestEveryStateAndEvent(t *testing.T) {
	// One line a state, one column an event; "" stays.
	want := map[state][7]state{
		//         started   actBegan actEnded  takenOver handedBack escaped ended
		fresh:    {guarding, "", "", driven, "", "", over},
		guarding: {"", acting, "", driven, "", frozen, over},
		acting:   {"", "", guarding, driven, "", frozen, over},
		driven:   {"", "", "", "", guarding, "", over},
		frozen:   {"", "", "", "", "", "", over},
		over:     {"", "", "", "", "", "", ""},
	}
	for _, s := range states {
		for i, e := range events {
			next, moved := s.update(e)
			wanted := want[s][i]
			if wanted == "" {
				wanted = s
			}
			if next != wanted || moved != (want[s][i] != "") {
				t.Errorf("%s × %s = %s (%v), want %s", s, e, next, moved, wanted)
			}
		}
	}
}

// enter brings a desk into a state by the events that lead there.
func enter(t *testing.T, s state) *desk {
	t.Helper()
	if s == fresh {
		return newDesk(t, policy.AccessAct, shop)
	}
	d := atShop(t)
	switch s {
	case acting:
		d.click()
	case driven:
		d.TakenOver()
	case frozen:
		d.commit("nobody's", evil)
	case over:
		d.Ended()
	}
	if d.state != s {
		t.Fatalf("in state %s, want %s", d.state, s)
	}
	return d
}

// TestEveryStateAndRequest: what becomes of a page's own GET within its site, of one that leaves, of a form, and of a
// request the extension let go because the owner drives.
func TestEveryStateAndRequest(t *testing.T) {
	type ruled struct {
		action Action
		fate   Fate
	}
	var (
		goes   = ruled{Continue, Allowed}
		stays  = ruled{Refuse, Refused}
		asked  = ruled{Refuse, Asked}
		failed = ruled{Fail, Refused}
		theirs = ruled{Continue, UserDriven}
		gone   = ruled{Nothing, UserDriven}
	)
	for _, row := range []struct {
		state                      state
		within, leaves, form, owns ruled
	}{
		{fresh, goes, stays, stays, gone},
		{guarding, goes, stays, stays, gone},
		{acting, goes, asked, asked, gone},
		{driven, failed, failed, failed, gone},
		{frozen, theirs, theirs, theirs, gone},
		{over, failed, failed, failed, gone},
	} {
		for what, want := range map[string]ruled{"within": row.within, "leaves": row.leaves, "form": row.form, "owns": row.owns} {
			d := enter(t, row.state)
			var r Ruling
			switch what {
			case "within":
				r = d.get(shop + "/next")
			case "leaves":
				r = d.get(other)
			case "form":
				r = d.post(shop + "/order")
			case "owns":
				r = d.post(evil, driving)
			}
			if got := (ruled{r.Action, r.Fate}); got != want {
				t.Errorf("%s, %s: %v, want %v (%s)", row.state, what, got, want, r.Row.Rule)
			}
		}
	}
}

// TestEveryStateAndCall: what acts, reads and commits are told.
func TestEveryStateAndCall(t *testing.T) {
	for _, row := range []struct {
		state    state
		act      policy.Code
		reading  policy.Code
		stranger Standing // a commit of another site without any request
	}{
		{fresh, policy.InvalidTransition, "", Unread},
		{guarding, "", "", Frozen},
		{acting, policy.InvalidTransition, "", Frozen},
		{driven, policy.OwnerHasControl, "", Unread},
		{frozen, policy.NavigationEscaped, policy.NavigationEscaped, Unread},
		{over, policy.PageClosed, policy.PageClosed, Frozen},
	} {
		d := enter(t, row.state)
		if f := d.Foresee(Intent{Kind: Interacts}, d.now); f.Code != row.act {
			t.Errorf("%s: foresee answers %q, want %q", row.state, f.Code, row.act)
		}
		if code := d.Reading(d.now); code != row.reading {
			t.Errorf("%s: reading answers %q, want %q", row.state, code, row.reading)
		}
		if code := d.ActBegan(Act{ID: "x", Intent: Intent{Kind: Interacts}}, d.now); code != row.act {
			t.Errorf("%s: an act answers %q, want %q", row.state, code, row.act)
		}
		d = enter(t, row.state)
		d.stands(d.commit("nobody's", other), row.stranger)
		if t.Failed() {
			t.Logf("in state %s", row.state)
		}
	}
}
