//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/integration/harness"
	"github.com/seawall-dev/seawall/integration/must"
)

var update = flag.Bool("update", false, "rewrite the table in docs/performance.md from record.json")

// docs/performance.md has the record of all fleets, at the longest latency that was measured.
func TestGoldenPage(t *testing.T) {
	const file = "../../docs/performance.md"
	kept, err := readRecord("record.json")
	must.Do(t, err)
	page := harness.ReadText(t, file)
	want := filled(t, page, "record", kept.markdown())
	want = filled(t, want, "record of PostgreSQL", kept.shared())
	switch {
	case *update:
		must.Do(t, os.WriteFile(file, []byte(want), 0o644))
	case page != want:
		t.Error("docs/performance.md does not show record.json: run it with -update")
	}
}

// filled is a page with a text between its two marks.
func filled(t *testing.T, page, mark, text string) string {
	t.Helper()
	begin, end := "<!-- "+mark+", written by go test ./integration/bench -update -->\n", "<!-- end of "+mark+" -->"
	head, rest, found := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("the page has no place for the %s", mark)
	}
	return head + begin + text + end + tail
}

// columns are the tables of a record that are shown: of each size and setup the one with the longest
// latency, which comes last.
func (r record) columns(shown func(setup) bool) (columns []recordTable) {
	for _, t := range r.Tables {
		if !shown(t.setup()) {
			continue
		}
		if n := len(columns); n > 0 && columns[n-1].Zones == t.Zones && columns[n-1].setup() == t.setup() {
			columns = columns[:n-1]
		}
		columns = append(columns, t)
	}
	return columns
}

// markdown is a row for each piece of work, with a column for each fleet: floors of wall time and
// of processor time, and the peak of memory.
func (r record) markdown() string {
	columns := r.columns(func(s setup) bool { return s.kept() == nil })
	text, rule := "| |", "\n|---|"
	for _, t := range columns {
		text += fmt.Sprintf(" %d zones |", t.Zones)
		rule += "---|"
	}
	text += rule + "\n"
	for _, row := range columns[0].Rows {
		text += "| " + row.Name + " |"
		for _, t := range columns {
			text += " " + t.cell(row.Name) + " |"
		}
		text += "\n"
	}
	return text
}

func (t recordTable) cell(name string) string {
	i := slices.IndexFunc(t.Rows, func(r recordRow) bool { return r.Name == name })
	if i < 0 {
		return ""
	}
	cell := fmt.Sprintf("%.1f / %.1f", t.Rows[i].Wall, t.Rows[i].CPU)
	if peak := t.Rows[i].PeakMiB; peak > 0 {
		cell += fmt.Sprintf(", %d MiB", peak)
	}
	return cell
}

// shared is a table for each fleet with PostgreSQL.
func (r record) shared() (text string) {
	for _, t := range r.columns(func(s setup) bool { return s.Postgres }) {
		text += fmt.Sprintf("\n%d zones%s:\n\n", t.Zones, strings.TrimPrefix(t.setup().String(), ", PostgreSQL"))
		text += "| | seconds (floors) | CPU seconds (floors) | of PostgreSQL | memory, peak / afterwards | statements | log |\n|---|---|---|---|---|---|---|\n"
		for _, row := range t.Rows {
			s := row.Shared
			text += fmt.Sprintf("| %s | %.2f (%.1f) | %.2f (%.1f) | %.2f | %s / %s MiB | %.0f | %.1f KiB |\n",
				row.Name, s.Seconds, row.Wall, s.CPUSeconds, row.CPU, s.DatabaseCPU, orNone(row.PeakMiB), orNone(s.RestMiB), s.Statements, s.LogBytes/1024)
		}
	}
	return text + "\n"
}

func orNone(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
