package kit

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Dir is the lab's folder: another lab may be started on the same one with another Profile.
func (l *Lab) Dir() string { return l.dir }

// A talk is a CLI command that waits for the owner to do something.
type talk struct {
	mu   sync.Mutex
	said bytes.Buffer
	line chan struct{} // closed when the first line was said
	done chan error
	kill func()
}

func (t *talk) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.said.String()
}

// converse starts a CLI command and waits for its first line, which comes when the pairing window is open.
func (l *Lab) converse(ctx context.Context, args ...string) (*talk, error) {
	cmd := l.command(ctx, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &talk{line: make(chan struct{}), done: make(chan error, 1), kill: func() { cmd.Process.Kill() }}
	go func() {
		r := bufio.NewReader(out)
		var once sync.Once
		for {
			line, err := r.ReadString('\n')
			t.mu.Lock()
			t.said.WriteString(line)
			t.mu.Unlock()
			once.Do(func() { close(t.line) })
			if err != nil {
				break
			}
		}
		t.done <- cmd.Wait()
	}()
	select {
	case <-t.line:
		return t, nil
	case <-ctx.Done():
		t.kill()
		return nil, context.Cause(ctx)
	}
}

// end waits for the command.
func (t *talk) end(name string) error {
	if err := <-t.done; err != nil {
		return fmt.Errorf("tabvalet %s: %w\n%s", name, err, t.text())
	}
	return nil
}

// Pair opens a pairing window with the CLI and presses the popup's button.
func (l *Lab) Pair(ctx context.Context) error {
	t, err := l.converse(ctx, "pair")
	if err != nil {
		return err
	}
	if err := l.Owner.PressPair(ctx); err != nil {
		t.kill()
		return fmt.Errorf("%w\n%s", err, t.text())
	}
	return t.end("pair")
}

var codePattern = regexp.MustCompile(`\b[A-Z2-7]{4,}(?:[- ][A-Z2-7]{2,})+\b`)

// PairManually has the CLI print a code and types it into the popup.
func (l *Lab) PairManually(ctx context.Context) error {
	t, err := l.converse(ctx, "pair", "--manual")
	if err != nil {
		return err
	}
	var code string
	for code == "" {
		if code = codePattern.FindString(t.text()); code == "" {
			select {
			case err := <-t.done:
				return fmt.Errorf("pair --manual printed no code (%v): %s", err, t.text())
			case <-ctx.Done():
				return context.Cause(ctx)
			default:
			}
		}
	}
	if err := l.Owner.TypeCode(ctx, code); err != nil {
		t.kill()
		return fmt.Errorf("%w\n%s", err, strings.ReplaceAll(t.text(), code, "(code)"))
	}
	t.kill() // it only counts down
	<-t.done
	return nil
}

// Renew rotates all keys and presses Renew pairing.
func (l *Lab) Renew(ctx context.Context) (string, error) {
	t, err := l.converse(ctx, "rotate")
	if err != nil {
		return "", err
	}
	if err := l.Owner.PressRenew(ctx); err != nil {
		t.kill()
		return t.text(), err
	}
	err = t.end("rotate")
	return t.text(), err
}
