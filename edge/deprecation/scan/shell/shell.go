// Package shell finds the calls of curl, wget and HTTPie in scripts, and in any
// text with commands in it. mvdan.cc/sh parses; nothing is run. A text that is no
// script is read line by line.
//
// What the script itself sets is known: variables, arrays, the items of a loop,
// arguments of its functions, here-documents, what echo, printf and cat write.
// Everything else is open.
//
// In comes text, out go calls (package call); no other reader is imported.
package shell

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// Read reads a script, or a text with commands in it.
func Read(text []byte, out *call.Sink) error {
	Text(Script{Text: string(text), Line: 1, Exact: true}, out)
	return nil
}

// Script is a piece of shell and where it stands.
type Script struct {
	Text string
	Line int // of its first line
	// Exact: the text stands in the input byte by byte from the beginning, so that
	// calls have a span.
	Exact bool
	// Vars are what is known of the environment.
	Vars map[string]string
}

// Text hands on the calls of a script, by their lines.
func Text(s Script, out *call.Sink) {
	r := newRun(s, out.Options)
	r.read(s.Text, position{line: s.Line, exact: s.Exact})
	r.uncalled()
	slices.SortStableFunc(r.found, func(a, b found) int { return cmp.Compare(a.Line, b.Line) })
	for _, f := range r.found {
		if f.variable != "" && r.used[f.variable] {
			continue // what it is used in says more
		}
		f.offer(out)
	}
	for _, skip := range r.skipped {
		out.Skip(skip.Line, skip.Reason)
	}
}

// found is a call, or an address alone.
type found struct {
	call.Call
	literal  bool
	variable string // that is set to the address
}

func (f found) offer(out *call.Sink) {
	switch {
	case f.literal:
		out.Literal(f.Call)
	case f.URL == "":
		out.Skip(f.Line, "the whole address of the call is left open")
	default:
		out.Offer(f.Call)
	}
}

// HasCalls reports whether a text makes a call of curl, wget or HTTPie.
func HasCalls(text string) bool {
	if !mentions(text) {
		return false
	}
	r := newRun(Script{}, call.Options{})
	r.read(text, position{line: 1})
	r.uncalled()
	return slices.ContainsFunc(r.found, func(f found) bool { return !f.literal })
}

// clients are the names of the commands that make calls.
var clients = []string{"curl", "wget", "http", "xh"}

// mentions reports whether one of the commands may be in a text.
func mentions(text string) bool {
	return slices.ContainsFunc(clients, func(name string) bool { return strings.Contains(text, name) })
}
