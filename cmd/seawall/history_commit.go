package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// commitSummary is what the history has of a commit: the first line of its message, and how
// much was written for it.
type commitSummary struct {
	message string
	zones   map[edge.Scope]diff.Direction
	results map[edge.Scope]reconcile.Outcome // of the newest write to each zone; empty: written, not proved
	tokens  map[string]bool
	told    bool
}

// commitsOf summarises the commits of the entries that a filter selects: each as a whole,
// also what the filter leaves out.
func commitsOf(ctx context.Context, memory reconcile.History, f reconcile.HistoryFilter) (map[string]*commitSummary, error) {
	commits := map[string]*commitSummary{}
	if _, err := memory.History(ctx, f, func(e reconcile.Entry) error {
		if e.Asked.Commit != "" {
			commits[e.Asked.Commit] = &commitSummary{
				zones: map[edge.Scope]diff.Direction{}, results: map[edge.Scope]reconcile.Outcome{}, tokens: map[string]bool{},
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for hash, c := range commits {
		if _, err := memory.History(ctx, reconcile.HistoryFilter{Commit: hash}, c.add); err != nil {
			return nil, err
		}
	}
	return commits, nil
}

// add counts an entry. What corrects drift is not what the commit has changed.
func (c *commitSummary) add(e reconcile.Entry) error {
	switch {
	case e.Kind == reconcile.EntryCommit && e.Asked.Message != "":
		c.message = e.Asked.Message
	case e.Kind != reconcile.EntryWrite || e.Trigger == reconcile.TriggerSweep || e.Trigger == reconcile.TriggerRevert:
	case e.Subject.Token != "":
		c.tokens[e.Subject.Token] = true
	default:
		id := e.Subject.Scope
		c.zones[id] = diff.Combine(c.zones[id], e.Direction)
		outcome := reconcile.Outcome("")
		if e.Result != nil {
			outcome = e.Result.Outcome
		}
		c.results[id] = outcome
	}
	return nil
}

// String is the summary as one line, empty where nothing was written.
func (c *commitSummary) String() string {
	var parts []string
	if n := len(c.zones); n > 0 {
		parts = append(parts, fmt.Sprintf("%s written: %s, %s", cli.Plural(n, "zone", "zones"), c.directions(), c.proved()))
	}
	if n := len(c.tokens); n > 0 {
		parts = append(parts, cli.Plural(n, "token", "tokens")+" written")
	}
	return strings.Join(parts, "; ")
}

// directions counts the zones of each direction.
func (c *commitSummary) directions() string {
	counts := map[diff.Direction]int{}
	for _, d := range c.zones {
		counts[d]++
	}
	var parts []string
	for _, d := range []diff.Direction{diff.Weakens, diff.Strengthens, diff.Neutral} {
		if counts[d] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[d], map[diff.Direction]string{
				diff.Weakens: "weakened", diff.Strengthens: "strengthened", diff.Neutral: "neutral",
			}[d]))
		}
	}
	return strings.Join(parts, ", ")
}

// proved counts the zones by what became of their last write.
func (c *commitSummary) proved() string {
	proved, open := 0, 0
	for _, outcome := range c.results {
		if outcome == reconcile.Converged {
			proved++
		}
		if outcome == "" {
			open++
		}
	}
	if proved == len(c.results) {
		return "all proved"
	}
	text := fmt.Sprintf("%d proved", proved)
	if open > 0 {
		text += fmt.Sprintf(", %d written and not proved", open)
	}
	if failed := len(c.results) - proved - open; failed > 0 {
		text += fmt.Sprintf(", %d failed or not kept", failed)
	}
	return text
}
