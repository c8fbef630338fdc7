package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Amend implements [reconcile.TokenMemory]. It is done even where ctx has ended:
// the platform has the new form. An attempt that is not confirmed, or not on
// record, is [ErrState].
func (l *Ledger) Amend(ctx context.Context, intent string, spec edge.TokenSpec, hash string) error {
	body, err := json.Marshal(spec)
	if err != nil {
		return explain("writing", l.path, err)
	}
	return l.advance(ctx, intent, states{diff.TokenConfirmed}, func(ctx context.Context, tx *sql.Tx) error {
		record, err := tokenRow(ctx, tx, `intent = ?`, intent)
		if err != nil {
			return err
		}
		if err := l.enterToken(ctx, tx, diff.ActionUpdate, record, &record.Spec, &spec); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE token SET spec = ?, hash = ? WHERE intent = ?`, string(body), hash, intent)
		return err
	})
}

// Prunable implements [reconcile.TokenMemory]: of all attempts or, where one is
// not on record ([ErrState]), of none. It writes only rows that differ.
//
// A deletion cannot be taken back, so a ledger that was put back from a backup
// must not act on a permission that was withdrawn since. A change therefore
// counts as an attempt does: such a ledger is behind its mark (see [Ledger.Init]).
// One that is in doubt stays so, and Prunable works all the same.
func (l *Ledger) Prunable(ctx context.Context, intents []string, prune bool) error {
	if err := l.mayWrite(); err != nil {
		return err
	}
	l.growing.Lock()
	defer l.growing.Unlock()
	doubt := l.certain(ctx)
	if doubt != nil && !errors.Is(doubt, ErrUnknown) {
		return explain("reading", l.path, doubt)
	}
	changed := false
	err := l.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if changed, err = setPrune(ctx, tx, intents, prune); err != nil || !changed || doubt != nil {
			return err
		}
		return grow(ctx, tx)
	})
	if err != nil || !changed || doubt != nil {
		return err
	}
	return explain("writing", markPath(l.path), l.putMark(context.WithoutCancel(ctx)))
}

func setPrune(ctx context.Context, tx *sql.Tx, intents []string, prune bool) (changed bool, err error) {
	for _, intent := range intents {
		var have bool
		err := tx.QueryRowContext(ctx, `SELECT prune FROM token WHERE intent = ?`, intent).Scan(&have)
		if errors.Is(err, sql.ErrNoRows) {
			return false, noAttempt(intent)
		}
		if err != nil {
			return false, err
		}
		if have == prune {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE token SET prune = ? WHERE intent = ?`, prune, intent); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}
