package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows/registry"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// manifestIn is the path of the manifest that a browser finds by one of its Hosts: the default value of a key, "" if there
// is none.
func manifestIn(host string) string { return keyValue(registry.CURRENT_USER, host) }

// systemManifest is the same for all users.
func systemManifest(host string) string { return keyValue(registry.LOCAL_MACHINE, host) }

func keyValue(root registry.Key, host string) string {
	k, err := registry.OpenKey(root, host+`\`+protocol.NativeName, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer k.Close()
	value, _, err := k.GetStringValue("")
	if err != nil {
		return ""
	}
	return value
}

func manifestFile(dirs *store.Dirs) string {
	return filepath.Join(dirs.Data, protocol.NativeName+".json")
}

// plan lists in the receipt what register will write.
func plan(r *receipt, dirs *store.Dirs, host string) {
	r.file(manifestFile(dirs))
	r.Keys = append(r.Keys, host+`\`+protocol.NativeName)
}

// register makes a browser find the manifest, and says whether it had to.
func register(dirs *store.Dirs, host string, manifest []byte) (changed bool, err error) {
	path := manifestFile(dirs)
	changed, err = put(path, manifest, 0o600)
	if err != nil || manifestIn(host) == path {
		return changed, err
	}
	k, _, err := registry.CreateKey(registry.CURRENT_USER, host+`\`+protocol.NativeName, registry.SET_VALUE)
	if err != nil {
		return false, fmt.Errorf("writing the registry key %s: %w", host, err)
	}
	defer k.Close()
	if err := k.SetStringValue("", path); err != nil {
		return false, fmt.Errorf("writing the registry key %s: %w", host, err)
	}
	return true, nil
}

// unregisterKey removes a key that setup wrote.
func unregisterKey(key string) error {
	err := registry.DeleteKey(registry.CURRENT_USER, key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the registry key %s: %w", key, err)
	}
	return nil
}

// readManifest reads what a browser finds at a path.
func readManifest(path string) ([]byte, error) {
	if path == "" {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(path)
}
