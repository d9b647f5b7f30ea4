package session

import (
	"context"
	"errors"
	"testing"
)

func TestQueue(t *testing.T) {
	for _, tt := range []struct {
		name    string
		calls   string // r reads, a acts; capitals have left
		running string
	}{
		{"nobody waits for nobody", "r", "r"},
		{"reads together", "rrr", "rrr"},
		{"an act alone", "aa", "a-"},
		{"reads behind an act", "arr", "a--"},
		{"an act behind reads", "rra", "rr-"},
		{"a read behind an act behind a read", "rar", "r--"},
		{"an act whose reads left", "RRa", "--a"},
		{"an act whose reads left in part", "Rra", "-r-"},
		{"reads whose act left", "Arr", "-rr"},
		{"an act that left before its turn", "rAr", "r-r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var q queue
			var turns []*turn
			for _, c := range tt.calls {
				turns = append(turns, q.enter(c == 'a' || c == 'A'))
			}
			for i, c := range tt.calls {
				if c < 'a' {
					turns[i].leave()
					turns[i].leave()
				}
			}
			got := ""
			for i, c := range tt.calls {
				if isClosed(turns[i].come) && c >= 'a' {
					got += string(c)
				} else {
					got += "-"
				}
			}
			if got != tt.running {
				t.Errorf("%s runs, want %s", got, tt.running)
			}
		})
	}
}

func TestTurnIsWaitedForNoLongerThanTheCall(t *testing.T) {
	var q queue
	q.enter(true)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errBudget)
	if err := q.enter(false).wait(ctx); !errors.Is(err, errBudget) {
		t.Errorf("%v", err)
	}
}

func TestMailboxRunsInOrderAndEndsEmpty(t *testing.T) {
	var ran []int
	after := 0
	b := newMailbox(func() { after++ })
	for i := range 100 {
		b.post(func() { ran = append(ran, i) })
	}
	if !b.do(func() { ran = append(ran, 100) }) {
		t.Error("not run")
	}
	b.post(func() { ran = append(ran, 101) })
	b.close()
	b.close()
	if b.post(func() { ran = append(ran, 102) }) || b.do(func() {}) {
		t.Error("taken after close")
	}
	<-b.done
	for i, n := range ran {
		if n != i {
			t.Fatalf("ran %v", ran)
		}
	}
	if len(ran) != 102 || after < 102 {
		t.Errorf("%d ran, after %d times", len(ran), after)
	}
}

func TestGateIsOpenedByTheNewestOnly(t *testing.T) {
	var g gate
	done, cancel := context.WithCancel(context.Background())
	cancel()
	old := g.close()
	newer := g.close()
	old(nil)
	if err := g.pass(done); err == nil {
		t.Error("opened by one that was shut again")
	}
	newer(nil)
	if err := g.pass(context.Background()); err != nil {
		t.Error(err)
	}
	failing := g.close()
	failing(errBudget)
	failing(nil)
	if err := g.pass(context.Background()); !errors.Is(err, errBudget) {
		t.Errorf("%v", err)
	}
}
