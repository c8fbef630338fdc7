package edgetest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

// nowhere has the form of an id and is none.
const nowhere = "deadbeefdeadbeefdeadbeefdeadbeef"

func listHasManaged(t tester) {
	list, err := t.Platform.Rulesets(t.Context(), edge.AccountScope(t.Account))
	t.must(err)
	i := slices.IndexFunc(list, func(r edge.Ruleset) bool { return r.ID == t.Core })
	if i < 0 {
		t.Fatalf("the list has no ruleset %s", t.Core)
	}
	if r := list[i]; r.Kind != edge.KindManaged || r.Phase != edge.PhaseFirewallManaged || r.Name == "" {
		t.Errorf("got kind %q, phase %q, name %q", r.Kind, r.Phase, r.Name)
	}
	version(t, list[i].Version)
}

func listWithoutRules(t tester) {
	list, err := t.Platform.Rulesets(t.Context(), edge.AccountScope(t.Account))
	t.must(err)
	for _, r := range list {
		if r.Rules != nil {
			t.Errorf("ruleset %s comes with rules", r.ID)
		}
	}
}

func lastRuleHasThreshold(t tester) {
	core := t.core()
	last, ok := core.Last()
	if !ok {
		t.Fatal("the managed ruleset has no rules")
	}
	if last.ScoreThreshold == nil || last.Action == "" || !edge.ValidID(string(last.ID)) {
		t.Errorf("got threshold %v, action %q, id %q", last.ScoreThreshold, last.Action, last.ID)
	}
	for _, r := range core.Rules[:len(core.Rules)-1] {
		if r.ScoreThreshold != nil {
			t.Errorf("rule %s has a threshold and is not the last", r.ID)
		}
	}
}

func rulesCarryParanoiaTags(t tester) {
	found := map[string]bool{}
	for _, r := range t.core().Rules {
		for _, tag := range r.Categories {
			found[tag] = true
		}
	}
	for level := 1; level <= edge.MaxParanoia; level++ {
		if tag := edge.ParanoiaTag(level); !found[tag] {
			t.Errorf("no rule has the tag %s", tag)
		}
	}
}

func entryPointDeploys(t tester) {
	entry := t.entryPoint(t.Zone)
	if entry.Kind != edge.KindZone || entry.Phase != edge.PhaseFirewallManaged || !edge.ValidID(string(entry.ID)) {
		t.Errorf("got kind %q, phase %q, id %q", entry.Kind, entry.Phase, entry.ID)
	}
	version(t, entry.Version)
	rule := t.deployment(entry)
	if rule.Expression == "" || !edge.ValidID(string(rule.ID)) {
		t.Errorf("got expression %q, id %q", rule.Expression, rule.ID)
	}
}

func bareZone(t tester) {
	_, err := t.Platform.EntryPoint(t.Context(), t.Bare, edge.PhaseFirewallManaged)
	t.wantIs(err, edge.ErrEntryPointNotFound, edge.ErrUnreadable, edge.ErrUnavailable, edge.ErrNotOffered, edge.ErrForbidden)
	var described *edge.Error
	if !errors.As(err, &described) {
		t.Errorf("the error carries no status and code: %v", err)
	}
}

func unknownIDs(t tester) {
	_, err := t.Platform.Rulesets(t.Context(), edge.AccountScope(nowhere))
	t.wantIs(err, edge.ErrNotFound, edge.ErrEntryPointNotFound)
	_, err = t.Platform.Ruleset(t.Context(), edge.AccountScope(t.Account), nowhere)
	t.wantIs(err, edge.ErrNotFound, edge.ErrEntryPointNotFound)
	_, err = t.Platform.Ruleset(t.Context(), edge.AccountScope(nowhere), t.Core)
	t.wantIs(err, edge.ErrNotFound, edge.ErrEntryPointNotFound)
	// A zone that does not exist is not a zone in which nothing is deployed.
	_, err = t.Platform.EntryPoint(t.Context(), edge.ZoneScope(nowhere), edge.PhaseFirewallManaged)
	t.wantIs(err, edge.ErrNotFound, edge.ErrEntryPointNotFound)
}

func answersAreCopies(t tester) {
	before := t.entryPoint(t.Zone)
	scribbled := t.entryPoint(t.Zone)
	rule := t.deployment(scribbled)
	rule.ActionParameters.ID = nowhere
	scribbled.Rules[0].Expression = "false"
	clear(scribbled.Rules)
	t.same("the entry point", before, t.entryPoint(t.Zone))
}

func canceledContext(t tester) {
	ctx := t.ended()
	_, listErr := t.Platform.Rulesets(ctx, edge.AccountScope(t.Account))
	_, rulesetErr := t.Platform.Ruleset(ctx, edge.AccountScope(t.Account), t.Core)
	_, entryErr := t.Platform.EntryPoint(ctx, t.Zone, edge.PhaseFirewallManaged)
	for _, err := range []error{listErr, rulesetErr, entryErr} {
		t.wantIs(err, context.Canceled, edge.ErrUnavailable)
	}
	entry := t.entryPoint(t.Zone)
	rule := t.deployment(entry)
	_, err := t.Platform.Send(ctx, edge.UpdateRule(t.Zone, entry.ID, rule.ID, rule.Update()))
	t.wantIs(err, context.Canceled)
	t.same("the entry point", entry, t.entryPoint(t.Zone))
}

func concurrentReaders(t tester) {
	zones := map[edge.Scope]edge.Ruleset{t.Zone: t.entryPoint(t.Zone), t.Other: t.entryPoint(t.Other)}
	var wg sync.WaitGroup
	for range 8 {
		for zone, want := range zones {
			wg.Go(func() {
				got, err := t.patiently(zone)
				if err != nil {
					t.Error(err)
					return
				}
				t.same("the entry point", want, got)
			})
		}
	}
	wg.Wait()
}
