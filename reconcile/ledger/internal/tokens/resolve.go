package tokens

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

// Resolution is a person's word on an attempt whose outcome is unknown.
type Resolution struct {
	How How
	ID  edge.TokenID // of the token; for ByAdopting alone
}

// How an attempt is resolved.
type How string

const (
	// ByAdopting: the token exists and has the id. Its secret was lost, so that a
	// person has given it another one and taken that where it belongs.
	ByAdopting How = "adopt"
	// ByAbandoning: the token may have existed and does not any more, or never
	// did: a person has revoked it, or seen that there is nothing to revoke.
	ByAbandoning How = "abandon"
	// ByRetrying: nothing was created. For the ledger this is ByAbandoning: the
	// attempt is forgotten, and what is still declared is created by the next run.
	ByRetrying How = "retry"
)

// Resolve records a person's word on the one quarantined attempt for a
// declaration. A declaration without one is [store.ErrState]: also where an attempt is
// still intended, which whoever made it may be waiting for. So is an id that
// another attempt has.
func (t *Memory) Resolve(ctx context.Context, key string, word Resolution) error {
	return t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		attempt, err := tokenRow(ctx, tx, `state = 'quarantined' AND key = $1`, key, fmt.Sprintf("token %q has no attempt whose outcome is unknown", key))
		if err != nil {
			return err
		}
		intent := attempt.Intent
		switch word.How {
		case ByAdopting:
			if err := newID(ctx, tx, word.ID); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `UPDATE token SET state = 'confirmed', id = $1, delivered = 1 WHERE intent = $2`, word.ID, intent)
		case ByAbandoning, ByRetrying:
			_, err = tx.ExecContext(ctx, `DELETE FROM token WHERE intent = $1`, intent)
		default:
			err = store.Fault(store.ErrState, fmt.Sprintf("%q is not a way to resolve an attempt", word.How))
		}
		if err != nil {
			return err
		}
		attempt.ID = word.ID
		e := t.file.Decided(reconcile.ActionResolve, subject(attempt))
		e.Reason = string(word.How)
		_, err = t.file.Enter(ctx, tx, e)
		return err
	})
}

// Adopt records a token that was made elsewhere and whose secret a person has
// taken where it belongs. record needs Intent, Key, ID, Spec and Hash; State and
// Delivered follow. It says nothing of other tokens: a ledger that is in doubt
// stays so, and Adopt works all the same.
//
// A declaration with an attempt whose outcome is unknown is [store.ErrState]: Resolve
// is for that. So is an id that is known already.
func (t *Memory) Adopt(ctx context.Context, record diff.TokenRecord) error {
	record.State, record.Delivered = diff.TokenConfirmed, true
	return t.writeCounted(ctx, func(ctx context.Context, tx *sql.Tx) (counts bool, err error) {
		if err := noneOpen(ctx, tx, record.Key); err != nil {
			return false, err
		}
		if err := newID(ctx, tx, record.ID); err != nil {
			return false, err
		}
		if err := t.insertToken(ctx, tx, record); err != nil {
			return false, err
		}
		_, err = t.file.Enter(ctx, tx, t.file.Decided(reconcile.ActionAdopt, subject(record)))
		return true, err
	})
}

// newID refuses what a person has mistyped or typed twice.
func newID(ctx context.Context, tx *sql.Tx, id edge.TokenID) error {
	if id == "" {
		return store.Fault(store.ErrState, "the id of the token is missing")
	}
	var key string
	if found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT key FROM token WHERE id = $1`, id).Scan(&key)); err != nil || !found {
		return err
	}
	return store.Fault(store.ErrState, fmt.Sprintf("the id %s is that of token %q", id, key))
}

// Revoked records a person's word that a token no longer exists: it was revoked
// on the platform, which the reference shows no call for. It is forgotten; where
// it is still declared, and nothing superseded it, the next run creates another.
// Earlier tokens whose secrets it replaced in their sink have no sink afterwards.
// An id that is not on record is [store.ErrState].
func (t *Memory) Revoked(ctx context.Context, id edge.TokenID) error {
	err := t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		record, err := tokenRow(ctx, tx, `id = $1 AND state = 'confirmed'`, id, fmt.Sprintf("no token with the id %s is on record", id))
		if err != nil {
			return err
		}
		e := t.file.Decided(reconcile.ActionRevoked, subject(record))
		if _, err := t.file.Enter(ctx, tx, e); err != nil {
			return err
		}
		if err := displace(ctx, tx, `gone.id = $1 AND gone.state = 'confirmed'`, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM token WHERE id = $1 AND state = 'confirmed'`, id)
		return err
	})
	// The secret may have waited, sealed.
	return t.wipe(err)
}

// Gone implements [reconcile.TokenMemory]: what Revoked is for a person's word,
// this is for the platform's. It is done even where ctx has ended. An attempt
// that is not confirmed, or not on record, is [store.ErrState]; of one that was never
// confirmed [Memory.NotCreated] is the word.
func (t *Memory) Gone(ctx context.Context, intent string) error {
	err := t.advance(ctx, intent, states{diff.TokenConfirmed}, func(ctx context.Context, tx *sql.Tx, record diff.TokenRecord) error {
		if err := t.enterToken(ctx, tx, diff.ActionDelete, reconcile.TriggerSync, record, &record.Spec, nil); err != nil {
			return err
		}
		if err := displace(ctx, tx, `gone.intent = $1`, intent); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM token WHERE intent = $1`, intent)
		return err
	})
	return t.wipe(err)
}

// displace says of the tokens before one that is about to be forgotten that their
// secrets are not where they were delivered: its own took that place. Without
// this an earlier token would pass for the one in use.
func displace(ctx context.Context, tx *sql.Tx, forgotten string, arg any) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE token SET sink_name = NULL, sink_key = NULL
		WHERE delivered = 1 AND EXISTS (
			SELECT 1 FROM token AS gone
			WHERE `+forgotten+` AND gone.seq > token.seq
				AND gone.sink_name = token.sink_name AND gone.sink_key = token.sink_key)`, arg)
	return err
}
