package guard

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
)

const lawZones = 9

// A guarded plan is a subset: guards refuse, and neither add, drop, reorder nor
// alter a change; and guarding twice is guarding once.
func TestAGuardedPlanIsASubset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, facts := genPlan(t, lawZones), genFacts(t, lawZones)
		guarded := Check(plan, facts)
		bare := slices.Clone(guarded.Changes)
		for i := range bare {
			bare[i].Refused, bare[i].Approved = nil, false
		}
		if !reflect.DeepEqual(bare, append([]diff.Change{}, plan.Changes...)) {
			t.Fatal("a guard altered a change")
		}
		if again := Check(guarded, facts); !reflect.DeepEqual(refusedIn(again), refusedIn(guarded)) {
			t.Fatalf("guarding twice refuses %v, once %v", refusedIn(again), refusedIn(guarded))
		}
		if guarded.ApprovalDigest() != plan.ApprovalDigest() {
			t.Fatal("what is approved depends on what is refused")
		}
	})
}

// What people agreed to is refused by no rule, and what they did not agree to is
// released by no agreement to something else.
func TestAnApprovalReleasesWhatItNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, facts := genPlan(t, lawZones), genFacts(t, lawZones)
		before := Check(plan, facts)
		digests := map[string]bool{plan.ApprovalDigest(): true}
		for _, c := range before.Changes {
			digests[c.ApprovalDigest()] = true
			if c.Refused != nil && c.Refused.Digest != "" {
				digests[c.Refused.Digest] = true
			}
		}
		for digest := range digests {
			facts.Approved = map[string]bool{digest: true}
			after := Check(plan, facts)
			for i, c := range after.Changes {
				was := before.Changes[i].Refused
				named := digest == plan.ApprovalDigest() || digest == c.ApprovalDigest() || was != nil && digest == was.Digest
				asks := c.Refused != nil && c.Refused.Digest != ""
				if named && asks {
					t.Fatalf("%s was approved and is refused: %+v", c.Name(), c.Refused)
				}
				// A smaller remainder may fit a limit; an approval alone releases it from nothing else.
				if !named && was != nil && was.Guard == "approval" && !asks && c.Refused == nil && !c.Approved {
					t.Fatalf("%s was released by somebody else's approval", c.Name())
				}
			}
		}
	})
}

// No limit is ever exceeded by what nobody agreed to.
func TestLimitsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, facts := genPlan(t, lawZones), genFacts(t, lawZones)
		var sent []diff.Change
		for _, c := range Check(plan, facts).Changes {
			if c.Applies() && diff.Counts(c.Level()) {
				sent = append(sent, c)
			}
		}
		for _, rule := range facts.Rules {
			n, weak := map[edge.Scope]bool{}, map[edge.Scope]bool{}
			for _, c := range sent {
				if rule.Labels.Selects(facts.Zones[c.Scope]) {
					n[c.Scope] = true
					if c.Direction == diff.Weakens {
						weak[c.Scope] = true
					}
				}
			}
			for limit, zones := range map[*Limit]int{rule.Changes: len(n), rule.Weakening: len(weak)} {
				if limit == nil {
					continue
				}
				if limit.Count != nil && zones > *limit.Count {
					t.Fatalf("%d zones, at most %d", zones, *limit.Count)
				}
				all := 0
				for zone := range maps.Values(facts.Zones) {
					if rule.Labels.Selects(zone) {
						all++
					}
				}
				if limit.Percent != nil && zones > limit.Floor && float64(zones) > float64(all**limit.Percent)/100 {
					t.Fatalf("%d zones of %d, at most %d%%", zones, all, *limit.Percent)
				}
			}
		}
	})
}

// A freeze is a no-op in time, and so is a hold: without it the plan is what it
// would have been had there never been one; and while it lasts it lets nothing
// pass that would not have passed.
func TestAFreezeIsANoOpInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, facts := genPlan(t, lawZones), genFacts(t, lawZones)
		during := Check(plan, facts)
		facts.Freezes = nil
		without := Check(plan, facts)
		for i, c := range during.Changes {
			if c.Applies() && !without.Changes[i].Applies() {
				t.Fatalf("%s passes because of a freeze", c.Name())
			}
			if c.Refused != nil && c.Refused.Guard != "freeze" && !reflect.DeepEqual(c.Refused, without.Changes[i].Refused) {
				t.Fatalf("%s is refused otherwise because of a freeze: %+v, %+v", c.Name(), c.Refused, without.Changes[i].Refused)
			}
		}
		for i := range during.Changes {
			during.Changes[i].Refused = nil // as a plan that is made anew
		}
		if after := Check(during, facts); !reflect.DeepEqual(after, without) {
			t.Fatal("the plan after the window is another one")
		}
	})
}

// Guards only ever refuse: they neither add, drop nor alter a change, and
// asking twice changes nothing.
func TestGuardsOnlyRefuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := difftest.GenDeployment(t)
		plan := planner.Make(difftest.One(d, difftest.Execute(difftest.GenOverrides(t))))
		facts := Facts{Before: Size{rapid.IntRange(0, 9).Draw(t, "before"), 1, 0, 0}, After: Size{1, 1, 0, 0}}
		guarded := Check(plan, facts)
		bare := slices.Clone(guarded.Changes)
		for i := range bare {
			bare[i].Refused = nil
		}
		if !reflect.DeepEqual(bare, plan.Changes) {
			t.Fatal("a guard altered a change")
		}
		if !reflect.DeepEqual(Check(guarded, facts), guarded) {
			t.Fatal("guarding twice differs")
		}
	})
}
