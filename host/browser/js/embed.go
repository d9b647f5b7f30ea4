// Package js holds the page engine: the JavaScript that runs inside every document of a leased tab, in an isolated world.
//
// The engine is a set of small plain scripts that share one closure. [Engine] joins them in a fixed order; there is no
// build step. engine.d.ts is the contract with host/browser, and the types of the scripts, which tsc checks as one
// program (jsconfig.json).
//
// What keeps pages out: an isolated world has its own global object and its own prototypes, so nothing a page assigns
// or patches (Array.prototype, Element.prototype.getAttribute, JSON) is ever seen by the engine. Two things of a page do
// reach in, and the engine takes care of both: named properties of forms and of the document (`<input
// name=getAttribute>`, `<img name=body>`) stand before the real ones on those objects, so dom.js reads through the
// prototypes' own accessors; and named elements answer for missing globals (`<p id=tabvalet>`), so the engine asks for
// own properties of the global object only.
//
//	dom.js      the composed tree: children, parents, closed roots; accessors no page can stand in for
//	role.js     ARIA roles, explicit and implied; states
//	visible.js  what a person can see: boxes, clips, colours; hidden instructions
//	name.js     accessible names
//	refs.js     e12 ⇄ element
//	tree.js     what a person sees, as lines
//	snapshot.js captures of these lines: bounded, outlined, paged
//	read.js     the text
//	target.js   targets: refs, CSS, text=, role=, label=
//	would.js    what an act would set off
//	check.js    may it be clicked, and where
//	forms.js    filling, choosing, reading back; secrets
//	readform.js forms as they are to be filled in
//	scroll.js   scrolling the page and areas in it
//	drag.js     whether the browser took a drag over, and how it ended
//	settle.js   mutations, frames, trusted input
//	delta.js    what came and went
//	wait.js     waiting for text and states
//	frames.js   child frames: keys, points
//	main.js     the dispatcher
package js

import (
	"embed"
	"strings"
	"sync"
)

// World is the name of the isolated world the engine lives in.
const World = "tabvalet"

// files in the order in which they are joined: what a script runs while it loads stands before it.
var files = []string{
	"dom.js", "role.js", "visible.js", "name.js", "refs.js", "tree.js", "snapshot.js", "read.js", "target.js", "would.js", "check.js",
	"forms.js", "readform.js", "scroll.js", "drag.js", "settle.js", "delta.js", "wait.js", "frames.js", "main.js",
}

//go:embed *.js
var sources embed.FS

// Engine returns the whole engine as one script, to be evaluated in [World]. Evaluating it again changes nothing.
var Engine = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("(() => {\n'use strict';\n")
	for _, name := range files {
		text, err := sources.ReadFile(name)
		if err != nil {
			panic(err) // a name in files without a file: cannot be built into a release, the tests load it
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String()
})
