// Package policy says what a lease allows: pure functions and tables, no I/O, no clock but the now that is handed in.
//
// An [Origin] is what a browser means by it: parsed scheme, host and port. A [Site] is what an owner means by "this
// site": https and the registrable domain with its subdomains; for everything else the origin itself. A [Capability] is
// something an agent may do, a [Grant] is a capability on a [Scope] for a while, and a [Book] holds the grants of one
// lease. [Decide] reads the book and the rules and says whether a document request may leave: allow, ask or refuse.
//
// What cannot be read without doubt is refused. [ParseOrigin] either agrees with Chromium about a URL or does not take
// it (testdata/origins.json holds Chromium's side), so no two parsers can be played against each other.
package policy
