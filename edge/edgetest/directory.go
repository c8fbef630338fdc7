package edgetest

import (
	"context"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

func zoneListsRulesets(t tester) {
	list, err := t.Platform.Rulesets(t.Context(), t.Zone)
	t.must(err)
	entry := t.entryPoint(t.Zone)
	found := map[edge.RulesetID]edge.Kind{}
	for _, r := range list {
		found[r.ID] = r.Kind
		if r.Rules != nil {
			t.Errorf("ruleset %s comes with rules", r.ID)
		}
	}
	if found[entry.ID] != edge.KindZone || found[t.Core] != edge.KindManaged {
		t.Errorf("the list has %v", found)
	}
	other := t.entryPoint(t.Other)
	if _, ok := found[other.ID]; ok {
		t.Error("the list has the entry point of another zone")
	}
	for id, want := range map[edge.RulesetID][]edge.Rule{t.Core: t.core().Rules, entry.ID: entry.Rules} {
		got, err := t.Platform.Ruleset(t.Context(), t.Zone, id)
		t.must(err)
		t.same("the rules", want, got.Rules)
	}
	for _, id := range []edge.RulesetID{nowhere, other.ID} {
		_, err = t.Platform.Ruleset(t.Context(), t.Zone, id)
		t.wantIs(err, edge.ErrNotFound, edge.ErrNotOffered)
	}
	_, err = t.Platform.Rulesets(t.Context(), edge.ZoneScope(nowhere))
	t.wantIs(err, edge.ErrNotFound, edge.ErrNotOffered)
}

// What an execute rule with a pinned version runs can be read.
func pastVersionsAreReadable(t tester) {
	core := t.core()
	for name, read := range map[string]func() (edge.Ruleset, error){
		"by account": func() (edge.Ruleset, error) {
			return t.Platform.RulesetVersion(t.Context(), edge.AccountScope(t.Account), t.Core, core.Version)
		},
		"by zone": func() (edge.Ruleset, error) {
			return t.Platform.RulesetVersion(t.Context(), t.Zone, t.Core, core.Version)
		},
	} {
		got, err := read()
		t.must(err)
		t.same("the version "+name, core, got)
	}
	before := t.entryPoint(t.Zone)
	t.override(&edge.Overrides{Categories: paranoia(2)})
	got, err := t.Platform.RulesetVersion(t.Context(), t.Zone, before.ID, before.Version)
	t.must(err)
	t.same("the version before", before, got)
	_, err = t.Platform.RulesetVersion(t.Context(), edge.AccountScope(t.Account), t.Core, "4096")
	t.wantIs(err, edge.ErrNotFound, edge.ErrNotOffered)
	_, err = t.Platform.RulesetVersion(t.Context(), edge.AccountScope(t.Account), nowhere, "1")
	t.wantIs(err, edge.ErrNotFound, edge.ErrNotOffered)
}

func zonesAreFound(t tester) {
	all, err := t.Platform.Zones(t.Context(), edge.ZoneFilter{})
	t.must(err)
	for _, id := range []edge.Scope{t.Zone, t.Other, t.Bare} {
		i := slices.IndexFunc(all, func(z edge.Zone) bool { return edge.ZoneScope(z.ID) == id })
		if i < 0 {
			t.Fatalf("the list has no zone %s", id)
		}
		z := all[i]
		if z.Name == "" || z.Status == "" || z.Account.ID != t.Account {
			t.Errorf("got %+v", z)
		}
		one, err := t.Platform.Zone(t.Context(), edge.ZoneID(id.ID))
		t.must(err)
		t.same("the zone", z, one)
		named, err := t.Platform.Zones(t.Context(), edge.ZoneFilter{Name: z.Name, Account: t.Account})
		t.must(err)
		t.same("the zones of that name", []edge.Zone{z}, named)
	}
	for _, filter := range []edge.ZoneFilter{{Name: "nothing.example"}, {Account: nowhere}, {Name: all[0].Name, Account: nowhere}} {
		none, err := t.Platform.Zones(t.Context(), filter)
		t.must(err)
		if none == nil || len(none) > 0 {
			t.Errorf("%+v: got %v", filter, none)
		}
	}
	_, err = t.Platform.Zone(t.Context(), nowhere)
	t.wantIs(err, edge.ErrNotFound, edge.ErrNotOffered)
}

func accountsAreFound(t tester) {
	all, err := t.Platform.Accounts(t.Context())
	t.must(err)
	if !slices.ContainsFunc(all, func(a edge.Account) bool { return a.ID == t.Account }) {
		t.Errorf("the list has no account %s: %v", t.Account, all)
	}
}

func beyondCallsEndWithContext(t tester) {
	before := t.entryPoint(t.Zone)
	for _, call := range beyondCalls(t.ended(), t, before) {
		t.wantIs(call(), context.Canceled, edge.ErrOutcomeUnknown)
	}
	t.same("the entry point", before, t.entryPoint(t.Zone))
}

// A write that the caller holds back is not sent.
func deploymentHeldBack(t tester) {
	before, mine := t.entryPoint(t.Zone), errors.New("the record could not be written")
	ctx := edge.BeforeSend(t.Context(), func() error { return mine })
	for _, write := range beyondWrites(t, before) {
		_, err := t.Platform.Send(ctx, write)
		t.wantIs(err, mine, edge.ErrOutcomeUnknown, edge.ErrUnavailable, edge.ErrThrottled)
	}
	t.same("the entry point", before, t.entryPoint(t.Zone))
}

func wrongCredentialDeploysNothing(t tester) {
	before := t.entryPoint(t.Zone)
	refused := t
	refused.Platform = t.Denied
	for name, call := range beyondCalls(t.Context(), refused, before) {
		t.Logf("%s", name)
		t.wantIs(patient(call), edge.ErrUnauthenticated, edge.ErrNotFound, edge.ErrNotOffered, edge.ErrOutcomeUnknown)
	}
	t.same("the entry point", before, t.entryPoint(t.Zone))
}
