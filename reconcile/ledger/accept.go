package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/decisions"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/zones"
)

// AcceptCommit implements [reconcile.Records].
func (l *Ledger) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	return l.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := l.enterAccept(ctx, tx, a); err != nil {
			return err
		}
		if err := l.accept(ctx, tx, a); err != nil {
			return err
		}
		if err := decisions.Rename(ctx, tx, a.Renamed); err != nil {
			return err
		}
		if err := l.EndReverted(ctx, tx, a); err != nil {
			return err
		}
		if err := decisions.Give(ctx, tx, a); err != nil {
			return err
		}
		if err := l.Agree(ctx, tx, a.Approvals); err != nil {
			return err
		}
		if a.Rollout != nil {
			if err := decisions.PutRollout(ctx, tx, *a.Rollout); err != nil {
				return err
			}
		}
		if a.Memory != nil {
			if err := decisions.PutMemory(ctx, tx, *a.Memory); err != nil {
				return err
			}
		}
		if err := zones.KeepDeployments(ctx, tx, a.Keep); err != nil {
			return err
		}
		return zones.ForgetZones(ctx, tx, a.Gone)
	})
}

// enterAccept has the history say that another commit is in force.
func (l *Ledger) enterAccept(ctx context.Context, tx *sql.Tx, a reconcile.Acceptance) error {
	var have string
	found, err := rows.Found(tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&have))
	if err != nil || found && have == a.Commit {
		return err
	}
	if err := l.ForgetWritten(ctx, tx); err != nil {
		return err
	}
	e := reconcile.Entry{
		Kind: reconcile.EntryCommit, Action: reconcile.ActionAccept, Trigger: reconcile.TriggerSync,
		Asked:  reconcile.Asked{Commit: a.Commit, Author: a.Author, Message: a.Message, User: a.User},
		Reason: fmt.Sprintf("zones: %d, deployments: %d, tokens: %d", a.Size.Zones, a.Size.Deployments, a.Size.Tokens),
	}
	if a.User != "" {
		e.Trigger = reconcile.TriggerManual
	}
	_, err = l.file.Enter(ctx, tx, e)
	return err
}

// accept writes the accepted commit, where anything differs.
func (l *Ledger) accept(ctx context.Context, tx *sql.Tx, a reconcile.Acceptance) error {
	packed, err := pack(a.State)
	if err != nil {
		return err
	}
	earlier, err := encodeEarlier(a.Earlier)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO accepted (one, "commit", zones, deployments, tokens, at, state, author, earlier) VALUES (1, $1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (one) DO UPDATE SET "commit" = excluded."commit", zones = excluded.zones, earlier = excluded.earlier,
			deployments = excluded.deployments, tokens = excluded.tokens, at = excluded.at,
			author = CASE WHEN excluded.author = '' AND accepted."commit" = excluded."commit" THEN accepted.author ELSE excluded.author END,
			state = CASE WHEN excluded.state IS NULL AND accepted."commit" = excluded."commit" THEN accepted.state ELSE excluded.state END
		WHERE (accepted."commit", accepted.zones, accepted.deployments, accepted.tokens, accepted.earlier) <>
				(excluded."commit", excluded.zones, excluded.deployments, excluded.tokens, excluded.earlier)
			OR excluded.state IS NOT NULL AND accepted.state IS DISTINCT FROM excluded.state`,
		a.Commit, a.Size.Zones, a.Size.Deployments, a.Size.Tokens, l.file.Stamp(), packed, a.Author, earlier)
	return err
}

// recallAccepted reads the accepted commit; the state in parts where known is not nil.
func recallAccepted(ctx context.Context, tx *sql.Tx, known func(sum) bool) (a reconcile.Accepted, err error) {
	var packed []byte
	var earlier string
	row := tx.QueryRowContext(ctx, `SELECT "commit", author, zones, deployments, tokens, state, earlier FROM accepted`)
	found, err := rows.Found(row.Scan(&a.Commit, &a.Author, &a.Size.Zones, &a.Size.Deployments, &a.Size.Tokens, &packed, &earlier))
	if err != nil || !found {
		return a, err
	}
	if known != nil && bytes.HasPrefix(packed, []byte(partsMark)) {
		a.Parts, err = recallParts(ctx, tx, a.Commit, packed, known)
	} else {
		a.State, err = recallState(ctx, tx, a.Commit, packed)
	}
	if err != nil {
		return a, err
	}
	if a.Earlier, err = decodeEarlier(earlier); err != nil {
		return a, store.Fault(ErrDamaged, fmt.Sprintf("what zones were before commit %s: %v", a.Commit, err))
	}
	return a, nil
}

func encodeEarlier(e guard.Earlier) (string, error) {
	if len(e) == 0 {
		return "{}", nil
	}
	text, err := json.Marshal(e) // sorted by id: what is equal is not written
	return string(text), err
}

// decodeEarlier is nil for nothing.
func decodeEarlier(text string) (e guard.Earlier, err error) {
	if err := json.Unmarshal([]byte(text), &e); err != nil || len(e) == 0 {
		return nil, err
	}
	return e, nil
}
