package rule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

// state is one zone with rules, and what is live of it.
type state struct {
	declared []desired.Other
	live     []edge.Rule
	prunable diff.Pruning
	made     int
	strange  bool // nothing is on record
	memory   *diff.Memory
	remove   bool // rules of others go
}

func (s *state) input() diff.Input {
	zone := desired.Zone{Key: "shop.example", Scope: difftest.Zone, Others: s.declared}
	entry := edge.Ruleset{ID: "e", Version: "1", Kind: edge.KindZone, Phase: edge.PhaseFirewallCustom, Rules: s.live}
	if s.remove {
		zone.Unmanaged = []desired.OfOthers{{Kind: desired.CustomRule, Do: desired.Remove}}
	}
	applied := diff.Applied{}
	for _, o := range s.declared {
		if !s.strange {
			applied[Custom.id(difftest.Zone, o.Key)] = []diff.Member{"action"}
		}
	}
	return diff.Input{
		Applied:  applied,
		State:    desired.State{Accounts: []desired.Account{{Key: "prod", ID: difftest.Account, Zones: []desired.Zone{zone}}}},
		Live:     diff.Live{EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{difftest.Zone.At(edge.PhaseFirewallCustom): {Value: entry}}},
		Prunable: s.prunable, Memory: s.memory,
	}
}

// plan plans as the planner does, changes in their turn.
func (s *state) plan() diff.Part {
	part := Custom.Plan(s.input())
	diff.SortChanges(part.Changes)
	return part
}

// apply does what a change says to the live rules, as the platform does it.
func (s *state) apply(t *rapid.T, c diff.Change) {
	o := c.Operation.(diff.RuleOperation)
	i := byID(s.live, o.Target.Rule)
	rule := o.Body
	switch o.Do {
	case diff.ActionRemove:
		s.live = slices.Delete(s.live, i, i+1)
		return
	case diff.ActionUpdate:
		rule.ID = o.Target.Rule
		if s.live[i] = rule; o.Position == nil {
			return
		}
		s.live = slices.Delete(slices.Clone(s.live), i, i+1)
	default:
		s.made++
		rule.ID = edge.RuleID(fmt.Sprint("made", s.made))
	}
	to := len(s.live)
	if p := o.Position; p != nil && p.Before != nil {
		to = max(0, byID(s.live, *p.Before))
		if *p.Before != "" && byID(s.live, *p.Before) < 0 {
			t.Fatalf("there is no rule %s to stand before", *p.Before)
		}
	} else if p != nil && *p.After != "" {
		to = byID(s.live, *p.After) + 1
	}
	s.live = slices.Insert(slices.Clone(s.live), to, rule)
}

var (
	drawRef    = rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
	drawAction = rapid.SampledFrom([]string{"block", "log", "skip", "managed_challenge"})
)

// drawLive is a rule as someone has written it.
func drawLive(t *rapid.T, ref string) edge.Rule {
	body := tree{"ref": ref, "action": drawAction.Draw(t, "action"), "expression": rapid.SampledFrom([]string{"true", "ip.src eq 192.0.2.1"}).Draw(t, "expression")}
	if body["action"] == "skip" {
		body["action_parameters"] = map[string]any{"phases": []any{"http_ratelimit", "http_request_sbfm"}}
		body["logging"] = map[string]any{"enabled": rapid.Bool().Draw(t, "logging")}
	}
	if rapid.Bool().Draw(t, "off") {
		body["enabled"] = false
	}
	if rapid.Bool().Draw(t, "described") {
		body["description"] = "by hand"
	}
	rule, err := body.rule()
	if err != nil {
		t.Fatal(err)
	}
	rule.ID = edge.RuleID("live-" + ref)
	return rule
}

// drawDeclared is what a zone declares of a rule.
func drawDeclared(t *rapid.T, ref string, refs []string) desired.Other {
	values := map[string]any{"action": drawAction.Draw(t, "action"), "expression": "http.host eq \"a\"", "enabled": rapid.Bool().Draw(t, "on"), "prune": rapid.Bool().Draw(t, "prune")}
	if values["action"] == "skip" {
		values["skip"] = map[string]any{"phases": []any{"http_request_sbfm", "http_ratelimit"}}
	}
	switch n := rapid.IntRange(0, 5).Draw(t, "order"); {
	case n < 2:
		values["order"] = []string{"first", "last"}[n]
	case n < 4:
		values["order"] = map[string]any{[]string{"before", "after"}[n-2]: rapid.SampledFrom(refs).Draw(t, "other")}
	}
	o, err := desired.NewOther(desired.CustomRule, ref, desired.Origin{File: "edge.cue", Line: 3, Column: 1}, values)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func drawState(t *rapid.T) *state {
	s := &state{prunable: diff.Pruning{}, remove: rapid.Bool().Draw(t, "remove")}
	live := rapid.SliceOfDistinct(drawRef, rapid.ID).Draw(t, "live")
	declared := rapid.SliceOfDistinct(drawRef, rapid.ID).Draw(t, "declared")
	for _, ref := range live {
		s.live = append(s.live, drawLive(t, ref))
		if !slices.Contains(declared, ref) && rapid.Bool().Draw(t, "ours before") {
			s.prunable[Custom.id(difftest.Zone, ref)] = diff.Prunable{Rule: edge.RuleID("live-" + ref)}
		}
	}
	slices.Sort(declared)
	for _, ref := range declared {
		s.declared = append(s.declared, drawDeclared(t, ref, declared))
	}
	return s
}

// foreign are the rules of others, as JSON and in their order.
func (s *state) foreign() (all []string) {
	for _, rule := range s.live {
		_, ours := s.prunable[Custom.id(difftest.Zone, rule.Ref)]
		if !ours && !slices.ContainsFunc(s.declared, func(o desired.Other) bool { return o.Key == rule.Ref }) {
			data, _ := json.Marshal(rule)
			all = append(all, string(data))
		}
	}
	return all
}

// After a plan is done, what is declared is live in its order, the rules of others are as they
// were and in their own order, and nothing is left to do; whatever part of it is done at first.
func TestPlanLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		others, part := s.foreign(), s.plan()
		if s.remove {
			others = nil
		}
		if len(part.Problems) > 0 {
			t.Skip("the rules contradict each other")
		}
		if rapid.Bool().Draw(t, "in part") && len(part.Changes) > 0 { // a guard holds the rest back
			s.apply(t, part.Changes[rapid.IntRange(0, len(part.Changes)-1).Draw(t, "one")])
			part = s.plan()
		}
		writes := map[string]int{}
		for _, c := range part.Changes {
			if writes[c.Deployment]++; len(c.Fields) == 0 || writes[c.Deployment] > 1 {
				t.Fatalf("a change of nothing, or a second one: %+v", c)
			}
			s.apply(t, c)
		}
		again := s.plan()
		if s.remove != slices.ContainsFunc(again.Settled, func(s diff.Settled) bool { return s.ID.OfOthers() }) {
			t.Fatalf("settled: %+v", again.Settled)
		}
		if len(again.Changes) > 0 || len(again.Problems) > 0 {
			t.Fatalf("left to do: %+v %+v\nlive %+v", again.Changes, again.Problems, s.live)
		}
		if now := s.foreign(); !slices.Equal(now, others) {
			t.Fatal(cmp.Diff(others, now))
		}
		if want := len(s.declared) + len(others); len(s.live) != want {
			t.Fatalf("%d rules are live, not %d: %+v", len(s.live), want, s.live)
		}
		var rules []placed
		for _, rule := range s.live {
			p := placed{ref: rule.Ref, live: true}
			for _, o := range s.declared {
				w := wanted{Other: o}
				w.values, _ = treeOf([]byte(o.Value))
				if o.Key == rule.Ref && w.values["order"] != nil {
					_ = w.readOrder()
					p.order = w.order
				}
			}
			rules = append(rules, p)
		}
		if what := broken(rules, refsOf(rules)); what != "" {
			t.Fatal(what)
		}
	})
}

// What is declared of live rules differs in nothing from them.
func TestDeclareIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		s.prunable, s.remove = nil, false
		s.declared = Custom.Declare(edge.Ruleset{Rules: s.live})
		if len(s.declared) != len(s.live) {
			t.Fatalf("%d of %d rules are declared", len(s.declared), len(s.live))
		}
		if part := s.plan(); len(part.Changes) > 0 || len(part.Problems) > 0 || len(part.Settled) != len(s.live) {
			t.Fatalf("%+v", part)
		}
	})
}

// A declaration that is changed to what is live differs in nothing from it.
func TestRedeclareAgreesWithLive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		s.prunable, s.remove = nil, false
		var now []desired.Other
		for _, o := range s.declared {
			if other, is := Custom.Redeclare(o, edge.Ruleset{Rules: s.live}); is {
				now = append(now, other)
			}
		}
		before := s.declared
		s.declared = now
		part := s.plan()
		for _, p := range part.Problems {
			if p.State != diff.Blocked {
				t.Fatalf("%+v", p)
			}
		}
		if len(part.Problems) == 0 && len(part.Changes) > 0 {
			t.Fatalf("%+v\nfrom %+v\nlive %+v", part.Changes, before, s.live)
		}
	})
}

// What a revert plans after a write leads back to what was live, of each rule by itself.
func TestRestoreIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t)
		part := s.plan()
		if len(part.Problems) > 0 || len(part.Changes) == 0 {
			t.Skip("nothing is written")
		}
		c := part.Changes[rapid.IntRange(0, len(part.Changes)-1).Draw(t, "one")]
		before := slices.Clone(s.live)
		s.apply(t, c)
		r := diff.Restoration{ID: c.ID()}
		for _, f := range c.Fields {
			m := diff.Restored{Path: f.Path}
			m.Before, m.Written = jsonOf(f.Old), jsonOf(f.New)
			r.Members = append(r.Members, m)
		}
		back, problem := Custom.Restore(r, s.input())
		if c.Action() == diff.ActionDeploy {
			if problem == nil || problem.State != diff.Blocked {
				t.Fatalf("%+v %+v", back, problem)
			}
			return
		}
		if back == nil {
			t.Fatalf("%+v: %+v", c, problem)
		}
		s.apply(t, *back)
		for i := range before {
			if c.Action() == diff.ActionRemove && before[i].Ref == c.ID().Ref {
				before[i].ID = s.live[i].ID
			}
		}
		if d := cmp.Diff(canonical(before), canonical(s.live)); d != "" {
			t.Fatal(d)
		}
	})
}

func jsonOf(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	data, _ := json.Marshal(value)
	return data
}

// canonical are rules as they mean; one that says nothing of being on is on.
func canonical(rules []edge.Rule) (all []string) {
	for _, r := range rules {
		body, _ := bodyOf(r)
		if body["enabled"] == true {
			delete(body, "enabled")
		}
		data, _ := json.Marshal(body)
		all = append(all, string(r.ID)+" "+string(data))
	}
	return all
}

// Where the orders contradict each other no rule with an order moves, and what else differs of
// those that are live is still corrected.
func TestMisplacedRulesAreHealed(t *testing.T) {
	declare := func(key string, order any) desired.Other {
		o, err := desired.NewOther(desired.CustomRule, key, desired.Origin{}, map[string]any{"action": "block", "expression": "true", "enabled": true, "order": order})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	s := &state{
		declared: []desired.Other{declare("drifted", "first"), declare("fine", "last"), declare("new", map[string]any{"before": "gone"})},
		live: []edge.Rule{
			{ID: "1", Ref: "fine", Action: "block", Expression: "true"}, {ID: "2", Ref: "drifted", Action: "log", Expression: "true"},
		},
	}
	part := s.plan()
	if len(part.Problems) != 3 || len(part.Settled) != 0 || len(part.Changes) != 1 {
		t.Fatalf("%+v", part)
	}
	c := part.Changes[0]
	if o := c.Operation.(diff.RuleOperation); c.Deployment != "drifted" || o.Position != nil || o.Body.Action != "block" {
		t.Errorf("%+v", c)
	}
}

// A rule that executes a ruleset is never made another one, nor another one such a rule.
func TestAForeignActionStays(t *testing.T) {
	const id = `"c04e0000000000000000000000000003"`
	block, execute := `{"action":"block","expression":"true","enabled":true}`, `{"action":"execute","expression":"true","enabled":true,"execute":`+id+`}`
	for _, c := range []struct {
		declared, live string
		want           int // changes; a problem otherwise
	}{
		{block, `{"ref":"a","action":"execute","expression":"true","action_parameters":{"id":` + id + `}}`, 0},
		{execute, `{"ref":"a","action":"block","expression":"true"}`, 0},
		{execute, `{"ref":"a","action":"execute","expression":"false","action_parameters":{"id":` + id + `,"version":"latest"}}`, 1},
	} {
		s := &state{declared: []desired.Other{declaring(t, "a", c.declared)}, live: living(t, c.live)}
		part := s.plan()
		if len(part.Changes) != c.want || len(part.Problems) != 1-c.want || c.want == 0 && part.Problems[0].State != diff.Blocked {
			t.Errorf("%s on %s: %+v", c.declared, c.live, part)
		}
	}
}

// What validate says of the orders that are declared is what a plan would say where nothing else is
// live.
func TestContradictionsAreThoseOfAPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		refs := slices.Sorted(slices.Values(rapid.SliceOfDistinct(drawRef, rapid.ID).Draw(t, "refs")))
		var declared []desired.Other
		var rules []placed
		for _, ref := range refs {
			o := drawDeclared(t, ref, refs)
			w := wanted{Other: o}
			w.values, _ = treeOf([]byte(o.Value))
			if w.values["order"] != nil {
				_ = w.readOrder()
			}
			declared, rules = append(declared, o), append(rules, placed{ref: ref, order: w.order})
		}
		_, _, err := arrange(rules)
		among, said := desired.Contradiction(declared)
		if (err != nil) != (len(among) > 0) {
			t.Fatalf("%v, and %q", err, said)
		}
		if len(among) > 0 && !strings.HasSuffix(err.Error(), said) {
			t.Fatalf("%v, and %q", err, said)
		}
	})
}
