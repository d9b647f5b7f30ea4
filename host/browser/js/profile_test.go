package js_test

import (
	"fmt"
	"os"
	"sort"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/profiler"
)

func TestProfile(t *testing.T) {
	name := os.Getenv("PROFILE")
	if name == "" {
		t.Skip()
	}
	p := open(t, benchPages[name])
	do(p, profiler.Enable, cdp.Empty{})
	do(p, profiler.SetSamplingInterval, profiler.SetSamplingIntervalParams{Interval: 200})
	for i := range 3 {
		fmt.Println(i, p.timed("snapshot", `{"max_chars":20000}`))
	}
	do(p, profiler.Start, cdp.Empty{})
	for range 5 {
		fmt.Println(p.timed("snapshot", `{"max_chars":20000}`))
	}
	prof := do(p, profiler.Stop, cdp.Empty{}).Profile
	self := map[string]int64{}
	var total int64
	for _, n := range prof.Nodes {
		self[fmt.Sprintf("%s:%d", n.CallFrame.FunctionName, n.CallFrame.LineNumber)] += n.HitCount
		total += n.HitCount
	}
	keys := make([]string, 0, len(self))
	for k := range self {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return self[keys[i]] > self[keys[j]] })
	for _, k := range keys[:min(40, len(keys))] {
		fmt.Printf("%5.1f%% %s\n", 100*float64(self[k])/float64(total), k)
	}
}
