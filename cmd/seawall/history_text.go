package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// historyText prints entries for people. It reads them twice: how much a commit has written
// stands before its first entry.
func historyText(ctx context.Context, t *cli.Terminal, memory reconcile.History, f reconcile.HistoryFilter) error {
	commits, err := commitsOf(ctx, memory, f)
	if err != nil {
		return err
	}
	h := historyWriter{w: bufio.NewWriter(t.Out), commits: commits, whole: f.Zone == "" && f.Token == ""}
	earlier, err := memory.History(ctx, f, h.entry)
	if err != nil {
		return err
	}
	h.flush()
	if err := h.w.Flush(); err != nil {
		return err
	}
	if earlier > 0 {
		fmt.Fprintf(t.Err, "%d earlier entries are not shown; --last 0 shows all\n", earlier)
	}
	if h.shown == 0 {
		fmt.Fprintln(t.Err, "no entry matches")
	}
	return nil
}

// historyWriter writes entries: a line that says what and how it went, then who asked, then
// each member that a write changes.
type historyWriter struct {
	w       *bufio.Writer
	commits map[string]*commitSummary
	whole   bool              // entries of all zones and tokens are shown
	begun   []reconcile.Entry // zones whose history begins, alike: they are one line
	shown   int
}

func (h *historyWriter) entry(e reconcile.Entry) error {
	h.shown++
	if e.Action == reconcile.ActionBegin && h.whole {
		if len(h.begun) > 0 && h.begun[0].Asked.Commit != e.Asked.Commit {
			h.flush()
		}
		h.begun = append(h.begun, e)
		return nil
	}
	h.flush()
	lines := h.lines(e)
	if c := h.commits[e.Asked.Commit]; h.whole && c != nil && !c.told && (e.Kind == reconcile.EntryCommit || e.Kind == reconcile.EntryWrite) {
		c.told = true
		if summary := c.String(); summary != "" && e.Kind == reconcile.EntryCommit {
			lines = append(lines, "    "+summary)
		} else if summary != "" {
			lines = append([]string{cli.OneLine(h.commit(e.Asked.Commit)) + ": " + summary}, lines...)
		}
	}
	_, err := fmt.Fprintln(h.w, strings.Join(lines, "\n"))
	return err
}

// flush writes the zones whose history begins.
func (h *historyWriter) flush() {
	if len(h.begun) == 0 {
		return
	}
	first, last := h.begun[0], h.begun[len(h.begun)-1]
	head := h.lines(first)
	if len(h.begun) > 1 {
		head[0] = fmt.Sprintf("%s  #%d to #%d  history begins (import) for %d zones", stamp(first), first.Number, last.Number, len(h.begun))
	}
	fmt.Fprintln(h.w, strings.Join(head, "\n"))
	h.begun = nil
}

func stamp(e reconcile.Entry) string { return e.At.UTC().Format(time.RFC3339) }

func (h *historyWriter) lines(e reconcile.Entry) []string {
	head := fmt.Sprintf("%s  #%d  %s", stamp(e), e.Number, inspect.EntryWhat(e))
	if outcome := inspect.EntryResult(e); outcome != "" {
		head += ": " + outcome
	}
	lines := []string{cli.OneLine(head)}
	for _, text := range []string{inspect.EntryAsked(e, h.commit), e.Reason} {
		if text != "" {
			lines = append(lines, "    "+cli.OneLine(text))
		}
	}
	if c := e.Checkpoint; c != nil {
		lines = append(lines, fmt.Sprintf("    entries up to #%d were dropped", c.Number))
	}
	if len(e.Accepts) > 0 {
		lines = append(lines, "    accepts "+numbers(e.Accepts))
	}
	for _, m := range e.Members {
		for _, line := range inspect.EntryMember(m) {
			lines = append(lines, "    "+line)
		}
	}
	return lines
}

// commit names a commit, with the first line of its message where that is on record.
func (h *historyWriter) commit(hash string) string {
	text := "commit " + hash[:min(len(hash), 12)]
	if c := h.commits[hash]; c != nil && c.message != "" {
		text += fmt.Sprintf(" %q", c.message)
	}
	return text
}
