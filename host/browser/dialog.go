package browser

import (
	"context"
	"time"
)

// A Dialog is an alert, confirm, prompt or beforeunload question of the page.
type Dialog struct {
	Type     string // alert, confirm, prompt, beforeunload
	Message  string
	Default  string // of a prompt
	Frame    string
	Origin   string
	Opened   time.Time
	Answered string // "" while open; accepted, dismissed, closed (by the owner)
	Armed    bool   // the answer had been armed
}

// Dialog is the dialog that is open, or nil.
func (t *Tab) Dialog() *Dialog { return nil }

// HandleDialog answers the open dialog. With none open it fails with [protocol.InvalidTransition].
func (t *Tab) HandleDialog(ctx context.Context, accept bool, text string) error { return errNotBuilt }

// ArmDialog sets the answer to the dialog that the very next act raises. It is spent when that act ends, and after 60 s.
func (t *Tab) ArmDialog(accept bool, text string) {}

// SetDriving tells that the owner drives: dialogs that open meanwhile are theirs and are not answered for them.
func (t *Tab) SetDriving(driving bool) {}
