package protocol

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
)

// Sizes of what the proof is made of, in bytes.
const (
	KeySize   = 32
	NonceSize = 32
	ProofSize = 32
	IDSize    = 16 // profile and instance ids
)

// A Handshake is everything a proof covers. Texts are taken as they crossed the wire.
type Handshake struct {
	Profile  string // id
	Origin   string // of the extension: [ExtensionOrigin]
	Addr     string // "127.0.0.1:" and the host's port, as each side knows it by itself
	Instance string // id of the host
	Offered  []int
	Chosen   int
	NonceC   []byte // the extension's
	NonceS   []byte // the host's
}

// Bytes is the transcript T: each field behind its length.
func (h *Handshake) Bytes() []byte {
	offered := make([]string, len(h.Offered))
	for i, v := range h.Offered {
		offered[i] = strconv.Itoa(v)
	}
	var b []byte
	for _, f := range []string{Label, h.Profile, h.Origin, h.Addr, h.Instance, strings.Join(offered, ","),
		strconv.Itoa(h.Chosen), string(h.NonceC), string(h.NonceS)} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// ServerProof is what the host sends first.
func (h *Handshake) ServerProof(key []byte) []byte {
	return mac(key, "server-proof", []byte("S\x00"), h.Bytes())
}

// ClientProof is what the extension answers to a server's proof.
func (h *Handshake) ClientProof(key, serverProof []byte) []byte {
	return mac(key, "client-proof", []byte("C\x00"), h.Bytes(), serverProof)
}

// SameProof compares in constant time.
func SameProof(a, b []byte) bool { return hmac.Equal(a, b) }

func mac(key []byte, role string, parts ...[]byte) []byte {
	k, err := hkdf.Key(sha256.New, key, nil, Label+" "+role, sha256.Size)
	if err != nil {
		panic("protocol: " + err.Error()) // only a length can be wrong, and it is fixed
	}
	m := hmac.New(sha256.New, k)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)
}

// ChooseVersion gives the highest version that both sides know, or false.
func ChooseVersion(offered []int) (int, bool) {
	return Version, slices.Contains(offered, Version)
}

// EncodeBytes is base64url without padding, the only spelling of bytes on the wire.
func EncodeBytes(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// DecodeBytes reads exactly size bytes; any other spelling of them is refused.
func DecodeBytes(s string, size int) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) != size || EncodeBytes(b) != s {
		return nil, false
	}
	return b, true
}
