package main

import (
	"fmt"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// tieredFleet is a platform whose n zones were tuned by hand, in three tiers: one zone in
// two is public, one in three a shop, the rest are banks. Five zones differ from their
// tier, one of the others runs a pinned version, and one has nothing deployed.
func tieredFleet(n int) mem.Seed {
	seed := mem.Fleet(n)
	for i := range seed.Zones {
		zone := &seed.Zones[i]
		kind := []string{"public", "shop", "public", "shop", "public", "bank"}[i%6]
		zone.Name = fmt.Sprintf("%s-%04d.example", kind, i+1)
		rule := &zone.EntryPoint.Rules[0]
		rule.ActionParameters.Overrides = tierOverrides(kind)
		except(i, zone, rule)
	}
	return seed
}

func scoring(score int, action edge.Action) edge.RuleOverride {
	return edge.RuleOverride{ID: "c04e0000000000000000000100000018", ScoreThreshold: &score, Action: &action}
}

func tagsOff(tags ...string) (list []edge.CategoryOverride) {
	for _, tag := range tags {
		list = append(list, edge.CategoryOverride{Category: tag, Enabled: new(false)})
	}
	return list
}

func tierOverrides(kind string) *edge.Overrides {
	switch kind {
	case "public":
		return &edge.Overrides{
			Categories: tagsOff("wordpress", "paranoia-level-2", "paranoia-level-3", "paranoia-level-4"),
			Rules:      []edge.RuleOverride{scoring(60, edge.ActionManagedChallenge)},
		}
	case "shop":
		return &edge.Overrides{
			Categories: tagsOff("paranoia-level-3", "paranoia-level-4"),
			Rules:      []edge.RuleOverride{scoring(40, edge.ActionManagedChallenge), {ID: "c04e0000000000000000000100000004", Enabled: new(false)}},
		}
	}
	return &edge.Overrides{Categories: tagsOff("paranoia-level-4"), Rules: []edge.RuleOverride{scoring(25, edge.ActionBlock)}}
}

// except has some zones differ from their tier.
func except(i int, zone *mem.SeedZone, rule *edge.Rule) {
	o := rule.ActionParameters.Overrides
	switch i {
	case 0: // another threshold
		*o.Rules[0].ScoreThreshold = 50
	case 2: // no disabled tag
		o.Categories = o.Categories[1:]
	case 3: // one rule only logs
		o.Rules = append(o.Rules, edge.RuleOverride{ID: "c04e000000000000000000010000000a", Action: new(edge.ActionLog)})
	case 5: // narrowed
		rule.Expression = `http.host ne "legacy.example"`
	case 9: // an override on a rule that a new version of the ruleset does not have
		o.Rules = append(o.Rules, edge.RuleOverride{ID: "c04e00000000000000000001000000ff", Enabled: new(false)})
	case 14: // pinned
		rule.ActionParameters.Version = "1"
	case 7:
		zone.EntryPoint = nil
	}
}
