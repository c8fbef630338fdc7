package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

var header = []string{"fault", "drift elsewhere healed: undisturbed → with the fault", "push live", "writes too many", "recovered by itself", "log lines"}

// compared are the times of a cell before their ratio.
var compared = regexp.MustCompile(`[0-9][0-9./ ]* s → [0-9./ ]+ s \((×[0-9.]+)\)`)

// notRun says which fault cannot be made for the real binary.
const notRun = "\nNot run: the clock is set back. libfaketime cannot reach a static Go program, and other programs share the machine's clock; unit tests move it.\n"

// table renders the rows for the page, with ratios alone: the times are of one machine. Of
// quirks that miss nothing it shows how many there are.
func table(rows []row) string {
	text, quirks := head(), 0
	for _, r := range rows {
		if strings.HasPrefix(r.name, "quirk-") && r.met() {
			quirks++
			continue
		}
		text += line(r.cells())
	}
	if quirks > 0 {
		text += fmt.Sprintf("\n%d more rows, for quirks of the simulator, meet all targets.\n", quirks)
	}
	return compared.ReplaceAllString(text, "$1")
}

// head are the first lines of the table.
func head() string { return line(header) + line([]string{"---", "---", "---", "---", "---", "---"}) }

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// missed lists the rows that miss an aim.
func missed(rows []row) []string {
	var names []string
	for _, r := range rows {
		if !r.met() {
			names = append(names, r.name)
		}
	}
	return names
}

// The marks of a part of a page that a program writes.
const (
	markFaults = "faults"
	markSoak   = "soak"
	markLines  = "log"
)

// rewrite changes what stands between the marks of a page.
func rewrite(page, mark string, change func(before string) string) (string, error) {
	begin, end := fmt.Sprintf("<!-- %s: written by integration/faults -->\n", mark), fmt.Sprintf("<!-- end of %s -->\n", mark)
	head, rest, found := strings.Cut(page, begin)
	text, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the page has no part between %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return head + begin + change(text) + end + tail, nil
}

func rewriteFile(file, mark string, change func(before string) string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := rewrite(string(page), mark, change)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// tell says on standard error how a row went, as soon as it is known.
func (r row) tell(w io.Writer, done, of int) {
	verdict := "ok"
	if !r.met() {
		verdict = "missed"
	}
	fmt.Fprintf(w, "%d of %d: %-6s %s (%s s): %s%s\n", done, of, verdict, r.name, seconds(r.took), strings.Join(r.cells()[1:], " | "), r.doubt())
}

// doubt says when a machine is too busy for a measurement to mean much: a sweep
// looks at each zone within an interval.
func (r row) doubt() string {
	if took, ok := r.undisturbed.drift.quantile(0.9); ok && took > r.shape.sweep+driftFloor {
		return " (the machine is busy: even undisturbed, sweeps are late)"
	}
	return ""
}
