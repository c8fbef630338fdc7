package deployment

import (
	"sync"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Indexes keeps managed rulesets as [Plan] looks things up in them, for who plans
// many zones one by one. A ruleset is known again by the place of its rules in
// memory, so nobody may write to one that was planned with. It holds a ruleset for
// each id. The nil Indexes keeps nothing; any other is safe for concurrent use, and
// its zero value is empty.
type Indexes struct {
	mu   sync.Mutex
	byID map[edge.RulesetID]*managed
}

// of returns the index of a managed ruleset. What an index learns while a plan is
// made with it (findings) is not shared: each caller gets a copy of its own.
func (i *Indexes) of(r edge.Ruleset) *managed {
	if i == nil || len(r.Rules) == 0 {
		return index(r)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	known := i.byID[r.ID]
	if known == nil || len(known.Rules) != len(r.Rules) || &known.Rules[0] != &r.Rules[0] {
		known = index(r)
		if i.byID == nil {
			i.byID = map[edge.RulesetID]*managed{}
		}
		i.byID[r.ID] = known
	}
	own := *known
	own.Ruleset, own.found = r, map[desired.RuleRef]finding{}
	return &own
}
