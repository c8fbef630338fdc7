package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/edge/visible"
)

// What a person is shown of a rule at most; JSON and SARIF have more.
const (
	shownPlaces   = 5
	shownLines    = 4
	shownRewrites = 3
)

// Text writes a report for a person at a terminal: a block for each rule, the
// gravest first, and a line of counts last. Colour is for terminals only.
func (r Report) Text(w io.Writer, colour bool) error {
	t := textWriter{colour: colour}
	for _, g := range r.Rules {
		t.group(g)
	}
	t.corrections(r.Corrections)
	t.suppressions(r)
	t.line("", "%s", r.summary())
	_, err := w.Write(t.Bytes())
	return err
}

type textWriter struct {
	bytes.Buffer
	colour bool
}

const (
	red    = "31"
	yellow = "33"
	bold   = "1"
	dim    = "2"
)

func (t *textWriter) paint(code, s string) string {
	if !t.colour || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *textWriter) line(indent, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	fmt.Fprintln(t, indent+strings.TrimRight(text, " "))
}

func (t *textWriter) group(g Group) {
	n := g.Notice
	t.line("", "%s  %s", t.paint(bold, n.Rule), t.paint(colourOf(n), standing(n)))
	t.line("  ", "%s", printable(n.Title))
	t.line("  ", "%s", replacement(n))
	left, clusters := g.Count, g.clusters()
	for _, c := range clusters[:min(len(clusters), places(n))] {
		t.cluster(c)
		left -= c.count
	}
	if left > 0 {
		t.line("    ", "%s", t.paint(dim, "… and "+plural(left, "more call", "more calls")+" elsewhere"))
	}
	if g.Suppressed > 0 {
		t.line("    ", "%s", t.paint(dim, plural(g.Suppressed, "call is", "calls are")+" suppressed"))
	}
	t.line("", "")
}

// places is how many a person is shown.
func places(n deprecation.Notice) int {
	if n.Info {
		return 1
	}
	return shownPlaces
}

func (t *textWriter) cluster(c cluster) {
	times := ""
	if c.count > 1 {
		times = fmt.Sprintf("  ×%d", c.count)
	}
	t.line("    ", "%s  %s%s", t.paint(bold, c.at()), c.call(), times)
	for _, r := range c.shown() {
		t.line("      ", "%s %s", t.paint(dim, lead(r)), request(r))
	}
	if n := len(c.Rewrites) + c.More - shownRewrites; n > 0 {
		t.line("      ", "%s", t.paint(dim, fmt.Sprintf("and %d more of this kind", n)))
	}
}

// at is "file:1,7" with who uses it, as a person looks for it.
func (p Place) at() string {
	at := printable(p.Where.File)
	for i, line := range p.Lines {
		switch {
		case i == 0:
			at += fmt.Sprintf(":%d", line)
		case i < shownLines:
			at += fmt.Sprintf(",%d", line)
		case i == shownLines:
			at += ",…"
		}
	}
	if p.Where.Integration != "" {
		at += " " + p.who()
	}
	if p.Address != "" {
		at += " " + p.Address
	}
	return strings.TrimSpace(at)
}

func (p Place) who() string {
	if p.Owner == "" {
		return printable(p.Where.Integration)
	}
	return printable(fmt.Sprintf("%s (%s)", p.Where.Integration, p.Owner))
}

// call is the call, and what of it the rule is about where the path alone does
// not show that.
func (p Place) call() string {
	call := strings.TrimSpace(p.Method + " " + p.Path)
	if part().MatchString(p.Detail) {
		return call + "  " + printable(p.Detail)
	}
	return call
}

// part is how the detail begins of a rule that is about a part of the call.
var part = lazyregexp.New(`^(query|body|headers): `)

// shown are the rewritten requests that a person is shown.
func (p Place) shown() []deprecation.Rewrite {
	return p.Rewrites[:min(len(p.Rewrites), shownRewrites)]
}

func lead(r deprecation.Rewrite) string {
	if r.Field != "" {
		return "set  "
	}
	return "write"
}

// request is the rewritten request in one line, METHOD PATH BODY, or the field
// that takes over.
func request(r deprecation.Rewrite) string {
	var parts []string
	for _, part := range []string{r.Method, r.URL, string(r.Body)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return printable(r.Field)
	}
	return printable(strings.Join(parts, " "))
}

func colourOf(n deprecation.Notice) string {
	switch {
	case n.Info:
		return dim
	case n.State == deprecation.PastEnd:
		return red
	}
	return yellow
}

// standing tells how a rule stands, and for how long.
func standing(n deprecation.Notice) string {
	text := strings.TrimPrefix(n.Standing(), "is ") // here it is not part of a sentence
	if n.Info {
		text = "information: affected calls, " + text
	}
	if n.NoReplacement {
		text += ", no replacement"
	}
	return text
}

func replacement(n deprecation.Notice) string { return "instead: " + printable(n.Instead()) }

func (t *textWriter) corrections(list []deprecation.Correction) {
	for _, c := range list {
		t.line("", "corrected  %s  %s", printable(c.String()), t.paint(dim, c.Where))
	}
	if len(list) > 0 {
		t.line("", "")
	}
}

func (t *textWriter) suppressions(r Report) {
	for _, s := range r.Expired {
		t.line("", "%s", t.paint(yellow, printable(s.told("expired on "+string(s.Expires)+" and suppresses nothing"))))
	}
	for _, s := range r.Unused {
		t.line("", "%s", printable(s.told("suppresses nothing: no such call was met")))
	}
	if len(r.Expired)+len(r.Unused) > 0 {
		t.line("", "")
	}
}

func (s Suppression) told(what string) string {
	return fmt.Sprintf("suppression in line %d (%s, %s) %s", s.Line, s.Rule, s.Where, what)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func printable(s string) string { return visible.Text(s) }
