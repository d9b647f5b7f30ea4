package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

var manual = base32.StdEncoding.WithPadding(base32.NoPadding)

// ManualCode is what `tabvalet pair --manual` prints: profile id, key and checksum, in groups of four characters.
func ManualCode(profile string, key []byte) string {
	id, ok := DecodeBytes(profile, IDSize)
	if !ok || len(key) != KeySize {
		panic("protocol: a manual code is made of a profile id and a key")
	}
	body := append(id, key...)
	sum := sha256.Sum256(body)
	text := manual.EncodeToString(append(body, sum[:4]...))
	var groups []string
	for len(text) > 0 {
		groups, text = append(groups, text[:4]), text[4:]
	}
	return strings.Join(groups, "-")
}

// ParseManualCode reads a code as people type it: case, spaces and dashes do not count. The error is a [PairingCode].
func ParseManualCode(code string) (profile string, key []byte, err error) {
	text := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' || r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, code)
	for _, r := range text { // before ToUpper, which would let letters outside ASCII in
		if r > 'z' {
			return "", nil, Errorf(PairingCode, "a character that no code has")
		}
	}
	text = strings.ToUpper(text)
	body, err := manual.DecodeString(text)
	if err != nil || len(body) != IDSize+KeySize+4 || manual.EncodeToString(body) != text {
		return "", nil, Errorf(PairingCode, "not the length or the letters of a code")
	}
	body, sum := body[:IDSize+KeySize], body[IDSize+KeySize:]
	if want := sha256.Sum256(body); !bytes.Equal(sum, want[:4]) {
		return "", nil, Errorf(PairingCode, "the checksum does not match")
	}
	return EncodeBytes(body[:IDSize]), body[IDSize:], nil
}
