package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

func TestPoliciesThatHinderAreTold(t *testing.T) {
	for _, c := range []struct {
		name, policies string
		hinders        string // the policy that is blamed, "" for none
	}{
		{"nothing", `{}`, ""},
		{"developer mode", `{"ExtensionDeveloperModeSettings": 1}`, "ExtensionDeveloperModeSettings"},
		{"developer mode allowed", `{"ExtensionDeveloperModeSettings": 0}`, ""},
		{"developer tools", `{"DeveloperToolsAvailability": 2}`, "DeveloperToolsAvailability"},
		{"user level", `{"NativeMessagingUserLevelHosts": false}`, "NativeMessagingUserLevelHosts"},
		{"user level, as the registry has it", `{"NativeMessagingUserLevelHosts": 0}`, "NativeMessagingUserLevelHosts"},
		{"user level allowed", `{"NativeMessagingUserLevelHosts": true}`, ""},
		{"all hosts", `{"NativeMessagingBlocklist": ["*"]}`, "NativeMessagingBlocklist"},
		{"our host", `{"NativeMessagingBlocklist": ["io.tabvalet.host"]}`, "NativeMessagingBlocklist"},
		{"all hosts but ours", `{"NativeMessagingBlocklist": ["*"], "NativeMessagingAllowlist": ["io.tabvalet.host"]}`, ""},
		{"another host", `{"NativeMessagingBlocklist": ["org.other"]}`, ""},
		{"all extensions", `{"ExtensionInstallBlocklist": ["*"]}`, "ExtensionInstallBlocklist"},
		{"all extensions but ours", `{"ExtensionInstallBlocklist": ["*"], "ExtensionInstallAllowlist": ["` + protocol.ExtensionID + `"]}`, ""},
		{"blocked sites", `{"ExtensionSettings": {"*": {"runtime_blocked_hosts": ["*://bank.test"]}}}`, "ExtensionSettings"},
		{"garbage", `{"ExtensionDeveloperModeSettings": "x", "NativeMessagingBlocklist": 7}`, ""},
		{"not JSON", `{`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := make(policySet)
			set.add("there.json", []byte(c.policies))
			list := set.hindrances()
			switch {
			case c.hinders == "" && len(list) > 0:
				t.Errorf("%s is blamed", list[0].policy)
			case c.hinders != "" && (len(list) != 1 || list[0].policy != c.hinders || list[0].source != "there.json"):
				t.Errorf("got %v, want %s", list, c.hinders)
			}
		})
	}
}

func TestPoliciesAreReadFromTheFolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("folders of policies are Linux's")
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"NativeMessagingUserLevelHosts": false}`), 0o600)
	os.WriteFile(filepath.Join(dir, "b.json"), []byte(`{"NativeMessagingUserLevelHosts": true, "DeveloperToolsAvailability": 2}`), 0o600)
	os.WriteFile(filepath.Join(dir, "c.txt"), []byte(`{"ExtensionDeveloperModeSettings": 1}`), 0o600)
	if list := readPolicies([]string{dir, filepath.Join(dir, "none")}).hindrances(); len(list) != 2 {
		t.Errorf("got %v, want two", list)
	}
}

func TestEveryBrowserIsNamedOnce(t *testing.T) {
	all, err := knownBrowsers()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, b := range all {
		if seen[b.Name] || b.Title == "" || b.Data == "" || len(b.Hosts) == 0 {
			t.Errorf("%+v is named twice or lacks something", b)
		}
		seen[b.Name] = true
	}
}

// What Chromium 156 writes, cut to the members around ours.
const preferences = `{"extensions":{"alerts":{"initialized":true},"settings":{"` + protocol.ExtensionID + `":{"account_extension_type":0,` +
	`"creation_flags":38,"disable_reasons":[],"location":4,"newAllowFileAccess":true,"path":"/data/extension",` +
	`"service_worker_registration_info":{"version":"0.1.0"}}}}}`

func TestPreferencesOfChromiumAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		want           loaded
	}{
		{"as it is", "", "", loaded{Path: "/data/extension", Version: "0.1.0", Files: true}},
		{"no file URLs", `"newAllowFileAccess":true,`, ``, loaded{Path: "/data/extension", Version: "0.1.0"}},
		{"off, as a list", `"disable_reasons":[]`, `"disable_reasons":[1]`, loaded{Path: "/data/extension", Version: "0.1.0", Files: true, Off: true}},
		{"off, as a number", `"disable_reasons":[]`, `"disable_reasons":1`, loaded{Path: "/data/extension", Version: "0.1.0", Files: true, Off: true}},
		{"off, of old", `"disable_reasons":[]`, `"state":0`, loaded{Path: "/data/extension", Version: "0.1.0", Files: true, Off: true}},
		{"version unknown", `"service_worker_registration_info":{"version":"0.1.0"}`, `"x":1`, loaded{Path: "/data/extension", Files: true}},
	} {
		got, ok := decodeLoaded([]byte(strings.Replace(preferences, c.from, c.to, 1)))
		if !ok || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, ok, c.want)
		}
	}
	if _, ok := decodeLoaded([]byte(strings.Replace(preferences, protocol.ExtensionID, "other", 1))); ok {
		t.Error("another extension is taken for ours")
	}
}

func FuzzDecodeLoaded(f *testing.F) {
	f.Add([]byte(preferences))
	f.Add([]byte(`{"extensions":{"settings":7}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, ok := decodeLoaded(data); !ok && l != (loaded{}) {
			t.Fatalf("an error leaves %+v behind", l)
		}
	})
}

// Whatever a receipt says, uninstalling stays out of folders that are not ours as a whole.
func FuzzDecodeReceipt(f *testing.F) {
	f.Add([]byte(`{"format":"tabvalet-receipt/1","version":"0.1.0","binary":"/bin/tabvalet","trees":["/data/extension"],"files":["/x"],"keys":[],"dirs":[]}`))
	f.Add([]byte(`{"format":"tabvalet-receipt/1","trees":["/data/../home"]}`))
	f.Add([]byte(`{"format":"tabvalet-receipt/1","trees":["/data/.."]}`))
	f.Add([]byte(`{"format":"tabvalet-receipt/1","trees":["/data/."],"files":["x"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeReceipt(data, &store.Dirs{Data: "/data"})
		if err != nil {
			return
		}
		for _, tree := range r.Trees {
			if tree != filepath.Join("/data", "extension") {
				t.Fatalf("it accepts the folder %q", tree)
			}
		}
	})
}

func TestUnpackIsWholeOrNotAtAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "extension")
	tree := fstest.MapFS{"manifest.json": {Data: []byte(`{"version":"1"}`)}, "pages/a.html": {Data: []byte("a")}}
	for i, want := range []bool{true, false} {
		if changed, err := unpack(tree, dir); err != nil || changed != want {
			t.Fatalf("run %d: %v, %v; want %v", i+1, changed, err, want)
		}
	}
	if v := unpackedVersion(dir); v != "1" {
		t.Errorf("version %q", v)
	}
	if os.Geteuid() != 0 && runtime.GOOS != "windows" {
		os.Chmod(filepath.Dir(dir), 0o500)
		if _, err := unpack(fstest.MapFS{"manifest.json": {Data: []byte(`{"version":"2"}`)}}, dir); err == nil {
			t.Error("a folder that cannot be written is no error")
		}
		os.Chmod(filepath.Dir(dir), 0o700)
		if v := unpackedVersion(dir); v != "1" {
			t.Errorf("after the failure version %q is there", v)
		}
	}
	delete(tree, "pages/a.html")
	if changed, err := unpack(tree, dir); err != nil || !changed || present(filepath.Join(dir, "pages", "a.html")) {
		t.Errorf("a file that is gone from the tree stays: %v, %v", changed, err)
	}
}

func TestLauncherQuotesPaths(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its shell is another")
	}
	text := string(launcher(`/it's here/$(rm)/tabvalet`, []string{`A=/with "quotes" and $x`}))
	for _, want := range []string{`exec '/it'\''s here/$(rm)/tabvalet' "$@"`, `export A='/with "quotes" and $x'`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nhas no %s", text, want)
		}
	}
}
