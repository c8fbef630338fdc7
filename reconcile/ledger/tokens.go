package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

var _ reconcile.TokenMemory = (*Ledger)(nil)

// Intend implements [reconcile.TokenMemory]. It returns [ErrUnknown] while the
// ledger may not know all tokens, [ErrState] while another attempt for the same
// declaration has no certain outcome, and [ErrSeal] where the secret could not
// be sealed afterwards: after any error nothing may be sent.
func (l *Ledger) Intend(ctx context.Context, record diff.TokenRecord) error {
	if err := l.mayWrite(); err != nil {
		return err
	}
	l.growing.Lock()
	defer l.growing.Unlock()
	if err := l.certain(ctx); err != nil {
		return explain("reading", l.path, err)
	}
	if _, err := l.keys(ctx); err != nil {
		return explain("preparing to seal for", l.path, err)
	}
	record.State, record.ID, record.Delivered, record.Reason = diff.TokenIntended, "", false, ""
	err := l.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := noneOpen(ctx, tx, record.Key); err != nil {
			return err
		}
		if err := l.insertToken(ctx, tx, record); err != nil {
			return err
		}
		if err := l.enterToken(ctx, tx, diff.ActionCreate, record, nil, &record.Spec); err != nil {
			return err
		}
		return grow(ctx, tx)
	})
	if err != nil {
		return err
	}
	if err := l.putMark(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(explain("writing", markPath(l.path), err), l.NotCreated(ctx, record.Intent))
	}
	return nil
}

// noneOpen refuses a second attempt beside one that may have made a token.
func noneOpen(ctx context.Context, tx *sql.Tx, key string) error {
	var intent, state string
	row := tx.QueryRowContext(ctx, `SELECT intent, state FROM token WHERE key = ? AND state <> 'confirmed'`, key)
	switch err := row.Scan(&intent, &state); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return fault(ErrState, fmt.Sprintf("token %q already has an attempt, %s, which is %s", key, intent, state))
}

// NotCreated implements [reconcile.TokenMemory]. An attempt that is confirmed, or
// not on record, is [ErrState].
//
// Once the row is gone the declaration may be created again, so this rests on the
// caller's certainty alone. For an attempt that was quarantined that is a list of
// the platform's tokens without it, read when no request of the attempt could
// still be on its way. A person cannot have resolved it meanwhile: that takes the
// lock that this process holds, and what was resolved is quarantined no more.
func (l *Ledger) NotCreated(ctx context.Context, intent string) error {
	return l.advance(ctx, intent, unproved, func(ctx context.Context, tx *sql.Tx) error {
		if err := l.tokenResult(ctx, tx, intent, reconcile.Failed, "the platform has created nothing"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM token WHERE intent = ?`, intent)
		return err
	})
}

// Quarantine implements [reconcile.TokenMemory]. An attempt that is not intended
// is [ErrState]: the first reason stays, and what is confirmed is not in doubt.
func (l *Ledger) Quarantine(ctx context.Context, intent, reason string) error {
	reason = edge.Redact(reason)
	return l.advance(ctx, intent, states{diff.TokenIntended}, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE token SET state = 'quarantined', reason = ? WHERE intent = ?`, reason, intent); err != nil {
			return err
		}
		return l.tokenResult(ctx, tx, intent, reconcile.Quarantined, reason)
	})
}

// Confirm implements [reconcile.TokenMemory]. It is done even where ctx has
// ended: the token exists. It does not mind an id that is known already: refusing
// it would lose a secret. An attempt that is confirmed already, or not on record,
// is [ErrState].
//
// An attempt that was quarantined may be confirmed because nothing was concluded
// from it: no other attempt for its declaration has begun beside it, and none
// begins now that it is confirmed. Its reason stays, for a person.
func (l *Ledger) Confirm(ctx context.Context, intent string, id edge.TokenID, secret edge.Secret) error {
	if id == "" || secret.IsZero() {
		return explain("writing", l.path, fault(ErrState, "attempt "+intent+" cannot be confirmed without an id and a secret"))
	}
	keys, err := l.keys(context.WithoutCancel(ctx))
	if err != nil {
		return explain("sealing for", l.path, err)
	}
	sealed, err := keys.seal(intent, secret)
	if err != nil {
		return explain("sealing for", l.path, err)
	}
	return l.advance(ctx, intent, unproved, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE token SET state = 'confirmed', id = ? WHERE intent = ?`, id, intent); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO sealed (intent, copy) VALUES (?, ?)`, intent, sealed); err != nil {
			return err
		}
		return l.tokenResult(ctx, tx, intent, reconcile.Converged, "")
	})
}

// Sealed implements [reconcile.TokenMemory]. It returns [ErrState] where there is
// no sealed copy, [ErrSeal] where the key is another one or not here, and
// [ErrDamaged] where the copy does not open.
func (l *Ledger) Sealed(ctx context.Context, intent string) (edge.Secret, error) {
	if l.db == nil {
		return edge.Secret{}, explain("reading", l.path, fault(ErrState, "there is no ledger"))
	}
	var sealed []byte
	err := l.db.QueryRowContext(ctx, `SELECT copy FROM sealed WHERE intent = ?`, intent).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		err = fault(ErrState, "attempt "+intent+" has no waiting secret")
	}
	if err != nil {
		return edge.Secret{}, explain("reading", l.path, err)
	}
	keys, err := l.keys(ctx)
	if err != nil {
		return edge.Secret{}, explain("opening a secret in", l.path, err)
	}
	secret, err := keys.open(intent, sealed)
	return secret, explain("opening a secret in", l.path, err)
}

// Delivered implements [reconcile.TokenMemory]. The sealed copy is overwritten
// with zeros in the file (secure_delete) and the log that still has it is cut to
// nothing; where a reader is in the way, at the next delivery or LockTokens.
//
// That is tidiness and no more: a journalling or copying file system, a solid
// state disk and a backup keep blocks that were overwritten. What protects the
// secret is the seal.
//
// An attempt that is not confirmed, or whose secret is delivered already, is
// [ErrState].
func (l *Ledger) Delivered(ctx context.Context, intent string) error {
	err := l.advance(ctx, intent, states{diff.TokenConfirmed}, func(ctx context.Context, tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `DELETE FROM sealed WHERE intent = ?`, intent)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fault(ErrState, "the secret of attempt "+intent+" is already delivered"))
		}
		if _, err := tx.ExecContext(ctx, `UPDATE token SET delivered = 1 WHERE intent = ?`, intent); err != nil {
			return err
		}
		record, err := tokenRow(ctx, tx, `intent = ?`, intent)
		if err != nil {
			return err
		}
		return l.enterToken(ctx, tx, reconcile.ActionDeliver, record, nil, nil)
	})
	if err != nil {
		return err
	}
	return explain("writing", l.path, l.truncateLog())
}
