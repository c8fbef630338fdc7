// Package tokens keeps, in the ledger's database, what is known of API tokens: attempts to
// create one (table token), secrets that wait for their sink (sealed), and for which
// platform and repository the record is complete (completeness).
//
// Secrets are sealed with age; what destroying one is worth stands at [Memory.Delivered],
// and how a ledger that was put back from a backup is found at [Memory.Init].
package tokens

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/seal"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

var _ reconcile.TokenMemory = (*Memory)(nil)

// Memory keeps what is known of tokens. It is safe for concurrent use.
type Memory struct {
	// Binding says what the tokens in the ledger are tokens of. Set it before the
	// first use of tokens; without it all of them are unknown.
	Binding Binding
	// Seal says for whom secrets are sealed; the zero value is a key file beside
	// the ledger. Set it before the first use of tokens.
	Seal seal.Seal

	file *store.File
	keys *seal.Ring

	growing sync.Mutex       // held while ledger and mark are to be written one after the other
	mu      sync.Mutex       // guards what follows
	lock    func() error     // gives the token lock back, while it is held
	leases  reconcile.Leases // by which it is held; nil for a file
}

// In returns the memory of tokens in a ledger.
func In(file *store.File) *Memory { return &Memory{file: file, keys: seal.NewRing(file)} }

// Intend implements [reconcile.TokenMemory]. It returns [store.ErrUnknown] while the
// ledger may not know all tokens, [store.ErrState] while another attempt for the same
// declaration has no certain outcome, and [store.ErrSeal] where the secret could not
// be sealed afterwards: after any error nothing may be sent.
func (t *Memory) Intend(ctx context.Context, record diff.TokenRecord) error {
	if err := t.mayWrite(ctx); err != nil {
		return err
	}
	t.growing.Lock()
	defer t.growing.Unlock()
	if err := t.certain(ctx); err != nil {
		return store.Explain("reading", t.file.Path, err)
	}
	if _, err := t.keys.Load(ctx, t.Seal); err != nil {
		return store.Explain("preparing to seal for", t.file.Path, err)
	}
	record.State, record.ID, record.Delivered, record.Reason = diff.TokenIntended, "", false, ""
	err := t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := noneOpen(ctx, tx, record.Key); err != nil {
			return err
		}
		if err := t.insertToken(ctx, tx, record); err != nil {
			return err
		}
		if err := t.enterToken(ctx, tx, diff.ActionCreate, reconcile.TriggerSync, record, nil, &record.Spec); err != nil {
			return err
		}
		return grow(ctx, tx)
	})
	if err != nil {
		return err
	}
	if err := t.putMark(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(store.Explain("writing", store.MarkPath(t.file.Path), err), t.NotCreated(ctx, record.Intent))
	}
	return nil
}

// noneOpen refuses a second attempt beside one that may have made a token.
func noneOpen(ctx context.Context, tx *sql.Tx, key string) error {
	var intent, state string
	row := tx.QueryRowContext(ctx, `SELECT intent, state FROM token WHERE key = $1 AND state <> 'confirmed'`, key)
	if found, err := rows.Found(row.Scan(&intent, &state)); err != nil || !found {
		return err
	}
	return store.Fault(store.ErrState, fmt.Sprintf("token %q already has an attempt, %s, which is %s", key, intent, state))
}

// NotCreated implements [reconcile.TokenMemory]. An attempt that is confirmed, or
// not on record, is [store.ErrState].
//
// Once the row is gone the declaration may be created again, so this rests on the
// caller's certainty alone. For an attempt that was quarantined that is a list of
// the platform's tokens without it, read when no request of the attempt could
// still be on its way. A person cannot have resolved it meanwhile: that takes the
// lock that this process holds, and what was resolved is quarantined no more.
func (t *Memory) NotCreated(ctx context.Context, intent string) error {
	return t.advance(ctx, intent, unproved, func(ctx context.Context, tx *sql.Tx, record diff.TokenRecord) error {
		if err := t.tokenResult(ctx, tx, record, reconcile.Failed, "the platform has created nothing"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM token WHERE intent = $1`, intent)
		return err
	})
}

// Quarantine implements [reconcile.TokenMemory]. An attempt that is not intended
// is [store.ErrState]: the first reason stays, and what is confirmed is not in doubt.
func (t *Memory) Quarantine(ctx context.Context, intent, reason string) error {
	reason = edge.Redact(reason)
	return t.advance(ctx, intent, states{diff.TokenIntended}, func(ctx context.Context, tx *sql.Tx, record diff.TokenRecord) error {
		if _, err := tx.ExecContext(ctx, `UPDATE token SET state = 'quarantined', reason = $1 WHERE intent = $2`, reason, intent); err != nil {
			return err
		}
		return t.tokenResult(ctx, tx, record, reconcile.Quarantined, reason)
	})
}

// Confirm implements [reconcile.TokenMemory]. It is done even where ctx has
// ended: the token exists. It does not mind an id that is known already: refusing
// it would lose a secret. An attempt that is confirmed already, or not on record,
// is [store.ErrState].
//
// An attempt that was quarantined may be confirmed because nothing was concluded
// from it: no other attempt for its declaration has begun beside it, and none
// begins now that it is confirmed. Its reason stays, for a person.
func (t *Memory) Confirm(ctx context.Context, intent string, id edge.TokenID, secret edge.Secret) error {
	if id == "" || secret.IsZero() {
		return store.Explain("writing", t.file.Path, store.Fault(store.ErrState, "attempt "+intent+" cannot be confirmed without an id and a secret"))
	}
	keys, err := t.keys.Load(context.WithoutCancel(ctx), t.Seal)
	if err != nil {
		return store.Explain("sealing for", t.file.Path, err)
	}
	sealed, err := keys.Seal(intent, secret)
	if err != nil {
		return store.Explain("sealing for", t.file.Path, err)
	}
	return t.advance(ctx, intent, unproved, func(ctx context.Context, tx *sql.Tx, record diff.TokenRecord) error {
		if _, err := tx.ExecContext(ctx, `UPDATE token SET state = 'confirmed', id = $1 WHERE intent = $2`, id, intent); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO sealed (intent, copy) VALUES ($1, $2)`, intent, sealed); err != nil {
			return err
		}
		record.ID = id
		return t.tokenResult(ctx, tx, record, reconcile.Converged, "")
	})
}

// Sealed implements [reconcile.TokenMemory]. It returns [store.ErrState] where there is
// no sealed copy, [store.ErrSeal] where the key is another one or not here, and
// [store.ErrDamaged] where the copy does not open.
func (t *Memory) Sealed(ctx context.Context, intent string) (edge.Secret, error) {
	if t.file.DB == nil {
		return edge.Secret{}, store.Explain("reading", t.file.Path, store.Fault(store.ErrState, "there is no ledger"))
	}
	var sealed []byte
	err := t.file.DB.QueryRowContext(ctx, `SELECT copy FROM sealed WHERE intent = $1`, intent).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		err = store.Fault(store.ErrState, "attempt "+intent+" has no waiting secret")
	}
	if err != nil {
		return edge.Secret{}, store.Explain("reading", t.file.Path, err)
	}
	keys, err := t.keys.Load(ctx, t.Seal)
	if err != nil {
		return edge.Secret{}, store.Explain("opening a secret in", t.file.Path, err)
	}
	secret, err := keys.Open(intent, sealed)
	return secret, store.Explain("opening a secret in", t.file.Path, err)
}

// CheckSeal fails with [store.ErrSeal] where a secret could not be sealed, or one that waits was sealed
// with a key that is not here. Over a database it makes no key.
func (t *Memory) CheckSeal(ctx context.Context) error {
	if _, err := t.keys.Load(ctx, t.Seal); err != nil || t.Seal.Recipient != "" {
		return store.Explain("preparing to seal for", t.file.Path, err)
	}
	var waiting []string
	err := t.file.Read(ctx, func(tx *sql.Tx) (err error) {
		waiting, err = rows.All(ctx, tx, `SELECT intent FROM sealed`, func(row *sql.Rows, intent *string) error { return row.Scan(intent) })
		return err
	})
	if err != nil {
		return store.Explain("reading", t.file.Path, err)
	}
	for _, intent := range waiting {
		if _, err := t.Sealed(ctx, intent); err != nil {
			return err
		}
	}
	return nil
}

// SealPrints tell the keys apart with which this process seals and opens secrets, the one that seals
// first; none where no key is set or can be read. Over a database it makes no key.
func (t *Memory) SealPrints(ctx context.Context) ([]string, error) {
	keys, err := t.keys.Load(ctx, t.Seal)
	if errors.Is(err, store.ErrSeal) {
		return nil, nil // whoever needs a key says what is wrong
	}
	if err != nil {
		return nil, store.Explain("reading the key for", t.file.Path, err)
	}
	return keys.Prints(), nil
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
// [store.ErrState].
func (t *Memory) Delivered(ctx context.Context, intent string) error {
	err := t.advance(ctx, intent, states{diff.TokenConfirmed}, func(ctx context.Context, tx *sql.Tx, record diff.TokenRecord) error {
		waited, err := rows.Changed(ctx, tx, `DELETE FROM sealed WHERE intent = $1`, intent)
		if err != nil {
			return err
		}
		if !waited {
			return store.Fault(store.ErrState, "the secret of attempt "+intent+" is already delivered")
		}
		if _, err := tx.ExecContext(ctx, `UPDATE token SET delivered = 1 WHERE intent = $1`, intent); err != nil {
			return err
		}
		return t.enterToken(ctx, tx, reconcile.ActionDeliver, reconcile.TriggerSync, record, nil, nil)
	})
	return t.wipe(err)
}
