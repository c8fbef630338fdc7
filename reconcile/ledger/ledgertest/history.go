package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// testRecordWrite: what a deployment is about to own goes with the entry of the write, or
// neither of them.
func testRecordWrite(t *testing.T, f Fixture) {
	ctx := t.Context()
	write := reconcile.Entry{Kind: reconcile.EntryWrite, Action: "update", Subject: reconcile.Subject{Zone: "shop", Scope: first.Scope, Ruleset: first.Ruleset}}
	number, err := f.Store.RecordWrite(ctx, write, owns(first, "a"))
	must(t, err)
	_, err = f.Store.RecordWrite(ctx, write, owns(first, "b"))
	must(t, err)
	_, err = f.Store.RecordWrite(ctx, write, nil)
	must(t, err)
	result := reconcile.Entry{
		Kind: reconcile.EntryResult, Action: reconcile.ActionConclude, Subject: write.Subject,
		Result: &reconcile.WriteResult{Write: number, Outcome: reconcile.Converged, Version: "2"},
	}
	must(t, f.Store.Prove(ctx, "c1", nil, nil, result))
	must(t, f.Store.Record(ctx))
	must(t, f.Store.Record(ctx, reconcile.Entry{Kind: reconcile.EntryDecision, Action: reconcile.ActionRevert, Reason: "x"}))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := f.Store.RecordWrite(ended, write, owns(second, "a")); !errors.Is(err, context.Canceled) {
		t.Errorf("a write after its context has ended: %v", err)
	}
	check := func(s Store) {
		t.Helper()
		record, err := s.Restore(ctx)
		must(t, err)
		same(t, "owned", diff.Applied{first: {"a", "b"}}, record.Applied)
		kept, keeps := s.(reconcile.History)
		if !keeps {
			return
		}
		var got []string
		_, err = kept.History(ctx, reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
			if e.Number < number { // of how the store was made ready
				return nil
			}
			text := fmt.Sprint(e.Number-number, " ", e.Kind, " ", e.Action, " ", e.Subject.Zone)
			if e.Result != nil {
				text += fmt.Sprint(" ", e.Result.Outcome, " ", e.Result.Version)
			}
			got = append(got, text)
			return nil
		})
		must(t, err)
		want := []string{"0 write update shop converged 2", "1 write update shop", "2 write update shop", "4 decision revert "}
		if !slices.Equal(got, want) {
			t.Errorf("the history is %q, want %q", got, want)
		}
	}
	check(f.Store)
	if f.Beside != nil {
		check(f.Beside(t))
	}
	if f.Reopen != nil {
		check(f.Reopen(t).Store)
	}
}

// testHoldsOfReverts: a hold that a revert sets lasts over commits that declare its zone the
// same, and ends with the first that does not.
func testHoldsOfReverts(t *testing.T, f Fixture) {
	reverts, sets := f.Store.(reconcile.Reverts)
	if !sets {
		t.Skip("it sets none")
	}
	ctx := t.Context()
	must(t, f.Store.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}))
	hold := diff.Hold{Zone: "shop", Scope: first.Scope, Declaration: "d1", Commit: "c1", Reason: "x"}
	_, err := reverts.RecordRevert(ctx, hold, reconcile.Entry{Kind: reconcile.EntryWrite, Asked: reconcile.Asked{Commit: "c1"}}, owns(first, "a"))
	must(t, err)
	want := func(holds ...diff.Hold) {
		t.Helper()
		if f.Reopen != nil {
			f = f.Reopen(t)
		}
		standing, err := f.Store.Standing(ctx)
		must(t, err)
		same(t, "holds", holds, standing.Holds)
	}
	declared := func(fingerprint string) func(edge.Scope) string {
		return func(edge.Scope) string { return fingerprint }
	}
	want(hold)
	must(t, f.Store.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c2", Declared: declared("d1")}))
	want(hold)
	must(t, f.Store.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c3", Declared: declared("")}))
	want()
}

// testSkipRules: of all zones, the skip rules that came and are not gone, each by its newest entry.
func testSkipRules(t *testing.T, f Fixture) {
	if _, keeps := f.Store.(reconcile.History); !keeps {
		return
	}
	ctx := t.Context()
	rule := func(zone, id, expression string) *diff.Bypass {
		return &diff.Bypass{
			Zone: zone, Scope: edge.ZoneScope(edge.ZoneID(zone)), Deployment: "core", Level: edge.LevelZone, Phase: edge.PhaseFirewallManaged,
			Rule: edge.RuleID(id), Expression: expression, All: true, State: diff.BypassNew,
		}
	}
	wider := rule("z2", "r2", "true")
	must(t, f.Store.Record(ctx,
		reconcile.SkipRuleEntry(nil, rule("z1", "r1", "true")),
		reconcile.SkipRuleEntry(nil, rule("z2", "r1", "true")),
		reconcile.SkipRuleEntry(nil, rule("z2", "r2", "1 eq 1")),
		reconcile.Entry{Kind: reconcile.EntryFound, Action: reconcile.ActionChanged, Subject: reconcile.Subject{Zone: "z1", Scope: first.Scope, Ruleset: first.Ruleset}},
		reconcile.SkipRuleEntry(rule("z1", "r1", "true"), nil),
		reconcile.SkipRuleEntry(rule("z2", "r2", "1 eq 1"), wider),
	))
	entries, err := f.Store.SkipRules(ctx)
	must(t, err)
	var got []string
	for _, e := range entries {
		b, there := e.SkipRule()
		got = append(got, fmt.Sprint(e.Subject.Scope.ID, " ", b.Rule, " ", b.Expression, " ", there))
	}
	if want := []string{"z2 r2 true true", "z2 r1 true true"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
