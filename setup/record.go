package setup

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/protocol"
)

// RecordDir is the folder of the record below the state folder.
func RecordDir(state string) string { return filepath.Join(state, "audit") }

// exitContradiction is the exit code of a record that contradicts itself.
const exitContradiction = quietError(2)

func runAudit(c *call) error {
	var sel audit.Select
	c.flags.StringVar(&sel.Day, "day", "", "rows of this day, as 2006-01-02")
	c.flags.StringVar(&sel.Instance, "instance", "", "rows of this host: the beginning of its id")
	c.flags.StringVar(&sel.Tab, "tab", "", "rows of this tab: t1")
	last := c.flags.IntP("lines", "n", 20, "tail: how many rows")
	follow := c.flags.BoolP("follow", "f", false, "tail: go on with what comes, until interrupted")
	asJSON := c.flags.Bool("json", false, "rows as they stand in the files, or the report, as JSON")
	args, err := c.parse(1, 1)
	if err != nil {
		return err
	}
	dir := RecordDir(c.dirs.State)
	switch args[0] {
	case "tail":
		sel.Last = *last
		return c.tail(dir, sel, *follow, *asJSON)
	case "show":
		entries, err := audit.Entries(dir, sel)
		if err != nil {
			return err
		}
		c.entries(entries, *asJSON)
		return nil
	case "verify":
		return c.verify(dir, *asJSON)
	}
	return usageError(fmt.Sprintf("audit can tail, show and verify, not %q", args[0]))
}

func (c *call) entries(list []audit.Entry, asJSON bool) {
	for _, e := range list {
		if asJSON {
			c.say("%s", e.JSON())
		} else {
			c.say("%s", e)
		}
	}
}

// tail prints the newest rows, and with follow those that come.
func (c *call) tail(dir string, sel audit.Select, follow, asJSON bool) error {
	type row struct {
		instance string
		seq      int64
	}
	seen := make(map[row]bool)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for last := sel.Last; ; {
		sel.Last = 0
		list, err := audit.Entries(dir, sel)
		if err != nil {
			return err
		}
		var fresh []audit.Entry
		for _, e := range list {
			if k := (row{e.Instance, e.Seq}); !seen[k] {
				seen[k] = true
				fresh = append(fresh, e)
			}
		}
		c.entries(fresh[max(0, len(fresh)-last):], asJSON)
		if !follow {
			return nil
		}
		last = math.MaxInt // from here on all that is new
		select {
		case <-c.ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// verify compares the record with itself and with the mirrors that extensions were last seen to keep.
func (c *call) verify(dir string, asJSON bool) error {
	mirrors, err := audit.Mirrors(dir)
	if err != nil {
		return err
	}
	var heads []protocol.Head
	for _, m := range mirrors {
		heads = append(heads, m.Heads...)
	}
	report := audit.Verify(dir, heads)
	if asJSON {
		data, err := json.Marshal(report, jsontext.WithIndent("  "))
		if err != nil {
			return err
		}
		c.say("%s", data)
	} else {
		c.tellReport(report, mirrors)
	}
	if !report.OK() {
		return exitContradiction
	}
	return nil
}

func (c *call) tellReport(r audit.Report, mirrors []audit.Mirror) {
	for _, m := range mirrors {
		c.say("mirror   of profile %s, seen %s: %d files", audit.Escape(m.Profile), m.Seen.Local().Format(time.DateTime), len(m.Heads))
	}
	if len(mirrors) == 0 {
		c.say("mirror   none yet: the ends of the newest files have no witness")
	}
	for _, p := range r.Notes {
		c.say("note     %s", audit.Escape(p.String()))
	}
	for _, p := range r.Problems {
		c.say("problem  %s", audit.Escape(p.String()))
	}
	if r.OK() {
		c.say("ok: %d rows in %d files; %d ends attested", r.Rows, r.Files, r.Attested)
	} else {
		c.say("the record contradicts itself or what was kept of it: first bad row above")
	}
}
