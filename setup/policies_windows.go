package setup

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/windows/registry"
)

// readPolicies reads the keys for the machine, then for the user: the machine's win. Lists are keys of their own with
// values 1, 2, 3 …
func readPolicies(keys []string) policySet {
	set := make(policySet)
	for _, key := range keys {
		for _, root := range []registry.Key{registry.LOCAL_MACHINE, registry.CURRENT_USER} {
			values := make(map[string]any)
			readValues(root, key, values)
			for _, list := range []string{"NativeMessagingBlocklist", "NativeMessagingAllowlist", "ExtensionInstallBlocklist", "ExtensionInstallAllowlist"} {
				if items := readList(root, key+`\`+list); items != nil {
					values[list] = items
				}
			}
			if data, err := json.Marshal(values); err == nil {
				set.add(key, data)
			}
		}
	}
	return set
}

func readValues(root registry.Key, key string, into map[string]any) {
	k, err := registry.OpenKey(root, key, registry.QUERY_VALUE)
	if err != nil {
		return
	}
	defer k.Close()
	names, err := k.ReadValueNames(0)
	if err != nil {
		return
	}
	for _, name := range names {
		if n, _, err := k.GetIntegerValue(name); err == nil {
			into[name] = n
		} else if s, _, err := k.GetStringValue(name); err == nil {
			into[name] = s
		}
	}
}

func readList(root registry.Key, key string) []string {
	values := make(map[string]any)
	readValues(root, key, values)
	var out []string
	for n := 1; ; n++ {
		s, ok := values[strconv.Itoa(n)].(string)
		if !ok {
			return out
		}
		out = append(out, s)
	}
}
