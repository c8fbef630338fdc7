package ledger

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// RecordWrite implements [reconcile.Records]. That the write is still permitted, that no
// other process writes to the zone, what counts for limits, and the entry are one transaction.
func (l *Ledger) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (number int64, err error) {
	before := make([]reconcile.Entry, 0, 2) // what was found, and the write: an entry is large
	if found, drift := write.Found(); drift {
		before = append(before, found)
	}
	return l.Recording(ctx, write, owned, func(ctx context.Context, tx *sql.Tx) error {
		if err := l.Heals(ctx, tx, write.Heals); err != nil {
			return err
		}
		return l.Count(ctx, tx, write)
	}, before...)
}
