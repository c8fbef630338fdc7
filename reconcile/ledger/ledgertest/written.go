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
	accept := func(ctx context.Context, s Store, commit string) error {
		return s.AcceptCommit(ctx, reconcile.Acceptance{Commit: commit})
	}
	write := func(ctx context.Context, s Store, zone edge.Scope, change func(*reconcile.Entry)) error {
		e := reconcile.Entry{
			At: noon, Kind: reconcile.EntryWrite, Action: string(diff.ActionUpdate), Trigger: reconcile.TriggerSync, Declaration: "f",
			Asked: reconcile.Asked{Commit: "c1"}, Subject: reconcile.Subject{Zone: "shop-" + zone.String(), Scope: zone, Ruleset: "r"}, Direction: diff.Neutral,
		}
		change(&e)
		_, err := s.RecordWrite(ctx, e, nil)
		return err
	}
	plain := func(*reconcile.Entry) {}
	weakens := func(e *reconcile.Entry) { e.Direction = diff.Weakens }
	written := func(zones map[edge.Scope]bool) reconcile.Record {
		return reconcile.Record{Accepted: accepted("c1"), Written: zones}
	}
	return []step{
		{
			"zones of the accepted commit", func(ctx context.Context, s Store) error {
				return errors.Join(accept(ctx, s, "c1"), write(ctx, s, edge.ZoneScope("z1"), plain), write(ctx, s, edge.ZoneScope("z2"), weakens), write(ctx, s, edge.ZoneScope("z2"), plain))
			},
			written(map[edge.Scope]bool{edge.ZoneScope("z1"): false, edge.ZoneScope("z2"): true}),
		},
		{
			"neither drift, nor what was approved, and nothing for another commit", func(ctx context.Context, s Store) error {
				err := write(ctx, s, edge.ZoneScope("z0"), plain)
				if err = errors.Join(err, accept(ctx, s, "c1")); err != nil {
					return err
				}
				if err := write(ctx, s, edge.ZoneScope("z3"), func(e *reconcile.Entry) { e.Asked.Commit = "c0" }); !errors.Is(err, reconcile.ErrSuperseded) {
					return fmt.Errorf("a write for another commit: %w", err)
				}
				return errors.Join(
					write(ctx, s, edge.ZoneScope("z1"), func(e *reconcile.Entry) { e.Trigger = reconcile.TriggerSweep }),
					write(ctx, s, edge.ZoneScope("z2"), func(e *reconcile.Entry) { e.Asked.Approver = "max" }))
			},
			written(nil),
		},
		{
			"accepted again they still count", func(ctx context.Context, s Store) error {
				return errors.Join(accept(ctx, s, "c1"), write(ctx, s, edge.ZoneScope("z1"), plain), accept(ctx, s, "c1"))
			},
			written(map[edge.Scope]bool{edge.ZoneScope("z1"): false}),
		},
		{
			"after another commit they do not", func(ctx context.Context, s Store) error {
				return errors.Join(accept(ctx, s, "c1"), write(ctx, s, edge.ZoneScope("z1"), plain), accept(ctx, s, "c2"), accept(ctx, s, "c1"))
			},
			written(nil),
		},
	}
}
