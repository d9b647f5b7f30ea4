package store

// SetFault makes each step of a write ask first, until the returned function is called.
func SetFault(f func(step string) error) (restore func()) {
	old := fault
	fault = f
	return func() { fault = old }
}

// Steps are the steps of one write, in order.
var Steps = []string{"create", "write", "sync", "rename", "sync dir"}

// Reencode reads the text of a pairing file, or of a window, and writes what it read.
func Reencode(kind string, data []byte) ([]byte, error) {
	if kind == "pairing" {
		p, err := decodePairing("x", data)
		if err != nil {
			return nil, err
		}
		return encodePairing(p)
	}
	w, err := decodeWindow("x", data)
	if err != nil {
		return nil, err
	}
	return encodeWindow(w)
}
