package show

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/desired/cuefile"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Text writes it for a person.
func (s Shown) Text(w io.Writer) error {
	var b strings.Builder
	line := func(label, text string) { fmt.Fprintf(&b, "%-8s  %s\n", label, visible.Text(text)) }
	if s.Token != "" {
		line("token", s.Token+s.aside())
	} else {
		line("zone", s.Zone+s.aside())
	}
	if len(s.Labels) > 0 {
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
			labels = append(labels, key+"="+s.Labels[key])
		}
		line("labels", strings.Join(labels, ", "))
	}
	line("declared", s.Origin.String()+s.inCommit())
	switch {
	case s.HistoryUnknown != "":
		line("changed", "not known: "+s.HistoryUnknown)
	case s.Changed != nil:
		line("changed", s.Changed.String())
	}
	switch {
	case s.LiveUnknown != "":
		line("live", "not known: "+s.LiveUnknown)
	case s.Record != nil:
		line("live", s.Record.String())
	case s.Token != "":
		line("live", "not created yet")
	}
	for _, part := range s.Parts {
		b.WriteByte('\n')
		if part.Deployment != "" {
			fmt.Fprintf(&b, "%s  %s\n", visible.Name(diff.Called(part.Kind, part.Deployment)), part.Origin)
		}
		if part.LiveUnknown != "" {
			fmt.Fprintf(&b, "  live is not known: %s\n", visible.Text(part.LiveUnknown))
		}
		if part.Absent != "" {
			fmt.Fprintf(&b, "  absent: %s\n", visible.Text(part.Absent))
		}
		s.table(&b, part)
		for _, skip := range part.Bypasses {
			fmt.Fprintf(&b, "  %s\n", skip)
		}
	}
	if text := diff.NotLooked(s.NotLookedAt); text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// aside is what tells it from others of the same name.
func (s Shown) aside() string {
	var parts []string
	if s.Account != "" {
		parts = append(parts, "account "+s.Account)
	}
	if s.ID != "" {
		parts = append(parts, "id "+s.ID)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (s Shown) inCommit() string {
	if s.Commit == "" {
		return ""
	}
	return ", in commit " + cli.ShortCommit(s.Commit)
}

// table writes members, without columns of which nothing is known.
func (s Shown) table(w io.Writer, part Part) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	live := s.Token == "" && s.LiveUnknown == "" && part.LiveUnknown == "" && part.Absent == ""
	history := s.HistoryUnknown == ""
	row := func(path, declared, isLive, at, tier, changed string) {
		cells := []string{"  " + path, declared}
		if live {
			cells = append(cells, isLive)
		}
		cells = append(cells, at, tier)
		if history {
			cells = append(cells, changed)
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	row("MEMBER", "DECLARED", "LIVE", "PLACE", "TIER", "LAST CHANGE OF THE LINE")
	for _, m := range part.Members {
		place := "-"
		switch {
		case m.Origin != nil:
			place = m.Origin.String()
		case m.State != LiveOnly:
			place = "(default)"
		}
		row(m.Path, orUnset(m.inShort()), m.liveText(), visible.Name(place), cmp.Or(visible.Text(m.Tier), "-"), lineChange(m.Changed))
	}
	_ = t.Flush() // to memory
	for _, m := range part.Members {
		if m.Note != "" {
			fmt.Fprintf(w, "  rule %s: %s\n", visible.Text(strings.TrimPrefix(m.of, "the rule ")), visible.Text(m.Note))
		}
	}
}

// liveText is what is live, in words where that is enough.
func (m Member) liveText() string {
	switch m.State {
	case Same:
		return "as declared"
	case Decision:
		return "-"
	case LiveOnly:
		return orUnset(m.live) + " (not declared)"
	case Differs, Unknown:
	}
	return orUnset(m.live)
}

// inShort is what is declared, of an acceptance who accepts what until when: the rest is with the
// skip rule.
func (m Member) inShort() string {
	a, is := m.Declared.(map[string]any)
	if !is || !m.byKey {
		return m.declared
	}
	text := fmt.Sprintf("%s: {owner: %s", cuefile.Label(m.of), cuefile.Literal(a["owner"]))
	if until, ends := a["until"]; ends {
		text += ", until: " + cuefile.Literal(until)
	}
	return text + ", …}"
}

func orUnset(text string) string {
	if text == "" {
		return "unset"
	}
	return visible.Text(text)
}

// lineChange is a change in a column.
func lineChange(c *inspect.Changed) string {
	switch {
	case c == nil:
		return "-"
	case c.Uncommitted:
		return "not committed"
	}
	text := fmt.Sprintf("%s %s %s", cli.ShortCommit(c.Commit), c.Time.UTC().Format(time.DateOnly), visible.Name(c.Author))
	if c.Earlier {
		return "before " + text
	}
	return text
}
