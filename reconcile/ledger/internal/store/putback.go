package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// PutBackHome stands in the place of the database in which the word on tokens was given, once it was seen
// that the database was put back to an earlier time: then it may not know all of them.
const PutBackHome = "put back"

// notePutBack has all processes know that a ledger was put back to an earlier time, and returns how often
// that is on record. The mark is random: one that is put back once more gives numbers again.
func notePutBack(ctx context.Context, tx *sql.Tx, shared bool) (times int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO put_back (one, mark, times) VALUES (1, $1, 1)
		ON CONFLICT (one) DO UPDATE SET mark = excluded.mark, times = put_back.times + 1 RETURNING times`, 1+rand.Int64N(math.MaxInt64)).Scan(&times)
	if err == nil && shared {
		_, err = tx.ExecContext(ctx, `UPDATE completeness SET home = $1`, PutBackHome)
	}
	return times, err
}

// Forgot is notePutBack for a process that has seen it and has no ledger open. It waits for whoever writes,
// as one does that writes itself.
func Forgot(ctx context.Context, db *sql.DB) (times int64, err error) {
	tx, err := postgres.Begin(ctx, db, fmt.Sprintf(takeLock, WritersLock))
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	if times, err = notePutBack(ctx, tx, true); err != nil {
		return 0, err
	}
	return times, tx.Commit()
}

// PutBack reports whether a database that several machines share has forgotten what this one knows of.
func (f *File) PutBack(ctx context.Context) (bool, error) {
	known, err := f.Known()
	if err != nil {
		return false, err
	}
	gap, err := Read(ctx, f, func(ctx context.Context, tx *sql.Tx) (history.Gap, error) { return history.Behind(ctx, tx, known) })
	return gap.Missing != "", err
}
