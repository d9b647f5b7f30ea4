package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/tabvalet/tabvalet/tests/lab/kit"
)

// still is a page on which nothing moves.
const still = `<!doctype html><title>still</title><p>Clicked <output id=n>0</output> times</p>
<button onclick="n.value = +n.value + 1">Count</button> <label>Name <input id=name></label>`

func pages(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprint(w, still)
}

func (b *bench) run() error {
	site, err := kit.NewSite(http.HandlerFunc(pages))
	if err != nil {
		return err
	}
	defer site.Close()
	dir, playwright, err := installPeers(b.ctx)
	if dir != "" {
		defer os.RemoveAll(dir)
	}
	if err != nil {
		return err
	}
	browser, err := kit.FindBrowser()
	if err != nil {
		return err
	}
	peer := &side{name: "Playwright MCP", env: os.Environ(),
		command: []string{"node", playwright, "--headless", "--isolated", "--executable-path", browser}}
	if os.Geteuid() == 0 {
		peer.command = append(peer.command, "--no-sandbox")
	}
	lab, err := kit.Start(b.ctx, kit.Options{})
	if err != nil {
		return err
	}
	defer lab.Close()
	ours := &side{name: "Tab Valet", env: lab.Env(), command: []string{lab.Binary}}

	if err := b.births(ours, peer); err != nil {
		return err
	}
	if err := ours.start(b.ctx); err != nil {
		return err
	}
	defer ours.session.Close()
	if err := peer.start(b.ctx); err != nil {
		return err
	}
	defer peer.session.Close()
	if err := connect(b.ctx, lab, ours, site.A+"/"); err != nil {
		return err
	}
	if _, _, err := peer.call(b.ctx, "browser_navigate", map[string]any{"url": site.A + "/"}); err != nil {
		return err
	}
	for _, row := range []func(ours, peer *side, url string) error{b.clicks, b.typing, b.snapshots, b.navigations} {
		if err := row(ours, peer, site.A+"/"); err != nil {
			return err
		}
	}
	return b.verdicts(lab, ours, site.A)
}

// connect lends the page to our side.
func connect(ctx context.Context, lab *kit.Lab, ours *side, url string) error {
	text, _, err := ours.call(ctx, "browser_connect", map[string]any{"reason": "bench"})
	if err != nil {
		return err
	}
	if err := lab.Owner.Share(ctx, kit.Link(text), kit.Sharing{URL: url}); err != nil {
		return err
	}
	_, err = ours.front(ctx, lab)
	return err
}

// front waits until the lease stands and puts another tab before it, as an owner at work would.
func (s *side) front(ctx context.Context, lab *kit.Lab) (string, error) {
	text, _, err := s.call(ctx, "browser_connect", map[string]any{"wait_ms": 10000})
	if err != nil {
		return "", err
	}
	_, err = lab.Owner.Open(ctx, lab.Owner.ExtensionURL("options.html"))
	return text, err
}

func (b *bench) births(ours, peer *side) error {
	samples := map[*side][2][]float64{}
	for range 7 {
		for _, s := range []*side{ours, peer} {
			took, rss, err := s.birth(b.ctx)
			if err != nil {
				return err
			}
			got := samples[s]
			got[0], got[1] = append(got[0], ms(took)), append(got[1], rss)
			samples[s] = got
		}
	}
	b.against("start → initialize answered", "ms", samples[ours][0], peer.name, samples[peer][0], 1.0/20)
	b.against("resident memory at start", "MiB", samples[ours][1], peer.name, samples[peer][1], 1.0/5)
	return nil
}

// both measures the same call on both sides in turn; args may differ by side.
func (b *bench) both(n int, ours, peer *side, tool string, args func(s *side, i int) map[string]any) (a, p []float64, err error) {
	for i := range n {
		for _, s := range []*side{ours, peer} {
			_, took, err := s.call(b.ctx, tool, args(s, i))
			if err != nil {
				return nil, nil, err
			}
			if s == ours {
				a = append(a, ms(took))
			} else {
				p = append(p, ms(took))
			}
		}
	}
	return a, p, nil
}

// refs finds an element on both sides.
func (b *bench) refs(ours, peer *side, words string) (map[*side]string, error) {
	refs := map[*side]string{}
	for _, s := range []*side{ours, peer} {
		text, _, err := s.call(b.ctx, "browser_snapshot", map[string]any{})
		if err != nil {
			return nil, err
		}
		if refs[s], err = ref(text, words); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

func (b *bench) clicks(ours, peer *side, url string) error {
	refs, err := b.refs(ours, peer, `button "Count"`)
	if err != nil {
		return err
	}
	a, p, err := b.both(20, ours, peer, "browser_click", func(s *side, i int) map[string]any {
		return map[string]any{"element": "Count", "target": refs[s]}
	})
	if err != nil {
		return err
	}
	b.against("click on a still page (background)", "ms", a, peer.name, p, 1.0/12)
	return b.counted(ours, "20")
}

// counted makes sure that the clicks landed.
func (b *bench) counted(s *side, want string) error {
	text, _, err := s.call(b.ctx, "browser_read", map[string]any{})
	if err == nil && !strings.Contains(text, "Clicked "+want+" times") {
		err = fmt.Errorf("%s: the page did not count %s clicks: %s", s.name, want, text)
	}
	return err
}

func (b *bench) typing(ours, peer *side, url string) error {
	refs, err := b.refs(ours, peer, `textbox "Name"`)
	if err != nil {
		return err
	}
	a, p, err := b.both(20, ours, peer, "browser_type", func(s *side, i int) map[string]any {
		return map[string]any{"element": "Name", "target": refs[s], "text": fmt.Sprintf("Robin %d", i)}
	})
	if err != nil {
		return err
	}
	b.against("type into a field", "ms", a, peer.name, p, 1.0/2)
	return nil
}

func (b *bench) snapshots(ours, peer *side, url string) error {
	a, p, err := b.both(20, ours, peer, "browser_snapshot", func(*side, int) map[string]any { return map[string]any{} })
	if err != nil {
		return err
	}
	b.against("snapshot, tiny page", "ms", a, peer.name, p, 1.0/2)
	return nil
}

func (b *bench) navigations(ours, peer *side, url string) error {
	a, p, err := b.both(10, ours, peer, "browser_navigate", func(_ *side, i int) map[string]any {
		return map[string]any{"url": fmt.Sprintf("%s?%d", url, i)}
	})
	if err != nil {
		return err
	}
	b.against("navigate to a tiny page", "ms", a, peer.name, p, 0.7)
	return nil
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

func (b *bench) verdicts(lab *kit.Lab, ours *side, base string) error {
	worker, err := lab.Owner.Worker(b.ctx)
	if err != nil {
		return err
	}
	if err := worker.Eval(b.ctx, spy, nil); err != nil {
		return fmt.Errorf("listening to the worker: %w", err)
	}
	end := time.Now().Add(90 * time.Second)
	for i := 0; i < 100 && time.Now().Before(end); i++ {
		if _, _, err := ours.call(b.ctx, "browser_navigate", map[string]any{"url": fmt.Sprintf("%s/v%d", base, i)}); err != nil {
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
	b.alone("verdict on a document request", "ms", samples, 3)
	return nil
}
