package kinds_test

import (
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// toy is a third kind: rules of another phase, each known by its ref, with an expression. It is
// all that a kind needs that lives in an entry point.
type toy struct{}

const (
	toyName  diff.KindName = "toy"
	toyPhase edge.Phase    = "http_request_firewall_custom"
)

// toyRule is what a zone declares.
type toyRule struct {
	Expression string `json:"expression"`
	Prune      bool   `json:"-"`
}

func declare(key string, r toyRule) desired.Other {
	value, _ := json.Marshal(r) // a text and a boolean
	return desired.Other{Kind: string(toyName), Key: key, Origin: desired.Origin{File: "shop.cue", Line: 9, Column: 2}, Prune: r.Prune, Value: string(value)}
}

func (toy) Name() diff.KindName { return toyName }

func (toy) Phases(zone desired.Zone, removable diff.Pruning) []edge.Phase {
	for id := range removable {
		if id.Kind == toyName {
			return []edge.Phase{toyPhase}
		}
	}
	if slices.ContainsFunc(zone.Others, func(o desired.Other) bool { return o.Kind == string(toyName) }) {
		return []edge.Phase{toyPhase}
	}
	return nil
}

func (toy) Declared(account desired.Account, _ diff.AccountLive) iter.Seq2[diff.ID, bool] {
	return func(yield func(diff.ID, bool) bool) {
		for _, zone := range account.Zones {
			for _, o := range zone.Others {
				if o.Kind == string(toyName) && !yield(idOf(zone.Scope, o.Key), true) {
					return
				}
			}
		}
	}
}

func idOf(scope edge.Scope, ref string) diff.ID {
	return diff.ID{Kind: toyName, Scope: scope, Ref: ref}
}

func (k toy) Plan(in diff.Input) (out diff.Part) {
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			entryPoint, read := in.Live.EntryPoints[zone.Scope.At(toyPhase)]
			if !read {
				continue
			}
			declared := map[diff.ID]bool{}
			for _, o := range zone.Others {
				if o.Kind == string(toyName) {
					declared[idOf(zone.Scope, o.Key)] = true
					k.planRule(&out, account, zone, o, entryPoint)
				}
			}
			for id, mark := range in.Prunable {
				if id.Kind == toyName && id.Scope == zone.Scope && !declared[id] {
					k.planRemoval(&out, account, zone, id, mark, entryPoint.Value)
				}
			}
		}
	}
	return out
}

func (toy) planRule(out *diff.Part, account desired.Account, zone desired.Zone, o desired.Other, entryPoint diff.Observed[edge.Ruleset]) {
	var want toyRule
	if err := json.Unmarshal([]byte(o.Value), &want); err != nil || entryPoint.Err != nil && !errors.Is(entryPoint.Err, edge.ErrEntryPointNotFound) {
		out.Problems = append(out.Problems, diff.Problem{Kind: toyName, Scope: zone.Scope, Account: account.Key, Zone: zone.Key, Deployment: o.Key, State: diff.Unknown, Reason: "it was not read", Err: entryPoint.Err})
		return
	}
	change := change(account, zone, o.Key)
	change.Origin = o.Origin
	target := diff.Target{Kind: toyName, Ref: o.Key, Phase: toyPhase, EntryPoint: entryPoint.Value.ID, Version: entryPoint.Value.Version, Owned: []diff.Member{"expression"}}
	body := edge.Rule{Ref: o.Key, Action: edge.ActionBlock, Expression: want.Expression}
	i := slices.IndexFunc(entryPoint.Value.Rules, func(r edge.Rule) bool { return r.Ref == o.Key })
	switch {
	case i < 0:
		change.Direction = diff.Strengthens
		change.Fields = []diff.Field{{Path: "expression", New: want.Expression, Direction: diff.Strengthens}}
		change.Operation = diff.RuleOperation{Do: diff.ActionDeploy, Target: target, Body: body}
		out.Changes = append(out.Changes, change)
	case entryPoint.Value.Rules[i].Expression != want.Expression:
		live := entryPoint.Value.Rules[i]
		target.Rule, body = live.ID, live.Update()
		body.Expression, change.Direction = want.Expression, diff.Weakens
		change.Fields = []diff.Field{{Path: "expression", Old: live.Expression, New: want.Expression, Direction: diff.Weakens}}
		change.Operation = diff.RuleOperation{Do: diff.ActionUpdate, Target: target, Body: body}
		out.Changes = append(out.Changes, change)
	default:
		s := diff.Settled{ID: idOf(zone.Scope, o.Key), Owned: target.Owned}
		if o.Prune {
			s.Prune = &diff.Prunable{Account: account.Key, Zone: zone.Key, Deployment: o.Key, Rule: entryPoint.Value.Rules[i].ID}
		}
		out.Settled = append(out.Settled, s)
	}
}

func (toy) planRemoval(out *diff.Part, account desired.Account, zone desired.Zone, id diff.ID, mark diff.Prunable, entryPoint edge.Ruleset) {
	i := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.ID == mark.Rule })
	if i < 0 {
		out.Settled = append(out.Settled, diff.Settled{ID: id, Removed: true})
		return
	}
	change := change(account, zone, id.Ref)
	change.Direction = diff.Weakens
	change.Fields = []diff.Field{{Path: "expression", Old: entryPoint.Rules[i].Expression, Direction: diff.Weakens}}
	change.Operation = diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
		Kind: toyName, Ref: id.Ref, Phase: toyPhase, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: mark.Rule,
	}}
	out.Changes = append(out.Changes, change)
}

func change(account desired.Account, zone desired.Zone, key string) diff.Change {
	return diff.Change{Kind: toyName, Account: account.Key, Zone: zone.Key, Scope: zone.Scope, ZoneOrigin: zone.Origin, Deployment: key}
}

func (toy) Restore(r diff.Restoration, in diff.Input) (*diff.Change, *diff.Problem) {
	entryPoint := in.Live.EntryPoints[r.ID.Scope.At(toyPhase)].Value
	i := slices.IndexFunc(entryPoint.Rules, func(rule edge.Rule) bool { return rule.Ref == r.ID.Ref })
	if i < 0 {
		return nil, &diff.Problem{State: diff.ChangedSince, Reason: "the rule is gone"}
	}
	live := entryPoint.Rules[i]
	body := live.Update()
	for _, member := range r.Members {
		if err := json.Unmarshal(member.Before, &body.Expression); err != nil {
			return nil, &diff.Problem{State: diff.Blocked, Reason: err.Error()}
		}
	}
	if body.Expression == live.Expression {
		return nil, nil
	}
	return &diff.Change{
		Direction: diff.Weakens, Fields: []diff.Field{{Path: "expression", Old: live.Expression, New: body.Expression, Direction: diff.Weakens}},
		Operation: diff.RuleOperation{Do: diff.ActionUpdate, Body: body, Target: diff.Target{
			Kind: toyName, Ref: r.ID.Ref, Phase: toyPhase, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: live.ID,
		}},
	}, nil
}
