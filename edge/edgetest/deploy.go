package edgetest

import (
	"context"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// beyond is a case for platforms that offer more of rulesets and zones than the
// reference shows. Another platform must say of each call that it does not offer
// it, and nothing else.
func beyond(run func(tester)) func(tester) {
	return func(t tester) {
		if t.Extended {
			run(t)
			return
		}
		entry := t.entryPoint(t.Zone)
		for name, call := range beyondCalls(t.Context(), t, entry) {
			t.Logf("%s", name)
			t.wantIs(patient(call), edge.ErrNotOffered, edge.ErrNotFound, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrUnreadable, edge.ErrInvalid)
		}
		t.same("the entry point", entry, t.entryPoint(t.Zone))
	}
}

// patient makes a call until it fails for a reason that does not pass, or works.
func patient(call func() error) (err error) {
	for range maxUpdates {
		if err = call(); err == nil || errors.Is(err, edge.ErrNotOffered) || !passes(err) {
			return err
		}
	}
	return err
}

// beyondCalls are all calls beyond the reference, about Zone, whose entry point
// this is.
func beyondCalls(ctx context.Context, t tester, entry edge.Ruleset) map[string]func() error {
	p, account, rule, id := t.Platform, edge.AccountScope(t.Account), t.body(entry), t.deployment(entry).ID
	calls := map[string]func() error{
		"rulesets of a zone":       func() error { _, err := p.Rulesets(ctx, t.Zone); return err },
		"a zone's ruleset":         func() error { _, err := p.Ruleset(ctx, t.Zone, t.Core); return err },
		"version, by account":      func() error { _, err := p.RulesetVersion(ctx, account, t.Core, "1"); return err },
		"version, by zone":         func() error { _, err := p.RulesetVersion(ctx, t.Zone, t.Core, "1"); return err },
		"an account's entry point": func() error { _, err := p.EntryPoint(ctx, account, edge.PhaseFirewallManaged); return err },
		"zones":                    func() error { _, err := p.Zones(ctx, edge.ZoneFilter{}); return err },
		"zone":                     func() error { _, err := p.Zone(ctx, edge.ZoneID(t.Zone.ID)); return err },
		"accounts":                 func() error { _, err := p.Accounts(ctx); return err },
		"try to update":            func() error { return p.Try(ctx, edge.UpdateRule(t.Zone, entry.ID, id, rule)) },
	}
	for name, write := range beyondWrites(t, entry) {
		calls[name] = func() error { _, err := p.Send(ctx, write); return err }
		if write.Call != edge.CallDeleteRule {
			calls["try to "+name] = func() error { return p.Try(ctx, write) }
		}
	}
	return calls
}

func beyondWrites(t tester, entry edge.Ruleset) map[string]edge.Write {
	rule := t.body(entry)
	return map[string]edge.Write{
		"create": edge.CreateEntryPoint(t.Zone, edge.PhaseFirewallManaged, rule),
		"add":    edge.AddRule(t.Zone, entry.ID, rule),
		"delete": edge.DeleteRule(t.Zone, entry.ID, t.deployment(entry).ID),
	}
}

// execute is a rule that deploys a ruleset.
func execute(id edge.RulesetID) edge.Rule {
	return edge.Rule{
		Action: edge.ActionExecute, ActionParameters: &edge.ActionParameters{ID: id, Version: "latest"}, Expression: "true",
		Description: new("made by the suite"), Enabled: new(true),
	}
}

func (t tester) createEntryPoint(zone edge.Scope, rules ...edge.Rule) error {
	t.Helper()
	_, err := t.send(edge.CreateEntryPoint(zone, edge.PhaseFirewallManaged, rules...))
	return err
}

func (t tester) deleteRule(zone edge.Scope, entry edge.Ruleset, id edge.RuleID) error {
	t.Helper()
	_, err := t.send(edge.DeleteRule(zone, entry.ID, id))
	return err
}

// another is a managed ruleset that Zone does not deploy.
func another(t tester) edge.RulesetID {
	t.Helper()
	list, err := t.Platform.Rulesets(t.Context(), edge.AccountScope(t.Account))
	t.must(err)
	i := slices.IndexFunc(list, func(r edge.Ruleset) bool { return r.Kind == edge.KindManaged && r.ID != t.Core })
	if i < 0 {
		t.Fatal("the account has one managed ruleset only")
	}
	return list[i].ID
}

func bareZoneGetsEntryPoint(t tester) {
	t.must(t.createEntryPoint(t.Bare, execute(t.Core)))
	entry := t.entryPoint(t.Bare)
	if entry.Kind != edge.KindZone || entry.Phase != edge.PhaseFirewallManaged || len(entry.Rules) != 1 || !edge.ValidID(string(entry.ID)) {
		t.Fatalf("got %+v", entry)
	}
	rule := t.deployment(entry)
	if rule.Expression != "true" || !rule.IsEnabled() || !edge.ValidID(string(rule.ID)) {
		t.Errorf("got %+v", rule)
	}
	version(t, entry.Version)
}

// To create never means to overwrite.
func entryPointIsNotOverwritten(t tester) {
	before := t.entryPoint(t.Zone)
	for range 2 {
		err := t.createEntryPoint(t.Zone, execute(another(t)))
		t.wantIs(err, edge.ErrEntryPointExists, edge.ErrInvalid, edge.ErrNotFound, edge.ErrOutcomeUnknown)
		t.same("the entry point", before, t.entryPoint(t.Zone))
	}
}

func ruleIsAdded(t tester) {
	before := t.entryPoint(t.Zone)
	other := another(t)
	answer, err := t.send(edge.AddRule(t.Zone, before.ID, execute(other)))
	t.must(err)
	after := t.entryPoint(t.Zone)
	if len(after.Rules) != len(before.Rules)+1 || version(t, after.Version) != version(t, before.Version)+1 {
		t.Fatalf("%d rules of version %s became %d of %s", len(before.Rules), before.Version, len(after.Rules), after.Version)
	}
	t.same("the rules that there were", before.Rules, after.Rules[:len(before.Rules)])
	added := after.Rules[len(before.Rules)]
	if !added.Executes(other) || !edge.ValidID(string(added.ID)) || added.Expression != "true" {
		t.Errorf("got %+v", added)
	}
	if answer != nil {
		t.same("the answer", after, *answer)
	}
}

func ruleIsDeleted(t tester) {
	before := t.entryPoint(t.Zone)
	_, err := t.send(edge.AddRule(t.Zone, before.ID, execute(another(t))))
	t.must(err)
	both := t.entryPoint(t.Zone)
	added := both.Rules[len(both.Rules)-1]
	t.must(t.deleteRule(t.Zone, both, added.ID))
	after := t.entryPoint(t.Zone)
	t.same("the rules", before.Rules, after.Rules)
	t.wantIs(t.deleteRule(t.Zone, after, added.ID), edge.ErrNotFound, edge.ErrNotOffered, edge.ErrEntryPointNotFound)
	t.same("the entry point", after, t.entryPoint(t.Zone))
}

func lastRuleLeavesEntryPoint(t tester) {
	entry := t.entryPoint(t.Zone)
	for _, rule := range entry.Rules {
		t.must(t.deleteRule(t.Zone, t.entryPoint(t.Zone), rule.ID))
	}
	if after := t.entryPoint(t.Zone); len(after.Rules) != 0 || after.ID != entry.ID {
		t.Errorf("got %+v", after)
	}
	_, err := t.send(edge.AddRule(t.Zone, entry.ID, execute(t.Core)))
	t.must(err)
	t.deployment(t.entryPoint(t.Zone))
}

// invalidRules are spoiled as the bodies of updates are, and a merging server has
// nothing to take what is left out from.
func invalidRules(t tester) {
	for _, s := range spoiled {
		t.Log(s.name)
		before := t.entryPoint(t.Zone)
		rule := execute(another(t))
		s.spoil(&rule)
		_, addErr := t.send(edge.AddRule(t.Zone, before.ID, rule))
		createErr := t.createEntryPoint(t.Bare, rule)
		tryErr := t.try(edge.AddRule(t.Zone, before.ID, rule))
		for _, err := range []error{addErr, createErr, tryErr} {
			t.wantIs(err, edge.ErrInvalid, edge.ErrNotFound, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrEntryPointExists)
		}
		t.same("the entry point", before, t.entryPoint(t.Zone))
		bareZone(t)
	}
}

func deploysElsewhere(t tester) {
	here, there := t.entryPoint(t.Zone), t.entryPoint(t.Other)
	_, addErr := t.send(edge.AddRule(t.Zone, there.ID, execute(another(t))))
	_, bareErr := t.send(edge.AddRule(t.Bare, here.ID, execute(another(t))))
	for _, err := range []error{addErr, bareErr, t.deleteRule(t.Zone, there, there.Rules[0].ID), t.deleteRule(t.Zone, here, there.Rules[0].ID)} {
		t.wantIs(err, edge.ErrNotFound, edge.ErrInvalid, edge.ErrNotOffered)
	}
	t.wantIs(t.createEntryPoint(edge.ZoneScope(nowhere), execute(t.Core)), edge.ErrNotFound, edge.ErrNotOffered)
	t.same("the entry point", here, t.entryPoint(t.Zone))
	t.same("the entry point of the other zone", there, t.entryPoint(t.Other))
}

func dryRunWritesNothing(t tester) {
	before := t.entryPoint(t.Zone)
	body := t.body(before)
	body.ActionParameters.Overrides = &edge.Overrides{Categories: paranoia(2)}
	for _, write := range []edge.Write{
		edge.UpdateRule(t.Zone, before.ID, t.deployment(before).ID, body),
		edge.AddRule(t.Zone, before.ID, execute(another(t))),
		edge.CreateEntryPoint(t.Bare, edge.PhaseFirewallManaged, execute(t.Core)),
	} {
		if err := t.try(write); err != nil && !passes(err) {
			t.Errorf("%s: %v", write, err)
		}
	}
	t.same("the entry point", before, t.entryPoint(t.Zone))
	bareZone(t)
}

func dryRunRefuses(t tester) {
	before := t.entryPoint(t.Zone)
	blank := t.body(before)
	blank.Expression = " "
	id := t.deployment(before).ID
	t.wantIs(t.try(edge.UpdateRule(t.Zone, before.ID, id, blank)), edge.ErrInvalid, edge.ErrNotDry)
	t.wantIs(t.try(edge.UpdateRule(t.Zone, before.ID, nowhere, t.body(before))), edge.ErrNotFound)
	t.wantIs(t.try(edge.CreateEntryPoint(t.Zone, edge.PhaseFirewallManaged)), edge.ErrEntryPointExists, edge.ErrInvalid)
	t.wantIs(t.try(edge.CreateEntryPoint(edge.ZoneScope(nowhere), edge.PhaseFirewallManaged)), edge.ErrNotFound)
	t.same("the entry point", before, t.entryPoint(t.Zone))
}
