package decisions

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Hold records that a person holds a zone, in the place of any such hold on it before.
// A daemon beside it sees that with its next run: no lock is needed.
func (d *Decisions) Hold(ctx context.Context, hold diff.Hold, who string) error {
	hold.Reason, who = edge.Redact(hold.Reason), edge.Redact(who)
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ids, err := json.Marshal(append([]edge.Scope{}, hold.Scopes...)) // [], never null
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO hold (zone, reason, until, who, at, zone_ids) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (zone) DO UPDATE SET reason = excluded.reason, until = excluded.until, who = excluded.who, at = excluded.at, zone_ids = excluded.zone_ids`,
			hold.Zone, hold.Reason, store.RowTime(hold.Until), who, d.file.Stamp(), string(ids))
		if err != nil {
			return err
		}
		e := d.file.Decided(reconcile.ActionHold, reconcile.Subject{Zone: hold.Zone})
		e.Asked.User, e.Until, e.Reason = who, hold.Until.UTC(), hold.Reason
		_, err = d.file.Enter(ctx, tx, e)
		return err
	})
}

// Release ends the holds on a zone, of both kinds, and reports whether there was one.
// Those whose time is over by now go as well.
func (d *Decisions) Release(ctx context.Context, zone string, now time.Time) (held bool, err error) {
	err = d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		holds, err := RecallHolds(ctx, tx)
		if err != nil {
			return err
		}
		for _, h := range holds {
			over := !h.Reverted() && !now.Before(h.Until)
			if h.Zone != zone && !over {
				continue
			}
			if h.Reverted() {
				_, err = tx.ExecContext(ctx, `DELETE FROM reverted WHERE zone_id = $1`, h.Scope.Text())
			} else {
				_, err = tx.ExecContext(ctx, `DELETE FROM hold WHERE zone = $1`, h.Zone)
			}
			if err != nil {
				return err
			}
			if h.Zone != zone || over {
				continue
			}
			held = true
			e := d.file.Decided(reconcile.ActionRelease, reconcile.Subject{Zone: h.Zone, Scope: h.Scope})
			e.Reason = h.Reason
			if _, err := d.file.Enter(ctx, tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return held, err
}

// RecordRevert implements [reconcile.Reverts].
func (d *Decisions) RecordRevert(ctx context.Context, hold diff.Hold, write reconcile.Entry, owned []diff.Settled) (number int64, err error) {
	return d.Recording(ctx, write, owned, func(ctx context.Context, tx *sql.Tx) error {
		if err := inForce(ctx, tx, hold.Commit); err != nil {
			return err
		}
		return d.revert(ctx, tx, hold, write.Asked.User)
	})
}

// DropRevert implements [reconcile.Reverts].
func (d *Decisions) DropRevert(ctx context.Context, zones []edge.Scope) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return rows.Exec(ctx, tx, `DELETE FROM reverted WHERE zone_id = $1`, zones, func(zone edge.Scope) []any { return []any{zone.Text()} })
	})
}

// EndReverted ends the holds of a revert on zones that an accepted commit declares
// otherwise than they were then.
func (d *Decisions) EndReverted(ctx context.Context, tx *sql.Tx, a reconcile.Acceptance) error {
	if a.Declared == nil {
		return nil
	}
	holds, err := recallReverted(ctx, tx)
	if err != nil {
		return err
	}
	for _, h := range holds {
		if a.Declared(h.Scope) == h.Declaration {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM reverted WHERE zone_id = $1`, h.Scope.Text()); err != nil {
			return err
		}
		e := reconcile.Entry{
			Kind: reconcile.EntryDecision, Action: reconcile.ActionRelease, Trigger: reconcile.TriggerSync,
			Asked:   reconcile.Asked{Commit: a.Commit, Author: a.Author, User: a.User},
			Subject: reconcile.Subject{Zone: h.Zone, Scope: h.Scope}, Reason: "git has changed the zone: " + h.Reason,
		}
		if _, err := d.file.Enter(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// RecallHolds reads the holds of both kinds.
func RecallHolds(ctx context.Context, tx *sql.Tx) (holds []diff.Hold, err error) {
	holds, err = rows.All(ctx, tx, `SELECT zone, reason, until, zone_ids FROM hold ORDER BY zone`, func(row *sql.Rows, h *diff.Hold) (err error) {
		var zone, reason, until, ids string
		if err := row.Scan(&zone, &reason, &until, &ids); err != nil {
			return err
		}
		if *h, err = holdOf(zone, reason, until); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(ids), &h.Scopes); err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the zones of the hold on %q: %v", h.Zone, err))
		}
		if len(h.Scopes) == 0 {
			h.Scopes = nil
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reverted, err := recallReverted(ctx, tx)
	return append(holds, reverted...), err
}

// recallReverted reads the holds that reverts have set.
func recallReverted(ctx context.Context, tx *sql.Tx) ([]diff.Hold, error) {
	const query = `SELECT zone_id, zone, declaration, "commit", reason FROM reverted ORDER BY zone, zone_id`
	return rows.All(ctx, tx, query, func(row *sql.Rows, h *diff.Hold) error {
		return row.Scan(&h.Scope, &h.Zone, &h.Declaration, &h.Commit, &h.Reason)
	})
}
