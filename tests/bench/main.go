// Bench measures Tab Valet beside its peers: the same machine, the same browser, the same pages, in one run. What counts
// is the ratio; absolute figures only orient. It ends with exit status 1 when a row does not hold that is no goal.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Row is one line of the report.
type Row struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Ours  Figure  `json:"ours"`
	Peer  string  `json:"peer,omitzero"` // which peer the ratio is to
	Peers Figure  `json:"peers,omitzero"`
	Ratio float64 `json:"ratio,omitzero"` // ours / peer's, by medians
	Hold  float64 `json:"hold"`           // the ratio must not be above it; without a peer, the median
	OK    bool    `json:"ok"`
	Goal  bool    `json:"goal,omitzero"` // where we want to be; the run does not fail for it
}

// A Figure sums up one side's samples.
type Figure struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	N      int     `json:"n"`
}

func figure(samples []float64) Figure {
	s := slices.Sorted(slices.Values(samples))
	if len(s) == 0 {
		return Figure{}
	}
	at := func(q float64) float64 { return s[min(len(s)-1, int(q*float64(len(s))))] }
	return Figure{Median: at(0.5), P95: at(0.95), N: len(s)}
}

type bench struct {
	ctx   context.Context
	sides []*side // ours first
	rows  []Row
}

// A bound is what a row is held to.
type bound struct {
	hold float64
	goal bool
}

// must is a bound without which the run fails.
func must(hold float64) bound { return bound{hold: hold} }

// goal is one that we may still be on the way to.
func goal(hold float64) bound { return bound{hold, true} }

// A sample is what one operation took, by sides.
type sample map[*side][]float64

// against adds a row whose ratio to the peer must hold.
func (b *bench) against(name, unit string, ours []float64, peer string, peers []float64, to bound) {
	r := Row{Name: name, Unit: unit, Ours: figure(ours), Peer: peer, Peers: figure(peers), Hold: to.hold, Goal: to.goal}
	if r.Peers.Median > 0 {
		r.Ratio = r.Ours.Median / r.Peers.Median
	}
	r.OK = r.Ratio > 0 && r.Ratio <= to.hold
	b.add(r)
}

// better adds a row against the faster one of the peers.
func (b *bench) better(name string, s sample, to bound) {
	peer := slices.MinFunc(b.sides[1:], func(x, y *side) int { return cmp.Compare(figure(s[x]).Median, figure(s[y]).Median) })
	b.against(name, "ms", s[b.sides[0]], peer.name, s[peer], to)
}

// alone adds a row whose median must hold by itself.
func (b *bench) alone(name, unit string, ours []float64, to bound) {
	r := Row{Name: name, Unit: unit, Ours: figure(ours), Hold: to.hold, Goal: to.goal}
	r.OK = r.Ours.N > 0 && r.Ours.Median <= to.hold
	b.add(r)
}

func (b *bench) add(r Row) {
	b.rows = append(b.rows, r)
	fmt.Println(r)
}

// String is the row as a line of the printed table.
func (r Row) String() string {
	mark := "holds"
	switch {
	case !r.OK && r.Goal:
		mark = "goal, not there yet"
	case !r.OK:
		mark = "DOES NOT HOLD"
	}
	if r.Peer == "" {
		return fmt.Sprintf("%-52s %9.2f %-4s (p95 %.2f, n %d)  hold ≤ %g %s  %s", r.Name, r.Ours.Median, r.Unit, r.Ours.P95, r.Ours.N, r.Hold, r.Unit, mark)
	}
	return fmt.Sprintf("%-52s %9.2f %-4s against %9.2f of %s: ratio %.3f, hold ≤ %.3f  %s", r.Name, r.Ours.Median, r.Unit, r.Peers.Median, r.Peer, r.Ratio, r.Hold, mark)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 12*time.Minute)
	defer cancel()
	b := &bench{ctx: ctx}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if err := b.write(filepath.Join("out", "bench")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	failed, short := 0, 0
	for _, r := range b.rows {
		switch {
		case !r.OK && r.Goal:
			short++
		case !r.OK:
			failed++
		}
	}
	fmt.Printf("bench: %d rows, %d do not hold, %d goals not reached yet\n", len(b.rows), failed, short)
	if failed > 0 {
		os.Exit(1)
	}
}

// write leaves bench.json and a table for README.
func (b *bench) write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"rows": b.rows}, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "bench.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("| what | Tab Valet | peer | ratio | hold |\n|---|---|---|---|---|\n")
	for _, r := range b.rows {
		peer, ratio := "–", "–"
		if r.Peer != "" {
			peer = fmt.Sprintf("%.1f %s (%s)", r.Peers.Median, r.Unit, r.Peer)
			ratio = fmt.Sprintf("%.3f", r.Ratio)
		}
		fmt.Fprintf(&table, "| %s | %.1f %s | %s | %s | %s |\n", r.Name, r.Ours.Median, r.Unit, peer, ratio, cmp.Or(fmt.Sprintf("%.3g", r.Hold), "–"))
	}
	return os.WriteFile(filepath.Join(dir, "table.md"), []byte(table.String()), 0o644)
}
