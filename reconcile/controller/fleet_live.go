package controller

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// live puts what a zone declares beside what was seen of it last.
func (v view) live(t zone.Task) []inspect.LiveMember {
	all := []inspect.LiveMember{}
	sight, seen := v.seen.sight(t)
	why := notSeen
	if v.lanes.elsewhere(v.g, t.Zone().Scope) { // whoever works on it may have written there since
		seen, why = false, "another replica works on the zone, or none"
	}
	for _, d := range t.Zone().Deployments {
		var as desired.Declaring
		var note func(desired.RuleRef) string
		unknown := why
		if seen {
			as, note, unknown = v.deployed(t, sight, d)
		}
		all = append(all, called(inspect.LiveMembers(d, as, unknown, note), "", d.Name())...)
	}
	for _, o := range t.Zone().Others {
		var as desired.Declaring
		unknown := why
		if seen {
			as, unknown = v.otherAsLive(t, sight, o)
		}
		all = append(all, called(inspect.LiveMembers(o, as, unknown, nil), o.Kind, o.Key)...)
	}
	return all
}

// called are members with what they are of.
func called(members []inspect.LiveMember, kind desired.KindName, key string) []inspect.LiveMember {
	for i := range members {
		members[i].Kind, members[i].Deployment = kind, key
	}
	return members
}

// deployed is a deployment as it is live, or why that is not known, and words for rules.
func (v view) deployed(t zone.Task, sight zone.Sight, d desired.Deployment) (as desired.Declaring, note func(desired.RuleRef) string, unknown string) {
	declarer, rule, unknown := v.executed(t, sight, d)
	switch {
	case unknown != "":
		return nil, nil, unknown
	case declarer == nil:
		return desired.Other{}, nil, "" // nothing is live
	case declarer.Agrees(d, rule):
		return d, declarer.RuleText, ""
	}
	return declarer.Redeclare(d, rule), declarer.RuleText, ""
}

// executed is the execute rule of a deployment, and what declares it; nil where there is none.
func (v view) executed(t zone.Task, sight zone.Sight, d desired.Deployment) (_ *planner.Declarer, rule edge.Rule, unknown string) {
	entry, _ := sight.Places.Of(edge.PhaseFirewallManaged)
	i := slices.IndexFunc(t.Account().Rulesets, func(r desired.RulesetRef) bool { return r.Key == d.Ruleset })
	if !zone.Answered(entry.Err) || i < 0 {
		return nil, rule, notSeen
	}
	found, err := rulesets.Find(t.Account().Rulesets[i], sight.Account.Listed.Value)
	if err != nil {
		return nil, rule, bounded(err.Error())
	}
	rules := slices.DeleteFunc(slices.Clone(entry.Value.Rules), func(r edge.Rule) bool {
		return !r.Executes(found.ID) || t.Zone().Scope.Level == edge.LevelAccount && r.Ref != d.Ref // there, several may run one managed ruleset
	})
	switch len(rules) {
	case 0:
		return nil, rule, ""
	case 1:
	default:
		return nil, rule, fmt.Sprintf("%d execute rules run it", len(rules))
	}
	managed := sight.Account.Managed[found.ID]
	if version := rulesets.VersionOf(rules[0]); version != rulesets.Latest && version != managed.Value.Version {
		if older, read := sight.Account.Versions[diff.RulesetVersion{Ruleset: found.ID, Version: version}]; read {
			managed = older
		}
	}
	if managed.Err != nil {
		return nil, rule, bounded(managed.Err.Error())
	}
	return planner.NewDeclarer(managed.Value, sight.Account.Documented), rules[0], ""
}

// deployedAt is what is known of the deployments of a zone, by their names.
func (v view) deployedAt(t zone.Task, sight zone.Sight) func(string) diff.Deployed {
	return func(name string) diff.Deployed {
		i := slices.IndexFunc(t.Zone().Deployments, func(d desired.Deployment) bool { return d.Name() == name })
		if i < 0 {
			return diff.Deployed{}
		}
		declarer, rule, _ := v.executed(t, sight, t.Zone().Deployments[i])
		if declarer == nil {
			return diff.Deployed{}
		}
		return declarer.Deployed(t.Zone().Scope, name, rule)
	}
}

// otherAsLive is what another kind declares as it is live, or why that is not known.
func (v view) otherAsLive(t zone.Task, sight zone.Sight, o desired.Other) (as desired.Declaring, unknown string) {
	for _, kind := range planner.Declarers(v.deployedAt(t, sight), v.now) {
		if kind.Name() != o.Kind {
			continue
		}
		entry, _ := sight.Places.Of(kind.Phase())
		if !zone.Answered(entry.Err) {
			return nil, notSeen
		}
		if now, live := kind.Redeclare(o, entry.Value); live {
			return now, ""
		}
		return desired.Other{}, "" // nothing is live
	}
	return nil, fmt.Sprintf("what is live of %s cannot be shown beside it", o.Kind.Word())
}
