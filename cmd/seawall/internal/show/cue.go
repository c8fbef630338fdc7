package show

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// CUE writes the declaration as one struct with all values, each with where it comes from
// and what is live as a comment. What only is live is a comment, too.
func (s Shown) CUE(w io.Writer) error {
	var b strings.Builder
	if s.Changed != nil {
		fmt.Fprintf(&b, "// Last changed: %s\n", visible.Text(s.Changed.String()))
	}
	for _, unknown := range []struct{ what, why string }{{"What is live", s.LiveUnknown}, {"The history", s.HistoryUnknown}} {
		if unknown.why != "" {
			fmt.Fprintf(&b, "// %s is not known: %s\n", unknown.what, visible.Text(unknown.why))
		}
	}
	if s.Token != "" {
		s.tokenCUE(&b)
	} else {
		s.zoneCUE(&b)
	}
	if text := diff.NotLooked(s.NotLookedAt); text != "" {
		fmt.Fprintf(&b, "// %s\n", visible.Text(text))
	}
	text, err := cuefile.Format([]byte(b.String()))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, strings.TrimSpace(string(text)))
	return err
}

// tokenCUE writes a token in its shape, after where its values come from.
func (s Shown) tokenCUE(b *strings.Builder) {
	for _, m := range s.Parts[0].Members {
		fmt.Fprintf(b, "// %s: %s\n", m.Path, s.comment(m))
	}
	b.WriteString(cuefile.TokenText(s.token))
}

func (s Shown) zoneCUE(b *strings.Builder) {
	fmt.Fprintf(b, "account: %s: %s {\n", cuefile.Label(s.Account), s.label())
	if s.ID != "" && !s.accountLevel() {
		fmt.Fprintf(b, "id: %s\n", cuefile.String(s.ID))
	}
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		fmt.Fprintf(b, "labels: %s: %s\n", cuefile.Label(key), cuefile.String(s.Labels[key]))
	}
	for _, part := range s.Parts {
		s.part(b, part)
	}
	b.WriteString("}\n")
}

func (s Shown) part(b *strings.Builder, part Part) {
	path := part.path
	if s.onlyWAF() {
		path = path[1:]
	}
	for _, label := range path {
		fmt.Fprintf(b, "%s: ", cuefile.Label(label))
	}
	b.WriteString("{\n")
	if part.Ruleset != "" && part.Ruleset != part.Deployment {
		fmt.Fprintf(b, "ruleset: %s\n", cuefile.String(part.Ruleset))
	}
	if part.Ref != "" {
		fmt.Fprintf(b, "ref: %s\n", cuefile.String(part.Ref))
	}
	if part.LiveUnknown != "" {
		fmt.Fprintf(b, "// What is live is not known: %s\n", visible.Text(part.LiveUnknown))
	}
	if part.Absent != "" {
		fmt.Fprintf(b, "// Absent: %s\n", visible.Text(part.Absent))
	}
	for _, skip := range part.Bypasses {
		fmt.Fprintf(b, "// %s\n", visible.Text(skip.String()))
	}
	s.members(b, part)
	b.WriteString("}\n")
}

// members are what a deployment declares and has, each in a line.
func (s Shown) members(b *strings.Builder, part Part) {
	for i, m := range part.Members {
		open, item, end := "[", ",", "]"
		if m.byKey {
			open, item, end = "{", "", "}"
		}
		switch list := m.of != ""; {
		case m.declared == "":
			fmt.Fprintf(b, "// live, not declared: %s: %s\n", m.Path, visible.Text(m.live))
		case !list:
			fmt.Fprintf(b, "%s: %s // %s\n", strings.ReplaceAll(m.Path, ".", ": "), m.declared, s.comment(m))
		default:
			if i == 0 || part.Members[i-1].Path != m.Path {
				fmt.Fprintf(b, "%s: %s\n", strings.ReplaceAll(m.Path, ".", ": "), open)
			}
			fmt.Fprintf(b, "%s%s // %s\n", m.declared, item, s.comment(m))
			if i+1 == len(part.Members) || part.Members[i+1].Path != m.Path || part.Members[i+1].declared == "" {
				b.WriteString(end + "\n")
			}
		}
	}
}

// comment says where a value comes from.
func (s Shown) comment(m Member) string {
	parts := []string{"default"}
	if m.Origin != nil {
		parts[0] = m.Origin.String()
	}
	if m.Tier != "" {
		parts[0] += " in " + m.Tier
	}
	if m.Changed != nil {
		parts = append(parts, lineChange(m.Changed))
	}
	if m.State == Differs {
		parts = append(parts, "live: "+m.liveText())
	}
	if m.Note != "" {
		parts = append(parts, m.Note)
	}
	return visible.Text(strings.Join(parts, "; "))
}

func (s Shown) accountLevel() bool { return s.level == edge.LevelAccount }

// onlyWAF reports whether it is an account that declares nothing but deployments.
func (s Shown) onlyWAF() bool {
	return s.accountLevel() && !slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Kind != "" })
}

// label is the path to the declaration below its account.
func (s Shown) label() string {
	switch {
	case s.onlyWAF():
		return "waf:"
	case s.accountLevel():
		return ""
	}
	return "zone: " + cuefile.Label(s.Zone) + ":"
}
