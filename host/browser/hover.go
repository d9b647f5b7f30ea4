package browser

import (
	"context"
	"fmt"
)

// Hover moves the mouse onto the checked target, in from its side, and leaves it there.
func (a *Act) Hover(ctx context.Context) error {
	if a.target == nil {
		return errNoTarget
	}
	at := a.target.Point
	if err := a.input(ctx, []Command{moveEvent(Point{at.X - 1, at.Y}, 0), moveEvent(at, 0)}); err != nil {
		return fmt.Errorf("moving onto %s: %w", a.target.Role, err)
	}
	return nil
}
