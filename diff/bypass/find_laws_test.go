package bypass

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// genRule is any rule that may stand beside an execute rule.
func genRule(t *rapid.T, tb testing.TB, id string) edge.Rule {
	expression := rapid.SampledFrom([]string{
		"true", "false", "ssl", `cf.zone.name eq "example.com"`, `cf.zone.name eq "example.net"`, "strange (", `ip.src in {192.0.2.0/24}`,
	}).Draw(t, "expression")
	rule := skip(tb, id, expression, rapid.SampledFrom([]string{
		"", `{"ruleset":"current"}`, `{"ruleset":"strange"}`, `{"products":["waf"]}`, `{"phase":"current"}`,
		`{"phases":["http_request_firewall_managed"]}`, `{"phases":["http_ratelimit"]}`,
		`{"rulesets":["000000000000000000000000000000c0"]}`, `{"rulesets":["000000000000000000000000000000d0"]}`,
		`{"rules":{"000000000000000000000000000000c0":["r1","r2"]}}`, `{"rules":{"000000000000000000000000000000c0":["r1","r2","r3"]}}`,
		`{"rules":{"000000000000000000000000000000c0":["r4"]}}`,
	}).Draw(t, "parameters"))
	switch rapid.IntRange(0, 9).Draw(t, "kind of rule") {
	case 0:
		return executing(edge.RuleID(id), rapid.SampledFrom([]edge.RulesetID{others, customs}).Draw(t, "executed"), expression)
	case 1:
		rule.Action = edge.ActionLog
	}
	return rule
}

func genRules(t *rapid.T, tb testing.TB, prefix string) []edge.Rule {
	all := make([]edge.Rule, rapid.IntRange(0, 4).Draw(t, prefix))
	for i := range all {
		if all[i] = genRule(t, tb, fmt.Sprint(prefix, i)); rapid.IntRange(0, 4).Draw(t, "disabled") == 0 {
			all[i] = disabled(all[i])
		}
	}
	return all
}

// scene is what a deployment is asked for with.
type scene struct {
	before, behind []edge.Rule
	ahead          map[edge.Place]diff.Ahead
}

// places are those ahead that a deployment of the zone has.
var places = []edge.Place{
	edge.ZoneScope(zone).At(edge.PhaseFirewallCustom), edge.ZoneScope(zone).At(edge.PhaseRateLimit),
	edge.AccountScope(account).At(edge.PhaseFirewallCustom), edge.AccountScope(account).At(edge.PhaseRateLimit),
}

func genScene(t *rapid.T, tb testing.TB) scene {
	s := scene{before: genRules(t, tb, "before"), behind: genRules(t, tb, "behind"), ahead: map[edge.Place]diff.Ahead{}}
	for i, place := range places {
		if rapid.Bool().Draw(t, "looked at") {
			one := read(genRules(t, tb, fmt.Sprint("place", i, "-"))...)
			one.Executed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{customs: {Value: rules(genRules(t, tb, fmt.Sprint("executed", i, "-"))...)}}
			s.ahead[place] = one
		}
	}
	return s
}

func (s scene) find() []Acting {
	entryPoint := rules(slices.Concat(s.before, []edge.Rule{executing(execute, core, "true")}, s.behind)...)
	return Find(of(), entryPoint, s.ahead)
}

// contains reports whether all of some is in all, whatever the order.
func contains(all, some []Acting) (Acting, bool) {
	for _, one := range some {
		if !slices.ContainsFunc(all, func(other Acting) bool { return reflect.DeepEqual(one, other) }) {
			return one, false
		}
	}
	return Acting{}, true
}

// One rule more, wherever it stands, hides no other.
func TestRuleMoreHidesNone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScene(rt, t)
		was := s.find()
		rule := genRule(rt, t, "new")
		at := rapid.IntRange(-1, len(places)-1).Draw(rt, "place")
		if at < 0 {
			s.before = slices.Insert(slices.Clone(s.before), rapid.IntRange(0, len(s.before)).Draw(rt, "index"), rule)
		} else {
			one := s.ahead[places[at]]
			if rule.Action == edge.ActionExecute {
				rule.ActionParameters.ID = others // another execution joins its expression to those of rules that are found
			}
			one.Value.Rules = append(slices.Clone(one.Value.Rules), rule)
			s.ahead[places[at]] = one
		}
		is := s.find()
		if lost, ok := contains(is, was); !ok {
			rt.Fatalf("%q is lost", said([]Acting{lost}))
		}
		if len(is) > len(was)+1 {
			rt.Fatalf("%q becomes %q", said(was), said(is))
		}
	})
}

// Neither what stands behind the execute rule nor what is disabled has an effect.
func TestBehindAndDisabledNeverAct(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScene(rt, t)
		was := s.find()
		less := scene{ahead: map[edge.Place]diff.Ahead{}}
		off := func(r edge.Rule) bool { return !r.IsEnabled() }
		less.before = slices.DeleteFunc(slices.Clone(s.before), off)
		for place, one := range s.ahead {
			one.Value.Rules = slices.DeleteFunc(slices.Clone(one.Value.Rules), off)
			inner := one.Executed[customs]
			inner.Value.Rules = slices.DeleteFunc(slices.Clone(inner.Value.Rules), off)
			one.Executed = map[edge.RulesetID]diff.Observed[edge.Ruleset]{customs: inner}
			less.ahead[place] = one
		}
		if is := less.find(); !reflect.DeepEqual(was, is) {
			rt.Fatalf("%q becomes %q", said(was), said(is))
		}
	})
}

// The order of the other rules means nothing, here and there.
func TestOrderOfOtherRulesMeansNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScene(rt, t)
		was := s.find()
		s.before = rapid.Permutation(s.before).Draw(rt, "before")
		s.behind = rapid.Permutation(s.behind).Draw(rt, "behind")
		for place, one := range s.ahead {
			// Of two executions of a ruleset, the expressions are joined in their order.
			seen := 0
			for _, r := range one.Value.Rules {
				if executes(&r) == customs {
					seen++
				}
			}
			if seen < 2 {
				one.Value.Rules = rapid.Permutation(one.Value.Rules).Draw(rt, "ahead")
			}
			s.ahead[place] = one
		}
		is := s.find()
		if _, ok := contains(is, was); !ok || len(is) != len(was) {
			rt.Fatalf("%q becomes %q", said(was), said(is))
		}
	})
}

// A place that cannot be read is as one that was not looked at.
func TestUnreadPlaceAddsNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScene(rt, t)
		place := rapid.SampledFrom(places).Draw(rt, "place")
		one := s.ahead[place]
		one.Err = edge.ErrNotOffered
		s.ahead[place] = one
		was := s.find()
		delete(s.ahead, place)
		if is := s.find(); !reflect.DeepEqual(was, is) {
			rt.Fatalf("%q becomes %q", said(was), said(is))
		}
	})
}
