package guard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"
)

// A Body is what a paused request would send, without what is in it.
type Body struct {
	Digest string   // SHA-256 in hex; "" when Chrome did not show the body
	Fields []string // names of its fields, in order and once each; nil when they cannot be told
	Size   int
}

// maxFields is how many names are told; a body with more has names that cannot be told.
const maxFields = 1000

// ReadBody describes a body by its Content-Type: urlencoded and multipart forms have named fields, others do not. shown
// says whether Chrome handed the body over at all (it omits long ones).
func ReadBody(contentType string, data []byte, shown bool) Body {
	if !shown {
		return Body{}
	}
	sum := sha256.Sum256(data)
	b := Body{Digest: hex.EncodeToString(sum[:]), Size: len(data)}
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return b
	}
	switch kind {
	case "application/x-www-form-urlencoded":
		b.Fields = urlencodedNames(string(data))
	case "multipart/form-data":
		b.Fields = multipartNames(data, params["boundary"])
	}
	return b
}

func urlencodedNames(data string) []string {
	names := names{list: []string{}}
	for pair := range strings.SplitSeq(data, "&") {
		if pair == "" {
			continue
		}
		key, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(key)
		if err != nil || !names.add(name) {
			return nil
		}
	}
	return names.list
}

func multipartNames(data []byte, boundary string) []string {
	end := "--" + boundary + "--"
	if boundary == "" || !bytes.HasSuffix(bytes.TrimRight(data, "\r\n"), []byte(end)) {
		return nil // the reader would take a cut body for a whole one
	}
	names := names{list: []string{}}
	for r := multipart.NewReader(bytes.NewReader(data), boundary); ; {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return names.list
		}
		if err != nil || part.FormName() == "" || !names.add(part.FormName()) {
			return nil
		}
	}
}

// names is a list without duplicates.
type names struct {
	list []string
	seen map[string]bool
}

func (n *names) add(name string) bool {
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	if !n.seen[name] {
		n.seen[name] = true
		n.list = append(n.list, name)
	}
	return len(n.list) <= maxFields
}
