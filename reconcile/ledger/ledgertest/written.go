package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// writtenSteps are about which zones were written because of the accepted commit.
func writtenSteps() []step {
	commit := func(name string) call { return accept(reconcile.Acceptance{Commit: name}) }
	write := func(zone edge.Scope, change func(*reconcile.Entry)) call {
		e := reconcile.Entry{
			At: noon, Kind: reconcile.EntryWrite, Action: string(diff.ActionUpdate), Trigger: reconcile.TriggerSync, Declaration: "f",
			Asked: reconcile.Asked{Commit: "c1"}, Subject: reconcile.Subject{Zone: "shop-" + zone.String(), Scope: zone, Ruleset: "r"}, Direction: diff.Neutral,
		}
		change(&e)
		return func(ctx context.Context, s Store) error {
			_, err := s.RecordWrite(ctx, e, nil)
			return err
		}
	}
	superseded := func(do call) call {
		return func(ctx context.Context, s Store) error {
			if err := do(ctx, s); !errors.Is(err, reconcile.ErrSuperseded) {
				return fmt.Errorf("a write for another commit: %w", err)
			}
			return nil
		}
	}
	plain := func(*reconcile.Entry) {}
	weakens := func(e *reconcile.Entry) { e.Direction = diff.Weakens }
	written := func(zones map[edge.Scope]bool) reconcile.Record {
		return reconcile.Record{Accepted: accepted("c1"), Written: zones}
	}
	return []step{
		{
			"zones of the accepted commit",
			all(commit("c1"), write(edge.ZoneScope("z1"), plain), write(edge.ZoneScope("z2"), weakens), write(edge.ZoneScope("z2"), plain)),
			written(map[edge.Scope]bool{edge.ZoneScope("z1"): false, edge.ZoneScope("z2"): true}),
		},
		{
			"neither drift, nor what was approved, and nothing for another commit",
			all(
				write(edge.ZoneScope("z0"), plain), commit("c1"), superseded(write(edge.ZoneScope("z3"), func(e *reconcile.Entry) { e.Asked.Commit = "c0" })),
				write(edge.ZoneScope("z1"), func(e *reconcile.Entry) { e.Trigger = reconcile.TriggerSweep }),
				write(edge.ZoneScope("z2"), func(e *reconcile.Entry) { e.Asked.Approver = "max" }),
			),
			written(nil),
		},
		{
			"accepted again they still count", all(commit("c1"), write(edge.ZoneScope("z1"), plain), commit("c1")),
			written(map[edge.Scope]bool{edge.ZoneScope("z1"): false}),
		},
		{
			"after another commit they do not", all(commit("c1"), write(edge.ZoneScope("z1"), plain), commit("c2"), commit("c1")),
			written(nil),
		},
	}
}

// healedSteps are about the drift that a write heals.
func healedSteps() []step {
	drift := func(zone edge.Scope, after time.Duration) reconcile.Drift {
		return reconcile.Drift{Scope: zone, At: noon.Add(after), Weakens: true}
	}
	heal := func(zone edge.Scope, after time.Duration, commit string) call {
		e := reconcile.Entry{
			At: noon, Kind: reconcile.EntryWrite, Action: string(diff.ActionUpdate), Trigger: reconcile.TriggerSweep, Asked: reconcile.Asked{Commit: commit},
			Subject: reconcile.Subject{Zone: "shop-" + zone.String(), Scope: zone, Ruleset: "r"}, Heals: &reconcile.Healing{Drift: drift(zone, after), Before: noon},
		}
		return func(ctx context.Context, s Store) error {
			if _, err := s.RecordWrite(ctx, e, nil); commit == "c1" || !errors.Is(err, reconcile.ErrSuperseded) {
				return err
			}
			return nil
		}
	}
	a, b, c, d := edge.ZoneScope("z1"), edge.ZoneScope("z2"), edge.ZoneScope("z3"), edge.ZoneScope("z4")
	return []step{{
		"it is recorded, those before are dropped, and that of a write which is refused is not",
		all(
			accept(reconcile.Acceptance{Commit: "c1"}), drifted([]reconcile.Drift{drift(c, -1)}, noon.Add(-time.Hour)),
			heal(b, 1, "c1"), heal(a, 0, "c1"), heal(d, 2, "c0"),
		),
		reconcile.Record{Accepted: accepted("c1"), Drifts: []reconcile.Drift{drift(a, 0), drift(b, 1)}},
	}}
}
