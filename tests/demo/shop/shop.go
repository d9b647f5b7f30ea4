// Package shop is the little shop of the demo: tea, a search box, an order form, and a partner on another site.
package shop

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
)

//go:embed shop.css
var css string

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// A Shop counts what was ordered. Partner is the address of another site, which the footer links to.
type Shop struct {
	Partner string

	mu     sync.Mutex
	orders []string
}

type tea struct{ Slug, Name, Price, Text string }

var teas = []tea{
	{"sencha", "Sencha Asahi", "€ 12.40", "Steamed, grassy, first harvest. 100 g."},
	{"genmaicha", "Genmaicha", "€ 8.90", "Green tea with roasted rice. 100 g."},
	{"assam", "Assam Mangalam", "€ 9.60", "Malty, strong, good with milk. 100 g."},
	{"oolong", "Oolong Tie Guan Yin", "€ 18.20", "Half green, floral. 50 g."},
	{"lapsang", "Lapsang Souchong", "€ 11.30", "Smoked over pine. 100 g."},
	{"rooibos", "Rooibos", "€ 6.50", "No tea at all, and none the worse. 150 g."},
}

type view struct {
	CSS     template.CSS
	Title   string
	Query   string
	Teas    []tea
	Tea     *tea
	Thanks  string
	Partner string
}

// ServeHTTP serves the shop.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := view{CSS: template.CSS(css), Title: "Leaf & Kettle", Partner: s.Partner}
	switch {
	case r.URL.Path == "/":
		v.Teas = teas
	case r.URL.Path == "/search":
		v.Query = r.FormValue("q")
		v.Title = "Results for “" + v.Query + "”"
		for _, t := range teas {
			if strings.Contains(strings.ToLower(t.Name), strings.ToLower(v.Query)) {
				v.Teas = append(v.Teas, t)
			}
		}
	case r.URL.Path == "/order" && r.Method == http.MethodPost:
		s.mu.Lock()
		s.orders = append(s.orders, fmt.Sprintf("%s × %s for %s", r.FormValue("quantity"), r.FormValue("tea"), r.FormValue("name")))
		v.Thanks = fmt.Sprintf("Order %d: %s", 1000+len(s.orders), s.orders[len(s.orders)-1])
		s.mu.Unlock()
		v.Title = "Thank you"
	default:
		slug, ok := strings.CutPrefix(r.URL.Path, "/tea/")
		for i := range teas {
			if ok && teas[i].Slug == slug {
				v.Tea, v.Title = &teas[i], teas[i].Name
			}
		}
		if v.Tea == nil {
			http.NotFound(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page.Execute(w, v)
}

// Orders gives what was ordered so far.
func (s *Shop) Orders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.orders...)
}
