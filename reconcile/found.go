package reconcile

import "github.com/seawall-dev/seawall/diff"

// Found is the entry of what was changed without Seawall before a write that corrects drift;
// false for any other write. Who changed it is not known.
func (e Entry) Found() (Entry, bool) {
	if e.Kind != EntryWrite || e.Trigger != TriggerSweep && !e.Drift {
		return Entry{}, false
	}
	found := Entry{
		Kind: EntryFound, Action: ActionChanged, Trigger: TriggerSweep, Subject: e.Subject, Direction: e.Undoing,
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
