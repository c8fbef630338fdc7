package reconcile

import (
	"bytes"
	"encoding/json"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// Found is the entry of what was changed without Seawall before a write that corrects drift;
// false for any other write. Who changed it is not known.
func (e Entry) Found() (Entry, bool) {
	if e.Kind != EntryWrite || e.Trigger != TriggerSweep {
		return Entry{}, false
	}
	found := Entry{
		Kind: EntryFound, Action: ActionChanged, Trigger: e.Trigger, Subject: e.Subject, Direction: e.Undoing,
		Members: make([]MemberChange, len(e.Members)),
	}
	for i, m := range e.Members {
		found.Members[i] = MemberChange{Path: m.Path, Old: m.New, New: m.Old, Note: m.Note}
	}
	return found, true
}

// opposite is the direction of what the change of a member corrects.
var opposite = map[diff.Direction]diff.Direction{
	diff.Strengthens: diff.Weakens, diff.Weakens: diff.Strengthens, diff.Neutral: diff.Neutral,
}

// FoundEntry is the entry of what was changed without Seawall, for a change that would
// correct it and is not sent.
func FoundEntry(c diff.Change) Entry {
	found, _ := WriteEntry(c, TriggerSweep, Asked{}, "", nil).Found()
	return found
}

// BeginEntry is the entry of a zone that was found as a commit declares it, before anything
// was written to it.
func BeginEntry(p Proof, account, zone string, asked Asked) Entry {
	return Entry{
		Kind: EntryFound, Action: ActionBegin, Trigger: TriggerSync, Asked: asked, Declaration: p.Fingerprint,
		Subject: Subject{Account: account, Zone: zone, Scope: p.Scope},
	}
}

// skipRule is the kind of skip rules, as diff/exception has it.
const skipRule desired.KindName = "exception"

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
	for _, path := range []diff.Member{"expression", "skips", "place"} {
		if old, now := before[path], after[path]; !bytes.Equal(old, now) {
			e.Members = append(e.Members, MemberChange{Path: path, Old: old, New: now, Note: b.Description})
		}
	}
	return e
}

// skipRuleMembers say what a skip rule does; nothing for one that is not there.
func skipRuleMembers(b *diff.Bypass) map[diff.Member]json.RawMessage {
	if b == nil {
		return nil
	}
	return map[diff.Member]json.RawMessage{"expression": rawValue(b.Expression), "skips": rawValue(b.Skips()), "place": rawValue(b.Where())}
}
