package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// Hold records that a person holds a zone, in the place of any hold on it before.
// A daemon beside it sees that with its next run: no lock is needed.
func (l *Ledger) Hold(ctx context.Context, hold diff.Hold, who string) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO hold (zone, reason, until, who, at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET reason = excluded.reason, until = excluded.until, who = excluded.who, at = excluded.at`,
			hold.Zone, hold.Reason, rowTime(hold.Until), who, l.stamp())
		return err
	})
}

// Release ends the hold on a zone, and reports whether there was one. Holds whose
// time is over by now go as well.
func (l *Ledger) Release(ctx context.Context, zone string, now time.Time) (held bool, err error) {
	err = l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		holds, err := recallHolds(ctx, tx)
		if err != nil {
			return err
		}
		for _, h := range holds {
			over := !now.Before(h.Until)
			if h.Zone != zone && !over {
				continue
			}
			held = held || h.Zone == zone && !over
			if _, err := tx.ExecContext(ctx, `DELETE FROM hold WHERE zone = ?`, h.Zone); err != nil {
				return err
			}
		}
		return nil
	})
	return held, err
}

func recallHolds(ctx context.Context, tx *sql.Tx) (holds []diff.Hold, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT zone, reason, until FROM hold ORDER BY zone`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var h diff.Hold
		var until string
		if err := rows.Scan(&h.Zone, &h.Reason, &until); err != nil {
			return nil, err
		}
		if h.Until, err = time.Parse(time.RFC3339, until); err != nil {
			return nil, fault(ErrDamaged, fmt.Sprintf("the end of the hold on %q: %v", h.Zone, err))
		}
		holds = append(holds, h)
	}
	return holds, rows.Err()
}

// rowTime is a time as a row holds it.
func rowTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func optionalTime(t time.Time) sql.NullString {
	return sql.NullString{String: rowTime(t), Valid: !t.IsZero()}
}

func parseOptional(text sql.NullString) (time.Time, error) {
	if !text.Valid {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text.String)
}
