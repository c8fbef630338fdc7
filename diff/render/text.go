// Package render writes plans: a [diff.Plan] goes in, text for a terminal ([Text]),
// Markdown for a pull request ([Markdown]) or versioned JSON ([JSON], [Schema]) comes
// out. Text from a repository or a server can neither control the terminal nor hide
// anything (edge/visible), nor be markup ([Code]). It must not import the packages that make or
// guard plans.
package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// Text writes a plan for a person at a terminal: changes first, what stands in
// the way next, then what is kept, which skip rules act and what is unwise about
// tokens, counts last. Colour is for terminals only.
func Text(w io.Writer, p diff.Plan, colour bool) error {
	t := textWriter{colour: colour}
	t.renames(p.Renames)
	headings := p.Headings()
	blocks, _ := blocksOf(p)
	for _, b := range blocks {
		t.block(b, headings)
	}
	for _, g := range grouped(p.Problems) {
		t.problem(g)
	}
	for _, k := range keptAlike(p.Kept) {
		fmt.Fprintf(&t, "= %s  kept: %s\n\n", k.names(func(what string) string { return t.paint(bold, visible.Name(what)) }), k.members(leftoverText))
	}
	t.bypasses(p)
	for _, l := range p.Leaving {
		t.leaving(l)
	}
	reverts, holds := diff.PutBacks(p.Holds)
	for _, r := range reverts {
		fmt.Fprintf(&t, "= %s\n\n", visible.Name(r.String()))
	}
	for _, h := range holds {
		t.hold(h)
	}
	for _, r := range remarks(p) {
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

func (t *textWriter) direction(d diff.Direction) string {
	switch d {
	case diff.Weakens:
		return t.paint(red, string(d))
	case diff.Strengthens:
		return t.paint(green, string(d))
	default:
		return string(d)
	}
}

// renamesShown is how many renamed keys are listed; JSON has all.
const renamesShown = 50

func (t *textWriter) renames(all []diff.Rename) {
	for _, r := range all[:min(len(all), renamesShown)] {
		fmt.Fprintf(t, "%s renamed: %s\n\n", t.paint(yellow, "~"), t.paint(bold, visible.Name(r.String())))
	}
	if more := len(all) - renamesShown; more > 0 {
		fmt.Fprintf(t, "~ and %d more are renamed\n\n", more)
	}
}

func (t *textWriter) block(b *block, h diff.Headings) {
	c := b.first()
	mark, verb := t.paint(yellow, markOf(c)), t.direction(c.Direction)
	switch {
	case c.Refused.Observed():
		verb += "  " + t.paint(yellow, "observed only")
	case c.Refused.PutBack():
		verb += "  " + t.paint(yellow, "not written: put back by a revert")
	case c.Refused.WaitsForTime():
		verb += "  " + t.paint(yellow, c.Refused.Word())
	case c.Refused != nil:
		mark, verb = t.paint(red, "!"), t.paint(red, c.Refused.Word())
	}
	fmt.Fprintf(t, "%s %s  %s%s\n", mark, t.paint(bold, visible.Name(b.heading(h))), verbOf(c, verb), t.at(b.declaredAt(visible.Name)))
	width := 0
	for _, f := range c.Fields {
		width = max(width, utf8.RuneCountInString(Subject(f.Path)))
	}
	for n, f := range c.Fields {
		at := b.places.fields[n]
		if at == b.places.declared {
			at = desired.Origin{}
		}
		t.field(f, width, at)
	}
	for _, r := range c.Rights {
		fmt.Fprintf(t, "    > %s  %s\n", visible.Name(r.Text), t.direction(r.Direction))
	}
	for _, line := range remarksOf(c) {
		fmt.Fprintf(t, "    > %s\n", visible.Name(line))
	}
	if c.Refused != nil && !c.Refused.Quiet() {
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, c.Refused.Word()+":"), visible.Text(c.Refused.Reason))
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, "release:"), visible.Text(c.Refused.Release))
	}
	t.zones(b, h)
	t.WriteByte('\n')
}

// zones lists the zones of a block of several, each with its own line.
func (t *textWriter) zones(b *block, h diff.Headings) {
	if len(b.changes) == 1 {
		return
	}
	width := 0
	for _, c := range b.changes {
		width = max(width, utf8.RuneCountInString(visible.Name(h.Zone(c))))
	}
	for i, c := range b.changes {
		name := visible.Name(h.Zone(c))
		at := t.at(b.besideZone(i, visible.Name))
		if at != "" {
			name += strings.Repeat(" ", width-utf8.RuneCountInString(name))
		}
		fmt.Fprintf(t, "    * %s%s\n", t.paint(bold, name), at)
	}
}

// remarksOf are what the operation of a change has to say; nothing for what is refused.
func remarksOf(c diff.Change) []string {
	if c.Refused != nil {
		return nil
	}
	return c.Do().Remarks()
}

// markOf says at a glance whether something comes, goes or changes.
func markOf(c diff.Change) string {
	switch action := c.Action(); {
	case action == diff.ActionDeploy:
		return "+"
	case action == diff.ActionRemove:
		return "-"
	}
	return "~"
}

// verbOf puts what a change does before its direction, unless it updates a rule.
func verbOf(c diff.Change, direction string) string {
	switch {
	case c.Action() == diff.ActionDeploy:
		return "deploys  " + direction
	case c.Action() == diff.ActionRemove:
		return "removes  " + direction
	case c.Level() != edge.LevelCredential:
		return direction
	case c.Action() == diff.ActionOrphan && c.Direction == diff.Neutral:
		return string(c.Action()) // nothing is sent, so it has no direction of its own
	}
	return string(c.Action()) + "  " + direction
}

func (t *textWriter) field(f diff.Field, width int, at desired.Origin) {
	fmt.Fprintf(t, "    %-*s  %s → %s", width, Subject(f.Path), Value(f.Old), Value(f.New))
	if f.Direction != diff.Neutral {
		t.WriteString("  " + t.direction(f.Direction))
	}
	if note := f.NoteText(); note != "" {
		t.WriteString("  " + t.paint(dim, "("+visible.Text(note)+")"))
	}
	t.WriteString(t.at(visible.Name(at.String())) + "\n")
}

// at is the place of a declaration, behind what was said of it; empty for none.
func (t *textWriter) at(place string) string {
	if place == "" {
		return ""
	}
	return "  " + t.paint(dim, place)
}

func (t *textWriter) problem(g alike) {
	first := g[0]
	fmt.Fprintf(t, "%s %s  %s%s\n    %s\n", t.paint(red, "!"),
		g.names(func(what string) string { return t.paint(bold, visible.Name(what)) }),
		t.paint(red, first.State.Words()), t.at(visible.Name(first.Origin.String())), visible.Text(first.Reason))
	for _, l := range first.Unmanaged[:min(len(first.Unmanaged), leftoversShown)] {
		fmt.Fprintf(t, "    ? %s  %s\n", leftoverText(l), t.paint(dim, "not declared"))
	}
	if more := len(first.Unmanaged) - leftoversShown; more > 0 {
		fmt.Fprintf(t, "    ? and %d more\n", more)
	}
	if first.Hint != "" {
		fmt.Fprintf(t, "    %s %s\n", t.paint(bold, "hint:"), visible.Text(first.Hint))
	}
	t.WriteByte('\n')
}

func (t *textWriter) hold(h diff.Hold) {
	fmt.Fprintf(t, "%s %s  %s\n\n", t.paint(red, "!"), t.paint(bold, visible.Name(h.Zone)), t.paint(red, visible.Text(h.String())))
}

func (t *textWriter) summary(p diff.Plan) {
	commit := ""
	if p.Commit != "" {
		commit = "commit " + visible.Text(p.Commit[:min(len(p.Commit), 12)]) + ", "
	}
	fmt.Fprintf(t, "%s\n", t.paint(bold, commit+p.Summary.String()))
	fmt.Fprintln(t, p.Requests)
	if p.DryRun != nil {
		fmt.Fprintln(t, visible.Text(p.DryRun.String()))
	}
	if o := p.Requests.Overload; o != nil {
		fmt.Fprintf(t, "%s %s\n    %s %s\n", t.paint(yellow, "note:"), o, t.paint(bold, "hint:"), o.Hint())
	}
	if text := diff.NotLooked(p.NotLookedAt); text != "" {
		fmt.Fprintf(t, "%s %s\n", t.paint(yellow, "note:"), text)
	}
}

// Subject says a path in fewer words; see [diff.Member.Subject].
func Subject(path diff.Member) string { return visible.Name(path.Subject()) }

// Value writes a field's value so that nothing in it is hidden; see [visible.Value]. A
// member that is not there is "unset".
func Value(v any) string {
	if v == nil {
		return "unset"
	}
	return visible.Value(v)
}
