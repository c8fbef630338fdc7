package diff

import (
	"sync"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Indexes keeps managed rulesets as kinds look things up in them, for who plans
// many zones one by one. A ruleset is known again by the place of its rules in
// memory, so nobody may write to one that was planned with. It holds at most
// mostIndexes of them, versions included. The nil Indexes keeps nothing; any other is safe for
// concurrent use, and its zero value is empty.
type Indexes struct {
	mu sync.Mutex
	by map[indexed]made
}

const mostIndexes = 64

type indexed struct {
	kind    desired.KindName
	ruleset RulesetVersion
}

// made is what a kind has made of the rules of a ruleset.
type made struct {
	first *edge.Rule
	count int
	value any
}

// Of returns what a kind makes of a managed ruleset. Several plans share it.
func (i *Indexes) Of(kind desired.KindName, r edge.Ruleset, index func(edge.Ruleset) any) any {
	if i == nil || len(r.Rules) == 0 {
		return index(r)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	key := indexed{kind, RulesetVersion{Ruleset: r.ID, Version: r.Version}}
	known, is := i.by[key]
	if !is || known.count != len(r.Rules) || known.first != &r.Rules[0] {
		known = made{&r.Rules[0], len(r.Rules), index(r)}
		if len(i.by) >= mostIndexes || i.by == nil {
			i.by = map[indexed]made{}
		}
		i.by[key] = known
	}
	return known.value
}
