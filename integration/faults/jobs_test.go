package main

import (
	"bytes"
	"strings"
	"testing"
)

// What is shown row by row is the table that a page gets.
func TestRowsAreTheTable(t *testing.T) {
	rows := []row{{scenario: scenario{name: "a", fault: "one"}}, {scenario: scenario{name: "b", fault: "two"}}}
	text := head()
	for _, r := range rows {
		text += line(r.cells())
	}
	if text != table(rows) {
		t.Errorf("%s\nis not\n%s", text, table(rows))
	}
	var progress bytes.Buffer
	rows[1].tell(&progress, 2, 31)
	if !strings.HasPrefix(progress.String(), "2 of 31: ") {
		t.Errorf("progress %q", &progress)
	}
}
