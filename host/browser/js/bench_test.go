package js_test

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
)

// The pages of the benchmark. Times are of the engine alone, by the page's clock and (cpu) by its thread's; nothing is
// asserted.
var benchPages = map[string]string{
	"links10000": `<body><ul id=u></ul><script>let h='';for(let i=0;i<10000;i++)h+='<li><a href="/item/'+i+'">Link number '+i+'</a></li>';u.innerHTML=h</script>`,
	"rows50000":  `<body><h1>Lockers</h1><table><tbody id=t></tbody></table><script>let h='';for(let i=1;i<=50000;i++)h+='<tr><td>Locker '+i+'</td><td>'+'NESW'[i%4]+'</td><td><button>Claim</button></td></tr>';t.innerHTML=h</script>`,
	"tiny":       `<body><h1>Hello</h1><p>A page.<p><button>Go</button>`,
}

func BenchmarkEngine(b *testing.B) {
	for _, name := range []string{"tiny", "links10000", "rows50000"} {
		p := open(b, benchPages[name])
		do(p, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"})
		for _, what := range []struct{ name, method, args string }{
			{"snapshot", "snapshot", `{"max_chars":20000}`}, {"read", "read", `{"max_chars":20000}`}, {"begin", "begin", `{}`}, {"delta", "delta", `{"max":2000}`},
			{"check", "check", `{"target":"role=button[name=\"Claim\"]","nth":1,"for":"click"}`}, {"find", "find", `{"text":"37412"}`},
		} {
			b.Run(name+"/"+what.name, func(b *testing.B) {
				p.t = b
				if what.method == "check" && name != "rows50000" {
					b.Skip()
				}
				var ms float64
				before := p.cpu()
				for b.Loop() {
					ms += p.timed(what.method, what.args)
				}
				b.ReportMetric(ms/float64(b.N), "wall-ms/op")
				b.ReportMetric((p.cpu()-before)/float64(b.N), "cpu-ms/op")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// cpu gives the milliseconds the renderer's main thread has spent in commands of ours.
func (p *Page) cpu() float64 {
	p.t.Helper()
	for _, m := range do(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "DevToolsCommandDuration" {
			return m.Value * 1000
		}
	}
	return 0
}
