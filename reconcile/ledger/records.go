package ledger

import (
	"context"
	"database/sql"
	"slices"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/decisions"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/zones"
)

var (
	_ reconcile.Records = (*Ledger)(nil)
	_ reconcile.Outbox  = (*Ledger)(nil)
)

// Restore implements [reconcile.Records]. A row that cannot be read fails the
// whole, with [ErrDamaged].
func (l *Ledger) Restore(ctx context.Context) (reconcile.Record, error) {
	return l.RestoreSince(ctx, reconcile.Known{})
}

// RestoreSince implements [reconcile.Records]. A file is read as a whole.
func (l *Ledger) RestoreSince(ctx context.Context, known reconcile.Known) (reconcile.Record, error) {
	return store.Read(ctx, l.file, func(ctx context.Context, tx *sql.Tx) (r reconcile.Record, err error) {
		if r.Only, r.Mark, err = l.Since(ctx, tx, known); err != nil {
			return r, err
		}
		if err = zones.Recall(ctx, tx, &r); err != nil {
			return r, err
		}
		if err = l.Decisions.Recall(ctx, tx, &r); err != nil {
			return r, err
		}
		if r.SweptUnder, err = l.RecallSweptUnder(ctx, tx); err != nil {
			return r, err
		}
		if r.Only == nil {
			known.Part = nil
		}
		r.Accepted, err = recallAccepted(ctx, tx, known.Part)
		return r, err
	})
}

// Standing implements [reconcile.Records]. While nothing else is said it is read once, however
// much is written otherwise. It fails with [ErrGone] where the file is not the one at its path any more.
func (l *Ledger) Standing(ctx context.Context) (reconcile.Standing, error) {
	if l.file.DB == nil {
		return reconcile.Standing{}, nil
	}
	said, err := l.standing.Read(ctx, l.file, l.recallStanding)
	if gone := l.file.Present(); gone != nil { // whatever was read
		err = gone
	}
	if err != nil {
		return reconcile.Standing{}, store.Explain("reading", l.file.Path, err)
	}
	s := said.Value
	s.Said, s.Newest = said.Loaded, said.Newest
	s.Holds, s.Approvals = slices.Clone(s.Holds), unspent(s.Approvals, said.Ended)
	return s, nil
}

// unspent is a list without the approvals that are spent since it was read.
func unspent(list []reconcile.Approval, spent []string) []reconcile.Approval {
	if len(spent) == 0 {
		return slices.Clone(list)
	}
	gone := make(map[string]bool, len(spent))
	for _, digest := range spent {
		gone[digest] = true
	}
	var left []reconcile.Approval
	for _, a := range list {
		if !gone[a.Digest] {
			left = append(left, a)
		}
	}
	return left
}

// StillSaid implements [reconcile.Records].
func (l *Ledger) StillSaid(ctx context.Context, said int64) (same bool, err error) {
	if l.file.DB == nil || said == 0 {
		return false, nil
	}
	same, err = l.standing.Same(ctx, l.file, said)
	if gone := l.file.Present(); gone != nil { // whatever was read
		err = gone
	}
	return same && err == nil, store.Explain("reading", l.file.Path, err)
}

func (l *Ledger) recallStanding(ctx context.Context, tx *sql.Tx) (s reconcile.Standing, err error) {
	if _, err = rows.Found(tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&s.Commit)); err != nil {
		return s, err
	}
	o, _, err := decisions.RecallRolling(ctx, tx)
	if err != nil {
		return s, err
	}
	s.RolloutCommit, s.RolloutHalted, s.RolloutWave = o.Commit, o.Halted, o.Wave
	err = rows.Parts(ctx, tx,
		rows.Into(&s.Holds, decisions.RecallHolds),
		rows.Into(&s.Approvals, decisions.RecallApprovals),
		rows.Into(&s.Departures, decisions.RecallDepartures),
		rows.Into(&s.PutBack, decisions.RecallPutBack))
	return s, err
}
