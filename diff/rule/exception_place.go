package rule

import (
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// putAhead says in front of which live rules some stand. The live ones come first among all.
func (p *zonePlan) putAhead(rules []placed, live []edge.Rule) {
	for i := range rules {
		at, is := p.ahead[p.id(p.zone.Scope, rules[i].ref)]
		if j := byID(live, at); is && j >= 0 && p.wanted[rules[i].ref] != nil {
			rules[i].ahead = append(rules[i].ahead, j)
		}
	}
}

// astray reports whether a rule that has a place whatever its order says is not there.
func (p *zonePlan) astray(key string, live []edge.Rule) bool {
	at, is := p.ahead[p.id(p.zone.Scope, key)]
	return is && (byRef(live, key) < 0 || behind(live, key, at))
}

// behind reports whether a live rule stands behind another one, by its id.
func behind(live []edge.Rule, key string, other edge.RuleID) bool {
	return slices.IndexFunc(live, func(r edge.Rule) bool { return r.Ref == key }) > byID(live, other)
}
