package meet

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression/eval"
)

// everyOrder are the rules that a request meets, of which all is known, for each order of the
// custom rules that the declaration allows.
func everyOrder(z desired.Zone, r eval.Request) (all []map[string]bool) {
	rules := Rules(z, edge.PhaseFirewallCustom)
	o := orderOf(rules)
	var place func(done, rest []*Rule)
	place = func(done, rest []*Rule) {
		if len(rest) == 0 {
			all = append(all, met(done, Rules(z, edge.PhaseRateLimit), r))
		}
		for i, next := range rest {
			others := slices.Delete(slices.Clone(rest), i, i+1)
			if !slices.ContainsFunc(others, func(e *Rule) bool { return o.front(e, next) }) {
				place(append(slices.Clone(done), next), others)
			}
		}
	}
	place(nil, rules)
	return all
}

func met(custom, limits []*Rule, r eval.Request) map[string]bool {
	met, off := map[string]bool{}, false
	for _, rule := range custom {
		if r.Evaluate(rule.expr).Verdict != eval.True {
			continue
		}
		if met[rule.Key] = true; rule.terminates() {
			return met
		}
		if off = off || len(rule.Skips.Phases) > 0; rule.Ends() {
			break
		}
	}
	for _, rule := range limits {
		met[rule.Key] = !off && r.Evaluate(rule.expr).Verdict == eval.True
	}
	return met
}
