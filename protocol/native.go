package protocol

import "github.com/go-json-experiment/json"

// NativeRequest is what the extension may ask the native-messaging host, one per process.
type NativeRequest struct {
	Type  NativeType `json:"type"`
	Label string     `json:"label,omitzero"` // pair: what the owner calls the profile
	Renew string     `json:"renew,omitzero"` // pair: id of the profile that wants a new key
}

// NativeType is a kind of [NativeRequest].
type NativeType string

// The values of NativeType.
const (
	NativePair NativeType = "pair"
	NativeList NativeType = "list"
)

// UnmarshalText refuses what is not a value of NativeType.
func (t *NativeType) UnmarshalText(b []byte) error { return oneOf(t, b, NativePair, NativeList) }

// DecodeNativeRequest reads one request; the error is a [BadMessage].
func DecodeNativeRequest(data []byte) (NativeRequest, error) {
	var r NativeRequest
	if err := Unmarshal(data, &r); err != nil {
		return NativeRequest{}, Errorf(BadMessage, "%s", err.(*Error).Message)
	}
	if r.Type == NativeList && (r.Label != "" || r.Renew != "") {
		return NativeRequest{}, Errorf(BadMessage, "a list has no parameters")
	}
	if _, ok := DecodeBytes(r.Renew, IDSize); r.Renew != "" && !ok {
		return NativeRequest{}, Errorf(BadMessage, "renew is a profile id")
	}
	return r, nil
}

// NativePaired answers pair. It is the only message of ours that carries a key.
type NativePaired struct {
	Profile string `json:"profile"`
	Key     string `json:"key"` // 32 bytes
	Epoch   int    `json:"epoch"`
}

// String keeps the key out of logs.
func (NativePaired) String() string { return "NativePaired(redacted)" }

// NativeHosts answers list.
type NativeHosts struct {
	Hosts     []NativeHost `json:"hosts"`
	Extension string       `json:"extension"` // version that the binary carries
	Profiles  []string     `json:"profiles"`  // ids of the paired profiles
}

// NativeHost is one host that runs now.
type NativeHost struct {
	Instance string    `json:"instance"`
	Name     string    `json:"name"`
	PID      int       `json:"pid"`
	Port     int       `json:"port"`
	Started  string    `json:"started"` // RFC 3339, UTC
	State    HostState `json:"state"`
}

// HostState says whether a host has a link.
type HostState string

// The values of HostState.
const (
	HostWaiting   HostState = "waiting" // none yet
	HostConnected HostState = "connected"
)

// UnmarshalText refuses what is not a value of HostState.
func (s *HostState) UnmarshalText(b []byte) error {
	return oneOf(s, b, HostWaiting, HostConnected)
}

// NativeRefused is the answer instead of any other.
type NativeRefused struct {
	Error *Error `json:"error"`
}

// EncodeNative writes an answer of the native host, or panics: its texts are ours.
func EncodeNative(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("protocol: " + err.Error())
	}
	return data
}
