package scenarios

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// plant makes rules those of an entry point, of which the name of the step says where:
// LEVEL/PHASE.json. It is false for another step.
func (s *scene) plant(step string, data []byte) bool {
	s.t.Helper()
	level, phase, ok := strings.Cut(strings.TrimSuffix(step, ".json"), "/")
	if !ok || !strings.HasSuffix(step, ".json") {
		return false
	}
	scope := map[string]edge.Scope{"zone": mem.ShopZone, "account": edge.AccountScope(mem.Account)}[level]
	entry := edge.Ruleset{Phase: edge.Phase(phase)}
	if live := s.sim.Platform.Stored(scope.At(entry.Phase)); live != nil {
		entry = *live
	}
	entry.Rules = s.rules(data, step, entry.Rules...)
	must.Do(s.t, s.sim.Platform.SetEntryPoint(scope, entry))
	return true
}

// putFirst puts a rule before all others that the zone has.
func (s *scene) putFirst(data []byte) {
	s.t.Helper()
	rule := s.rules(append(append([]byte("["), data...), ']'), "first")[0]
	_, err := s.sim.Platform.PutFirst(mem.ShopZone.At(edge.PhaseFirewallManaged), rule)
	must.Do(s.t, err)
}

// setTeam makes rules those of the account's custom ruleset.
func (s *scene) setTeam(data []byte) {
	s.t.Helper()
	must.Do(s.t, s.sim.Platform.SetRuleset(mem.Account, edge.Ruleset{
		ID: mem.CustomRuleset, Name: "Team", Kind: edge.KindCustom, Phase: edge.PhaseFirewallCustom, Rules: s.rules(data, "team"),
	}))
}

// rules are rules as the platform completes them: each has an id, which is its ref unless it
// says another. One that has the ref of a live one is that rule.
func (s *scene) rules(data []byte, step string, live ...edge.Rule) []edge.Rule {
	s.t.Helper()
	var rules []edge.Rule
	must.Do(s.t, json.Unmarshal(data, &rules))
	for i := range rules {
		r := &rules[i]
		if at := slices.IndexFunc(live, func(l edge.Rule) bool { return l.Ref == r.Ref }); at >= 0 && r.ID == "" {
			r.ID = live[at].ID
			live = slices.Delete(slices.Clone(live), at, at+1) // the next one with this ref is another rule
		}
		if r.ID == "" {
			s.planted++
			r.ID = edge.RuleID(fmt.Sprintf("5e1f%028d", s.planted))
		}
		if r.Ref == "" {
			r.Ref = string(r.ID)
		}
		if r.Enabled == nil {
			r.Enabled = new(true)
		}
		if r.Expression == "" {
			s.t.Fatalf("%s: rule %d has no expression", step, i)
		}
	}
	return rules
}
