package main

import (
	"fmt"
	"regexp"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

// snapshot takes one.
func (b *bench) snapshot(s *side, _ int) (time.Duration, error) {
	_, took, err := s.call(b.ctx, s.speak.snapshot, map[string]any{})
	return took, err
}

func (b *bench) snapshots(*kit.Lab, string) error {
	took, err := b.each(20, b.sides, b.snapshot)
	if err != nil {
		return err
	}
	us, playwright, devtools := b.sides[0], b.sides[1], b.sides[2]
	b.against("snapshot, tiny page", "ms", took[us], playwright.name, took[playwright], goal(1.0/2))
	b.against("snapshot, tiny page", "ms", took[us], devtools.name, took[devtools], goal(1.2))
	return nil
}

// lists measures what a client has to carry in every conversation.
func (b *bench) lists(*kit.Lab, string) error {
	size := sample{}
	for _, s := range b.sides {
		tools, err := s.session.ListTools(b.ctx, nil)
		if err != nil {
			return err
		}
		text, err := json.Marshal(tools.Tools)
		if err != nil {
			return err
		}
		size[s] = []float64{float64(len(text)) / 1024}
	}
	b.alone("tools/list, all tools", "KiB", size[b.sides[0]], goal(24))
	for _, s := range b.sides[1:] {
		b.against("tools/list, all tools", "KiB", size[b.sides[0]], s.name, size[s], goal(1))
	}
	return nil
}

var cursor = regexp.MustCompile(`(?m)^next: (\S+)`)

// links reads a page of 10,000 links: what is on screen, and all of it.
func (b *bench) links(_ *kit.Lab, base string) error {
	us, peer := b.sides[0], b.sides[1]
	for _, s := range []*side{us, peer} {
		if _, err := s.goTo(b.ctx, base+"/links/10000"); err != nil {
			return err
		}
	}
	full := sample{}
	bounded, err := b.each(3, []*side{us, peer}, func(s *side, i int) (time.Duration, error) {
		took, err := b.snapshot(s, i)
		if s == us && err == nil {
			var all time.Duration
			all, err = b.everything(us)
			full[us] = append(full[us], ms(all))
		}
		return took, err
	})
	if err != nil {
		return err
	}
	b.against("bounded snapshot of 10,000 links, to a full one", "ms", bounded[us], peer.name, bounded[peer], goal(1.0/10))
	b.against("full tree of 10,000 links, through all cursors", "ms", full[us], peer.name, bounded[peer], goal(1.0/5))
	return nil
}

// everything reads a tree to its end, cursor by cursor.
func (b *bench) everything(s *side) (all time.Duration, err error) {
	args := map[string]any{"max_chars": 200000}
	for range 100 {
		text, took, err := s.call(b.ctx, s.speak.snapshot, args)
		if all += took; err != nil {
			return all, err
		}
		next := cursor.FindStringSubmatch(text)
		if next == nil {
			return all, nil
		}
		args["cursor"] = next[1]
	}
	return all, fmt.Errorf("%s: the tree has no end", s.name)
}

// growth holds ten times the elements to at most twelve times the time.
func (b *bench) growth(_ *kit.Lab, base string) error {
	us := b.sides[:1]
	var before []float64
	for _, n := range []int{100, 1000, 10000} {
		if _, err := us[0].goTo(b.ctx, fmt.Sprintf("%s/links/%d", base, n/2)); err != nil {
			return err
		}
		took, err := b.each(5, us, b.snapshot)
		if err != nil {
			return err
		}
		if before != nil {
			b.against(fmt.Sprintf("snapshot of %d elements, to one of %d", n, n/10), "ms", took[us[0]], us[0].name, before, goal(12))
		}
		before = took[us[0]]
	}
	return nil
}

// footprint is our memory after 500 calls of all kinds on a large page.
func (b *bench) footprint(_ *kit.Lab, base string) error {
	us := b.sides[0]
	if _, err := us.goTo(b.ctx, base+"/links/2000"); err != nil {
		return err
	}
	end := time.Now().Add(75 * time.Second)
	done := 0
	for i := range 100 {
		if time.Now().After(end) {
			break
		}
		for _, c := range []struct {
			tool string
			args map[string]any
		}{
			{"browser_snapshot", map[string]any{"max_chars": 200000}},
			{"browser_click", map[string]any{"target": `role=button[name="Count"]`}},
			{"browser_read", map[string]any{}},
			{"browser_type", map[string]any{"target": "#name", "text": fmt.Sprint("Robin ", i)}},
			{"browser_take_screenshot", map[string]any{}},
		} {
			if _, _, err := us.call(b.ctx, c.tool, c.args); err != nil {
				return err
			}
			done++
		}
	}
	rss, err := resident(us.cmd.Process.Pid)
	if err == nil {
		b.alone(fmt.Sprintf("resident memory after %d calls", done), "MiB", []float64{rss}, goal(40))
	}
	return err
}
