package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
)

// Text writes a plan for a person at a terminal: changes first, what stands in
// the way next, then what is unwise about tokens, counts last. Colour is for
// terminals only.
func (p Plan) Text(w io.Writer, colour bool) error {
	t := textWriter{colour: colour}
	for _, c := range p.Changes {
		t.change(c)
	}
	for _, g := range grouped(p.Problems) {
		t.problem(g)
	}
	for _, h := range p.Holds {
		t.hold(h)
	}
	for _, r := range p.remarks() {
		t.remark(r)
	}
	t.summary(p)
	_, err := w.Write(t.Bytes())
	return err
}

type textWriter struct {
	bytes.Buffer
	colour bool
}

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
	dim    = "2"
)

func (t *textWriter) paint(code, s string) string {
	if !t.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *textWriter) direction(d Direction) string {
	switch d {
	case Weakens:
		return t.paint(red, string(d))
	case Strengthens:
		return t.paint(green, string(d))
	}
	return string(d)
}

func (t *textWriter) change(c Change) {
	mark, verb := t.paint(yellow, "~"), t.direction(c.Direction)
	switch {
	case c.Refused.Observed():
		verb += "  " + t.paint(yellow, "observed only")
	case c.Refused != nil:
		mark, verb = t.paint(red, "!"), t.paint(red, "refused")
	}
	fmt.Fprintf(t, "%s %s  %s%s\n", mark, t.paint(bold, Printable(c.Name())), c.verb(verb), t.declaredAt(c.Origin))
	width := 0
	for _, f := range c.Fields {
		width = max(width, utf8.RuneCountInString(subject(f.Path)))
	}
	for _, f := range c.Fields {
		t.field(f, width, c)
	}
	for _, r := range c.Rights {
		fmt.Fprintf(t, "    > %s  %s\n", Printable(r.Text), t.direction(r.Direction))
	}
	if to := c.secretTo(); to != "" {
		fmt.Fprintf(t, "    > %s\n", Printable(to))
	}
	for _, l := range c.Unmanaged {
		fmt.Fprintf(t, "    ? %s = %s  %s\n", subject(l.Path), value(l.Value), t.paint(dim, "not declared"))
	}
	if c.Refused != nil && !c.Refused.Observed() {
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, "refused:"), Printable(c.Refused.Reason))
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, "release:"), Printable(c.Refused.Release))
	}
	t.WriteByte('\n')
}

// secretTo says where the secret of a token to be created goes; empty for what
// creates none.
func (c Change) secretTo() string {
	if c.Creation == nil || c.Creation.Sink == nil || c.Refused != nil {
		return ""
	}
	return "the secret goes to " + sinkName(c.Creation.Sink)
}

// verb puts what a change of a token does before its direction.
func (c Change) verb(direction string) string {
	switch {
	case c.Kind != KindToken:
		return direction
	case c.Action == ActionOrphan:
		return string(c.Action) // nothing is sent, so it has no direction
	}
	return string(c.Action) + "  " + direction
}

func (t *textWriter) field(f Field, width int, c Change) {
	fmt.Fprintf(t, "    %-*s  %s → %s", width, subject(f.Path), value(f.Old), value(f.New))
	if f.Direction != Neutral {
		t.WriteString("  " + t.direction(f.Direction))
	}
	if f.Note != "" {
		t.WriteString("  " + t.paint(dim, "("+Printable(f.Note)+")"))
	}
	if f.Origin != nil && *f.Origin != c.Origin {
		t.WriteString("  " + t.paint(dim, Printable(f.Origin.String())))
	}
	t.WriteByte('\n')
}

// declaredAt is the place of a declaration, behind what was said of it; empty for none.
func (t *textWriter) declaredAt(origin desired.Origin) string {
	if origin.IsZero() {
		return ""
	}
	return "  " + t.paint(dim, Printable(origin.String()))
}

func (t *textWriter) problem(g alike) {
	first := g[0]
	fmt.Fprintf(t, "%s %s  %s%s\n    %s\n", t.paint(red, "!"),
		g.names(func(what string) string { return t.paint(bold, Printable(what)) }),
		t.paint(red, first.State.words()), t.declaredAt(first.Origin), Printable(first.Reason))
	if first.Hint != "" {
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, "hint:"), Printable(first.Hint))
	}
	t.WriteByte('\n')
}

func (t *textWriter) hold(h Hold) {
	fmt.Fprintf(t, "%s %s  %s\n\n", t.paint(red, "!"), t.paint(bold, Printable(h.Zone)), t.paint(red, Printable(h.String())))
}

func (t *textWriter) summary(p Plan) {
	commit := ""
	if p.Commit != "" {
		commit = "commit " + Printable(p.Commit[:min(len(p.Commit), 12)]) + ", "
	}
	fmt.Fprintf(t, "%s\n", t.paint(bold, commit+p.Summary.String()))
	fmt.Fprintln(t, p.Requests)
	if o := p.Requests.Overload; o != nil {
		fmt.Fprintf(t, "%s %s\n    %s %s\n", t.paint(yellow, "note:"), o, t.paint(bold, "hint:"), o.Hint())
	}
}

// String is the summary in one line, rows that are zero left out.
func (s Summary) String() string {
	parts := []string{}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(s.InSync, "in sync")
	add(s.Changed, "to change")
	add(s.Weakening, "of them weakening")
	add(s.Refused, "refused")
	add(s.Observed, "observed only")
	add(s.Blocked, "blocked")
	add(s.NotDeployed, "not deployed")
	add(s.Unknown, "unknown")
	add(s.Forbidden, "forbidden")
	text := plural(s.Zones, "zone", "zones")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.Tokens > 0 {
		text += "; " + plural(s.Tokens, "token", "tokens")
	}
	for _, row := range []struct {
		n    int
		what string
	}{{s.TokensToCreate, "create"}, {s.TokensToUpdate, "update"}, {s.TokensToDelete, "delete"}} {
		if row.n > 0 {
			text += fmt.Sprintf(", %d to %s", row.n, row.what)
		}
	}
	return text
}

func name(parts ...string) string {
	said := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, " / ")
}

// subject says a path in fewer words: `tag sqli enabled`, `rule 1f… action`.
func subject(path Member) string {
	list, key, member := overrideKey(path)
	switch list {
	case "categories":
		return fmt.Sprintf("tag %s %s", Printable(key), Printable(member))
	case "rules":
		return fmt.Sprintf("rule %s %s", Printable(key), Printable(member))
	}
	return Printable(string(path))
}

// value writes a field's value as JSON that a terminal can show; a member that
// is not there is "unset".
func value(v any) string {
	if v == nil {
		return "unset"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return Printable(fmt.Sprint(v))
	}
	return Printable(strings.TrimSuffix(b.String(), "\n"))
}

// Printable keeps text from a repository or a server from writing to the
// terminal itself: control characters become spaces.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
