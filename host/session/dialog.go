package session

import (
	"context"

	"github.com/tabvalet/tabvalet/host/browser"
)

// HandleDialog answers the dialog that is open in a tab, or, with none open, arms the answer for the very next act. The
// text is nowhere recorded.
func (m *Manager) HandleDialog(ctx context.Context, call Call, accept bool, text string) (*Report, error) {
	defer call.placed()
	l, err := m.lease(call.Tab)
	if err != nil {
		return &Report{Outcome: browser.NotDispatched}, err
	}
	plan := Plan{Past: "dismissed the dialog", Answers: true, Elsewhere: true, Chars: len([]rune(text))}
	if accept {
		plan.Past = "accepted the dialog"
	}
	plan.Do = func(ctx context.Context, _ Act, _ *browser.Checked) error {
		return l.page.HandleDialog(ctx, accept, text)
	}
	if l.page.Dialog() == nil {
		plan.Past = "armed the answer for the dialog of the next act"
		plan.Do = func(context.Context, Act, *browser.Checked) error {
			l.page.ArmDialog(accept, text)
			return nil
		}
	}
	return l.perform(ctx, call, plan)
}
