package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
	"github.com/seawall-dev/seawall/edge/visible"
	"github.com/seawall-dev/seawall/reconcile"
)

// EntryWhat says what an entry is: an action and what it is about, in words where the action
// does not say it.
func EntryWhat(e reconcile.Entry) string {
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
	case e.Action == reconcile.ActionInit:
		return "token init: the ledger has all existing tokens"
	case e.Kind == reconcile.EntryWrite && e.Trigger == reconcile.TriggerSweep && e.Result != nil && e.Result.Outcome == reconcile.Converged:
		return "drift corrected: " + about
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
	case s.Account != "" && s.Kind != "" && s.Ref != "" && s.Ref != s.Deployment:
		return s.ID().Word(s.Deployment) + " " + s.Ref + " of " + diff.NameOf(s.Account, s.Zone, s.Deployment, "")
	case s.Account != "" && s.Deployment != "":
		return diff.NameOf(s.Account, s.Zone, diff.Called(s.Kind, s.Deployment), "")
	case s.Zone != "":
		return "zone " + s.Zone
	}
	return ""
}

// EntryResult says what became of an entry; empty for one that is no write.
func EntryResult(e reconcile.Entry) string {
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

// EntryAsked says who asked for it; named is how a commit is named. The author of a commit has not asked for what corrects drift,
// and who caused that is not known.
func EntryAsked(e reconcile.Entry, named func(commit string) string) string {
	who, until := "", ""
	drift := e.Trigger == reconcile.TriggerSweep
	switch {
	case e.Action == reconcile.ActionPublished: // by the vendor
	case e.Kind == reconcile.EntryFound && drift:
		who = "who changed it is not known"
	case e.Kind == reconcile.EntryWrite && drift:
		who = "as declared by " + named(e.Asked.Commit) + "; who changed it is not known"
	case e.Kind == reconcile.EntryFound:
		who = "found as " + named(e.Asked.Commit) + " declares it; nothing was written"
	case e.Asked.Commit != "":
		who = named(e.Asked.Commit) + behind(" by ", e.Asked.Author)
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

// EntryMember is a member before and after; of the policies of a token, the rights that come
// and go.
func EntryMember(m reconcile.MemberChange) []string {
	if rights := rightsText(m); rights != nil {
		return rights
	}
	line := fmt.Sprintf("%s  %s → %s", visible.Name(m.Path.Subject()), valueText(m.Old), valueText(m.New))
	if m.Note != "" {
		line += "  (" + visible.Text(m.Note) + ")"
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
		lines = append(lines, fmt.Sprintf("%s  %s", visible.Text(c.Named(access.GroupNames(before, after))), c.Direction))
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
		return visible.Text(text)
	}
	return visible.Text(string(v))
}
