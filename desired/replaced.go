package desired

import "slices"

// Index is where a zone is in a state.
type Index struct{ Account, Zone int }

// Replaced returns which zones a state has otherwise than one before it, where it has the same
// accounts with the same rulesets, and the same zones by the same keys, names and ids in the same
// order: then all others are the very same as before ([Zone.Is]). It is false where it has not.
func Replaced(before, after State) (all []Index, ok bool) {
	if len(before.Accounts) != len(after.Accounts) {
		return nil, false
	}
	for i := range after.Accounts {
		was, is := &before.Accounts[i], &after.Accounts[i]
		if was.Key != is.Key || was.Name != is.Name || was.ID != is.ID || was.ByName != is.ByName ||
			len(was.Zones) != len(is.Zones) || !SameRulesets(was.Rulesets, is.Rulesets) {
			return nil, false
		}
		for n := range is.Zones {
			a, b := &was.Zones[n], &is.Zones[n]
			if a.Key != b.Key || a.Name != b.Name || a.Scope != b.Scope || a.ByName != b.ByName {
				return nil, false
			}
			if !a.isBut(b) {
				all = append(all, Index{i, n})
			}
		}
	}
	return all, true
}

// SameRulesets reports whether two lists name the same managed rulesets by the same keys.
// Where that was declared does not count.
func SameRulesets(a, b []RulesetRef) bool {
	return slices.EqualFunc(a, b, func(a, b RulesetRef) bool {
		a.Origin, b.Origin = Origin{}, Origin{}
		return a == b
	})
}
