package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const shop = `<!doctype html><title>Shop</title><h1>Little shop</h1>
<nav><a href="/cart">Cart</a> <a href="http://b.localhost:{{PORT}}/other">Elsewhere</a></nav>
<form action="/search"><label>Search <input name=q></label><button>Go</button></form>
<form method=post action="/order"><label>Name <input name=name></label><button>Order</button></form>
<p id=out>nothing</p>
<button onclick="out.textContent = 'clicked ' + (++count)">Count</button>
<button onclick="out.textContent = 'asked ' + confirm('Really?')">Ask</button>
<button onclick="fetch('/slow').then((r) => r.text()).then((t) => out.textContent = t)">Load</button>
<script>count = 0</script>`

func shopSite(t testing.TB) *site {
	return serve(t, map[string]string{
		"/": shop, "/cart": "<!doctype html><title>Cart</title><h1>Cart</h1>", "/other": "<!doctype html><title>Other</title><h1>Elsewhere</h1>",
		"/search": "<!doctype html><title>Found</title><h1>Results</h1>", "/order": "<!doctype html><title>Ordered</title><h1>Thanks</h1>",
		"/slow": "loaded",
	})
}

// do checks the target, acts, and gives what it set off.
func (l *leased) do(o CheckOptions, step func(*Act) error) *Settled {
	l.t.Helper()
	c, err := l.Check(l.t.Context(), o)
	if err != nil {
		l.t.Fatalf("checking %s: %v", o.Target, err)
	}
	return l.act(c, step)
}

func (l *leased) act(c *Checked, step func(*Act) error) *Settled {
	l.t.Helper()
	a, err := l.Begin(l.t.Context(), c)
	if err != nil {
		l.t.Fatalf("beginning: %v", err)
	}
	defer a.End()
	if err := step(a); err != nil {
		l.t.Fatalf("acting: %v", err)
	}
	s, err := a.Settle(l.t.Context())
	if err != nil {
		l.t.Fatalf("settling: %v", err)
	}
	return s
}

func (l *leased) click(target string) *Settled {
	l.t.Helper()
	return l.do(CheckOptions{Target: target, For: Click}, func(a *Act) error { return a.Click(l.t.Context(), ClickOptions{}) })
}

func (l *leased) navigate(url string, until LoadState) *Settled {
	l.t.Helper()
	return l.act(nil, func(a *Act) error { return a.Navigate(l.t.Context(), url, until) })
}

func (l *leased) snapshot() string {
	l.t.Helper()
	s, err := l.Snapshot(l.t.Context(), SnapshotOptions{})
	if err != nil {
		l.t.Fatalf("taking a snapshot: %v", err)
	}
	return s.Text
}

func TestShopIsReadAndUsed(t *testing.T) {
	s := shopSite(t)
	l := browserFor(t).lease(t, s.at("a", "/"))
	start := time.Now()
	step := func(what string) { fmt.Println(what, time.Since(start)); start = time.Now() }
	fmt.Println(l.snapshot())
	step("snapshot")
	got := l.click(`role=button[name="Count"]`)
	step("click")
	fmt.Printf("%+v\n", got)
	got = l.click(`role=button[name="Load"]`)
	step("load")
	fmt.Printf("%+v\n", got)
	got = l.do(CheckOptions{Target: "label=Search", For: Type}, func(a *Act) error { return a.Type(t.Context(), TypeOptions{Text: "blue (hat)"}) })
	step("type")
	fmt.Printf("%+v %+v\n", got, got.Value)
	got = l.click(`role=link[name="Cart"]`)
	step("link")
	fmt.Printf("%+v %+v\n", got, got.Navigation)
	got = l.navigate(s.at("b", "/other"), "")
	step("navigate")
	fmt.Printf("%+v %+v\n", got, got.Navigation)
	got = l.navigate(s.at("b", "/cart"), Load)
	step("navigate same origin")
	fmt.Printf("%+v %+v\n", got, got.Navigation)
	got = l.act(nil, func(a *Act) error { return a.History(t.Context(), Back, "") })
	step("back")
	fmt.Printf("%+v %+v\n", got, got.Navigation)
	fmt.Println(strings.Join(s.hits, "; "))
}
