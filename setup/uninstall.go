package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tabvalet/tabvalet/protocol"
)

// uninstall removes what the receipt lists, and only as far as it still is ours.
func (c *call) uninstall() error {
	if !present(receiptPath(c.dirs)) {
		c.say("nothing to remove: setup has written nothing here")
		return nil
	}
	r, err := readReceipt(c.dirs)
	if err != nil {
		return err
	}
	for _, key := range r.Keys {
		if err := unregisterKey(key); err != nil {
			return err
		}
		c.say("removed  %s", key)
	}
	for _, path := range r.Files {
		if foreign(path, r) {
			c.say("left     %s: it is another installation's by now", path)
			continue
		}
		switch err := os.Remove(path); {
		case err == nil:
			c.say("removed  %s", path)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("uninstalling: %w", err)
		}
	}
	for _, tree := range r.Trees {
		if !present(tree) {
			continue
		}
		if err := os.RemoveAll(tree); err != nil {
			return fmt.Errorf("uninstalling: %w", err)
		}
		c.say("removed  %s", tree)
	}
	if err := os.Remove(receiptPath(c.dirs)); err != nil {
		return fmt.Errorf("uninstalling: %w", err)
	}
	slices.SortFunc(r.Dirs, func(a, b string) int { return len(b) - len(a) })
	for _, dir := range r.Dirs {
		os.Remove(dir) // stays when something else is in it
	}
	c.say("\nRemove the extension in the browser too. The pairing (%s) and the record (%s) were left alone.", c.dirs.Config, c.dirs.State)
	return nil
}

// foreign says that a manifest names another launcher than ours: another installation has taken its place.
func foreign(path string, r *receipt) bool {
	if filepath.Base(path) != protocol.NativeName+".json" {
		return false
	}
	m, err := manifestOf(path)
	return err == nil && !slices.Contains(r.Files, m.Path)
}
