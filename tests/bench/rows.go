package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

// still is a page on which nothing moves.
const still = `<!doctype html><title>still</title><p>Clicked <output id=n>0</output> times</p>
<button onclick="n.value = +n.value + 1">Count</button> <label>Name <input id=name></label> <a href="/still?next">Next</a>`

// pages serves the still page everywhere, and below /links/ a page of so many links.
func pages(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, still)
	if many, ok := strings.CutPrefix(r.URL.Path, "/links/"); ok {
		n, _ := strconv.Atoi(many)
		fmt.Fprint(w, "<ul>")
		for i := range n {
			fmt.Fprintf(w, `<li><a href="/item/%d">Item number %d</a>`, i, i)
		}
	}
}

func (b *bench) run() error {
	site, err := kit.NewSite(http.HandlerFunc(pages))
	if err != nil {
		return err
	}
	defer site.Close()
	browser, err := kit.FindBrowser()
	if err != nil {
		return err
	}
	dir, peers, err := installPeers(b.ctx, browser)
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	lab, err := kit.Start(b.ctx, kit.Options{})
	if err != nil {
		return err
	}
	defer lab.Close()
	b.sides = append([]*side{{name: "Tab Valet", env: lab.Env(), speak: common, command: []string{lab.Binary}}}, peers...)
	if err := b.births(); err != nil {
		return err
	}
	for _, s := range b.sides {
		if err := s.start(b.ctx); err != nil {
			return err
		}
		defer s.session.Close()
	}
	if err := connect(b.ctx, lab, b.sides[0], site.A+"/"); err != nil {
		return err
	}
	for _, s := range peers {
		if _, err := s.goTo(b.ctx, site.A+"/"); err != nil {
			return err
		}
	}
	for _, rows := range []func(lab *kit.Lab, base string) error{
		b.acts, b.typing, b.snapshots, b.navigations, b.following, b.screenshots, b.front, b.verdicts, b.lists, b.links, b.growth, b.footprint,
	} {
		if err := rows(lab, site.A); err != nil {
			return err
		}
	}
	return nil
}

// connect lends the page to our side and puts another tab before it, as an owner at work would.
func connect(ctx context.Context, lab *kit.Lab, s *side, url string) error {
	text, _, err := s.call(ctx, "browser_connect", map[string]any{"reason": "bench"})
	if err != nil {
		return err
	}
	if err := lab.Owner.Share(ctx, kit.Link(text), kit.Sharing{URL: url}); err != nil {
		return err
	}
	if _, _, err = s.call(ctx, "browser_connect", map[string]any{"wait_ms": 10000}); err == nil {
		_, err = lab.Owner.Open(ctx, lab.Owner.ExtensionURL("options.html"))
	}
	return err
}

func (b *bench) births() error {
	took, memory := sample{}, sample{}
	for range 7 {
		for _, s := range b.sides[:2] {
			t, rss, err := s.birth(b.ctx)
			if err != nil {
				return err
			}
			took[s], memory[s] = append(took[s], ms(t)), append(memory[s], rss)
		}
	}
	us, peer := b.sides[0], b.sides[1]
	b.against("start → initialize answered", "ms", took[us], peer.name, took[peer], must(1.0/20))
	b.against("resident memory at start", "MiB", memory[us], peer.name, memory[peer], must(1.0/5))
	return nil
}

// each measures the same call on some sides in turn, so that what else the machine does falls on all.
func (b *bench) each(n int, sides []*side, call func(s *side, i int) (time.Duration, error)) (sample, error) {
	took := sample{}
	for i := range n {
		for _, s := range sides {
			t, err := call(s, i)
			if err != nil {
				return nil, err
			}
			took[s] = append(took[s], ms(t))
		}
	}
	return took, nil
}

// on measures a call with a target on every side.
func (b *bench) on(n int, words string, sides []*side, call func(s *side, ref string, i int) (string, map[string]any)) (sample, error) {
	refs := map[*side]string{}
	for _, s := range sides {
		var err error
		if refs[s], err = s.ref(b.ctx, words); err != nil {
			return nil, err
		}
	}
	return b.each(n, sides, func(s *side, i int) (time.Duration, error) {
		tool, args := call(s, refs[s], i)
		_, took, err := s.call(b.ctx, tool, args)
		return took, err
	})
}

func click(s *side, ref string, _ int) (string, map[string]any) {
	return s.speak.click, map[string]any{s.speak.target: ref}
}

func (b *bench) acts(*kit.Lab, string) error {
	took, err := b.on(20, `button "Count"`, b.sides, click)
	if err != nil {
		return err
	}
	b.against("click on a still page, ours in the background", "ms", took[b.sides[0]], b.sides[1].name, took[b.sides[1]], must(1.0/12))
	b.better("click on a still page, ours in the background", took, goal(1.0/4))
	return b.counted(20)
}

// counted makes sure that our clicks landed.
func (b *bench) counted(n int) error {
	text, _, err := b.sides[0].call(b.ctx, "browser_read", map[string]any{})
	if want := fmt.Sprintf("Clicked %d times", n); err == nil && !strings.Contains(text, want) {
		err = fmt.Errorf("the page does not say %q: %s", want, text)
	}
	return err
}

// front measures what is measured in the background elsewhere: the lent tab before the others.
func (b *bench) front(lab *kit.Lab, base string) error {
	us := b.sides[0]
	if err := lab.Owner.Activate(b.ctx, base+"/still?next"); err != nil {
		return err
	}
	took, err := b.on(20, `button "Count"`, b.sides, click)
	if err != nil {
		return err
	}
	b.against("click on a still page, in front", "ms", took[us], b.sides[1].name, took[b.sides[1]], goal(1.0/12))
	b.better("click on a still page, in front", took, goal(1.0/4))
	if err := b.shots("screenshot, in front"); err != nil {
		return err
	}
	_, err = lab.Owner.Open(b.ctx, lab.Owner.ExtensionURL("options.html"))
	return err
}

func (b *bench) typing(*kit.Lab, string) error {
	took, err := b.on(20, `textbox "Name"`, b.sides, func(s *side, ref string, i int) (string, map[string]any) {
		return s.speak.fill, map[string]any{s.speak.target: ref, s.speak.text: fmt.Sprintf("Robin %d", i)}
	})
	if err == nil {
		b.better("type into a field, read back", took, goal(1.0/2))
	}
	return err
}

func (b *bench) navigations(_ *kit.Lab, base string) error {
	took, err := b.each(10, b.sides, func(s *side, i int) (time.Duration, error) { return s.goTo(b.ctx, fmt.Sprintf("%s/still?%d", base, i)) })
	if err == nil {
		b.better("navigate to a tiny page", took, goal(0.7))
	}
	return err
}

func (b *bench) following(*kit.Lab, string) error {
	took, err := b.each(10, b.sides, func(s *side, i int) (time.Duration, error) {
		link, err := s.ref(b.ctx, `link "Next"`)
		if err != nil {
			return 0, err
		}
		tool, args := click(s, link, i)
		_, took, err := s.call(b.ctx, tool, args)
		return took, err
	})
	if err == nil {
		b.better("click that navigates", took, goal(1.0/3))
	}
	return err
}

func (b *bench) screenshots(*kit.Lab, string) error {
	return b.shots("screenshot, ours in the background")
}

func (b *bench) shots(name string) error {
	took, err := b.each(10, b.sides, func(s *side, _ int) (time.Duration, error) {
		_, took, err := s.call(b.ctx, s.speak.screenshot, map[string]any{})
		return took, err
	})
	if err == nil {
		b.better(name, took, goal(1))
	}
	return err
}

// spy notes, by the worker's own clock, when a paused request was heard of and when it was let go.
const spy = `(() => {
	globalThis.verdicts = [];
	const heard = new Map();
	chrome.debugger.onEvent.addListener((source, method, params) => {
		if (method === "Fetch.requestPaused") heard.set(params.requestId, performance.now());
	});
	const send = chrome.debugger.sendCommand.bind(chrome.debugger);
	chrome.debugger.sendCommand = (target, method, params) => {
		if (method === "Fetch.continueRequest" && heard.has(params.requestId)) verdicts.push(performance.now() - heard.get(params.requestId));
		return send(target, method, params);
	};
})()`

func (b *bench) verdicts(lab *kit.Lab, base string) error {
	worker, err := lab.Owner.Worker(b.ctx)
	if err != nil {
		return err
	}
	if err := worker.Eval(b.ctx, spy, nil); err != nil {
		return fmt.Errorf("listening to the worker: %w", err)
	}
	end := time.Now().Add(40 * time.Second)
	for i := 0; i < 100 && time.Now().Before(end); i++ {
		if _, err := b.sides[0].goTo(b.ctx, fmt.Sprintf("%s/v%d", base, i)); err != nil {
			return err
		}
	}
	var text string
	if err := worker.Eval(b.ctx, `JSON.stringify(verdicts)`, &text); err != nil {
		return err
	}
	var samples []float64
	if err := json.Unmarshal([]byte(text), &samples); err != nil {
		return err
	}
	b.alone("verdict on a document request", "ms", samples, must(3))
	return nil
}
