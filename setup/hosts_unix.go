//go:build unix

package setup

import (
	"os"
	"path/filepath"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// manifestIn is the path of the manifest that a browser finds by one of its Hosts.
func manifestIn(host string) string { return filepath.Join(host, protocol.NativeName+".json") }

// systemManifest is the same for all users.
func systemManifest(host string) string { return manifestIn(host) }

// plan lists in the receipt what register will write.
func plan(r *receipt, _ *store.Dirs, host string) { r.file(manifestIn(host)) }

// register makes a browser find the manifest, and says whether it had to.
func register(_ *store.Dirs, host string, manifest []byte) (changed bool, err error) {
	return put(manifestIn(host), manifest, 0o600)
}

// unregisterKey has nothing to do here: there is no registry.
func unregisterKey(string) error { return nil }

// readManifest reads what a browser finds at a path.
func readManifest(path string) ([]byte, error) { return os.ReadFile(path) }
