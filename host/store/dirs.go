package store

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Dirs are the folders of this user's Tab Valet, each made when something is first written into it.
type Dirs struct {
	Config  string // pairing.json, policy.json, the pairing window
	State   string // the record, captures, downloads
	Data    string // the unpacked extension, the launcher
	Runtime string // hosts that run now
}

// RootVariable names the environment variable that puts everything under one folder.
const RootVariable = "TABVALET_STATE_DIR"

// FindDirs says where the folders are, without touching them: each from its own variable (a launcher of the native host
// sets those, see [Dirs.Environ]), else under TABVALET_STATE_DIR, else the xdg directories. Runtime lies within State
// unless its variable says otherwise, so that a host and Chrome's environment cannot disagree about it.
func FindDirs() (*Dirs, error) {
	d := &Dirs{
		Config: filepath.Join(xdg.ConfigHome, "tabvalet"),
		State:  filepath.Join(xdg.StateHome, "tabvalet"),
		Data:   filepath.Join(xdg.DataHome, "tabvalet"),
	}
	if root := os.Getenv(RootVariable); root != "" {
		d = UnderRoot(root)
	}
	for name, dir := range d.variables() {
		if v := os.Getenv(name); v != "" {
			*dir = v
		}
	}
	if d.Runtime == "" {
		d.Runtime = filepath.Join(d.State, "run")
	}
	for name, dir := range d.variables() {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return nil, fmt.Errorf("finding the folder of %s: %w", name, err)
		}
		*dir = abs
	}
	return d, nil
}

// UnderRoot puts all folders under one, as TABVALET_STATE_DIR does.
func UnderRoot(root string) *Dirs {
	return &Dirs{
		Config:  filepath.Join(root, "config"),
		State:   filepath.Join(root, "state"),
		Data:    filepath.Join(root, "data"),
		Runtime: filepath.Join(root, "state", "run"),
	}
}

// Environ gives the variables under which [FindDirs] finds the same folders in any other environment.
func (d *Dirs) Environ() []string {
	return []string{
		"TABVALET_CONFIG_HOME=" + d.Config,
		"TABVALET_STATE_HOME=" + d.State,
		"TABVALET_DATA_HOME=" + d.Data,
		"TABVALET_RUNTIME_HOME=" + d.Runtime,
	}
}

func (d *Dirs) variables() map[string]*string {
	return map[string]*string{
		"TABVALET_CONFIG_HOME":  &d.Config,
		"TABVALET_STATE_HOME":   &d.State,
		"TABVALET_DATA_HOME":    &d.Data,
		"TABVALET_RUNTIME_HOME": &d.Runtime,
	}
}
