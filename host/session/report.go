package session

import (
	"time"

	"github.com/tabvalet/tabvalet/host/browser"
	"github.com/tabvalet/tabvalet/protocol"
)

// A Report is what a call on a tab has to tell, beside its error and the page content it read. It is given with an error
// too.
type Report struct {
	Tab      string // "t1"; "" when no tab was found
	Document browser.Document
	Outcome  browser.Outcome
	Did      string           // of an act: `clicked button "Save"`, or what it would have done
	Settled  *browser.Settled // of an act that was dispatched
	Prompt   *PromptInfo      // the question that the call waits for
	Notes    []string         // what happened meanwhile that the agent must know, our own words
}

// PromptInfo is a question to the owner as the agent may know it.
type PromptInfo struct {
	ID      string              `json:"id"`
	Kind    protocol.PromptKind `json:"kind"`
	To      string              `json:"to,omitzero"` // origin
	State   string              `json:"state"`       // open, allowed, refused, expired
	Asked   time.Time           `json:"asked"`
	Expires time.Time           `json:"expires"`
	// Dispatched tells whether the act behind it was sent already.
	Dispatched bool `json:"dispatched"`
}

// A Call is one tool call on a tab.
type Call struct {
	Tool string
	Args []byte // canonical JSON: what makes a repeated call the same call
	Tab  string // "t1"; "" is the agent's current tab
	// Placed is called once the call stands in its tab's queue, or will never; nil: nobody waits for it.
	Placed func()
	// Waiting is called when the call begins to wait for something that takes a person's time; nil: nobody is told.
	Waiting func(what string)
}

func (c *Call) placed() {
	if c.Placed != nil {
		c.Placed()
		c.Placed = nil
	}
}

func (c *Call) waiting(what string) {
	if c.Waiting != nil {
		c.Waiting(what)
	}
}

// key is the same for a call that is made again.
func (c *Call) key() string { return c.Tool + "\x00" + string(c.Args) }
