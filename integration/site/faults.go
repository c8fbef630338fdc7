package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	faultRow = regexp.MustCompile(`(?m)^\| ([^|]+?) \| ([^|]+?) \|$`)
	signsRow = regexp.MustCompile(`(?m)^\| (.+?) \| (.*?) \| (.*?) \| (.*?) \|$`)
)

// faults makes the page "What happens when" of docs/reliability.md: for each fault what
// Seawall does, and what one sees of it, as it was measured.
func faults(reliability string) (string, error) {
	before, measured, ok := strings.Cut(reliability, "<!-- log: written by integration/faults -->")
	if !ok {
		return "", errors.New("docs/reliability.md has no measured log lines")
	}
	shows := map[string]string{}
	for _, row := range signsRow.FindAllStringSubmatch(measured, -1) {
		shows[row[1]] = signsOf(row[2], row[3], row[4])
	}
	var b strings.Builder
	b.WriteString("# What happens when\n\nFor each fault: what Seawall does, the lines in its log, and what changes in its metrics and status. All of it is measured with the real binary, see [reliability](reliability.md). [All log messages](log-messages.md) explains each, and [operations](operations.md) says what to check first.\n")
	found, last := 0, ""
	for _, row := range faultRow.FindAllStringSubmatch(before, -1) {
		if row[1] == "fault" || row[1] == "---" {
			continue
		}
		if row[2] != "the same" {
			last = row[2]
		}
		found++
		fmt.Fprintf(&b, "\n## %s\n\nSeawall %s.\n\n", row[1], last)
		if sign := shows[row[1]]; sign != "" {
			b.WriteString(sign)
		} else {
			b.WriteString("No warning in the log; `seawall status` is `healthy`.\n")
		}
	}
	if found == 0 {
		return "", errors.New("docs/reliability.md has no fault")
	}
	return b.String(), nil
}

// signsOf is what a fault shows, in its three cells, as a list.
func signsOf(log, metrics, status string) (list string) {
	for _, sign := range [][2]string{{"Log", log}, {"Metrics", metrics}, {"Status", status}} {
		if sign[1] != "" {
			list += "- " + sign[0] + ": " + strings.ReplaceAll(sign[1], "<br>", ", ") + "\n"
		}
	}
	return list
}
