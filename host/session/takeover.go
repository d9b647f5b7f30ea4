package session

import (
	"fmt"
	"time"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/protocol"
)

// takeover lets the owner drive. The extension has stopped relaying acts already; here the act under way ends, open
// questions are withdrawn, and the guard stands aside. (mailbox)
func (l *lease) takeover(private bool) {
	l.private = private
	if l.state == LeaseSuspended {
		return // from driving to driving in private, or back
	}
	if l.move(OwnerTakes) != nil {
		return
	}
	l.driven, l.stale = time.Now(), true
	l.withdraw(l.guard.TakenOver())
	l.stopAct(protocol.Errorf(protocol.OwnerHasControl, "the owner took over"))
	l.page.SetDriving(true)
	l.arm()
	l.m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: l.name, Note: "the owner took over"})
}

// handback gives the tab to the agent again. What the owner left there is judged as if it had just come. (mailbox)
func (l *lease) handback() {
	if l.state != LeaseSuspended || l.move(OwnerReturns) != nil {
		return
	}
	l.private = false
	l.guard.HandedBack()
	l.page.SetDriving(false)
	if l.guard.Reading(time.Now()) == "navigation_escaped" {
		l.move(Escapes)
	}
	l.notes = append(l.notes, fmt.Sprintf("the owner drove this tab for %s, until now; the page may have changed and refs from before are stale",
		time.Since(l.driven).Round(time.Second)))
	l.arm()
	l.show()
	l.m.opt.Record.Note(audit.Row{Kind: audit.Event, Tab: l.name, Note: "the owner handed back"})
}
