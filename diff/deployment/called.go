package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A declaration says nothing of the description and the ref of an execute rule, and an
// update sends back those that are live. A client that leaves them out drops them, on a
// platform that replaces rules: then those that were there when the deployment was last
// proved are restored, of the same rule. One that someone has changed stays.

// calledNote is about a description or a ref that is restored.
const calledNote = "dropped by an update of someone else; the execute rule had it when it was last applied"

// restoreCalled puts a dropped description and ref back into rule, which is to be written
// over live, and returns what is to be remembered of both.
func restoreCalled(rule *edge.Rule, live edge.Rule, before []diff.Member) (remembered []diff.Member) {
	if was := lastName(before, descriptionMember, live.ID); descriptionOf(live) == "" && was != "" {
		rule.Description = &was
	}
	if was := lastName(before, refMember, live.ID); ownRef(live) == "" && was != "" {
		rule.Ref = was
	}
	if live.ID == "" {
		return nil // it is to be created
	}
	if description := descriptionOf(*rule); description != "" && fitToKeep(description) {
		remembered = append(remembered, rememberText(ofName(descriptionMember, live.ID), description))
	}
	if rule.Ref != "" && rule.Ref != string(live.ID) && fitToKeep(rule.Ref) {
		remembered = append(remembered, rememberText(ofName(refMember, live.ID), rule.Ref))
	}
	return remembered
}

// calledAsBefore gives a rule that is to be created the description and the ref that the one
// had which was there when the deployment was last proved; the ref only where no other rule
// has it by now.
func calledAsBefore(rule *edge.Rule, entryPoint edge.Ruleset, before []diff.Member) {
	if was := lastOfAny(before, descriptionMember); was != "" {
		rule.Description = &was
	}
	was := lastOfAny(before, refMember)
	if !slices.ContainsFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.Ref == was }) {
		rule.Ref = was
	}
}

// fitToKeep reports whether a text of the platform holds no secret: it goes on record as it is.
func fitToKeep(text string) bool { return edge.Redact(text) == text }

// ownRef is the ref that someone gave a rule; empty where it is its id, which the platform
// fills in.
func ownRef(live edge.Rule) string {
	if live.Ref == string(live.ID) {
		return ""
	}
	return live.Ref
}

// calledFields are the description and the ref where they change.
func calledFields(live, want edge.Rule) (fields []diff.Field) {
	add := func(path diff.Member, before, after string) {
		if before == after {
			return
		}
		fields = append(fields, diff.Field{Path: path, Old: orNone(before), New: orNone(after), Note: calledNote})
	}
	add(descriptionMember, descriptionOf(live), descriptionOf(want))
	add(refMember, live.Ref, want.Ref)
	return fields
}
