package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// logLine is a line of the daemon's log that a person should read: a warning, an error, or
// the end of an outage.
type logLine struct {
	Time                 time.Time
	Level, Msg           string
	Subject, Cause, Kind string
	Trigger              string
	Applied              int

	text string // as it was read
}

// mostPerCause is how many such lines a cause may have, however many zones and tries: that
// it began, and that it ended.
const mostPerCause = 2

// cause is what a line is about: an outage, or else its message.
func (l logLine) cause() string { return cmp.Or(l.Cause, l.Msg+" "+l.Kind) }

const (
	outageBegan = "outage began"
	outageEnded = "outage ended"
)

// read is a line of the log, false where no one needs to read it.
func readLine(data []byte) (logLine, bool) {
	var l logLine
	if json.Unmarshal(data, &l) != nil || l.Level != "WARN" && l.Level != "ERROR" && l.Msg != outageEnded {
		return l, false
	}
	l.text = string(data)
	return l, true
}

// lines are those of a daemon, as they come.
type lines struct {
	mu   sync.Mutex
	list []logLine
	open map[string]bool // outages that last

	proved time.Time // when what a commit changes was said to be proved last
	trail  *trail    // of the newest push; nil: no one asks for it
}

func (l *lines) add(data []byte) {
	line, ok := readLine(data)
	l.mu.Lock()
	defer l.mu.Unlock()
	if line.Msg == "run finished" && line.Trigger == "sync" && line.Applied > 0 {
		l.proved = line.Time
	}
	if m, tells := logged[line.Msg]; tells && l.trail != nil {
		l.trail.note(m, line.Time)
	}
	if !ok {
		return
	}
	l.list = append(l.list, line)
	if l.open == nil {
		l.open = map[string]bool{}
	}
	switch outage := line.Subject + line.Cause; line.Msg {
	case outageBegan:
		l.open[outage] = true
	case outageEnded:
		delete(l.open, outage)
	}
}

// since returns the lines after the first n.
func (l *lines) since(n int) []logLine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list[min(n, len(l.list)):])
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// provedAt is when the log last said that what a commit changes is proved; zero: never.
func (l *lines) provedAt() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.proved
}

// quiet reports whether each outage that began has ended.
func (l *lines) quiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) == 0
}

// endsWithin is how long it may take until the end of an outage is told: something that
// fails again has to work for longer.
const endsWithin = 90 * time.Second

// awaitEnds waits until the log says that every outage has ended.
func (f *fixture) awaitEnds(ctx context.Context) bool {
	_, ok := f.await(ctx, endsWithin, f.daemon.log.quiet)
	return ok
}

// tooOften are the causes that have more lines than they may.
func tooOften(list []logLine) (causes []string) {
	counts := map[string]int{}
	for _, l := range list {
		if counts[l.cause()]++; counts[l.cause()] == mostPerCause+1 {
			causes = append(causes, l.cause())
		}
	}
	return causes
}

func (r row) linesMet() bool { return len(tooOften(r.lines)) == 0 && (!r.unended || r.notWaited) }

// linesCell is how many lines the row has, and what is wrong with them.
func (r row) linesCell() string {
	text := fmt.Sprint(len(r.lines))
	for _, cause := range tooOften(r.lines) {
		text += fmt.Sprintf("; more than %d about: %s", mostPerCause, oneLine(cause))
	}
	if r.unended && !r.notWaited {
		text += "; an outage has not ended"
	}
	return text
}

// linesRow is what a row adds to the table of what a fault shows: nothing where it does not
// show.
func (r row) linesRow() string {
	log, metrics, status := r.logCell(), codes(r.sign.moved(r.calm)), r.sign.cell()
	if log == "" && metrics == "" && (status == "" || status == wellCell) {
		return ""
	}
	return line([]string{r.fault, log, metrics, status})
}

// logCell are the lines of a row in short. The end of an outage goes without saying.
func (r row) logCell() string {
	var shown []string
	for _, l := range r.lines {
		if text := l.short(); l.Msg != outageEnded && !slices.Contains(shown, text) {
			shown = append(shown, text)
		}
	}
	return codes(shown)
}

// short is a line with what it is about, and without the details of one run.
func (l logLine) short() string {
	text := l.Level + " " + l.Msg
	if l.Subject != "" {
		text += " subject=" + l.Subject
	}
	if l.Cause != "" {
		text += fmt.Sprintf(" cause=%q", l.Cause)
	}
	return text
}

// codes is a cell with some lines of code.
func codes(lines []string) string {
	var cells []string
	for _, l := range lines {
		cells = append(cells, "`"+oneLine(l)+"`")
	}
	return strings.Join(cells, "<br>")
}

// linesPart puts some rows in the place of those that a page has, in the order of the
// scenarios.
func linesPart(before string, rows []row, order []scenario) string {
	lines := map[string]string{}
	for text := range strings.Lines(before) {
		if fault, _, ok := strings.Cut(strings.TrimPrefix(text, "| "), " | "); ok {
			lines[fault] = text
		}
	}
	for _, r := range rows {
		if r.err == nil {
			lines[r.fault] = r.linesRow()
		}
	}
	text := line([]string{"fault", "in the log", "metrics", "status"}) + line([]string{"---", "---", "---", "---"})
	for _, s := range order {
		text += lines[s.fault]
	}
	return text
}
