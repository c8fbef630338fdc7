package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Schedule is the calendar as it stands on a day, by date.
type Schedule struct {
	At          deprecation.Date
	Within      int // days; negative: whatever the day
	DataAsOf    deprecation.Date
	Basis       string
	Entries     []Entry
	Corrections []deprecation.Correction
}

// Entry is one rule of it.
type Entry struct {
	deprecation.Rule
	Notice      deprecation.Notice // how it stands
	Corrections []deprecation.Correction
}

// NewSchedule lists a calendar as it stands on a day. within limits it to rules of
// which something ends in so many days, the day itself included; negative is no
// limit.
func NewSchedule(calendar deprecation.Calendar, made []deprecation.Correction, at time.Time, within int) Schedule {
	s := Schedule{At: deprecation.DateOf(at), Within: within, DataAsOf: calendar.DataAsOf, Basis: calendar.Basis, Corrections: made}
	for _, r := range calendar.Rules {
		if within >= 0 && !ends(r, s.At, within) {
			continue
		}
		e := Entry{Rule: r, Notice: r.Notice(at)}
		for _, c := range made {
			if c.Rule == r.ID {
				e.Corrections = append(e.Corrections, c)
			}
		}
		s.Entries = append(s.Entries, e)
	}
	slices.SortStableFunc(s.Entries, func(a, b Entry) int { return cmp.Compare(b.Date, a.Date) })
	return s
}

// ends reports whether one of a rule's days is within some days of another.
func ends(r deprecation.Rule, at deprecation.Date, within int) bool {
	for _, day := range []deprecation.Date{r.Date, r.Extended, r.EndOfLife.Date()} {
		if day == "" {
			continue
		}
		if n := day.DaysAfter(at); n >= 0 && n <= within {
			return true
		}
	}
	return false
}

// ExitCode is the highest of the rules that are listed.
func (s Schedule) ExitCode() int {
	code := 0
	for _, e := range s.Entries {
		code = max(code, e.Notice.ExitCode())
	}
	return code
}

// summary is the last line for people.
func (s Schedule) summary() string {
	what := plural(len(s.Entries), "rule", "rules")
	if s.Within >= 0 {
		what += fmt.Sprintf(" of which something ends within %s", plural(s.Within, "day", "days"))
	}
	return fmt.Sprintf("on %s: %s, data as of %s", s.At, what, s.DataAsOf)
}

// Text writes the list for a person at a terminal.
func (s Schedule) Text(w io.Writer, colour bool) error {
	t := textWriter{colour: colour}
	for _, e := range s.Entries {
		t.entry(e)
	}
	t.orphans(s)
	t.line("", "%s", s.summary())
	_, err := w.Write(t.Bytes())
	return err
}

func (t *textWriter) entry(e Entry) {
	t.line("", "%s  %s  %s", e.Date, t.paint(bold, e.ID), t.paint(colourOf(e.Notice), standing(e.Notice)))
	t.line("  ", "%s", printable(e.Title))
	for _, p := range e.Endpoints {
		t.line("    ", "%s", printable(callOf(p)))
	}
	for _, p := range e.Affected {
		t.line("    ", "affected: %s", printable(callOf(p)))
	}
	if e.Extended != "" && e.Notice.Extended == "" {
		t.line("  ", "some forms: until %s", e.Extended)
	}
	t.line("  ", "%s", replacement(e.Notice))
	for _, c := range e.Corrections {
		t.line("  ", "%s", t.paint(yellow, "corrected: "+printable(strings.TrimPrefix(c.String(), c.Rule+": ")))+"  "+t.paint(dim, c.Where))
	}
	t.line("", "")
}

// orphans are corrections of rules that the list leaves out.
func (t *textWriter) orphans(s Schedule) {
	var rest []deprecation.Correction
	for _, c := range s.Corrections {
		if !slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.ID == c.Rule }) {
			rest = append(rest, c)
		}
	}
	t.corrections(rest)
}

// entryJSON is a notice about no one, with what the rule is about.
type entryJSON struct {
	deprecation.Notice
	Endpoints   []deprecation.Endpoint   `json:"endpoints"`
	Affected    []deprecation.Endpoint   `json:"affected"`
	Query       []deprecation.Query      `json:"query"`
	Body        []deprecation.Member     `json:"body"`
	Response    []deprecation.Member     `json:"response"`
	Headers     []deprecation.Headers    `json:"headers"`
	Paths       []string                 `json:"replacement_paths"`
	ExtendedDay deprecation.Date         `json:"extended_some"` // a later day of some forms
	Source      string                   `json:"source"`
	Note        string                   `json:"note,omitempty"`
	Corrections []deprecation.Correction `json:"corrections"`
}

// JSON writes the list for programs, in the form of a report.
func (s Schedule) JSON(w io.Writer) error {
	notices := []entryJSON{}
	for _, e := range s.Entries {
		notices = append(notices, entryJSON{
			e.Notice, list(e.Endpoints), list(e.Affected), list(e.Query), list(e.Body), list(e.Response), list(e.Headers),
			list(e.Replacement.Paths), e.Extended, e.Source, e.Note, list(e.Corrections),
		})
	}
	return encode(w, struct {
		Version     int                      `json:"version"`
		At          deprecation.Date         `json:"at"`
		DataAsOf    deprecation.Date         `json:"data_as_of"`
		Basis       string                   `json:"basis"`
		ExitCode    int                      `json:"exit_code"`
		Notices     []entryJSON              `json:"notices"`
		Corrections []deprecation.Correction `json:"corrections"`
	}{Version, s.At, s.DataAsOf, s.Basis, s.ExitCode(), notices, list(s.Corrections)})
}
