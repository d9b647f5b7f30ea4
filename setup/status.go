package setup

import (
	"cmp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tabvalet/tabvalet/host/audit"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// A status is what `tabvalet status --json` prints. Members are added, never renamed.
type status struct {
	Version   string          `json:"version"`
	Folders   folders         `json:"folders"`
	Extension extensionStatus `json:"extension"`
	Browsers  []browserStatus `json:"browsers"`
	Pairing   pairingStatus   `json:"pairing"`
	Hosts     []hostStatus    `json:"hosts"`
}

type folders struct {
	Config  string `json:"config"`
	State   string `json:"state"`
	Data    string `json:"data"`
	Runtime string `json:"runtime"`
}

type extensionStatus struct {
	Folder  string `json:"folder"`
	Version string `json:"version"` // unpacked there, "" if nothing is
}

type browserStatus struct {
	Name       string          `json:"name"`
	Title      string          `json:"title"`
	Registered bool            `json:"registered"`
	Profiles   []loadedProfile `json:"profiles"`
}

type loadedProfile struct {
	Profile string `json:"profile"`
	Version string `json:"version"`
	Off     bool   `json:"off"`
	Files   bool   `json:"file_urls"`
}

type pairingStatus struct {
	Code     protocol.Code   `json:"code"` // "" if it can be used
	Message  string          `json:"message"`
	Epoch    int             `json:"epoch"`
	Profiles []profileStatus `json:"profiles"`
	Window   *windowStatus   `json:"window"` // null if none is open
}

type profileStatus struct {
	ID      string    `json:"id"`
	Label   string    `json:"label"`
	Browser string    `json:"browser"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen,omitzero"`
}

type windowStatus struct {
	Kind    store.WindowKind `json:"kind"`
	Expires time.Time        `json:"expires"`
}

type hostStatus struct {
	Instance  string    `json:"instance"`
	Name      string    `json:"name"`
	PID       int       `json:"pid"`
	Port      int       `json:"port"`
	Started   time.Time `json:"started"`
	Connected bool      `json:"connected"`
}

func runStatus(c *call) error {
	asJSON := c.flags.Bool("json", false, "as JSON")
	if _, err := c.parse(0, 0); err != nil {
		return err
	}
	s, err := c.status()
	if err != nil {
		return err
	}
	if !*asJSON {
		c.tellStatus(s)
		return nil
	}
	data, err := json.Marshal(s, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	c.say("%s", data)
	return nil
}

func (c *call) status() (*status, error) {
	in, err := locate(c.dirs)
	if err != nil {
		return nil, err
	}
	list, err := installed(c.dirs)
	if err != nil {
		return nil, err
	}
	s := &status{
		Version:   version(),
		Folders:   folders{c.dirs.Config, c.dirs.State, c.dirs.Data, c.dirs.Runtime},
		Extension: extensionStatus{in.extension, unpackedVersion(in.extension)},
		Browsers:  []browserStatus{},
		Hosts:     []hostStatus{},
	}
	for _, b := range list {
		bs := browserStatus{Name: b.Name, Title: b.Title, Profiles: []loadedProfile{}}
		for _, host := range b.Hosts {
			m, err := manifestOf(manifestIn(host))
			bs.Registered = bs.Registered || err == nil && m.Path == in.launcher
		}
		for _, l := range loadedIn(b.Data) {
			bs.Profiles = append(bs.Profiles, loadedProfile{l.Profile, l.Version, l.Off, l.Files})
		}
		s.Browsers = append(s.Browsers, bs)
	}
	s.Pairing = c.pairingStatus()
	hosts, err := store.List(c.dirs)
	if err != nil {
		return nil, err
	}
	for _, e := range hosts {
		s.Hosts = append(s.Hosts, hostStatus{e.Instance, e.Name, e.PID, e.Port, e.Started, e.Connected})
	}
	return s, nil
}

const unpaired = "no profile is paired: run `tabvalet pair`"

func (c *call) pairingStatus() pairingStatus {
	ps := pairingStatus{Profiles: []profileStatus{}}
	if present(c.dirs.Config) { // to look for a window makes the folder
		if w, err := c.store.Window(); err == nil && w.Used == "" {
			ps.Window = &windowStatus{w.Kind, w.Expires}
		}
	}
	p, err := c.store.Load()
	if err != nil {
		ps.Code, ps.Message = protocol.CodeOf(err), strings.TrimPrefix(err.Error(), string(protocol.CodeOf(err))+": ")
		if ps.Code == protocol.NotPaired {
			ps.Message = unpaired
		}
		return ps
	}
	ps.Epoch = p.Epoch
	for _, q := range p.Profiles {
		ps.Profiles = append(ps.Profiles, profileStatus{q.ID, q.Label, q.Browser, q.Created, q.Seen})
	}
	if len(p.Profiles) == 0 {
		ps.Code, ps.Message = protocol.NotPaired, unpaired
	}
	return ps
}

func (c *call) tellStatus(s *status) {
	c.say("tabvalet   %s", s.Version)
	switch s.Extension.Version {
	case "":
		c.say("extension  not installed: run `tabvalet setup`")
	default:
		c.say("extension  %s in %s", s.Extension.Version, s.Extension.Folder)
	}
	for _, b := range s.Browsers {
		state := "not registered: run `tabvalet setup`"
		if b.Registered {
			state = "registered"
		}
		c.say("browser    %s: %s", b.Title, state)
		for _, p := range b.Profiles {
			state := cmp.Or(p.Version, "of unknown version")
			if p.Off {
				state += ", turned off"
			}
			c.say("           profile %s has the extension, %s", audit.Escape(p.Profile), audit.Escape(state))
		}
	}
	if len(s.Browsers) == 0 {
		c.say("browser    none found")
	}
	if s.Pairing.Code != "" {
		c.say("pairing    %s: %s", s.Pairing.Code, audit.Escape(s.Pairing.Message))
	}
	for _, p := range s.Pairing.Profiles {
		seen := "never linked"
		if !p.Seen.IsZero() {
			seen = "linked " + p.Seen.Local().Format(time.DateTime)
		}
		c.say("paired     %s, %s", profileName(store.Profile{ID: p.ID, Label: p.Label, Browser: p.Browser}), seen)
	}
	if w := s.Pairing.Window; w != nil {
		c.say("window     open (%s) for %s", w.Kind, seconds(time.Until(w.Expires)))
	}
	for _, h := range s.Hosts {
		state := "waiting"
		if h.Connected {
			state = "connected"
		}
		c.say("host       %s, pid %d, since %s: %s", audit.Escape(h.Name), h.PID, h.Started.Local().Format(time.TimeOnly), state)
	}
	if len(s.Hosts) == 0 {
		c.say("host       none runs: an MCP client starts one")
	}
}
