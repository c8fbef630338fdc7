package decisions

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Stop implements [reconcile.Reverts].
func (d *Decisions) Stop(ctx context.Context, commit string, holds []diff.Hold, ends func(reconcile.Approval) bool, order reconcile.Entry) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := inForce(ctx, tx, commit); err != nil {
			return err
		}
		zones := make([]edge.Scope, len(holds))
		for i, h := range holds {
			if err := d.revert(ctx, tx, h, order.Asked.User); err != nil {
				return err
			}
			zones[i] = h.Scope
		}
		have, err := recallRollout(ctx, tx)
		if err != nil {
			return err
		}
		if len(have.Zones) > 0 {
			if err := writeRollout(ctx, tx, have, have.Without(zones)); err != nil {
				return err
			}
		}
		if err := d.withdrawWhere(ctx, tx, ends, "commit "+commit+" was stopped before it was in all of its zones"); err != nil {
			return err
		}
		if order.Kind == "" {
			return nil
		}
		_, err = d.file.Enter(ctx, tx, order)
		return err
	})
}

// withdrawWhere ends the approvals that a function reports.
func (d *Decisions) withdrawWhere(ctx context.Context, tx *sql.Tx, ends func(reconcile.Approval) bool, reason string) error {
	approvals, err := RecallApprovals(ctx, tx)
	if err != nil {
		return err
	}
	var digests []string
	for _, a := range approvals {
		if ends(a) {
			digests = append(digests, a.Digest)
		}
	}
	return d.withdraw(ctx, tx, digests, reason)
}

// inForce is [reconcile.ErrSuperseded] where another commit is accepted.
func inForce(ctx context.Context, tx *sql.Tx, commit string) error {
	var accepted string
	if _, err := rows.Found(tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&accepted)); err != nil {
		return err
	}
	if accepted != commit {
		return fmt.Errorf("commit %s was accepted meanwhile: %w", accepted, reconcile.ErrSuperseded)
	}
	return nil
}

// revert sets the hold of a revert, in the place of any such hold on the zone before.
func (d *Decisions) revert(ctx context.Context, tx *sql.Tx, h diff.Hold, who string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO reverted (zone_id, zone, declaration, "commit", reason, who, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (zone_id) DO UPDATE SET zone = excluded.zone, declaration = excluded.declaration, "commit" = excluded."commit",
			reason = excluded.reason, who = excluded.who, at = excluded.at`,
		h.Scope.Text(), h.Zone, h.Declaration, h.Commit, edge.Redact(h.Reason), edge.Redact(who), d.file.Stamp())
	return err
}

// Given implements [reconcile.Reverts].
func (d *Decisions) Given(ctx context.Context) (map[edge.Scope]reconcile.Given, error) {
	return store.Read(ctx, d.file, func(ctx context.Context, tx *sql.Tx) (map[edge.Scope]reconcile.Given, error) {
		return rows.Map(ctx, tx, `SELECT zone_id, declaration, "commit" FROM given`, func(row *sql.Rows, id *edge.Scope, g *reconcile.Given) error {
			return row.Scan(id, &g.Declaration, &g.Commit)
		})
	})
}

// Rename has what is on record of zones whose id was not known go on under the id that was
// found.
func Rename(ctx context.Context, tx *sql.Tx, ids map[edge.Scope]edge.Scope) error {
	for before, id := range ids {
		for _, table := range []string{"reverted", "given"} {
			// What is on record under the id that was found gives way.
			_, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE zone_id = $1 AND $1 <> $2 AND EXISTS (SELECT 1 FROM `+table+` WHERE zone_id = $2)`, id.Text(), before.Text())
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `UPDATE `+table+` SET zone_id = $1 WHERE zone_id = $2`, id.Text(), before.Text()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Give records which zones an accepted commit declares otherwise than the one before.
func Give(ctx context.Context, tx *sql.Tx, a reconcile.Acceptance) error {
	if a.Declared == nil || len(a.Given) == 0 {
		return nil
	}
	const give = `
		INSERT INTO given (zone_id, declaration, "commit") VALUES ($1, $2, $3)
		ON CONFLICT (zone_id) DO UPDATE SET declaration = excluded.declaration, "commit" = excluded."commit"
		WHERE given.declaration <> excluded.declaration`
	return rows.Exec(ctx, tx, give, a.Given, func(id edge.Scope) []any { return []any{id.Text(), a.Declared(id), a.Commit} })
}
