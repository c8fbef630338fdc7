package radar

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// Schema is the published JSON Schema of a report.
//
//go:embed radar.schema.json
var Schema []byte

// Format says how a report is written.
type Format struct {
	Colour bool // for terminals
	All    bool // every zone and every rule, and not only the first of many
}

// How much is written of many.
const (
	mostZones  = 3
	mostRules  = 10
	mostGroups = 20
)

// Text writes a report for a person at a terminal: of each ruleset first the zones whose
// protection it weakens, and what differs in the ruleset itself last.
func Text(w io.Writer, r Report, f Format) error {
	return write(w, r, &writer{all: f.All, name: visible.Name, text: visible.Text, paint: painted(f.Colour), heading: "", item: "  "})
}

// Markdown writes a report for a page or a message. What comes from a repository or a server
// stands in code spans, so that it can be no markup.
func Markdown(w io.Writer, r Report, f Format) error {
	paint := func(_ Direction, s string) string { return "**" + s + "**" }
	return write(w, r, &writer{all: f.All, name: render.Name, text: render.Code, paint: paint, heading: "### ", item: "- "})
}

func painted(colour bool) func(Direction, string) string {
	return func(d Direction, s string) string {
		code := map[Direction]string{diff.Weakens: "31", diff.Strengthens: "32", "": "1"}[d]
		if !colour || code == "" {
			return s
		}
		return "\x1b[" + code + "m" + s + "\x1b[0m"
	}
}

// writer writes either form.
type writer struct {
	bytes.Buffer
	all           bool
	name, text    func(string) string            // a name, and a text, that comes from elsewhere
	paint         func(Direction, string) string // empty is what stands out without a direction
	heading, item string                         // how lines begin
}

func write(to io.Writer, r Report, w *writer) error {
	for i, p := range r.Rulesets {
		if i > 0 {
			w.WriteByte('\n')
		}
		w.published(p)
	}
	for i, p := range r.Problems {
		if i == 0 && len(r.Rulesets) > 0 {
			w.WriteByte('\n')
		}
		w.line(0, "%s %s in %s: %s%s", w.paint(diff.Weakens, "unknown:"), w.name(p.Ruleset), w.name(p.Account), w.text(p.Reason), w.behind("; ", p.Hint))
	}
	if len(r.Rulesets)+len(r.Problems) == 0 {
		w.line(0, "no zone deploys a managed ruleset")
	}
	_, err := to.Write(w.Bytes())
	return err
}

// line writes a line at a depth of the list; at depth 0 it is a paragraph of its own.
func (w *writer) line(depth int, format string, args ...any) {
	if depth > 0 {
		w.WriteString(strings.Repeat("  ", depth-1) + w.item)
	}
	fmt.Fprintf(w, format+"\n", args...)
	if depth == 0 && w.heading != "" {
		w.WriteByte('\n')
	}
}

// behind is a text of elsewhere behind a word; empty where there is none.
func (w *writer) behind(word, text string) string {
	if text == "" {
		return ""
	}
	return word + w.text(text)
}

func (w *writer) published(p Published) {
	accounts := make([]string, len(p.Accounts))
	for i, a := range p.Accounts {
		accounts[i] = w.name(a.Key)
	}
	w.line(0, "%s%s (%s), in %s", w.heading, w.paint("", w.name(p.Name)), w.text(string(p.ID)), strings.Join(accounts, ", "))
	from, to := p.Versions[0], p.Versions[len(p.Versions)-1]
	switch {
	case p.Changes():
		w.line(1, "version %s → %s, first seen %s; %s was first seen %s%s", w.text(from.Version), w.text(to.Version), words.Instant(to.At),
			w.text(from.Version), words.Instant(from.At), between(len(p.Versions)-2))
	default:
		w.line(1, "version %s, first seen %s: no newer version was seen", w.text(to.Version), words.Instant(to.At))
	}
	if p.Early {
		w.line(1, "versions are kept since %s: which one was there before is not known", words.Instant(p.KeptSince))
	}
	if !p.Changes() {
		return
	}
	w.line(1, "%s", w.summary(p))
	for i, g := range p.Groups {
		if i == mostGroups && !w.all {
			w.line(1, "… and %s more: --all shows them", words.Count(len(p.Groups)-i, "group of zones", "groups of zones"))
			break
		}
		w.group(g)
	}
	w.rules(p)
}

func between(n int) string {
	if n <= 0 {
		return ""
	}
	return "; " + words.Count(n, "version", "versions") + " between them"
}

// summary counts the zones.
func (w *writer) summary(p Published) string {
	var said []string
	for _, c := range p.Counts().Words() {
		if c.Direction != "" {
			c.Text = w.paint(c.Direction, c.Text)
		}
		said = append(said, c.Text)
	}
	return strings.Join(said, "; ")
}

func (w *writer) group(g Group) {
	w.line(1, "%s: %s%s", w.paint(g.Direction, g.Words()), w.zones(g.Zones), w.declaredAt(g.Zones))
	for i, m := range g.Mistakes {
		if w.more(i, len(g.Mistakes), "mistakes") {
			break
		}
		w.line(2, "%s %s%s", w.paint(diff.Weakens, "cannot be applied:"), w.text(m.Reason), w.behind(", at ", m.Origin.String()))
		if m.Hint != "" {
			w.line(3, "hint: %s", w.text(m.Hint))
		}
	}
	for i, e := range g.Rules {
		if w.more(i, len(g.Rules), "rules") {
			break
		}
		w.line(2, "%s: %s", w.rule(e.Rule, e.Last), w.text(e.Words()))
	}
	switch {
	case g.Mended:
		w.line(2, "the declaration can be applied now, and could not before")
	case g.Meanwhile != "":
		w.line(2, "until Seawall has written the overrides anew: %s", w.paint(g.Meanwhile, string(g.Meanwhile)))
	case g.Rewritten:
		w.line(2, "Seawall writes the overrides anew")
	}
}

// more says how many of a list are left out, and reports whether the rest of it is.
func (w *writer) more(i, n int, what string) bool {
	if w.all || i < mostRules {
		return false
	}
	w.line(2, "… and %d more %s: --all shows them", n-i, what)
	return true
}

// zones names the first of many zones.
func (w *writer) zones(all []Zone) string {
	several := slices.ContainsFunc(all, func(z Zone) bool { return z.Account != all[0].Account })
	shown := all
	if !w.all {
		shown = all[:min(len(all), mostZones)]
	}
	names := make([]string, len(shown))
	for i, z := range shown {
		names[i] = w.name(z.called(several))
	}
	text := words.First(names, len(all))
	if len(all) > 1 {
		text = words.Count(len(all), "zone", "zones") + ", " + text
	}
	return text
}

// called names a zone: with its account where there are several, and with the deployment where
// the account itself deploys it, maybe more than once.
func (z Zone) called(several bool) string {
	account, deployment := "", ""
	if several {
		account = z.Account
	}
	if z.Scope.Level == edge.LevelAccount {
		deployment = z.Deployment
	}
	return diff.NameOf(account, z.Zone, deployment, "")
}

// declaredAt is where the deployments of zones are declared: the place of the first, where
// others have another one.
func (w *writer) declaredAt(all []Zone) string {
	places := map[desired.Origin]bool{}
	for _, z := range all {
		if !z.Origin.IsZero() {
			places[z.Origin] = true
		}
	}
	if len(places) == 0 {
		return ""
	}
	text := " (declared at " + w.name(all[0].Origin.String())
	if len(places) > 1 {
		text += fmt.Sprintf(" and %s", words.Count(len(places)-1, "other place", "other places"))
	}
	return text + ")"
}
