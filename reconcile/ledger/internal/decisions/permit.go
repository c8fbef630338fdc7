package decisions

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// said is what was read last of what people and other processes have said that concerns a
// write. The zero value was not read. Whoever has the turn to write guards it.
type said struct {
	version  int64
	accepted *string // nil: no commit is
	putBack  int64   // as in [reconcile.Standing]
	byKey    map[string][]diff.Hold
	byScope  map[edge.Scope][]diff.Hold
}

// Recording enters a write that is permitted, after do in one transaction, with the claim on
// its zone, what its deployments own, and entries before it. number is that of the write.
func (d *Decisions) Recording(ctx context.Context, write reconcile.Entry, owned []diff.Settled, do store.Change, before ...reconcile.Entry) (number int64, err error) {
	may := func(ctx context.Context, tx *sql.Tx, version int64) (refused, err error) {
		if entered, err := d.file.EnterGap(ctx, tx); err != nil || entered { // else the end of the transaction would, behind the write
			return reconcile.ErrPutBack, err
		}
		if d.said.accepted == nil || d.said.version != version {
			if d.said, err = d.recallSaid(ctx, tx, version); err != nil {
				return nil, err
			}
		}
		if d.said.putBack != 0 {
			return reconcile.ErrPutBack, nil
		}
		return d.permitted(write), nil
	}
	err = d.zones.Claiming(ctx, write, owned, may, func(ctx context.Context, tx *sql.Tx) error {
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
// commit is in force, or the zone is held, by its key or its id. Where no commit was accepted
// yet, none is another.
func (d *Decisions) permitted(write reconcile.Entry) (refused error) {
	accepted := write.Asked.Commit
	if d.said.accepted != nil {
		accepted = *d.said.accepted
	}
	holds := slices.Concat(d.said.byKey[write.Subject.Zone], d.said.byScope[write.Subject.Scope])
	holds = slices.DeleteFunc(holds, func(h diff.Hold) bool {
		return h.Reverted() && write.Trigger == reconcile.TriggerRevert // which puts back what an earlier one has, too
	})
	slices.SortStableFunc(holds, func(a, b diff.Hold) int { return b.Until.Compare(a.Until) }) // the longest is told
	return write.Permitted(accepted, diff.Active(holds, d.file.Time(), nil))
}

func (d *Decisions) recallSaid(ctx context.Context, tx *sql.Tx, version int64) (said, error) {
	s := said{version: version, byKey: map[string][]diff.Hold{}, byScope: map[edge.Scope][]diff.Hold{}}
	var accepted string
	found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&accepted))
	if err != nil {
		return said{}, err
	}
	if found {
		s.accepted = &accepted
	}
	if s.putBack, err = RecallPutBack(ctx, tx); err != nil {
		return said{}, err
	}
	holds, err := RecallHolds(ctx, tx)
	if err != nil {
		return said{}, err
	}
	for _, h := range holds {
		if h.Reverted() {
			s.byScope[h.Scope] = append(s.byScope[h.Scope], h)
			continue
		}
		s.byKey[h.Zone] = append(s.byKey[h.Zone], h)
		for _, id := range h.Scopes {
			s.byScope[id] = append(s.byScope[id], h)
		}
	}
	return s, nil
}

// holdOf is a row of the holds that people have set.
func holdOf(zone, reason, until string) (h diff.Hold, err error) {
	h = diff.Hold{Zone: zone, Reason: reason}
	if h.Until, err = time.Parse(time.RFC3339, until); err != nil {
		return h, store.Fault(store.ErrDamaged, fmt.Sprintf("the end of the hold on %q: %v", zone, err))
	}
	return h, nil
}
