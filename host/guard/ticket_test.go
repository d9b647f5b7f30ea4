package guard

import (
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/policy"
)

// TestRepeatTheSameCall is the table of DESIGN §10.
func TestRepeatTheSameCall(t *testing.T) {
	for _, row := range []struct {
		what string
		s    standing
		want Step
	}{
		{"nothing known", standing{}, Fresh},
		{"prompt open", standing{mine: Open}, Join},
		{"prompt open, foreseen", standing{mine: Open, announced: true}, Join},
		{"another call's prompt open", standing{other: true}, Pending},
		{"another call's prompt open, mine granted", standing{mine: Granted, announced: true, other: true}, Pending},
		{"another call's prompt open, mine denied", standing{mine: Denied, other: true}, Pending},
		{"refused", standing{mine: Denied, announced: true}, Say},
		{"refused, parked", standing{mine: Denied, parked: true}, Say},
		{"allowed, foreseen", standing{mine: Granted, announced: true}, Perform},
		{"allowed, foreseen, a form", standing{mine: Granted, announced: true, changes: true}, Perform},
		{"allowed, surprise by GET", standing{mine: Granted}, Load},
		{"allowed, parked", standing{mine: Granted, parked: true}, Reload},
		{"allowed, parked, with a body", standing{mine: Granted, parked: true, changes: true, sentElse: true}, Reload},
		{"allowed, surprise by POST", standing{mine: Granted, changes: true, unchanged: true}, ActAgain},
		{"… the page changed", standing{mine: Granted, changes: true}, RepeatAgain},
		{"… the first sent something else", standing{mine: Granted, changes: true, unchanged: true, sentElse: true}, RepeatAgain},
		{"used", standing{mine: Used}, Fresh},
		{"gone", standing{mine: Gone}, Fresh},
	} {
		if got := repeat(row.s); got != row.want {
			t.Errorf("%s: %s, want %s", row.what, got, row.want)
		}
	}
}

func (d *desk) step(call string, want Step) Next {
	d.Helper()
	next := d.Repeat(call, true, d.now)
	if next.Step != want {
		d.Errorf("repeating %s: %s, want %s", call, next.Step, want)
	}
	return next
}

func TestSlowOwnerForeseen(t *testing.T) {
	d := atShop(t)
	in := order()
	in.Call = "order"
	d.step("order", Fresh)
	k := d.Foresee(in, d.now).Ticket
	d.step("order", Join)
	d.step("another", Pending)
	if f := d.Foresee(Intent{Call: "another", Kind: Interacts}, d.now); f.Code != policy.ApprovalPending {
		t.Errorf("another act meanwhile: %s %s", f.Verdict, f.Code)
	}
	d.pass(policy.QuestionLife - time.Second)
	d.step("order", Join)
	d.Answer(k.ID, policy.Once, d.now)
	next := d.step("order", Perform)
	d.act("order", in, next.Ticket.ID)
	d.want(d.post(shop+"/order"), Continue, Allowed)
	d.end("order")
	d.step("order", Fresh)
}

func TestSurpriseByGetIsLoadedNotClickedAgain(t *testing.T) {
	d := atShop(t)
	d.click()
	k := d.get(other + "/x?y#z").Ticket
	d.end("click")
	d.step("click", Join)
	d.Answer(k.ID, policy.Once, d.now)
	next := d.step("click", Load)
	if next.URL != other+"/x?y#z" {
		t.Errorf("loads %q", next.URL)
	}
	d.act("click", Intent{Kind: Navigates, URL: next.URL}, next.Ticket.ID)
	d.want(d.get(next.URL, as("C")), Continue, Allowed)
	d.stands(d.commit("C", next.URL), OK)
	d.end("click")
	d.step("click", Fresh)
}

func TestSurpriseByPostIsOneSecondAct(t *testing.T) {
	d := atShop(t)
	d.click()
	k := d.post(shop+"/order", body("name=x&token=1")).Ticket
	d.end("click")
	d.Answer(k.ID, policy.Once, d.now)
	next := d.step("click", ActAgain)
	d.act("click", Intent{Kind: Interacts}, next.Ticket.ID)
	d.want(d.post(shop+"/order", body("name=x&token=2")), Continue, Allowed)
	d.want(d.post(shop+"/order", body("name=x&token=3")), Refuse, Asked)
}

func TestSurpriseByPostThatSentSomethingBesidesIsLeftToTheAgent(t *testing.T) {
	d := at(t, policy.AccessSubmit)
	d.click()
	d.want(d.post(shop+"/log", in(mainFrame)), Continue, Allowed)
	k := d.post(shop+"/order", from("null")).Ticket
	d.end("click")
	d.Answer(k.ID, policy.Once, d.now)
	d.step("click", RepeatAgain)
	d.step("click", Fresh)
}

func TestSurpriseByPostOnAPageThatChangedIsLeftToTheAgent(t *testing.T) {
	d := atShop(t)
	d.click()
	k := d.post(shop + "/order").Ticket
	d.end("click")
	d.Answer(k.ID, policy.Once, d.now)
	if next := d.Repeat("click", false, d.now); next.Step != RepeatAgain {
		t.Errorf("target or would changed: %s", next.Step)
	}
}

// park brings a desk to a 307 with body that leaves the site, failed and on its error page.
func park(t *testing.T) (*desk, *Ticket) {
	t.Helper()
	d := at(t, policy.AccessSubmit)
	d.click()
	d.post(shop+"/order", as("C"))
	r := d.post(other+"/pay", hopOf("C"), from(shop))
	d.want(r, Fail, Parked)
	d.stands(d.commit("C", "chrome-error://chromewebdata/"), OK)
	d.end("click")
	return d, r.Ticket
}

func TestParkedHopIsSentAgainExactlyOnce(t *testing.T) {
	for _, header := range []string{shop, "null"} { // what Chrome puts there after the reload does not matter
		d, k := park(t)
		d.step("click", Join)
		if next := d.Answer(k.ID, policy.Once, d.now); next.Step != Stand {
			t.Errorf("a yes is followed by %s", next.Step)
		}
		next := d.step("click", Reload)
		d.act("click", Intent{Kind: Reloads}, next.Ticket.ID)
		d.want(d.post(other+"/pay", as("R"), from(header)), Continue, Allowed)
		d.stands(d.commit("R", other+"/pay"), OK)
		d.want(d.post(other+"/pay", from(other)), Refuse, Asked)
	}
}

func TestParkedHopIsSentAgainExactly(t *testing.T) {
	for what, change := range map[string]func(*Request){
		"another body":    body("name=y&size=2"),
		"another address": func(r *Request) { r.URL = other + "/pay2" },
		"another method":  func(r *Request) { r.Method = "PUT" },
		"in a frame":      in("ad"),
	} {
		d, k := park(t)
		d.Answer(k.ID, policy.Once, d.now)
		d.act("click", Intent{Kind: Reloads}, k.ID)
		if r := d.post(other+"/pay", change); r.Action == Continue {
			t.Errorf("%s is let go: %s", what, r.Row.Rule)
		}
	}
}

func TestParkedHopThatIsRefusedGoesOneStepBack(t *testing.T) {
	for what, settle := range map[string]func(*desk, *Ticket) []Next{
		"a no":             func(d *desk, k *Ticket) []Next { return []Next{d.Answer(k.ID, policy.No, d.now)} },
		"no answer":        func(d *desk, k *Ticket) []Next { d.now = d.Guard.Deadline(); return d.Tick(d.now) },
		"a call cancelled": func(d *desk, k *Ticket) []Next { return d.Cancel("click") },
		"a yes nobody takes up": func(d *desk, k *Ticket) []Next {
			d.Answer(k.ID, policy.Once, d.now)
			d.now = d.Guard.Deadline()
			return d.Tick(d.now)
		},
	} {
		d, k := park(t)
		next := settle(d, k)
		if len(next) != 1 || next[0].Step != Back || next[0].Ticket.ID != k.ID {
			t.Errorf("%s: %+v", what, next)
		}
		d.stands(d.commit("L0", shop+"/", restored), OK)
		if d.book.Offers(*k.Question.Sending, d.now) {
			t.Errorf("%s: the sending is still granted", what)
		}
	}
}

func TestTicketsDieWithTheirDocument(t *testing.T) {
	for what, change := range map[string]func(*desk) []Ticket{
		"another page": func(d *desk) []Ticket { d.get(shop+"/x", as("X")); return d.commit("X", shop+"/x").Gone },
		"a takeover":   func(d *desk) []Ticket { return d.TakenOver() },
		"the end":      func(d *desk) []Ticket { return d.Ended() },
		"an escape":    func(d *desk) []Ticket { return d.commit("X", evil).Gone },
	} {
		for _, answered := range []bool{false, true} {
			d := atShop(t)
			d.click()
			k := d.post(shop + "/order").Ticket
			if answered {
				d.Answer(k.ID, policy.Once, d.now)
			}
			if gone := change(d); len(gone) != 1 || gone[0].ID != k.ID {
				t.Errorf("%s: gone %+v", what, gone)
			}
			if d.book.Offers(*k.Question.Sending, d.now) {
				t.Errorf("%s: the sending is still granted", what)
			}
			d.step("click", Fresh)
		}
	}
}

func TestParkedTicketDiesWhenItsErrorPageGoes(t *testing.T) {
	d, k := park(t)
	if gone := d.commit("E2", "chrome-error://chromewebdata/").Gone; len(gone) != 1 || gone[0].ID != k.ID {
		t.Errorf("gone %+v", gone)
	}
}

func TestTicketOfAFrameDiesWithTheFrame(t *testing.T) {
	ask := func() (*desk, *Ticket) {
		d := atShop(t)
		d.commit("S0", shop+"/f", child("own"))
		d.click()
		return d, d.post(shop+"/order", in("own")).Ticket
	}
	d, k := ask()
	if gone := d.Detached("own"); len(gone) != 1 || gone[0].ID != k.ID {
		t.Errorf("detached: gone %+v", gone)
	}
	d, k = ask()
	if gone := d.commit("S1", shop+"/g", child("own")).Gone; len(gone) != 1 || gone[0].ID != k.ID {
		t.Errorf("navigated: gone %+v", gone)
	}
	d, _ = ask()
	if gone := d.commit("A1", evil, child("ad")).Gone; len(gone) != 0 {
		t.Errorf("another frame's commit: gone %+v", gone)
	}
}

func TestTimeEndsQuestionsAndAnswers(t *testing.T) {
	d := atShop(t)
	if !d.Guard.Deadline().IsZero() {
		t.Error("a deadline without a ticket")
	}
	d.click()
	k := d.get(other).Ticket
	d.end("click")
	if next := d.Tick(d.now.Add(policy.QuestionLife - 1)); len(next) != 0 {
		t.Errorf("too early: %+v", next)
	}
	d.now = d.Guard.Deadline()
	next := d.Tick(d.now)
	if len(next) != 1 || next[0].Step != Stand || next[0].Ticket.State != Denied {
		t.Errorf("no answer: %+v", next)
	}
	if d.Answer(k.ID, policy.Once, d.now); len(d.Book().List(d.now)) != 2 {
		t.Error("a late answer grants")
	}
	d.step("click", Say)
	d.step("click", Fresh)

	d.click()
	k = d.get(other).Ticket
	d.end("click")
	d.Answer(k.ID, policy.Once, d.now)
	d.pass(policy.TicketLife)
	d.step("click", Fresh)
	if next := d.Tick(d.now); len(next) != 1 || next[0].Ticket.State != Gone {
		t.Errorf("an answer nobody took up: %+v", next)
	}
}

func TestNothingIsKeptOfSettledTickets(t *testing.T) {
	for what, settle := range map[string]func(*desk, *Ticket){
		"used": func(d *desk, k *Ticket) {
			d.Answer(k.ID, policy.Once, d.now)
			d.act("click", Intent{Kind: Navigates, URL: other}, k.ID)
		},
		"said": func(d *desk, k *Ticket) { d.Answer(k.ID, policy.No, d.now); d.Repeat("click", true, d.now) },
		"told": func(d *desk, k *Ticket) { d.Answer(k.ID, policy.No, d.now); d.Outcomes() },
		"a no nobody came for": func(d *desk, k *Ticket) {
			d.Answer(k.ID, policy.No, d.now)
			d.pass(policy.TicketLife)
			if next := d.Tick(d.now); len(next) != 0 {
				d.Errorf("a no nobody came for: %+v", next)
			}
		},
		"a yes nobody came for": func(d *desk, k *Ticket) { d.Answer(k.ID, policy.Once, d.now); d.pass(policy.TicketLife); d.Tick(d.now) },
		"dropped":               func(d *desk, k *Ticket) { d.Cancel("click") },
	} {
		d := atShop(t)
		d.click()
		k := d.get(other).Ticket
		d.end("click")
		settle(d, k)
		if len(d.tickets) != 0 || !d.Guard.Deadline().IsZero() {
			t.Errorf("%s: %d tickets are kept", what, len(d.tickets))
		}
	}
}

func TestOutcomesAreToldOnce(t *testing.T) {
	d := atShop(t)
	d.click()
	k := d.get(other).Ticket
	d.end("click")
	if told := d.Outcomes(); len(told) != 0 {
		t.Errorf("an open question is told: %+v", told)
	}
	d.Answer(k.ID, policy.No, d.now)
	if told := d.Outcomes(); len(told) != 1 || told[0].State != Denied {
		t.Errorf("told %+v", told)
	}
	if told := d.Outcomes(); len(told) != 0 {
		t.Errorf("told again: %+v", told)
	}
	d.step("click", Fresh)

	d.click()
	k = d.get(other).Ticket
	d.end("click")
	d.Answer(k.ID, policy.Once, d.now)
	if told := d.Outcomes(); len(told) != 1 || told[0].State != Granted {
		t.Errorf("told %+v", told)
	}
	d.step("click", Load) // being told does not use it up
}

func TestAnswersThatWereNotOfferedAreANo(t *testing.T) {
	d := atShop(t)
	d.click()
	k := d.get(other).Ticket
	d.Answer(k.ID, policy.TenMinutes, d.now)
	if n := len(d.Book().List(d.now)); n != 2 {
		t.Errorf("%d grants", n)
	}
	if next := d.Answer(99, policy.Once, d.now); next.Step != Stand || next.Ticket.ID != 0 {
		t.Errorf("an unknown ticket: %+v", next)
	}
	d.step("click", Say)
}
