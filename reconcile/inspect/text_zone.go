package inspect

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/visible"
)

// Text writes zones for a person at a terminal.
func (l ZoneList) Text(w io.Writer) error {
	var t textWriter
	for i, z := range l.Zones {
		if i > 0 {
			t.WriteByte('\n')
		}
		t.zone(z, l.At)
		if l.Records != nil {
			t.line("records", "%s", l.Records.text(l.At))
			t.line("", "%s", l.Records.Cause)
		}
	}
	_, err := w.Write(t.Bytes())
	return err
}

// Why writes the last decision about zones, and their next look, in sentences.
func (l ZoneList) Why(w io.Writer) error {
	var t textWriter
	for i, z := range l.Zones {
		if i > 0 {
			t.WriteByte('\n')
		}
		for _, line := range z.Why {
			fmt.Fprintln(&t, visible.Text(line))
		}
	}
	_, err := w.Write(t.Bytes())
	return err
}

// Looks are the lines about when a zone was read and written, and is read next.
func (z Zone) Looks(now time.Time) []Line {
	var t textWriter
	t.looks(z, now)
	return t.lines
}

func (t *textWriter) zone(z Zone, now time.Time) {
	t.line("zone", "%s (account %s, id %s)", z.Zone, z.Account, cmp.Or(z.Scope.String(), "not known"))
	t.line("outcome", "%s", z.outcome())
	for _, d := range z.Decisions {
		t.line("", "- %s", d.text(now))
	}
	if z.Commit == "" {
		t.line("declared", "%s", z.Origin)
	} else {
		t.line("declared", "%s; commit %s is in force", z.Origin, Short(z.Commit))
	}
	for _, d := range z.Declares {
		t.line("", "%s", d)
	}
	if changed := z.changed(); changed != "" {
		t.line("changed", "%s", changed)
	}
	if z.Replica != "" {
		t.line("replica", "%s works on it, and knows more: ask on its machine, or with --address", z.Replica)
	}
	for i, line := range z.onRecord(now) {
		t.line(map[bool]string{true: "on record"}[i == 0], "%s", strings.TrimPrefix(line, "On record: "))
	}
	t.looks(z, now)
	if z.Hold != nil {
		t.line("hold", "%s", z.Hold)
	}
	t.fields(z)
	t.bypasses(z, now)
}

// outcome is that of the zone as people say it; of one that is on record alone, what that means.
func (z Zone) outcome() string {
	switch {
	case z.OnRecord && z.Outcome == NotRead:
		return "proved as declared, on record"
	case z.OnRecord:
		return Words(z.Outcome) + ", on record"
	}
	return Words(z.Outcome)
}

// looks writes when the zone was read and will be, where this process does that.
func (t *textWriter) looks(z Zone, now time.Time) {
	if z.LookedAt.IsZero() && z.Next == nil && z.AtWork == nil && (z.OnRecord || z.Replica != "") {
		return
	}
	if z.LookedAt.IsZero() {
		t.line("last read", "not since the daemon started")
	} else {
		t.line("last read", "%s, at %s", Ago(z.LookedAt, now), instant(z.LookedAt))
	}
	if !z.WrittenAt.IsZero() {
		t.line("written", "%s, at %s", Ago(z.WrittenAt, now), instant(z.WrittenAt))
	}
	if z.AtWork != nil {
		t.line("at work", "for %s (%s: %s)", Span(z.AtWork.Seconds), z.AtWork.Priority, z.AtWork.Reason)
	}
	switch n := z.Next; {
	case n == nil:
		t.line("next read", "none is planned")
	case n.Seconds > 0:
		t.line("next read", "in %s (%s: %s)", Span(n.Seconds), n.Priority, n.Reason)
	case n.WaitsFor != "":
		t.line("next read", "due for %s (%s: %s), waits for: %s", Span(-n.Seconds), n.Priority, n.Reason, n.WaitsFor)
	default:
		t.line("next read", "now (%s: %s)", n.Priority, n.Reason)
	}
}

// fields writes what differs.
func (t *textWriter) fields(z Zone) {
	if !z.Differs.IsZero() {
		cause := "because of a commit"
		if z.Drift {
			cause = "drift"
		}
		t.line("differs", "since %s, %s", instant(z.Differs), cause)
	}
	if z.Unread != "" {
		t.line("fields", "not known: %s", z.Unread)
	}
	for _, f := range z.Fields {
		t.line("", "%s %s: live %s → declared %s (%s)", diff.Called(f.Kind, f.Deployment), diff.Member(f.Path).Subject(), unset(f.Live), unset(f.Declared), f.Direction)
	}
	for _, l := range z.Undecided {
		t.line("", "%s %s: live %s, not in git%s", diff.Called(l.Kind, l.Deployment), diff.Member(l.Path).Subject(), unset(l.Live), noted(l.Note))
	}
}

// text is a decision on a line.
func (d Decision) text(now time.Time) string {
	where := string(d.Stage)
	if d.Guard != "" {
		where += " (" + string(d.Guard) + ")"
	}
	if d.Deployment != "" {
		where = diff.Called(d.Kind, d.Deployment) + ": " + where
	}
	if !d.Since.IsZero() {
		where += ", for " + Span(Age(d.Since, now))
	}
	return where + ": " + d.Reason
}
