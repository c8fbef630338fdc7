package tokens

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Amend implements [reconcile.TokenMemory]. It is done even where ctx has ended:
// the platform has the new form. An attempt that is not confirmed, or not on
// record, is [store.ErrState].
func (t *Memory) Amend(ctx context.Context, intent string, spec edge.TokenSpec, hash string) error {
	body, err := json.Marshal(spec)
	if err != nil {
		return store.Explain("writing", t.file.Path, err)
	}
	return t.advance(ctx, intent, states{diff.TokenConfirmed}, func(ctx context.Context, tx *sql.Tx, record diff.TokenRecord) error {
		trigger := reconcile.TriggerSync
		if record.Hash == hash {
			trigger = reconcile.TriggerSweep // no commit asks for it: the token was changed without Seawall
		}
		if record.Hash == hash || diff.Declared(record.Hash) != diff.Declared(hash) { // else nothing of the token has changed
			if err := t.enterToken(ctx, tx, diff.ActionUpdate, trigger, record, &record.Spec, &spec); err != nil {
				return err
			}
		}
		if record.Spec.ExpiresOn != spec.ExpiresOn && (record.Hash != hash || spec.ExpiresOn == "") { // no rotation decides on its end any more
			record.Lifetime, record.Every = 0, 0
		}
		_, err = tx.ExecContext(ctx, `UPDATE token SET spec = $1, hash = $2, lifetime = $3, every = $4 WHERE intent = $5`,
			string(body), hash, int64(record.Lifetime), int64(record.Every), intent)
		return err
	})
}

// Prunable implements [reconcile.TokenMemory]: of all attempts or, where one is
// not on record ([store.ErrState]), of none. It writes only rows that differ.
//
// A deletion cannot be taken back, so a ledger that was put back from a backup
// must not act on a permission that was withdrawn since. A change therefore
// counts as an attempt does: such a ledger is behind its mark (see [Memory.Init]).
// One that is in doubt stays so, and Prunable works all the same.
func (t *Memory) Prunable(ctx context.Context, intents []string, prune bool) error {
	return t.writeCounted(ctx, func(ctx context.Context, tx *sql.Tx) (changed bool, err error) {
		return setPrune(ctx, tx, intents, prune)
	})
}

func setPrune(ctx context.Context, tx *sql.Tx, intents []string, prune bool) (changed bool, err error) {
	for _, intent := range intents {
		var have bool
		err := tx.QueryRowContext(ctx, `SELECT prune FROM token WHERE intent = $1`, intent).Scan(&have)
		if errors.Is(err, sql.ErrNoRows) {
			return false, store.Fault(store.ErrState, noAttempt(intent))
		}
		if err != nil {
			return false, err
		}
		if have == prune {
			continue
		}
		if _, err := tx.ExecContext(ctx, `UPDATE token SET prune = $1 WHERE intent = $2`, rows.Bit(prune), intent); err != nil {
			return false, err
		}
		changed = true
	}
	return changed, nil
}
