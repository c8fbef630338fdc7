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
	const file, begin, end = "../../docs/performance.md", "<!-- record, written by go test ./integration/bench -update -->\n", "<!-- end record -->"
	kept, err := readRecord("record.json")
	must.Do(t, err)
	page := harness.ReadText(t, file)
	head, rest, found := strings.Cut(page, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatal("the page has no place for the table")
	}
	want := head + begin + kept.markdown() + end + tail
	switch {
	case *update:
		must.Do(t, os.WriteFile(file, []byte(want), 0o644))
	case page != want:
		t.Error("docs/performance.md does not show record.json: run it with -update")
	}
}

// markdown is a row for each piece of work, with a column for each fleet: floors of wall time and
// of processor time, and the peak of memory.
func (r record) markdown() string {
	var columns []recordTable // one for each size: in the record a longer latency comes later
	for _, t := range r.Tables {
		if n := len(columns); n > 0 && columns[n-1].Zones == t.Zones {
			columns = columns[:n-1]
		}
		columns = append(columns, t)
	}
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
