// Package protocol is what crosses the link between a host and the extension, and nothing else: the messages and their
// limits, the error and close codes, the proof of a pairing, the CDP allow-list and the list of forwarded events.
// PROTOCOL.md is the same in words; testdata holds vectors and transcripts that Go and JavaScript both run.
//
// Most readers need two calls: [Decode], which turns one frame into a [Message] or refuses it, and [Unmarshal], which
// turns its parameters into one of the structs of messages.go or refuses them. Both are strict: names are
// case-sensitive, a member that is missing, unknown, doubled or null is refused, and so is text that is not UTF-8. So a
// message has exactly one reading, on either side.
//
// The package does no I/O, starts nothing and imports nothing of ours.
package protocol
