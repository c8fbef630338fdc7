package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seawall-dev/seawall/reconcile"
)

var _ reconcile.Control = (*Ledger)(nil)

// Approve implements [reconcile.Control]. An override is on record and spent.
func (l *Ledger) Approve(ctx context.Context, approvals []reconcile.Approval) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error { return approve(ctx, tx, approvals) })
}

func approve(ctx context.Context, tx *sql.Tx, approvals []reconcile.Approval) error {
	for _, a := range approvals {
		counts := a.Kind == reconcile.Approved
		_, err := tx.ExecContext(ctx, `
			INSERT INTO approval (digest, kind, who, reason, at, counts) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (digest) WHERE counts DO NOTHING`,
			a.Digest, a.Kind, a.Who, a.Reason, optionalTime(a.At), counts)
		if err != nil {
			return err
		}
	}
	return nil
}

// Spend implements [reconcile.Control]. A digest that is not on record is no
// error.
func (l *Ledger) Spend(ctx context.Context, digests []string) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, digest := range digests {
			if _, err := tx.ExecContext(ctx, `UPDATE approval SET counts = 0, spent = ? WHERE digest = ? AND counts`, l.stamp(), digest); err != nil {
				return err
			}
		}
		return nil
	})
}

func recallApprovals(ctx context.Context, tx *sql.Tx) (approvals []reconcile.Approval, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT digest, kind, who, reason, at FROM approval WHERE counts ORDER BY seq`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var a reconcile.Approval
		var at sql.NullString
		if err := rows.Scan(&a.Digest, &a.Kind, &a.Who, &a.Reason, &at); err != nil {
			return nil, err
		}
		if a.At, err = parseOptional(at); err != nil {
			return nil, fault(ErrDamaged, fmt.Sprintf("the time of the approval of %s: %v", a.Digest, err))
		}
		approvals = append(approvals, a)
	}
	return approvals, rows.Err()
}
