// Package native is the program that Chrome starts to answer one message of the extension: it reads one frame from
// standard input, writes one to standard output and ends.
//
// What it gives away is a fresh key while the owner's pairing window is open ("pair"), and the list of hosts that run
// ("list"). That Chrome started it proves nothing but the user it runs as: any program of this user can do the same.
package native

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/tabvalet/tabvalet/host/store"
	"github.com/tabvalet/tabvalet/protocol"
)

// IsNative reports whether the arguments (without the program's name) are those of a native-messaging host: Chrome puts
// the caller's origin first.
func IsNative(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], "chrome-extension://")
}

// Config is what the answer is made of.
type Config struct {
	Args      []string // without the program's name
	Stdin     io.Reader
	Stdout    io.Writer    // carries the frame and nothing else
	Logger    *slog.Logger // nil: none
	Store     *store.Store
	Extension string // version of the extension that the binary carries
	Browser   string // what started us, for the pairing's entry, or ""
}

// Run answers one message and gives the exit code: 0 if something was answered, be it an error.
func Run(cfg Config) int {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	// On Windows the handle of a window follows the origin.
	if len(cfg.Args) == 0 || cfg.Args[0] != protocol.ExtensionOrigin+"/" {
		cfg.Logger.Error("native messaging refused", "err", "not called by our extension")
		return 1
	}
	message, err := readFrame(cfg.Stdin)
	if err != nil {
		cfg.Logger.Error("native messaging refused", "err", err)
		return 1
	}
	answer, err := cfg.answer(message)
	if err != nil {
		cfg.Logger.Warn("native message answered with an error", "err", err)
		answer = protocol.NativeRefused{Error: refusal(err)}
	}
	if err := writeFrame(cfg.Stdout, protocol.EncodeNative(answer)); err != nil {
		cfg.Logger.Error("answering a native message", "err", err)
		return 1
	}
	return 0
}

func (cfg *Config) answer(message []byte) (any, error) {
	request, err := protocol.DecodeNativeRequest(message)
	if err != nil {
		return nil, err
	}
	if request.Type == protocol.NativeList {
		return cfg.list()
	}
	profile, key, err := cfg.pair(request)
	if err != nil {
		return nil, err
	}
	return protocol.NativePaired{Profile: profile.ID, Key: protocol.EncodeBytes(key[:]), Epoch: cfg.Store.Epoch()}, nil
}

func (cfg *Config) pair(request protocol.NativeRequest) (store.Profile, store.Key, error) {
	if request.Renew != "" {
		return cfg.Store.Renew(request.Renew)
	}
	return cfg.Store.Pair(request.Label, cfg.Browser, protocol.ExtensionID)
}

func (cfg *Config) list() (any, error) {
	answer := protocol.NativeHosts{Extension: cfg.Extension}
	pairing, err := cfg.Store.Load()
	if err != nil && protocol.CodeOf(err) != protocol.NotPaired {
		return nil, err
	}
	if err == nil {
		for _, p := range pairing.Profiles {
			answer.Profiles = append(answer.Profiles, p.ID)
		}
	}
	entries, err := store.List(cfg.Store.Dirs())
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		state := protocol.HostWaiting
		if e.Connected {
			state = protocol.HostConnected
		}
		answer.Hosts = append(answer.Hosts, protocol.NativeHost{Instance: e.Instance, Name: e.Name, PID: e.PID, Port: e.Port,
			Started: e.Started.UTC().Format(time.RFC3339), State: state})
	}
	return answer, nil
}

// refusal is what the extension is told: the code, and what to do; paths stay here.
func refusal(err error) *protocol.Error {
	code := protocol.CodeOf(err)
	info := protocol.Lookup(code)
	return protocol.Errorf(code, "%s", info.Meaning).With("hint", info.Hint)
}

// readFrame refuses a length before anything of that length is made.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, errors.New("no frame")
	}
	size := binary.NativeEndian.Uint32(head[:])
	if size == 0 || size > protocol.MaxNativeFrame {
		return nil, errors.New("a frame of a length that no message has")
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, errors.New("a frame that ends too soon")
	}
	return data, nil
}

func writeFrame(w io.Writer, data []byte) error {
	frame := binary.NativeEndian.AppendUint32(nil, uint32(len(data)))
	_, err := w.Write(append(frame, data...))
	return err
}
