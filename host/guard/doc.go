// Package guard judges what a leased tab loads and sends: every document request before it leaves (the first gate), every
// commit after (the second), and every act before it is dispatched. One [Guard] serves one tab; that tab's goroutine
// owns it. It does no I/O, starts nothing and has no clock: events go in with the time they came, and what is to be done
// comes out as data.
//
// # What to feed it
//
// All of it from the tab's goroutine, events in wire order:
//
//	New                              lease.offer accepted, before any event of the tab
//	Start                            the frame tree is known, parents before children; again when the extension comes back
//	Attached, Detached, Committed    Page.frameAttached, frameDetached (reason "remove"), frameNavigated, on every session
//	Paused                           Fetch.requestPaused, on every session
//	Foresee, ActBegan, ActEnded      around each act
//	AgentInput, OwnerInput           input that was dispatched; real input of the owner
//	TakenOver, HandedBack, Ended     notes of the extension
//	Answer, Cancel                   the owner's choice; a call that was cancelled
//	Tick                             whenever Deadline is due
//
// Page.navigatedWithinDocument needs no feeding. After a commit out of the back/forward cache Chrome does not tell the
// page's frames again; the guard has kept them.
//
// # What to do with what it says
//
// Paused answers a [Ruling]. In this order: post the verdict (unless Action is [Nothing]), then the row for the record,
// then show the question if there is a Ticket, then tell the act that waits (Fate). Nothing is awaited in between: the
// verdict must leave in milliseconds, and a request is never held while a person thinks. Field names and controls in a
// ticket are the page's own text: clean them before they are shown.
//
// Committed answers a [Commitment]. Withdraw the prompts of what is Gone. Standing [Frozen]: tell the extension
// (lease.update frozen), end the act; the grants are gone already. [Unread]: reads and acts answer its Code, no address
// and no title leaves.
//
// TakenOver, Ended and Detached answer tickets whose prompts are to be withdrawn. Answer, Cancel and Tick answer [Next]:
// [Back] is one step back in history, which no call waits for, [Stand] is nothing.
//
// # An act
//
//	next := g.Repeat(key, unchanged, now)       // has this call been here before?
//	  Join, Pending                             // wait within the budget, then approval_pending; dispatch nothing
//	  Say, RepeatAgain                          // blocked_by_policy, allowed_repeat_needed
//	  Load, Reload, ActAgain, Perform           // go on below with Ticket: next.Ticket.ID
//	  Fresh                                     // Foresee
//	f := g.Foresee(intent, now)
//	  Refuse                                    // answer f.Code
//	  Ask                                       // show f.Ticket, wait; on a yes Repeat says Perform
//	  Allow                                     // go on
//	(recheck tab, document, target, would; write the intent row)
//	code := g.ActBegan(act, now)                // judged once more; single-use grants are bought here
//	(dispatch; Paused and Committed tell the fates; a Ruling with a Ticket ends the settling: Asked or Parked)
//	g.ActEnded(id, now)                         // when the call ends
//
// Load is an act with Intent{Kind: Navigates, URL: next.URL}, Reload one with Intent{Kind: Reloads}, ActAgain the same
// intent as the first. A call that still waits when the answer comes asks Repeat again; a call that ended asks it when it
// is repeated, and until then Outcomes puts the answer into the next result on the tab.
//
// An agent's own navigation is an act of kind [Navigates]. It is blocked by a session rule first and then sent by
// Page.reload: the error page that commits in between is Chrome's own and stands anywhere.
package guard
