package native_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tabvalet/tabvalet/host/native"
	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

var caller = protocol.ExtensionOrigin + "/"

func open(t *testing.T) *store.Store {
	t.Helper()
	return store.Open(store.UnderRoot(t.TempDir()))
}

func frame(text string) []byte {
	return append(binary.NativeEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// run is one process: what it wrote, and its exit code.
func run(t *testing.T, s *store.Store, stdin []byte, args ...string) (stdout []byte, exit int, log string) {
	t.Helper()
	var out, logged bytes.Buffer
	if args == nil {
		args = []string{caller}
	}
	exit = native.Run(native.Config{Args: args, Stdin: bytes.NewReader(stdin), Stdout: &out, Store: s, Extension: "1.2.3",
		Browser: "chromium", Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	return out.Bytes(), exit, logged.String()
}

// exchange gives the one frame that was answered.
func exchange(t *testing.T, s *store.Store, request string) []byte {
	t.Helper()
	out, exit, _ := run(t, s, frame(request))
	if exit != 0 || len(out) < 4 || int(binary.NativeEndian.Uint32(out)) != len(out)-4 {
		t.Fatalf("%s: exit %d and %q, want exactly one frame", request, exit, out)
	}
	return out[4:]
}

func wantRefusal(t *testing.T, answer []byte, want protocol.Code) {
	t.Helper()
	var r protocol.NativeRefused
	if err := protocol.Unmarshal(answer, &r); err != nil || r.Error.Code != want {
		t.Errorf("got %s, want %s", answer, want)
	}
}

func TestPair(t *testing.T) {
	s := open(t)
	wantRefusal(t, exchange(t, s, `{"type":"pair","label":"Work"}`), protocol.PairingClosed)
	s.OpenWindow(store.WindowPair, "", time.Minute)
	var paired protocol.NativePaired
	answer := exchange(t, s, `{"type":"pair","label":"Work"}`)
	if err := protocol.Unmarshal(answer, &paired); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	key, ok := s.Key(paired.Profile)
	if !ok || protocol.EncodeBytes(key) != paired.Key || paired.Epoch != 1 {
		t.Errorf("the answer and the file disagree: epoch %d", paired.Epoch)
	}
	if p, err := s.Find("Work"); err != nil || p.Extension != protocol.ExtensionID || p.Browser != "chromium" {
		t.Errorf("the entry: %+v, %v", p, err)
	}
	wantRefusal(t, exchange(t, s, `{"type":"pair"}`), protocol.PairingClosed) // the window closed after its success
}

func TestRenew(t *testing.T) {
	s := open(t)
	s.OpenWindow(store.WindowPair, "", time.Minute)
	p, old, err := s.Pair("Work", "", protocol.ExtensionID)
	if err != nil {
		t.Fatal(err)
	}
	renew := `{"type":"pair","renew":"` + p.ID + `"}`
	wantRefusal(t, exchange(t, s, renew), protocol.PairingClosed)
	s.Rotate("")
	s.OpenWindow(store.WindowRenew, "", time.Minute)
	wantRefusal(t, exchange(t, s, `{"type":"pair","renew":"AAAAAAAAAAAAAAAAAAAAAA"}`), protocol.ProfileUnknown)
	var renewed protocol.NativePaired
	if err := protocol.Unmarshal(exchange(t, s, renew), &renewed); err != nil {
		t.Fatal(err)
	}
	if renewed.Profile != p.ID || renewed.Key == protocol.EncodeBytes(old[:]) || renewed.Epoch != 2 {
		t.Errorf("renewed as %s with epoch %d, want the same profile, another key, epoch 2", renewed.Profile, renewed.Epoch)
	}
}

func TestList(t *testing.T) {
	s := open(t)
	if got := string(exchange(t, s, `{"type":"list"}`)); got != `{"hosts":[],"extension":"1.2.3","profiles":[]}` {
		t.Errorf("with nothing: %s", got)
	}
	s.OpenWindow(store.WindowPair, "", time.Minute)
	p, _, _ := s.Pair("Work", "", protocol.ExtensionID)
	r, err := store.Register(s.Dirs(), store.Entry{Instance: store.NewID(), Name: "Claude Code", PID: os.Getpid(), Port: 4711,
		Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Remove()
	var list protocol.NativeHosts
	ask := func() protocol.NativeHost {
		t.Helper()
		list = protocol.NativeHosts{}
		if err := protocol.Unmarshal(exchange(t, s, `{"type":"list"}`), &list); err != nil || len(list.Hosts) != 1 {
			t.Fatalf("list: %+v, %v", list, err)
		}
		return list.Hosts[0]
	}
	if h := ask(); h.Name != "Claude Code" || h.Port != 4711 || h.State != protocol.HostWaiting {
		t.Errorf("host: %+v", h)
	}
	if !slices.Equal(list.Profiles, []string{p.ID}) {
		t.Errorf("profiles: %v", list.Profiles)
	}
	r.Update(func(e *store.Entry) { e.Connected = true })
	if h := ask(); h.State != protocol.HostConnected {
		t.Errorf("with a link: %+v", h)
	}
}

func TestFramesThatAreNoMessage(t *testing.T) {
	s := open(t)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 'x'}
	for name, stdin := range map[string][]byte{
		"nothing":           nil,
		"three bytes":       {1, 0, 0},
		"length 0":          frame(""),
		"4 GiB":             huge,
		"one byte too many": frame(strings.Repeat(" ", protocol.MaxNativeFrame+1)),
		"cut off":           frame(`{"type":"list"}`)[:8],
	} {
		if out, exit, _ := run(t, s, stdin); exit != 1 || len(out) > 0 {
			t.Errorf("%s: exit %d and %q, want 1 and silence", name, exit, out)
		}
	}
	if out, exit, _ := run(t, s, frame(`{"type":"list"}`+strings.Repeat(" ", protocol.MaxNativeFrame-15))); exit != 0 || len(out) == 0 {
		t.Errorf("a frame of exactly the limit: exit %d and %q", exit, out)
	}
}

func TestMessagesThatAreRefused(t *testing.T) {
	s := open(t)
	for _, text := range []string{`{"type":"credential"}`, `{}`, `[]`, `null`, `x`, `{"type":"list","v":1}`, `{"TYPE":"list"}`,
		`{"type":"list"}{"type":"list"}`, "\xff"} {
		wantRefusal(t, exchange(t, s, text), protocol.BadMessage)
	}
	// Of two frames the second is not even read.
	out, exit, _ := run(t, s, append(frame(`{"type":"list"}`), frame(`{"type":"list"}`)...))
	if n := int(binary.NativeEndian.Uint32(out)); exit != 0 || len(out) != 4+n {
		t.Errorf("two frames: exit %d and %q, want one answer", exit, out)
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{
		{}, {""}, {protocol.ExtensionOrigin}, {strings.ToUpper(caller)}, {"--parent-window=0", caller},
		{"chrome-extension://abcdefghijklmnopabcdefghijklmnop/"}, {caller + "x"},
	} {
		if out, exit, _ := run(t, open(t), frame(`{"type":"list"}`), append([]string{}, args...)...); exit != 1 || len(out) > 0 {
			t.Errorf("%q: exit %d and %q, want 1 and silence", args, exit, out)
		}
	}
	if out, exit, _ := run(t, open(t), frame(`{"type":"list"}`), caller, "--parent-window=0"); exit != 0 || len(out) == 0 {
		t.Errorf("as on Windows: exit %d and %q", exit, out)
	}
	for args, want := range map[string]bool{"": false, "pair": false, caller: true, "chrome-extension://other/": true} {
		if got := native.IsNative(strings.Fields(args)); got != want {
			t.Errorf("IsNative(%q) = %v, want %v", args, got, want)
		}
	}
}

func TestUnreadablePairingIsSaid(t *testing.T) {
	s := open(t)
	s.OpenWindow(store.WindowPair, "", time.Minute)
	if _, _, err := s.Pair("Work", "", protocol.ExtensionID); err != nil {
		t.Fatal(err)
	}
	s.OpenWindow(store.WindowPair, "", time.Minute)
	os.WriteFile(s.PairingPath(), []byte("{"), 0o600)
	for _, request := range []string{`{"type":"pair"}`, `{"type":"list"}`} {
		answer := exchange(t, s, request)
		wantRefusal(t, answer, protocol.PairingJSON)
		if strings.Contains(string(answer), s.Dirs().Config) {
			t.Errorf("%s: the answer tells a path: %s", request, answer)
		}
	}
}

func TestNothingSecretIsLogged(t *testing.T) {
	s := open(t)
	s.OpenWindow(store.WindowPair, "", time.Minute)
	out, _, log := run(t, s, frame(`{"type":"pair","label":"Work"}`))
	var paired protocol.NativePaired
	if err := protocol.Unmarshal(out[4:], &paired); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log, paired.Key) {
		t.Errorf("the log holds the key: %s", log)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestChromeGoesAway(t *testing.T) {
	cfg := native.Config{Args: []string{caller}, Stdin: bytes.NewReader(frame(`{"type":"list"}`)), Stdout: brokenPipe{}, Store: open(t)}
	if exit := native.Run(cfg); exit != 1 {
		t.Errorf("exit %d, want 1", exit)
	}
}

// Every code that the store can give is one of the table: the store imports nothing of ours and cannot look it up.
func TestStoreCodesAreOfTheTable(t *testing.T) {
	source, err := os.ReadFile("../store/store.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(source)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if name = strings.TrimSpace(name); !ok || !strings.HasPrefix(name, "code") {
			continue
		}
		found++
		if code := protocol.Code(strings.Trim(value, `"`)); protocol.Lookup(code).Meaning == "" {
			t.Errorf("%s: %s is not in the table", name, code)
		}
	}
	if found < 10 {
		t.Errorf("found %d codes in store.go", found)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(frame(`{"type":"list"}`))
	f.Add(frame(`{"type":"pair","label":"x"}`))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	s := store.Open(store.UnderRoot(f.TempDir()))
	f.Fuzz(func(t *testing.T, stdin []byte) {
		var out bytes.Buffer
		exit := native.Run(native.Config{Args: []string{caller}, Stdin: io.LimitReader(bytes.NewReader(stdin), 1<<16),
			Stdout: &out, Store: s})
		if (exit == 0) != (out.Len() > 4) {
			t.Errorf("exit %d with %d bytes of answer", exit, out.Len())
		}
	})
}
