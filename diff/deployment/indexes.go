package deployment

import (
	"sync"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Indexes keeps managed rulesets as [Plan] looks things up in them, for who plans
// many zones one by one. A ruleset is known again by the place of its rules in
// memory, so nobody may write to one that was planned with. It holds at most
// mostIndexes of them, versions included. The nil Indexes keeps nothing; any other is safe for concurrent use, and
// its zero value is empty.
type Indexes struct {
	mu   sync.Mutex
	byID map[diff.RulesetVersion]*managed
}

const mostIndexes = 64

// of returns the index of a managed ruleset. What an index learns while a plan is
// made with it (findings) is not shared: each caller gets a copy of its own.
func (i *Indexes) of(r edge.Ruleset) *managed {
	if i == nil || len(r.Rules) == 0 {
		return index(r)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	key := diff.RulesetVersion{Ruleset: r.ID, Version: r.Version}
	known := i.byID[key]
	if known == nil || len(known.Rules) != len(r.Rules) || &known.Rules[0] != &r.Rules[0] {
		known = index(r)
		if len(i.byID) >= mostIndexes || i.byID == nil {
			i.byID = map[diff.RulesetVersion]*managed{}
		}
		i.byID[key] = known
	}
	own := *known
	own.Ruleset, own.found = r, map[desired.RuleRef]finding{}
	return &own
}
