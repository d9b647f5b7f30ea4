package browser

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
)

// A screencast of 16 pixels keeps a background tab's frames at full speed, and screenshots of it from hanging, while
// somebody holds it and a moment longer: acts come in a row. It is switched in the background and in order; nobody waits
// for it.
type screencast struct {
	tab *Tab

	mu        sync.Mutex
	holders   int
	on        bool
	switching bool
}

// hold keeps the screencast running until release is called, once.
func (s *screencast) hold() (release func()) {
	s.count(1)
	return sync.OnceFunc(func() {
		s.tab.mu.Lock()
		defer s.tab.mu.Unlock()
		s.tab.spawn(func(tab context.Context) {
			select {
			case <-time.After(linger):
			case <-tab.Done():
			}
			s.count(-1)
		})
	})
}

// linger is about the pause between two acts of an agent.
const linger = 3 * time.Second

func (s *screencast) count(n int) {
	s.mu.Lock()
	s.holders += n
	idle := !s.switching && s.on != (s.holders > 0)
	s.switching = s.switching || idle
	s.mu.Unlock()
	if idle {
		s.tab.mu.Lock()
		defer s.tab.mu.Unlock()
		s.tab.spawn(s.follow)
	}
}

// follow switches until what is on is what is wanted.
func (s *screencast) follow(tab context.Context) {
	for {
		s.mu.Lock()
		want := s.holders > 0
		if want == s.on || tab.Err() != nil {
			s.switching = false
			s.mu.Unlock()
			return
		}
		s.on = want
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(tab, s.tab.opt.CallTimeout)
		var err error
		if want {
			_, err = cdp.Call(ctx, s.tab.session(""), page.StartScreencast, page.StartScreencastParams{
				Format: page.StartScreencastFormatJpeg, Quality: ptr(int64(1)), MaxWidth: 16, MaxHeight: 16})
		} else {
			_, err = cdp.Call(ctx, s.tab.session(""), page.StopScreencast, cdp.Empty{})
		}
		cancel()
		if err != nil {
			s.tab.opt.Logger.Debug("the screencast cannot be switched", "on", want, "err", err)
		}
	}
}
