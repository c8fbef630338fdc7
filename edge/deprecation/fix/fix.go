// Package fix rewrites scripts, requests of REST clients and Terraform
// configurations where the calendar says mechanically what a request becomes: a
// path that moved, a form of a query, a member of a body that is left out.
//
// An edit is proved before it is proposed: the changed text is read again, and
// must make the very request that the calendar proposes, with everything else as it
// was. What cannot be proved is left to a person.
package fix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
	"github.com/seawall-dev/seawall/edge/deprecation/search"
)

// Result is a text and what was rewritten in it.
type Result struct {
	Text  string
	Fixed int // calls that were rewritten
	Left  int // rewrites that could not be made in the text
}

// mostEdits bounds the edits of one file.
const mostEdits = 500

// Text rewrites what it can in a file of a format that it knows; other files stay
// as they are. The search says what is looked for.
func Text(s search.Search, name, text string) (Result, error) {
	r, left := Result{Text: text}, map[string]bool{}
	for range mostEdits {
		uses, err := read(s, name, r.Text)
		if err != nil || !r.step(s, name, uses, left) {
			return r, err
		}
	}
	return r, nil
}

// step makes the next rewrite; false where there is none. left are those that could not be
// made.
func (r *Result) step(s search.Search, name string, uses []use, left map[string]bool) bool {
	for i, u := range uses {
		for _, n := range u.notices {
			key := fmt.Sprint(n.Rule, u.call.Method, u.call.URL, u.call.Line)
			if !mechanical(n) || left[key] {
				continue
			}
			if changed, ok := attempt(s, name, r.Text, uses, i, n); ok {
				r.Text, r.Fixed = changed, r.Fixed+1
				return true
			}
			left[key] = true
			r.Left++
		}
	}
	return false
}

// use is a call and what the calendar says of it: nothing where it goes to another host.
type use struct {
	call    scan.Call
	notices []deprecation.Notice
}

// known are the formats in which texts are rewritten.
var known = []scan.Format{scan.Shell, scan.Requests, scan.HCL}

// read returns the calls of a text; none where it is of another format.
func read(s search.Search, name, text string) ([]use, error) {
	var uses []use
	stats, err := scan.Reader(strings.NewReader(text), name, scan.Options{Format: s.Format, Open: s.Open}, func(c scan.Call) error {
		u := use{call: c}
		if s.Hosts.Allow(c.URL) {
			u.notices = s.Notices(c)
		}
		uses = append(uses, u)
		return nil
	})
	if err != nil || !slices.Contains(known, stats.Format) {
		return nil, err
	}
	return uses, nil
}

// Possible reports whether one of the notices says what its request becomes.
func Possible(notices []deprecation.Notice) bool { return slices.ContainsFunc(notices, mechanical) }

// mechanical reports whether a notice says what the request becomes.
func mechanical(n deprecation.Notice) bool {
	return !n.Info && n.Rewrite != nil && n.Rewrite.URL != "" && n.Rewrite.Field == ""
}

// attempt makes the edits that could bring about what a notice proposes, and
// returns the first text that does.
func attempt(s search.Search, name, text string, uses []use, i int, n deprecation.Notice) (string, bool) {
	c := uses[i].call
	if c.Span.To <= c.Span.From || c.Span.To > len(text) {
		return "", false
	}
	part := text[c.Span.From:c.Span.To]
	for _, edited := range candidates(part, c, *n.Rewrite) {
		changed := text[:c.Span.From] + edited + text[c.Span.To:]
		if edited != part && proves(s, name, changed, uses, i, n) {
			return changed, true
		}
	}
	return "", false
}

// proves reports whether a changed text makes the request that is proposed, and
// everything else as it was. A resource of Terraform that no longer sends what the
// rule is about makes no call that matters.
func proves(s search.Search, name, changed string, before []use, i int, n deprecation.Notice) bool {
	after, err := read(s, name, changed)
	made := before[i].call.Address != "" || slices.ContainsFunc(after, func(u use) bool { return sameCall(u.call, n.Rewrite, before[i].call.Method) })
	if err != nil || !made || len(after) > len(before) || count(after, n.Rule) >= count(before, n.Rule) {
		return false
	}
	for j, u := range before {
		if j != i && !slices.ContainsFunc(after, func(o use) bool { return equal(o.call, u.call) }) {
			return false
		}
	}
	return true
}

// count is how many notices of a rule there are, information apart.
func count(uses []use, rule string) int {
	n := 0
	for _, u := range uses {
		for _, o := range u.notices {
			if o.Rule == rule && !o.Info {
				n++
			}
		}
	}
	return n
}

func equal(a, b scan.Call) bool {
	return a.Method == b.Method && a.URL == b.URL && bytes.Equal(a.Body, b.Body) && a.Address == b.Address
}

// sameCall reports whether a call is the one that is proposed.
func sameCall(c scan.Call, want *deprecation.Rewrite, method string) bool {
	if c.Method != method || unescaped(c.URL) != unescaped(want.URL) {
		return false
	}
	return len(want.Body) == 0 || sameJSON(c.Body, want.Body)
}
