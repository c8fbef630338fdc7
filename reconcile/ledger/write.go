package ledger

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/decisions"
)

// RecordWrite implements [reconcile.Records]. That the write is still permitted, that no
// other process writes to the zone, and the entry are one transaction.
func (l *Ledger) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (number int64, err error) {
	may := func(ctx context.Context, tx *sql.Tx) (refused, err error) {
		return decisions.Permitted(ctx, l.file, tx, write)
	}
	err = l.Claiming(ctx, write, may, func(ctx context.Context, tx *sql.Tx) error {
		if err := l.Own(ctx, tx, owned); err != nil {
			return err
		}
		if err := l.Count(ctx, tx, write); err != nil {
			return err
		}
		entries := []reconcile.Entry{write}
		if found, drift := write.Found(); drift {
			entries = []reconcile.Entry{found, write}
		}
		numbers, err := l.file.Enter(ctx, tx, entries...)
		if err == nil {
			number = numbers[len(numbers)-1]
		}
		return err
	})
	return number, err
}
