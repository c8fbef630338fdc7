package kinds_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// toy is a third kind: rules of a phase, each known by its ref, with an expression. It is all
// that a kind needs that lives in an entry point.
type toy struct {
	name   desired.KindName
	phase  edge.Phase
	action edge.Action
}

// One toy has a phase of its own, and the other shares that of deployments.
const (
	toyName   desired.KindName = "toy"
	toyPhase  edge.Phase       = "http_request_firewall_custom"
	guestName desired.KindName = "guest"
)

var toys = []diff.Kind{toy{toyName, toyPhase, edge.ActionBlock}, toy{guestName, edge.PhaseFirewallManaged, "skip"}}

// toyRule is what a zone declares.
type toyRule struct {
	Expression string `json:"expression"`
	Prune      bool   `json:"-"`
}

func declare(key string, r toyRule) desired.Other { return declareOf(toyName, key, r) }

func declareOf(kind desired.KindName, key string, r toyRule) desired.Other {
	o, _ := desired.NewOther(kind, key, desired.Origin{File: "shop.cue", Line: 9, Column: 2}, map[string]any{"expression": r.Expression, "prune": r.Prune})
	return o
}

// How toys are declared, and the part of the schema that lets them be.
func declareToys() {
	desired.Declarations = append(desired.Declarations,
		desired.Declaration{Kind: toyName, Path: []string{"rules", "toy"}, Members: []string{"expression", "match.hosts", "match.paths"}},
		desired.Declaration{Kind: guestName, Path: []string{"guest"}, Members: []string{"expression", "match.hosts", "match.paths"}})
	schema.Altered = func(name string, text []byte) []byte {
		if name == "rules.cue" {
			for _, definition := range []string{"#Rules: {", "#AccountRules: {"} {
				text = bytes.Replace(text, []byte("\n"+definition+"\n"), []byte("\n"+definition+"\n\ttoy?: [#Key]: #Toy\n"), 1)
			}
			return text
		}
		if name != "desired.cue" {
			return text
		}
		for definition, fields := range map[string]string{"#Zone: {": "guest?: [#Key]: #Toy", "#Account: {": "guest?: [#Key]: #Toy"} {
			text = bytes.Replace(text, []byte("\n"+definition+"\n"), []byte("\n"+definition+"\n\t"+fields+"\n"), 1)
		}
		return append(text, "\n#Toy: {expression!: #Text, match?: {hosts?: [...string], paths?: [...string]}, prune?: bool}\n"...)
	}
}

func (k toy) Name() desired.KindName { return k.name }

// declares reports whether something that a zone declares is of the kind.
func (k toy) declares(o desired.Other) bool { return o.Kind == k.name }

func (k toy) Phases(zone desired.Zone, removable diff.Pruning) []edge.Phase {
	if removable.Of(k.name) || slices.ContainsFunc(zone.Others, k.declares) {
		return []edge.Phase{k.phase}
	}
	return nil
}

func (k toy) Declared(account desired.Account, _ diff.AccountLive) iter.Seq2[diff.ID, bool] {
	return func(yield func(diff.ID, bool) bool) {
		for _, zone := range account.Zones {
			for _, o := range zone.Others {
				if k.declares(o) && !yield(k.idOf(zone.Scope, o.Key), true) {
					return
				}
			}
		}
	}
}

func (k toy) idOf(scope edge.Scope, ref string) diff.ID {
	return diff.ID{Kind: k.name, Scope: scope, Ref: ref}
}

func (k toy) Plan(in diff.Input) (out diff.Part) {
	for _, account := range in.State.Accounts {
		for _, zone := range account.Zones {
			entryPoint, read := in.Live.EntryPoints[zone.Scope.At(k.phase)]
			if !read {
				continue
			}
			declared := map[diff.ID]bool{}
			for _, o := range zone.Others {
				if k.declares(o) {
					declared[k.idOf(zone.Scope, o.Key)] = true
					k.planRule(&out, account, zone, o, entryPoint)
				}
			}
			for id, mark := range in.Prunable {
				if id.Kind == k.name && id.Scope == zone.Scope && !declared[id] {
					k.planRemoval(&out, account, zone, id, mark, entryPoint.Value)
				}
			}
		}
	}
	return out
}

func (k toy) planRule(out *diff.Part, account desired.Account, zone desired.Zone, o desired.Other, entryPoint diff.Observed[edge.Ruleset]) {
	var want toyRule
	if err := json.Unmarshal([]byte(o.Value), &want); err != nil || entryPoint.Err != nil && !errors.Is(entryPoint.Err, edge.ErrEntryPointNotFound) {
		out.Problems = append(out.Problems, diff.Problem{Kind: k.name, Scope: zone.Scope, Account: account.Key, Zone: zone.Key, Deployment: o.Key, State: diff.Unknown, Reason: "it was not read", Err: entryPoint.Err})
		return
	}
	change := k.change(account, zone, o.Key)
	change.Origin = o.Origin
	target := diff.Target{Kind: k.name, Ref: o.Key, Phase: k.phase, EntryPoint: entryPoint.Value.ID, Version: entryPoint.Value.Version, Owned: []diff.Member{"expression"}}
	body := edge.Rule{Ref: o.Key, Action: k.action, Expression: want.Expression}
	if k.action == edge.ActionSkip {
		body.ActionParameters = &edge.ActionParameters{Extra: map[string]json.RawMessage{"ruleset": json.RawMessage(`"current"`)}}
	}
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
		s := diff.Settled{ID: k.idOf(zone.Scope, o.Key), Owned: target.Owned}
		if o.Prune {
			s.Prune = &diff.Prunable{Account: account.Key, Zone: zone.Key, Deployment: o.Key, Rule: entryPoint.Value.Rules[i].ID}
		}
		out.Settled = append(out.Settled, s)
	}
}

func (k toy) planRemoval(out *diff.Part, account desired.Account, zone desired.Zone, id diff.ID, mark diff.Prunable, entryPoint edge.Ruleset) {
	i := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.ID == mark.Rule })
	if i < 0 {
		out.Settled = append(out.Settled, diff.Settled{ID: id, Removed: true})
		return
	}
	change := k.change(account, zone, id.Ref)
	change.Direction = diff.Weakens
	change.Fields = []diff.Field{{Path: "expression", Old: entryPoint.Rules[i].Expression, Direction: diff.Weakens}}
	change.Operation = diff.RuleOperation{Do: diff.ActionRemove, Target: diff.Target{
		Kind: k.name, Ref: id.Ref, Phase: k.phase, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: mark.Rule,
	}}
	out.Changes = append(out.Changes, change)
}

func (k toy) change(account desired.Account, zone desired.Zone, key string) diff.Change {
	return diff.Change{Kind: k.name, Account: account.Key, Zone: zone.Key, Scope: zone.Scope, ZoneOrigin: zone.Origin, Deployment: key}
}

func (k toy) Restore(r diff.Restoration, in diff.Input) (*diff.Change, *diff.Problem) {
	entryPoint := in.Live.EntryPoints[r.ID.Scope.At(k.phase)].Value
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
			Kind: k.name, Ref: r.ID.Ref, Phase: k.phase, EntryPoint: entryPoint.ID, Version: entryPoint.Version, Rule: live.ID,
		}},
	}, nil
}

// Phase, Declare and Redeclare make it a [diff.Declarer].
func (k toy) Phase() edge.Phase { return k.phase }

func (k toy) Declare(entryPoint edge.Ruleset) (all []desired.Other) {
	for _, rule := range entryPoint.Rules {
		if rule.Action == k.action {
			o, _ := desired.NewOther(k.name, rule.Ref, desired.Origin{}, map[string]any{"expression": rule.Expression})
			all = append(all, o)
		}
	}
	return all
}

func (k toy) Redeclare(o desired.Other, entryPoint edge.Ruleset) (desired.Other, bool) {
	i := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.Ref == o.Key })
	if i < 0 {
		return o, false
	}
	values := map[string]any{}
	_ = json.Unmarshal([]byte(o.Value), &values) // it was declared
	values["expression"], values["prune"] = entryPoint.Rules[i].Expression, o.Prune
	now, _ := desired.NewOther(k.name, o.Key, o.Origin, values)
	now.Places = o.Places
	return now, true
}
