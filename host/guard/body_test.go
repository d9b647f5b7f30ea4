package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestReadBodyTellsNamesNeverValues(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	part := func(head string) string { return "--B\r\n" + head + "\r\n\r\nsecret\r\n" }
	for _, row := range []struct {
		what, kind, data string
		want             []string
	}{
		{"a form", form, "name=secret&size=2&name=3", []string{"name", "size"}},
		{"with a charset", form + "; charset=UTF-8", "a=1", []string{"a"}},
		{"escapes", form, "first+name=x&%5Bids%5D%5B%5D=2", []string{"first name", "[ids][]"}},
		{"a name alone", form, "a&&b=", []string{"a", "b"}},
		{"nothing", form, "", []string{}},
		{"a broken escape", form, "a=1&%zz=2", nil},
		{"parts", "multipart/form-data; boundary=B", part(`Content-Disposition: form-data; name="a"`) + part(`Content-Disposition: form-data; name="f"; filename="x.pdf"`) + "--B--\r\n", []string{"a", "f"}},
		{"a part without a name", "multipart/form-data; boundary=B", part("X: y") + "--B--\r\n", nil},
		{"parts that end early", "multipart/form-data; boundary=B", part(`Content-Disposition: form-data; name="a"`), nil},
		{"parts without a boundary", "multipart/form-data", part(`Content-Disposition: form-data; name="a"`), nil},
		{"plain text", "text/plain", "a=1", nil},
		{"JSON", "application/json", `{"a":1}`, nil},
		{"no type", "", "a=1", nil},
		{"too many names", form, strings.Join(many(maxFields+1), "&"), nil},
		{"as many names as are told", form, strings.Join(many(maxFields), "&"), many(maxFields)},
	} {
		b := ReadBody(row.kind, []byte(row.data), true)
		if !slices.Equal(b.Fields, row.want) || (b.Fields == nil) != (row.want == nil) {
			t.Errorf("%s: %q, want %q", row.what, b.Fields, row.want)
		}
		if b.Size != len(row.data) || len(b.Digest) != 64 {
			t.Errorf("%s: size %d, digest %q", row.what, b.Size, b.Digest)
		}
	}
	if b := ReadBody(form, nil, false); b.Digest != "" || b.Fields != nil {
		t.Errorf("a body that was not shown: %+v", b)
	}
}

// many is n different names.
func many(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("field", i)
	}
	return list
}

func FuzzReadBody(f *testing.F) {
	f.Add("application/x-www-form-urlencoded", []byte("a=1&b=%20"))
	f.Add("multipart/form-data; boundary=B", []byte("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--\r\n"))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		b := ReadBody(kind, data, true)
		if len(b.Fields) > maxFields {
			t.Fatalf("%d fields", len(b.Fields))
		}
		sorted := slices.Sorted(slices.Values(b.Fields))
		if len(slices.Compact(sorted)) != len(b.Fields) {
			t.Fatalf("a name stands twice in %q", b.Fields)
		}
	})
}
