package decisions

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// standing is what people and other processes have said that concerns one write: always one
// row, with the longest hold on the zone, by its key or its id.
const standing = `
	SELECT a."commit", h.reason, h.until, r."commit", r.declaration, r.reason FROM (SELECT 1)
		LEFT JOIN accepted AS a
		LEFT JOIN (
			SELECT reason, until FROM hold WHERE zone = ?1 OR EXISTS (SELECT 1 FROM json_each(zone_ids) WHERE value = ?2)
			ORDER BY until DESC LIMIT 1
		) AS h
		LEFT JOIN reverted AS r ON r.zone_id = ?2`

// Frequent are the statements that are run for each write, for [store.Open].
var Frequent = []string{standing}

// Recording enters a write that is permitted, after do in one transaction, with the claim on
// its zone, and entries before it. number is that of the write.
func (d *Decisions) Recording(ctx context.Context, write reconcile.Entry, do store.Change, before ...reconcile.Entry) (number int64, err error) {
	may := func(ctx context.Context, tx *sql.Tx) (refused, err error) { return d.permitted(ctx, tx, write) }
	err = d.zones.Claiming(ctx, write, may, func(ctx context.Context, tx *sql.Tx) error {
		if err := do(ctx, tx); err != nil {
			return err
		}
		numbers, err := d.file.Enter(ctx, tx, append(before, write)...)
		if err == nil {
			number = numbers[len(numbers)-1]
		}
		return err
	})
	return number, err
}

// permitted says in the transaction that records a write why it must not be made: another
// commit is in force, or the zone is held. Where no commit was accepted yet, none is
// another.
func (d *Decisions) permitted(ctx context.Context, tx *sql.Tx, write reconcile.Entry) (refused, err error) {
	var accepted, reason, until, commit, declaration, why sql.NullString
	row := d.file.OftenRow(ctx, tx, standing, write.Subject.Zone, write.Subject.Scope.Text())
	if err := row.Scan(&accepted, &reason, &until, &commit, &declaration, &why); err != nil {
		return nil, err
	}
	var holds []diff.Hold
	if until.Valid {
		h, err := holdOf(write.Subject.Zone, reason.String, until.String)
		if err != nil {
			return nil, err
		}
		holds = append(holds, h)
	}
	if declaration.Valid && write.Trigger != reconcile.TriggerRevert { // which puts back what an earlier one has, too
		holds = append(holds, diff.Hold{
			Zone: write.Subject.Zone, Scope: write.Subject.Scope, Commit: commit.String, Declaration: declaration.String, Reason: why.String,
		})
	}
	if !accepted.Valid {
		accepted.String = write.Asked.Commit
	}
	return write.Permitted(accepted.String, diff.Active(holds, d.file.Time(), nil)), nil
}

// holdOf is a row of the holds that people have set.
func holdOf(zone, reason, until string) (h diff.Hold, err error) {
	h = diff.Hold{Zone: zone, Reason: reason}
	if h.Until, err = time.Parse(time.RFC3339, until); err != nil {
		return h, store.Fault(store.ErrDamaged, fmt.Sprintf("the end of the hold on %q: %v", zone, err))
	}
	return h, nil
}
