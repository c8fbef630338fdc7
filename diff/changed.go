package diff

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// ChangedZones returns the zones of after whose declaration is new or says
// something else than in before. Where a value was declared does not count. A
// ruleset reference that changed changes every zone of its account.
func ChangedZones(before, after desired.State) map[edge.Scope]bool {
	return Changed(before, after, desired.Differ(before, after))
}

// Changed is [ChangedZones] where the difference of the states is known.
func Changed(before, after desired.State, differ desired.Difference) map[edge.Scope]bool {
	had := make(map[edge.Scope]desired.Index, len(differ.Was))
	for _, at := range differ.Was {
		_, z := at.In(before)
		had[z.Scope] = at
	}
	changed := map[edge.Scope]bool{}
	for _, at := range differ.Is {
		account, z := at.In(after)
		if at, ok := had[z.Scope]; ok {
			was, old := at.In(before)
			if was.ID == account.ID && desired.SameRulesets(was.Rulesets, account.Rulesets) && old.SameAs(*z) {
				continue
			}
		}
		changed[z.Scope] = true
	}
	return changed
}
