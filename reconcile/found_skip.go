package reconcile

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// skipRule is the kind of skip rules, as diff/rule has it.
const skipRule = desired.Exception

// The members of an entry of a skip rule.
const (
	skipExpression diff.Member = "expression"
	skipSkips      diff.Member = "skips"
	skipPlace      diff.Member = "place"
)

// SkipRuleEntry is the entry of a skip rule that appeared without Seawall, changed or is gone: was
// is nil where it was not there, and is where it acts no more. One of them is not nil.
func SkipRuleEntry(was, is *diff.Bypass) Entry {
	b, direction := is, diff.Weakens
	if is == nil {
		b, direction = was, diff.Strengthens
	}
	e := Entry{
		Kind: EntryFound, Action: ActionChanged, Trigger: TriggerSweep, Direction: direction,
		Subject: Subject{Kind: skipRule, Account: b.Account, Zone: b.Zone, Scope: b.Scope, Deployment: b.Deployment, Ref: string(b.Rule)},
	}
	before, after := skipRuleMembers(was), skipRuleMembers(is)
	for _, path := range []diff.Member{skipExpression, skipSkips, skipPlace} {
		e.Members = append(e.Members, MemberChange{Path: path, Old: before[path], New: after[path], Note: b.Description})
	}
	return e
}

// skipRuleMembers say what a skip rule does; nothing for one that is not there.
func skipRuleMembers(b *diff.Bypass) map[diff.Member]json.RawMessage {
	if b == nil {
		return nil
	}
	return map[diff.Member]json.RawMessage{skipExpression: rawValue(b.Expression), skipSkips: rawValue(b.Skips()), skipPlace: rawValue(b.Where())}
}

// OfSkipRule reports whether an entry is of a skip rule that came, changed or went without Seawall.
func (e Entry) OfSkipRule() bool {
	return e.Kind == EntryFound && e.Action == ActionChanged && e.Subject.Kind == skipRule
}

// SkipRule is the skip rule that an entry says is there, as far as the entry says it: not which
// rules it skips. It is false for any other entry.
func (e Entry) SkipRule() (b diff.Bypass, there bool) {
	if !e.OfSkipRule() {
		return b, false
	}
	b = diff.Bypass{
		Account: e.Subject.Account, Zone: e.Subject.Zone, Scope: e.Subject.Scope, Deployment: e.Subject.Deployment, Rule: edge.RuleID(e.Subject.Ref),
	}
	for _, m := range e.Members {
		var text string
		if m.New == nil || json.Unmarshal(m.New, &text) != nil {
			continue
		}
		switch m.Path {
		case skipExpression:
			b.Expression = text
		case skipPlace:
			phase, level, _ := strings.Cut(text, " of the ")
			b.Phase, b.Level, there = edge.Phase(phase), edge.Level(level), true
		}
	}
	return b, there
}

// After is an entry of a skip rule with what it was as an earlier entry has it, and whether that is
// another than it is now.
func (e Entry) After(before Entry) (after Entry, differs bool) {
	e.Members = slices.Clone(e.Members)
	for i := range e.Members {
		for _, m := range before.Members {
			if m.Path == e.Members[i].Path {
				e.Members[i].Old = m.New
				differs = differs || !bytes.Equal(m.New, e.Members[i].New)
			}
		}
	}
	return e, differs
}

// Ended is the entry of what came by an entry, and is gone.
func (e Entry) Ended() Entry {
	ended := Entry{Kind: e.Kind, Action: e.Action, Trigger: e.Trigger, Subject: e.Subject, Direction: opposite[e.Direction]}
	for _, m := range e.Members {
		ended.Members = append(ended.Members, MemberChange{Path: m.Path, Old: m.New, Note: m.Note})
	}
	return ended
}
