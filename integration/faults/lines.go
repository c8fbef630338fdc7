package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// logLine is a line of the daemon's log that a person should read: a warning, an error, or
// the end of an outage.
type logLine struct {
	Level, Msg                       string
	Subject, Name, Cause, Zone, Kind string

	text string // as the page shows it
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
	l.text = plain(data)
	return l, true
}

// plain is a line without its time: level, message, then attributes in their order.
func plain(data []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var words []string
	if _, err := decoder.Token(); err != nil {
		return string(data)
	}
	for decoder.More() {
		key, err := decoder.Token()
		var value any
		if err != nil || decoder.Decode(&value) != nil {
			return string(data)
		}
		text, isText := value.(string)
		switch {
		case key == "time":
		case key == "level", key == "msg":
			words = append(words, text)
		case isText && strings.ContainsAny(text, ` "=`):
			words = append(words, fmt.Sprintf("%s=%q", key, text))
		default:
			words = append(words, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return strings.Join(words, " ")
}

// lines are those of a daemon, as they come.
type lines struct {
	mu   sync.Mutex
	list []logLine
	open map[string]bool // outages that last
}

func (l *lines) add(data []byte) {
	line, ok := readLine(data)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
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

// linesBlock is what a row adds to the page.
func (r row) linesBlock() string {
	text := linesTitle(r.name) + r.fault + ":\n\n```\n"
	for _, l := range r.lines {
		text += l.text + "\n"
	}
	if len(r.lines) == 0 {
		text += "(no line)\n"
	}
	return text + "```\n\n" + r.sign.block(r.calm)
}

func linesTitle(name string) string { return "#### " + name + "\n\n" }

// linesPart puts the blocks of some rows in the place of those that a page has, in the
// order of the scenarios.
func linesPart(before string, rows []row, order []scenario) string {
	blocks := map[string]string{}
	for block := range strings.SplitSeq(before, "#### ") {
		if name, _, ok := strings.Cut(block, "\n"); ok && strings.Contains(block, "```") {
			blocks[name] = "#### " + block
		}
	}
	for _, r := range rows {
		if r.err == nil {
			blocks[r.name] = r.linesBlock()
		}
	}
	var text strings.Builder
	for _, s := range order {
		text.WriteString(blocks[s.name])
	}
	return text.String()
}

// writeLines rewrites the part of a page that shows the lines.
func writeLines(file string, rows []row) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, err := part(page, markLines)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return rewriteFile(file, markLines, linesPart(before, rows, scenarios()))
}
