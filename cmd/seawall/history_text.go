package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/cmd/seawall/internal/cli"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/reconcile"
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
	head := fmt.Sprintf("%s  #%d  %s", stamp(e), e.Number, whatText(e))
	if outcome := outcomeText(e); outcome != "" {
		head += ": " + outcome
	}
	lines := []string{cli.OneLine(head)}
	for _, text := range []string{h.asked(e), e.Reason} {
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
		lines = append(lines, memberLines(m)...)
	}
	return lines
}

// whatText says what an entry is: an action and what it is about, in words where the action
// does not say it.
func whatText(e reconcile.Entry) string {
	about := subjectText(e.Subject)
	switch {
	case e.Kind == reconcile.EntryCommit:
		return "commit accepted"
	case e.Kind == reconcile.EntryFound && e.Action == reconcile.ActionBegin:
		return "history begins (import): zone " + e.Subject.Zone
	case e.Kind == reconcile.EntryFound && e.Action == reconcile.ActionPublished:
		return "new version of managed ruleset " + string(e.Subject.Ruleset) + " in " + e.Subject.Account
	case e.Kind == reconcile.EntryFound:
		return "changed outside Seawall: " + about
	case e.Kind == reconcile.EntryWrite && e.Trigger == reconcile.TriggerSweep && e.Result != nil && e.Result.Outcome == reconcile.Converged:
		return "drift healed: " + about
	case e.Kind == reconcile.EntryWrite && e.Trigger == reconcile.TriggerSweep:
		return "drift: " + e.Action + " " + about
	}
	return strings.TrimSpace(e.Action + " " + about)
}

func subjectText(s reconcile.Subject) string {
	switch {
	case s.Token != "":
		text := "token " + s.Token
		if s.TokenID != "" {
			text += " (" + string(s.TokenID) + ")"
		}
		return text + behind(" of account ", string(s.Owner))
	case s.Account != "" && s.Deployment != "":
		return diff.NameOf(s.Account, s.Zone, diff.Called(s.Kind, s.Deployment), "")
	case s.Zone != "":
		return "zone " + s.Zone
	}
	return ""
}

// outcomeText says what became of an entry.
func outcomeText(e reconcile.Entry) string {
	r := e.Result
	switch {
	case e.Kind == reconcile.EntryWrite && r == nil:
		return "written, not proved"
	case r == nil:
		return ""
	case r.Outcome == reconcile.Converged && e.Subject.Token != "":
		return "done"
	case r.Outcome == reconcile.Converged && r.Version != "":
		return "proved, version " + r.Version
	case r.Outcome == reconcile.Converged:
		return "proved"
	}
	text := map[reconcile.Outcome]string{
		reconcile.Failed: "failed, nothing was changed", reconcile.NonConvergent: "not kept by the platform",
		reconcile.Quarantined: "the outcome is unknown",
	}[r.Outcome]
	return cmp.Or(text, string(r.Outcome)) + behind(": ", r.Reason)
}

// asked says who asked for it. The author of a commit has not asked for what corrects drift,
// and who caused that is not known.
func (h *historyWriter) asked(e reconcile.Entry) string {
	who, until := "", ""
	drift := e.Trigger == reconcile.TriggerSweep
	switch {
	case e.Action == reconcile.ActionPublished: // by the vendor
	case e.Kind == reconcile.EntryFound && drift:
		who = "who changed it is not known"
	case e.Kind == reconcile.EntryWrite && drift:
		who = "as declared by " + h.commit(e.Asked.Commit) + "; who changed it is not known"
	case e.Kind == reconcile.EntryFound:
		who = "found as " + h.commit(e.Asked.Commit) + " declares it; nothing was written"
	case e.Asked.Commit != "":
		who = h.commit(e.Asked.Commit) + behind(" by ", e.Asked.Author)
	}
	if !e.Until.IsZero() {
		until = "until " + e.Until.UTC().Format(time.RFC3339)
	}
	parts := []string{
		who, behind("approved by ", e.Asked.Approver), behind("user ", e.Asked.User), triggerWord(e), string(e.Direction), e.Digest, until,
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// behind is a text behind a word; empty where there is none.
func behind(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

// triggerWord says why a write was made, where nothing else on its line does.
func triggerWord(e reconcile.Entry) string {
	switch {
	case e.Trigger == reconcile.TriggerManual && (e.Kind == reconcile.EntryWrite || e.Kind == reconcile.EntryCommit):
		return "apply"
	case e.Trigger == reconcile.TriggerRevert && e.Kind == reconcile.EntryWrite:
		return "revert"
	}
	return ""
}

// commit names a commit, with the first line of its message where that is on record.
func (h *historyWriter) commit(hash string) string {
	text := "commit " + hash[:min(len(hash), 12)]
	if c := h.commits[hash]; c != nil && c.message != "" {
		text += fmt.Sprintf(" %q", c.message)
	}
	return text
}

// memberLines are a member before and after; of the policies of a token, the rights that come
// and go.
func memberLines(m reconcile.MemberChange) []string {
	if rights := rightsText(m); rights != nil {
		return rights
	}
	line := fmt.Sprintf("    %s  %s → %s", render.Subject(m.Path), valueText(m.Old), valueText(m.New))
	if m.Note != "" {
		line += "  (" + cli.OneLine(m.Note) + ")"
	}
	return []string{line}
}

// rightsText are the rights that come and go with the policies of a token; nil for any other
// member, and where the policies cannot be read.
func rightsText(m reconcile.MemberChange) (lines []string) {
	var before, after edge.TokenSpec
	if m.Path != "policies" || !decodes(m.Old, &before.Policies) || !decodes(m.New, &after.Policies) {
		return nil
	}
	for _, c := range access.Diff(before, after) {
		lines = append(lines, fmt.Sprintf("    %s  %s", cli.OneLine(c.Named(access.GroupNames(before, after))), c.Direction))
	}
	return lines
}

func decodes(text json.RawMessage, to any) bool {
	return text == nil || json.Unmarshal(text, to) == nil
}

// valueText is a value as a plan shows it.
func valueText(v json.RawMessage) string {
	if v == nil {
		return "unset"
	}
	var text string
	if json.Unmarshal(v, &text) == nil {
		return cli.OneLine(text)
	}
	return cli.OneLine(string(v))
}
