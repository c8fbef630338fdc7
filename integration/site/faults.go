package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

var (
	faultSection = regexp.MustCompile(`(?ms)^#### (\S+)\n\n(.+?):\n\n(.*?)(?:^#### |^## |\z)`)
	faultRow     = regexp.MustCompile(`(?m)^\| ([^|]+?) \| ([^|]+?) \|$`)
)

// faults makes the page "What happens when" of docs/reliability.md: for each fault what
// Seawall does, and what one sees of it, as it was measured.
func faults(reliability string) (string, error) {
	does := map[string]string{}
	before, measured, ok := strings.Cut(reliability, "<!-- log: written by integration/faults -->")
	if !ok {
		return "", errors.New("docs/reliability.md has no measured log lines")
	}
	last := ""
	for _, row := range faultRow.FindAllStringSubmatch(before, -1) {
		if row[2] != "the same" {
			last = row[2]
		}
		does[row[1]] = last
	}
	var b strings.Builder
	b.WriteString("# What happens when\n\nFor each fault: what Seawall does, the lines in its log, and what changes in its metrics and status. All of it is measured with the real binary, see [reliability](reliability.md). [Logging](logging.md) explains each message, and [operations](operations.md) says what to check first.\n")
	found := 0
	for rest := measured; ; found++ {
		at := faultSection.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		title, text := rest[at[4]:at[5]], rest[at[6]:at[7]]
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if what := does[title]; what != "" {
			fmt.Fprintf(&b, "Seawall %s.\n\n", what)
		}
		fmt.Fprintf(&b, "In the log:\n\n%s\n", strings.TrimSpace(text))
		rest = rest[at[7]:]
	}
	if found == 0 {
		return "", errors.New("docs/reliability.md has no fault with its log")
	}
	return b.String(), nil
}
