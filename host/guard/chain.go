package guard

import "github.com/tabvalet/tabvalet/host/policy"

// A chain is a navigation: one request and the redirects that follow it, which share a loader. Who it belongs to is
// fixed when its first request pauses.
type chain struct {
	loader string
	main   bool
	driver policy.Driver
	act    *act           // that set it off, nil if none did
	hop    int            // redirects so far
	to     policy.Origin  // where the last hop goes
	fate   Fate           // of the last hop
	grant  policy.GrantID // to go where it goes; 0 when it only stayed
}

// leaves reports whether the last hop was let go, so that another one may follow.
func (n *chain) leaves() bool { return n != nil && (n.fate == Allowed || n.fate == UserDriven) }

// How many navigations are remembered. A page that opens frames without end pushes out its own frames' only.
const (
	mainChains  = 64
	childChains = 512
)

// chains are the navigations of a tab, by loader.
type chains struct {
	byLoader    map[string]*chain
	main, child []string // oldest first
}

func newChains() chains { return chains{byLoader: map[string]*chain{}} }

func (c *chains) get(loader string) *chain {
	if loader == "" {
		return nil
	}
	return c.byLoader[loader]
}

func (c *chains) put(n *chain) {
	if n.loader == "" {
		return
	}
	_, known := c.byLoader[n.loader]
	c.byLoader[n.loader] = n
	if known {
		return
	}
	if n.main {
		c.main = c.keep(append(c.main, n.loader), mainChains)
	} else {
		c.child = c.keep(append(c.child, n.loader), childChains)
	}
}

func (c *chains) keep(loaders []string, limit int) []string {
	for len(loaders) > limit {
		delete(c.byLoader, loaders[0])
		loaders = loaders[1:]
	}
	return loaders
}
