package guard

// A Body is what a paused request would send, without what is in it.
type Body struct {
	Digest string   // SHA-256 in hex; "" when Chrome did not show the body
	Fields []string // names of its fields, in order; nil when they cannot be told
	Size   int
}

// ReadBody describes a body by its Content-Type: urlencoded and multipart forms have named fields, others do not. shown
// says whether Chrome handed the body over at all (it omits long ones).
func ReadBody(contentType, postData string, shown bool) Body { panic("later") }
