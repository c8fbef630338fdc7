package ledgertest

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// writtenSteps are about which zones were written because of the accepted commit.
func writtenSteps() []step {
	commit := func(name string) call { return accept(reconcile.Acceptance{Commit: name}) }
	write := func(zone edge.ZoneID, change func(*reconcile.Entry)) call {
		e := reconcile.Entry{
			At: noon, Kind: reconcile.EntryWrite, Action: string(diff.ActionUpdate), Trigger: reconcile.TriggerSync, Declaration: "f",
			Asked: reconcile.Asked{Commit: "c1"}, Subject: reconcile.Subject{Zone: "shop-" + string(zone), ZoneID: zone, Ruleset: "r"}, Direction: diff.Neutral,
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
	written := func(zones map[edge.ZoneID]bool) reconcile.Record {
		return reconcile.Record{Accepted: accepted("c1"), Written: zones}
	}
	return []step{
		{
			"zones of the accepted commit",
			all(commit("c1"), write("z1", plain), write("z2", weakens), write("z2", plain)),
			written(map[edge.ZoneID]bool{"z1": false, "z2": true}),
		},
		{
			"neither drift, nor what was approved, and nothing for another commit",
			all(
				write("z0", plain), commit("c1"), superseded(write("z3", func(e *reconcile.Entry) { e.Asked.Commit = "c0" })),
				write("z1", func(e *reconcile.Entry) { e.Trigger = reconcile.TriggerSweep }),
				write("z2", func(e *reconcile.Entry) { e.Asked.Approver = "max" }),
			),
			written(nil),
		},
		{
			"accepted again they still count", all(commit("c1"), write("z1", plain), commit("c1")),
			written(map[edge.ZoneID]bool{"z1": false}),
		},
		{
			"after another commit they do not", all(commit("c1"), write("z1", plain), commit("c2"), commit("c1")),
			written(nil),
		},
	}
}
