package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile"
)

// Text writes a status for a person at a terminal.
// terminal says that it is one: reasons in the table are cut to its width then.
func (s Status) Text(w io.Writer, terminal bool) error {
	t := textWriter{terminal: terminal}
	t.verdict(s)
	t.records(s)
	t.replicas(s)
	if !s.Unread.IsZero() {
		why := "the records are being read since"
		if s.Replicas != nil && !s.Replicas.Silent.IsZero() {
			why = "the records could not be read since"
		}
		t.line("zones", "not known yet, as commit and tokens are not: %s %s", why, instant(s.Unread))
		_, err := w.Write(t.Bytes())
		return err
	}
	t.commit(s)
	t.works(s, t.source)
	t.zones(s)
	t.tokens(s)
	t.works(s, t.queue, t.budget, t.credentials)
	t.control(s)
	t.unfinished(s)
	t.weakened(s)
	t.outages(s)
	t.notable(s)
	_, err := w.Write(t.Bytes())
	return err
}

// works writes what a daemon does, where one has answered.
func (t *textWriter) works(s Status, parts ...func(Status)) {
	if s.Records == nil {
		for _, part := range parts {
			part(s)
		}
	}
}

// JSON writes a value in its versioned JSON form, ended by a newline.
func JSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// Line is a thing's name, and what is said of it. An empty name goes on with the one before.
type Line struct{ Label, Text string }

// Lines are what the text form says beside verdict and zones.
func (s Status) Lines() []Line {
	var t textWriter
	t.commit(s)
	t.source(s)
	t.tokens(s)
	t.queue(s)
	t.budget(s)
	t.control(s)
	t.weakened(s)
	return t.lines
}

// textWriter gathers lines of a name and what it says.
type textWriter struct {
	bytes.Buffer
	lines    []Line
	terminal bool
}

const labelWidth = 9

// line writes a line with its label; an empty label goes on with the one before.
func (t *textWriter) line(label, format string, args ...any) {
	l := Line{label, visible.Text(fmt.Sprintf(format, args...))}
	t.lines = append(t.lines, l)
	fmt.Fprintf(t, "%-*s  %s\n", labelWidth, l.Label, l.Text)
}

// entry is one of a list: a line, and what stands below it; empty for nothing.
type entry struct{ text, below string }

// list writes the first of some entries, as many as a status names zones.
func (t *textWriter) list(label string, entries []entry) {
	for _, e := range entries[:min(len(entries), MostListed)] {
		if t.line(label, "%s", e.text); e.below != "" {
			t.line("", "%s", e.below)
		}
	}
	if more := len(entries) - MostListed; more > 0 {
		t.line(label, "and %d more; seawall status -o json lists all", more)
	}
}

func (t *textWriter) verdict(s Status) {
	mode := map[Mode]string{ModeObserve: ", mode observe (nothing is written)", ModeMixed: ", some zones in mode observe"}[s.Mode]
	if s.Records == nil {
		t.line("status", "%s%s, as of %s; seawall %s, running for %s", s.Verdict, mode, instant(s.At), s.Program, Span(Age(s.Started, s.At)))
	} else {
		t.line("status", "%s%s, from the records, which were read at %s", s.Verdict, mode, instant(s.At))
	}
	if s.Verdict == Healthy {
		return
	}
	entries := []entry{}
	for _, because := range s.Because() {
		e := entry{text: "- " + because.Text}
		if because.Advice != "" {
			e.below = "  " + because.Advice
		}
		entries = append(entries, e)
	}
	t.list("", entries)
}

func (t *textWriter) commit(s Status) {
	c := s.Commit
	switch {
	case c.InForce == "" && s.Zones.Declared == 0:
		t.line("commit", "none in force yet")
	case c.InForce == "":
		t.line("commit", "none: the desired state is a folder without git")
	default:
		t.line("commit", "%s in force%s", Short(c.InForce), s.changes())
	}
	if c.Held == nil {
		if c.Wanted != "" && c.Wanted != c.InForce {
			t.line("", "%s wanted: it is being evaluated", Short(c.Wanted))
		}
		return
	}
	t.line("", "%s wanted, held since %s: %s", Short(c.Wanted), instant(c.Held.Since), c.Held.Reason)
	for _, p := range c.Held.Problems {
		t.line("", "  %s", p)
	}
}

// changes says which part of the fleet the commit changes, as far as this process knows.
func (s Status) changes() string {
	text := s.Commit.Changes.text(s.Zones.Declared)
	if text != "" && s.Elsewhere() != "" {
		text += ", as far as this replica has read them"
	}
	return text
}

// text says which part of the fleet a commit changes; nothing where that is not known.
func (c *Changes) text(declared int) string {
	if c == nil {
		return ""
	}
	part := func(n int) string { return fmt.Sprintf("%d of %s", n, Count(declared, "zone", "zones")) }
	switch {
	case c.Weakened > 0 && c.Strengthened > 0:
		return fmt.Sprintf(": weakens %s, strengthens %d", part(c.Weakened), c.Strengthened)
	case c.Weakened > 0:
		return ": weakens " + part(c.Weakened)
	case c.Strengthened > 0:
		return ": strengthens " + part(c.Strengthened)
	}
	return ": changes " + part(c.Zones)
}

func (t *textWriter) source(s Status) {
	switch g := s.Source; {
	case !s.Replicas.Has(reconcile.LeaseCommits):
		t.line("source", "%s", s.Replicas.fetches())
	case g.LastSuccess.IsZero():
		t.line("source", "not fetched yet, %s after the start", Span(g.AgeSeconds))
	default:
		t.line("source", "fetched %s ago, at %s", Span(g.AgeSeconds), instant(g.LastSuccess))
	}
	if s.Source.Error != "" {
		t.line("", "%s since: %s", Count(s.Source.Failures, "failure", "failures"), s.Source.Error)
	}
}

func (t *textWriter) tokens(s Status) {
	if s.Tokens.Declared == 0 && len(s.Tokens.Findings)+len(s.Tokens.Expiring) == 0 {
		return
	}
	looked := "not checked yet"
	switch other := s.Replicas.Other(reconcile.LeaseTokens); {
	case other != "":
		looked = other + " works on them"
		if !s.Replicas.Silent.IsZero() {
			looked = other + " worked on them when the database answered last"
		}
	case s.Records != nil:
		looked = "no replica works on them now"
	case !s.Tokens.LookedAt.IsZero():
		looked = "checked " + Ago(s.Tokens.LookedAt, s.At)
	}
	t.line("tokens", "%d declared, %s", s.Tokens.Declared, looked)
	entries := []entry{}
	for _, f := range s.Tokens.Findings {
		entries = append(entries, entry{text: fmt.Sprintf("%s: %s: %s", f.Token, Words(f.Outcome), f.Reason)})
	}
	for _, e := range s.Tokens.Expiring {
		entries = append(entries, entry{text: e.Token + " " + e.When(s.At)})
	}
	t.list("", entries)
}

func (t *textWriter) queue(s Status) {
	w := s.Work
	at := fmt.Sprintf("%d of %s busy", w.AtWork, Count(w.Workers, "worker", "workers"))
	if !w.Oldest.IsZero() {
		at += fmt.Sprintf(", the oldest on %s for %s", w.On, Span(w.OldestSeconds))
	}
	t.line("work", "%s", at)
	if w.PlatformDown {
		t.line("", "all reads fail; Seawall tests with one request at a time")
	}
	if w.Retried > 0 {
		t.line("", "%s tried again after a failure", Count(w.Retried, "zone is", "zones are"))
	}
	label := "queue"
	for _, p := range s.Queue {
		if p.Waiting+p.AtWork == 0 {
			continue
		}
		due := ""
		if p.Due > 0 {
			due = fmt.Sprintf(", the oldest for %s", Span(p.OldestSeconds))
		}
		t.line(label, "%-8s  %d waiting, %d due%s", p.Priority, p.Waiting, p.Due, due)
		label = ""
	}
	if label != "" {
		t.line(label, "empty")
	}
}

func (t *textWriter) budget(s Status) {
	b := s.Budget
	if b.Requests == 0 {
		return
	}
	text := b.Text(s.At)
	if s.Elsewhere() != "" {
		text += ", for what this replica works on"
	}
	if b.WaitedSeconds >= 1 {
		text += fmt.Sprintf("; zones have waited %s for the budget since the start", Span(b.WaitedSeconds))
	}
	t.line("budget", "%s", text)
}

// Text says how many requests may be sent; while the platform throttles none, whatever the
// budget has left.
func (b Budget) Text(now time.Time) string {
	if b.PausedSeconds > 0 {
		until := now.Add(time.Duration(b.PausedSeconds * float64(time.Second)))
		return fmt.Sprintf("the platform asked to wait (429, Retry-After) until %s, for %s; %d of %d requests used in %s",
			instant(until), Span(b.PausedSeconds), b.Used, b.Requests, Span(b.PerSeconds))
	}
	return fmt.Sprintf("%d of %d requests left in %s", b.Left, b.Requests, Span(b.PerSeconds))
}

// credentials writes how each credential is, where there are several.
func (t *textWriter) credentials(s Status) {
	label := "credentials"
	for _, c := range s.Work.Credentials {
		if c.Zones == 0 {
			continue
		}
		if c.Replica != "" { // which knows what is due, and what is left of its budget
			t.line(label, "%s: %s, which %s works on", c.Name, Count(c.Zones, "zone", "zones"), c.Replica)
		} else {
			t.line(label, "%s: %s, %d due, %s", c.Name, Count(c.Zones, "zone", "zones"), c.Due, c.Budget.Text(s.At))
		}
		label = ""
		if c.Down != "" {
			t.line("", "  only probes are sent since %s: %s", instant(c.Since), c.Down)
		}
	}
}

// control writes what people and waves hold back.
func (t *textWriter) control(s Status) {
	if r := s.Rollout; r != nil {
		switch {
		case r.Halted != "":
			t.line("rollout", "wave %d of %d, halted: %s", r.Open, r.Waves, r.Halted)
		case !r.Next.IsZero():
			t.line("rollout", "wave %d of %d, the next may start at %s", r.Open, r.Waves, instant(r.Next))
		default:
			t.line("rollout", "wave %d of %d", r.Open, r.Waves)
		}
	}
	_, holds := diff.PutBacks(s.Holds) // those of reverts stand in the reasons of the verdict
	entries := []entry{}
	for _, h := range holds {
		entries = append(entries, entry{text: fmt.Sprintf("%s is %s", h.Zone, h)})
	}
	t.list("hold", entries)
	for _, f := range s.Freezes {
		t.line("freeze", "%s until %s", f.Name, instant(f.Until))
	}
}

func (t *textWriter) outages(s Status) {
	for _, o := range s.Outages {
		if !o.Works.IsZero() { // the others stand in the reasons of the verdict
			t.line("outage", "works again since %s: %s", instant(o.Works), OutageText(o))
		}
	}
}

// spanSince is how long ago a time was; a dash where it is not known.
func spanSince(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return Span(Age(since, now))
}

// notable writes the zones that are not as declared, as a table.
func (t *textWriter) notable(s Status) {
	if len(s.Zones.Notable) == 0 {
		return
	}
	t.WriteByte('\n')
	table := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ZONE\tOUTCOME\tFOR\tREASON")
	all := 0
	for outcome, n := range s.Zones.Outcomes {
		if outcome != InSync && outcome != NotRead && outcome != PutBack {
			all += n
		}
	}
	for _, z := range s.Zones.Notable {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", visible.Text(z.Zone), Words(z.Outcome), spanSince(z.Since, s.At), t.cut(visible.Text(z.Reason)))
	}
	_ = table.Flush() // to memory
	if more := all - len(s.Zones.Notable); more > 0 {
		fmt.Fprintf(t, "and %s more\n", Count(more, "zone", "zones"))
	}
	fmt.Fprintln(t, "seawall why ZONE explains one of them.")
}
