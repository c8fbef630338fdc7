package tokens

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// subject is what an entry about an attempt is about.
func subject(r diff.TokenRecord) reconcile.Subject {
	return reconcile.Subject{Token: r.Key, TokenID: r.ID, Owner: r.Owner, Attempt: r.Intent}
}

// enterToken enters a write that concerns a token. One that is recorded only once it was
// made is entered with its result. The accepted commit is the one that asks for it.
func (t *Memory) enterToken(ctx context.Context, tx *sql.Tx, action diff.Action, trigger reconcile.Trigger, r diff.TokenRecord, before, after *edge.TokenSpec) error {
	e := reconcile.Entry{
		Kind: reconcile.EntryWrite, Action: string(action), Trigger: trigger,
		Subject: subject(r),
	}
	if e.Asked.User = t.file.User; t.file.User != "" && trigger == reconcile.TriggerSync {
		e.Trigger = reconcile.TriggerManual
	}
	if action != diff.ActionCreate {
		e.Result = &reconcile.WriteResult{Outcome: reconcile.Converged}
	}
	if action == reconcile.ActionDeliver && r.Sink != nil {
		e.Reason = "to sink " + r.Sink.Name + ", key " + r.Sink.Key
	}
	var err error
	if e.Members, err = reconcile.SpecChanges(before, after); err != nil {
		return err
	}
	row := tx.QueryRowContext(ctx, `SELECT "commit", author FROM accepted`)
	if _, err := rows.Found(row.Scan(&e.Asked.Commit, &e.Asked.Author)); err != nil {
		return err
	}
	_, err = t.file.Enter(ctx, tx, e)
	return err
}

// tokenResult enters what became of an attempt to create a token.
func (t *Memory) tokenResult(ctx context.Context, tx *sql.Tx, record diff.TokenRecord, outcome reconcile.Outcome, reason string) error {
	number, err := history.Attempt(ctx, tx, record.Key, record.Intent)
	if err != nil {
		return err
	}
	_, err = t.file.Enter(ctx, tx, reconcile.Entry{
		Kind: reconcile.EntryResult, Action: reconcile.ActionConclude, Subject: subject(record),
		Result: &reconcile.WriteResult{Write: number, Outcome: outcome, Reason: reason},
	})
	return err
}
