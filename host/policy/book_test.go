package policy

import (
	"slices"
	"testing"
	"time"
)

func order() Sending {
	return Sending{
		Sender: origin(shop), Frame: "F", Main: true, Method: "POST",
		URL: "https://shop.test/order", Fields: []string{"name", "size"},
	}
}

func ordering() Question {
	s := order()
	return Question{Capability: Submit, From: s.Sender, To: origin(shop), Sending: &s}
}

func TestSendingCoversNothingThatWasNotShown(t *testing.T) {
	shown := order()
	differs := map[string]func(*Sending){
		"another sender":        func(s *Sending) { s.Sender = origin(evil) },
		"a sender in doubt":     func(s *Sending) { s.Sender = Origin{} },
		"another frame":         func(s *Sending) { s.Frame = "G" },
		"a child frame":         func(s *Sending) { s.Main = false },
		"another method":        func(s *Sending) { s.Method = "PUT" },
		"another address":       func(s *Sending) { s.URL = "https://shop.test/orders" },
		"another query":         func(s *Sending) { s.URL += "?all=1" },
		"one more field":        func(s *Sending) { s.Fields = []string{"name", "size", "card"} },
		"fields nobody can see": func(s *Sending) { s.Fields = nil },
	}
	for what, change := range differs {
		s := order()
		change(&s)
		if shown.Covers(s) {
			t.Errorf("%s is covered", what)
		}
	}
	same := map[string]func(*Sending){
		"the same":          func(*Sending) {},
		"a fragment":        func(s *Sending) { s.URL += "#top" },
		"one field less":    func(s *Sending) { s.Fields = []string{"size"} },
		"a body made later": func(s *Sending) { s.Digest = "abc" },
	}
	for what, change := range same {
		s := order()
		change(&s)
		if !shown.Covers(s) {
			t.Errorf("%s is not covered", what)
		}
	}
}

func TestSendingShownWithItsBodyCoversThatBodyOnly(t *testing.T) {
	shown := order()
	shown.Digest = "abc"
	s := shown
	if !shown.Covers(s) {
		t.Error("the same body is not covered")
	}
	if s.Digest = "abd"; shown.Covers(s) {
		t.Error("another body is covered")
	}
	if s.Digest = ""; shown.Covers(s) {
		t.Error("a body nobody saw is covered")
	}
	unseen := order()
	unseen.Fields = nil
	if s = unseen; !unseen.Covers(s) {
		t.Error("a long body, shown as one that cannot be seen, is not covered")
	}
}

func TestHoldsWhatALeaseStartsWith(t *testing.T) {
	for access, want := range map[Access][]Capability{
		AccessRead:   {Read},
		AccessAct:    {Read, Interact, Navigate},
		AccessSubmit: {Read, Interact, Navigate, Submit},
		"":           {Read},
		"everything": {Read},
	} {
		b := lease(access, shop)
		for _, c := range []Capability{Read, Interact, Navigate, Submit, Upload, Download, Publish, Script} {
			if _, ok := b.Holds(c, origin(www), noon); ok != slices.Contains(want, c) {
				t.Errorf("access %q holds %s: %v", access, c, ok)
			}
			if _, ok := b.Holds(c, origin(other), noon); ok {
				t.Errorf("access %q holds %s elsewhere", access, c)
			}
			if _, ok := b.Holds(c, Origin{}, noon); ok {
				t.Errorf("access %q holds %s on an opaque origin", access, c)
			}
		}
	}
	opaque := NewBook(Terms{Access: AccessSubmit}, noon)
	if _, ok := opaque.Holds(Read, Origin{}, noon); ok {
		t.Error("a lease of an opaque document reads opaque documents")
	}
}

func TestHoldsUntilTheMomentItExpires(t *testing.T) {
	b := lease(AccessSubmit, shop)
	if _, ok := b.Holds(Submit, origin(shop), noon.Add(TimedLife-1)); !ok {
		t.Error("ten minutes end early")
	}
	if _, ok := b.Holds(Submit, origin(shop), noon.Add(TimedLife)); ok {
		t.Error("ten minutes never end")
	}
	if _, ok := b.Holds(Navigate, origin(shop), noon.Add(time.Hour)); !ok {
		t.Error("what was shared with the tab ends before the lease")
	}
}

func TestReadThatCameWithNavigateLastsWithItsDocument(t *testing.T) {
	b := visiting()
	late := noon.Add(NavigateLife + time.Second)
	if _, ok := b.Holds(Read, origin(other), late); ok {
		t.Error("READ outlives NAVIGATE without a document")
	}
	b.Arrive(origin(other), noon)
	if _, ok := b.Holds(Read, origin(other), late); !ok {
		t.Error("READ ends while the tab stays on the document")
	}
	if _, ok := b.Holds(Interact, origin(other), late); ok {
		t.Error("INTERACT outlives its grant")
	}
	if b.Expire(late); b.here.Origin.Opaque() {
		t.Error("forgetting the grant forgets the document")
	}
	if b.Arrive(origin(other), late); !b.here.Origin.Opaque() {
		t.Error("a new document arrives under a grant that is over")
	}
	b = visiting()
	b.Arrive(origin(other), noon)
	b.Arrive(origin(shop), noon)
	if _, ok := b.Holds(Read, origin(other), late); ok {
		t.Error("READ stays behind when the tab goes on")
	}
}

func TestExtendGivesNoMoreThanTheGrantItself(t *testing.T) {
	b := visiting()
	b.Answer(ordering(), Once, noon)
	id, _ := b.Holds(Navigate, origin(other), noon)
	single := b.last
	for what, ok := range map[string]bool{
		"a single-use grant": b.Extend(single, origin(evil), noon),
		"no grant":           b.Extend(99, origin(evil), noon),
		"a grant that ended": b.Extend(id, origin(evil), noon.Add(NavigateLife)),
		"an exact grant":     exactly().Extend(2, origin(evil), noon),
	} {
		if ok {
			t.Errorf("%s was extended", what)
		}
	}
	if !b.Extend(id, origin("https://www.b.test"), noon) {
		t.Fatal("a living grant was not extended")
	}
	if got, ok := b.Holds(Navigate, origin("https://b.test"), noon); !ok || got == id {
		t.Errorf("the site it arrived on is held by grant %d", got)
	}
	if _, ok := b.Holds(Read, origin("https://b.test"), noon.Add(NavigateLife)); ok {
		t.Error("it lives longer than what it came from")
	}
}

func TestRevokeTakesWhatCameWithTheGrant(t *testing.T) {
	b := visiting()
	b.Arrive(origin(other), noon)
	id, _ := b.Holds(Navigate, origin(other), noon)
	late := noon.Add(NavigateLife)
	b.Revoke(1) // another one: the document stays readable
	if _, ok := b.Holds(Read, origin(other), late); !ok {
		t.Error("READ goes with a grant it did not come with")
	}
	b.Revoke(id)
	if _, ok := b.Holds(Read, origin(other), noon); ok {
		t.Error("READ outlives the revoked grant it came with")
	}
	if _, ok := b.Holds(Navigate, origin(shop), noon); !ok {
		t.Error("another grant was revoked too")
	}
}

func TestAnswerGrantsWhatWasOffered(t *testing.T) {
	crossing := ordering()
	crossing.To = origin(other)
	crossing.Sending.URL = "https://other.test/pay"
	doubtful := ordering()
	doubtful.From, doubtful.Sending.Sender = Origin{}, Origin{}
	leaving := Question{Capability: Navigate, From: origin(shop), To: origin(other)}

	for _, row := range []struct {
		what   string
		q      Question
		c      Choice
		yes    bool
		timed  bool // forms of the shop for ten minutes
		visits bool // going to the other site
		ever   bool // … an hour later
	}{
		{"go once", leaving, Once, true, false, true, false},
		{"go while shared", leaving, WhileShared, true, false, true, true},
		{"go for ten minutes: not offered", leaving, TenMinutes, false, false, false, false},
		{"do not go", leaving, No, false, false, false, false},
		{"go, in no known word", leaving, "yes", false, false, false, false},
		{"send once", ordering(), Once, true, false, false, false},
		{"send for ten minutes", ordering(), TenMinutes, true, true, false, false},
		{"send while shared: not offered", ordering(), WhileShared, false, false, false, false},
		{"send elsewhere once", crossing, Once, true, false, true, false},
		{"send elsewhere for ten minutes", crossing, TenMinutes, true, true, true, false},
		{"send in doubt once", doubtful, Once, true, false, false, false},
		{"send in doubt for ten minutes: not offered", doubtful, TenMinutes, false, false, false, false},
	} {
		b := acting()
		before := len(b.grants)
		once, yes := b.Answer(row.q, row.c, noon)
		if yes != row.yes || !yes && len(b.grants) != before {
			t.Errorf("%s: yes %v, %d grants more", row.what, yes, len(b.grants)-before)
		}
		if offers := row.q.Sending != nil && b.Offers(*row.q.Sending, noon); offers != (yes && row.q.Sending != nil) || offers != (once != 0) {
			t.Errorf("%s: offers the sending: %v", row.what, offers)
		}
		if _, ok := b.Holds(Submit, origin(shop), noon); ok != row.timed {
			t.Errorf("%s: forms for a time: %v", row.what, ok)
		}
		if _, ok := b.Holds(Navigate, origin(other), noon); ok != row.visits {
			t.Errorf("%s: may go there: %v", row.what, ok)
		}
		if _, ok := b.Holds(Navigate, origin(other), noon.Add(time.Hour)); ok != row.ever {
			t.Errorf("%s: may go there for ever: %v", row.what, ok)
		}
	}
	if _, yes := reading().Answer(ordering(), Once, noon); yes {
		t.Error("a read-only lease was granted a sending")
	}
}

func TestSingleUseGrantPaysOnceForTheActThatBoughtIt(t *testing.T) {
	b := acting()
	b.Answer(ordering(), Once, noon)
	if _, ok := b.Holds(Submit, origin(shop), noon); ok {
		t.Error("a single-use grant counts as a lasting one")
	}
	if _, ok := b.Spend("act", order(), noon); ok {
		t.Error("it pays before it was bought")
	}
	wrong := order()
	wrong.URL = "https://shop.test/delete"
	if _, ok := b.Buy("act", wrong, noon); ok {
		t.Error("it was bought for something else")
	}
	if _, ok := b.Buy("act", order(), noon); !ok {
		t.Fatal("it cannot be bought")
	}
	if _, ok := b.Buy("act 2", order(), noon); ok {
		t.Error("it was bought twice")
	}
	if _, ok := b.Spend("act 2", order(), noon); ok {
		t.Error("it pays for another act")
	}
	if _, ok := b.Spend("act", wrong, noon); ok {
		t.Error("it pays for something else")
	}
	if _, ok := b.Spend("act", order(), noon); !ok {
		t.Error("it does not pay")
	}
	if _, ok := b.Spend("act", order(), noon); ok {
		t.Error("it pays twice")
	}
}

func TestUnusedSingleUseGrantIsTakenBackAfterAGrace(t *testing.T) {
	buy := func() *Book {
		b := acting()
		b.Answer(ordering(), Once, noon)
		b.Buy("act", order(), noon)
		b.Release("act", noon.Add(time.Second))
		return b
	}
	if _, ok := buy().Spend("act", order(), noon.Add(2900*time.Millisecond)); !ok {
		t.Error("it is taken back before the grace is over")
	}
	if _, ok := buy().Spend("act", order(), noon.Add(3*time.Second)); ok {
		t.Error("it is never taken back")
	}
	b := buy()
	b.Release("act", noon.Add(2*time.Second)) // again: nothing is won
	if _, ok := b.Spend("act", order(), noon.Add(3*time.Second)); ok {
		t.Error("a second release prolongs it")
	}
	if b.Expire(noon.Add(3 * time.Second)); len(b.grants) != 2 {
		t.Errorf("%d grants left, want the lease's two", len(b.grants))
	}
	b = acting()
	b.Answer(ordering(), Once, noon)
	if b.Offers(order(), noon.Add(TicketLife)) {
		t.Error("a yes that nobody uses lives for ever")
	}
}

func TestPurchaseEveryStateAndEvent(t *testing.T) {
	for _, from := range []purchase{given, bought, spent} {
		for _, e := range []purchaseEvent{buy, spend} {
			want, legal := map[purchase]map[purchaseEvent]purchase{
				given:  {buy: bought},
				bought: {spend: spent},
			}[from][e]
			if !legal {
				want = from
			}
			if got, ok := from.update(e); got != want || ok != legal {
				t.Errorf("%s × %s = %s, %v", from, e, got, ok)
			}
		}
	}
}

func TestChildBookHasLastingGrantsOnly(t *testing.T) {
	b := visiting()
	b.Answer(ordering(), Once, noon)
	c := b.Child()
	if c.Offers(order(), noon) {
		t.Error("a single-use grant was doubled")
	}
	if _, ok := c.Holds(Navigate, origin(other), noon); !ok {
		t.Error("a lasting grant is missing")
	}
	c.Clear()
	if _, ok := b.Holds(Read, origin(shop), noon); !ok {
		t.Error("clearing the child cleared its parent")
	}
}

func TestListSaysGrantsInPlainWords(t *testing.T) {
	b := lease(AccessSubmit, www)
	b.Answer(ordering(), Once, noon)
	b.Answer(Question{Capability: Navigate, To: origin("http://a.test:8080")}, Once, noon)
	var words []string
	for _, g := range b.List(noon.Add(time.Minute)) {
		words = append(words, g.Words(noon.Add(time.Minute)))
	}
	want := []string{"read shop.test", "go to shop.test", "send forms from shop.test for 9 min", "send one form from shop.test", "go to http://a.test:8080 for 9 min"}
	if !slices.Equal(words, want) {
		t.Errorf("got %q, want %q", words, want)
	}
}

func TestChoicesOfferNothingLastingInDoubt(t *testing.T) {
	for c, offered := range choices {
		if !slices.Contains(offered, No) || !slices.Contains(offered, Once) {
			t.Errorf("%s cannot be refused, or not be allowed once", c)
		}
		if slices.Contains(offered, TenMinutes) && c != Submit {
			t.Errorf("%s is offered for ten minutes", c)
		}
		if !slices.Equal(c.Choices(false), []Choice{Once, No}) {
			t.Errorf("%s in doubt offers %v", c, c.Choices(false))
		}
	}
	if Publish.Carries(Submit) || Navigate.Carries(Submit) || Submit.Carries(Publish) || Read.Carries(Interact) {
		t.Error("a capability carries more than the table says")
	}
}

func TestFatiguePausesAfterThreeOfAKindInAMinute(t *testing.T) {
	var f Fatigue
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	for _, step := range []struct {
		c    Capability
		at   int
		want bool
	}{
		{Navigate, 0, false}, {Submit, 1, false}, {Navigate, 10, false}, {Navigate, 61, false}, // the first has left the window
		{Submit, 62, false}, {Navigate, 65, true}, // 10, 61, 65
		{Navigate, 66, false}, // counts anew
	} {
		if got := f.Refused(step.c, at(step.at)); got != step.want {
			t.Errorf("%s refused at %d s: paused %v", step.c, step.at, got)
		}
	}
}
