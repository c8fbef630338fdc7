package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge/visible"
)

// markdownLimit is where a pull-request comment stops listing things, in bytes:
// the forges refuse comments of more than 65,536 characters. Between it and
// them there is room for one more line, each value cut at codeLimit, and the end.
const (
	markdownLimit = 50_000
	codeLimit     = 1_000
)

// Markdown writes a plan for a pull request. Changes that weaken come first.
// Everything that came from a repository or a server stands in code spans, so
// that a name can be neither markup nor a mention.
func Markdown(w io.Writer, p diff.Plan) error {
	_, err := markdown(w, p, page{})
	return err
}

// MarkdownReview is Markdown for the comment of a pull request, which has one digest of its
// own: release says what releases the changes that wait for an approval. It returns which
// changes it does not show in full, by their index in the plan, sorted: those that are left
// out, or that have a value which is cut.
func MarkdownReview(w io.Writer, p diff.Plan, release string) (cut []int, err error) {
	return markdown(w, p, page{release: release})
}

func markdown(w io.Writer, p diff.Plan, b page) (cut []int, err error) {
	fmt.Fprintf(&b, "### Seawall plan%s\n\n%s\n", ofCommit(p.Commit), p.Summary)
	markdownRenames(&b.Buffer, p.Renames)
	markdownLeaving(&b.Buffer, p)
	cut = markdownChanges(&b, p)
	markdownProblems(&b.Buffer, p)
	markdownKept(&b.Buffer, p)
	markdownBypasses(&b.Buffer, p)
	reverts, holds := diff.PutBacks(p.Holds)
	for _, r := range reverts {
		fmt.Fprintf(&b, "\n↩️ %s\n", Name(r.String()))
	}
	for i, h := range holds {
		if b.Len() > markdownLimit {
			fmt.Fprintf(&b, "- … and %d more held zones\n", len(holds)-i)
			break
		}
		fmt.Fprintf(&b, "\n⏸️ %s is %s\n", Name(h.Zone), Code(h.String()))
	}
	markdownRemarks(&b.Buffer, p)
	fmt.Fprintf(&b, "\n%s.", p.Requests)
	if b.release == "" {
		fmt.Fprintf(&b, " Digest %s", Code(p.Digest))
	}
	b.WriteByte('\n')
	if p.DryRun != nil {
		fmt.Fprintf(&b, "\n%s\n", Code(p.DryRun.String()))
	}
	if o := p.Requests.Overload; o != nil {
		fmt.Fprintf(&b, "\nNote: %s; %s.\n", o, o.Hint())
	}
	_, err = w.Write(b.Bytes())
	return cut, err
}

// page is what is written, and notes whether something of it is not shown in full.
type page struct {
	bytes.Buffer
	cut bool
	// release is what releases changes that wait for an approval; empty for the words of
	// the refusal, with the digest of these changes alone.
	release string
}

// code, name and value are code spans of what must be shown in full: of a sentence, of a
// key and of a value.
func (p *page) code(s string) string { return p.whole(visible.Folded(visible.Text(s))) }
func (p *page) name(s string) string { return p.whole(visible.Name(s)) }
func (p *page) value(v any) string   { return p.whole(Value(v)) }

func (p *page) whole(s string) string {
	p.cut = p.cut || utf8.RuneCountInString(s) > codeLimit
	return span(s)
}

func ofCommit(commit string) string {
	if commit == "" {
		return ""
	}
	return " for " + Code(commit[:min(len(commit), 12)])
}

func markdownChanges(b *page, p diff.Plan) (cut []int) {
	headings := p.Headings()
	blocks, cut := blocksOf(p)
	slices.SortStableFunc(blocks, func(a, b *block) int { return cmp.Compare(urgency(a.first()), urgency(b.first())) })
	for n, one := range blocks {
		if b.Len() > markdownLimit {
			more := 0
			for _, left := range blocks[n:] {
				more += len(left.changes)
				cut = append(cut, left.indices...)
			}
			fmt.Fprintf(b, "\n… and %s. `seawall plan` shows all of them.\n", words.Count(more, "more change", "more changes"))
			break
		}
		b.cut = false
		listed := markdownBlock(b, one, headings)
		if b.cut {
			fmt.Fprint(b, "\n✂️ This change is not shown in full. `seawall plan -o json` shows all of it.\n")
			listed = 0
		}
		cut = append(cut, one.indices[listed:]...)
	}
	slices.Sort(cut)
	return cut
}

// urgency puts what a reviewer must see first.
func urgency(c diff.Change) int {
	switch {
	case (c.Refused == nil || c.Refused.Quiet() || c.Refused.WaitsForTime()) && c.Direction == diff.Weakens && c.Action() != diff.ActionOrphan:
		return 0
	case c.Refused != nil:
		return 1
	}
	return 2
}

func markdownRenames(b *bytes.Buffer, all []diff.Rename) {
	if len(all) > 0 {
		b.WriteByte('\n')
	}
	for i, r := range all {
		if i == renamesShown || b.Len() > markdownLimit/2 {
			fmt.Fprintf(b, "- … and %d more are renamed\n", len(all)-i)
			return
		}
		fmt.Fprintf(b, "- 🔁 **renamed**: %s\n", Name(r.String()))
	}
}

// markdownBlock writes a block, and returns how many of its changes it names.
func markdownBlock(b *page, one *block, h diff.Headings) (listed int) {
	c := one.first()
	title := string(c.Direction)
	if c.Direction == diff.Weakens {
		title = "⚠️ **weakens**"
	}
	switch {
	case c.Refused.Observed():
		title += ", observed only"
	case c.Refused.PutBack():
		title += ", not written: put back by a revert"
	case b.waits(c):
		title = "✋ **waits for approval**, " + title
	case c.Refused.WaitsForTime():
		title += ", waiting"
	case c.Refused != nil:
		title = "⛔ **refused**, " + title
	}
	fmt.Fprintf(b, "\n#### %s: %s\n", b.name(one.heading(h)), verbOf(c, title))
	if at := one.declaredAt(b.name); at != "" {
		fmt.Fprintf(b, "declared at %s\n", at)
	}
	b.WriteByte('\n')
	markdownFields(b, one)
	for _, r := range c.Rights {
		fmt.Fprintf(b, "- %s: %s\n", r.Direction, b.name(r.Text))
	}
	for _, line := range remarksOf(c) {
		fmt.Fprintf(b, "- %s\n", b.name(line))
	}
	switch {
	case b.waits(c):
		fmt.Fprintf(b, "\n%s. %s\n", b.code(c.Refused.Reason), b.release)
	case c.Refused.WaitsForTime():
		fmt.Fprintf(b, "\nWaiting: %s\nRelease: %s\n", b.code(c.Refused.Reason), b.code(c.Refused.Release))
	case c.Refused != nil && !c.Refused.Quiet():
		fmt.Fprintf(b, "\nRefused: %s\nRelease: %s\n", b.code(c.Refused.Reason), b.code(c.Refused.Release))
	}
	return markdownZones(b, one, h)
}

// markdownZones lists the zones of a block of several, each with its own line, and returns how
// many it names.
func markdownZones(b *page, one *block, h diff.Headings) (listed int) {
	if len(one.changes) == 1 {
		return 1
	}
	b.WriteByte('\n')
	for i, c := range one.changes {
		if b.Len() > markdownLimit {
			fmt.Fprintf(b, "- … and %s. `seawall plan` shows all of them.\n", words.Count(len(one.changes)-i, "more zone", "more zones"))
			return i
		}
		fmt.Fprintf(b, "- %s", b.name(h.Zone(c)))
		if at := one.besideZone(i, b.name); at != "" {
			fmt.Fprintf(b, " at %s", at)
		}
		b.WriteByte('\n')
	}
	return len(one.changes)
}

// waits reports whether an approval releases a change, in the comment of a pull request.
func (p *page) waits(c diff.Change) bool {
	return p.release != "" && c.Refused != nil && c.Refused.Digest != ""
}

// markdownFields writes the members that differ. Those of a change that does not weaken are
// folded: a reviewer opens them with a click.
func markdownFields(b *page, one *block) {
	c := one.first()
	if len(c.Fields) == 0 {
		return
	}
	folded := c.Direction != diff.Weakens
	if folded {
		fmt.Fprintf(b, "<details><summary>%s</summary>\n\n", words.Count(len(c.Fields), "member", "members"))
	}
	b.WriteString("| member | live | desired | | declared at |\n|---|---|---|---|---|\n")
	for i, f := range c.Fields {
		if b.Len() > markdownLimit {
			fmt.Fprintf(b, "| … and %d more | | | | |\n", len(c.Fields)-i)
			b.cut = true
			break
		}
		markdownField(b, f, one.places.fields[i])
	}
	if folded {
		b.WriteString("\n</details>\n\n")
	}
}

func markdownField(b *page, f diff.Field, at desired.Origin) {
	direction := string(f.Direction)
	if f.Direction == diff.Weakens {
		direction = "⚠️ weakens"
	}
	origin := ""
	if !at.IsZero() {
		origin = b.name(at.String())
	}
	path := b.whole(pathOf(f.Path))
	if note := f.NoteText(); note != "" {
		path += "<br>" + b.code(note)
	}
	cells := []string{path, b.value(f.Old), b.value(f.New), direction, origin}
	for i, c := range cells {
		cells[i] = inCell.Replace(c)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

// pathOf is a path with the key in it shown as a value is.
func pathOf(path diff.Member) string {
	list, key, member := path.Override()
	if list == "" {
		return visible.Name(string(path))
	}
	return "overrides." + list + "[" + visible.Value(key) + "]" + strings.TrimSuffix("."+visible.Name(member), ".")
}

// inCell escapes what would end a cell of a table. A backslash before a bar is
// set apart from it, because forges do not agree on what it then escapes.
var inCell = strings.NewReplacer(`\|`, `\ \|`, "|", `\|`)

func markdownProblems(b *bytes.Buffer, p diff.Plan) {
	if len(p.Problems) == 0 {
		return
	}
	b.WriteString("\n#### Needs attention\n\n")
	groups := grouped(p.Problems)
	for i, g := range groups {
		if b.Len() > markdownLimit {
			fmt.Fprintf(b, "- … and %d more\n", len(groups)-i)
			return
		}
		first := g[0]
		fmt.Fprintf(b, "- %s **%s**: %s", g.names(Name), first.State.Words(), Code(first.Reason))
		if !first.Origin.IsZero() {
			fmt.Fprintf(b, " at %s", Name(first.Origin.String()))
		}
		if first.Hint != "" {
			fmt.Fprintf(b, "; %s", Code(first.Hint))
		}
		b.WriteByte('\n')
		markdownLeftovers(b, first.Unmanaged)
	}
}

func markdownLeftovers(b *bytes.Buffer, all []diff.Leftover) {
	for i, l := range all {
		if i == leftoversShown || b.Len() > markdownLimit {
			fmt.Fprintf(b, "  - … and %d more\n", len(all)-i)
			return
		}
		fmt.Fprintf(b, "  - not declared: %s\n", Code(leftoverText(l)))
	}
}

func markdownKept(b *bytes.Buffer, p diff.Plan) {
	groups := keptAlike(p.Kept)
	if len(groups) == 0 || b.Len() > markdownLimit {
		return
	}
	b.WriteString("\n#### Kept\n\n")
	for i, k := range groups {
		if b.Len() > markdownLimit {
			fmt.Fprintf(b, "- … and %d more\n", len(groups)-i)
			return
		}
		fmt.Fprintf(b, "- %s: %s\n", k.names(Name), k.members(func(l diff.Leftover) string { return Code(leftoverText(l)) }))
	}
}

// Code puts a sentence into a code span that it cannot end, cut where it is longer than
// anybody reads.
func Code(s string) string { return span(visible.Folded(visible.Text(s))) }

// Name does the same with a key.
func Name(s string) string { return span(visible.Name(s)) }

func span(s string) string {
	if runes := []rune(s); len(runes) > codeLimit {
		s = string(runes[:codeLimit]) + "…"
	}
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	fence := strings.Repeat("`", longest+1)
	if longest > 0 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
