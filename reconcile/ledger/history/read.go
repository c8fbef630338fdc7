package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// Read hands over the entries that a filter selects, as [reconcile.History] says. A result
// whose write is on record comes with that alone.
func Read(ctx context.Context, tx *sql.Tx, f reconcile.HistoryFilter, yield func(reconcile.Entry) error) (earlier int64, err error) {
	where, args := conditions(f)
	query := selectEntries + where
	if f.Last > 0 {
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM history AS h WHERE `+where, args...).Scan(&earlier); err != nil {
			return 0, err
		}
		earlier = max(0, earlier-int64(f.Last))
		args = append(args, f.Last)
		query = `SELECT * FROM (` + query + ` ORDER BY h.number DESC LIMIT ` + place(len(args)) + `) AS newest ORDER BY 1`
	} else {
		query += ` ORDER BY h.number`
	}
	return earlier, rows.Each(ctx, tx, query, func(row *sql.Rows) error {
		var e reconcile.Entry
		if err := scanEntry(row, &e); err != nil {
			return err
		}
		return yield(e)
	}, args...)
}

// selectEntries selects entries, each with its newest result.
const selectEntries = `SELECT h.number, h.body, (
		SELECT r.body FROM history AS r WHERE r.write = h.number ORDER BY r.number DESC LIMIT 1
	) FROM history AS h WHERE `

func scanEntry(row *sql.Rows, e *reconcile.Entry) (err error) {
	var number int64
	var text string
	var result sql.NullString
	if err := row.Scan(&number, &text, &result); err != nil {
		return err
	}
	*e, err = decode(number, text, result)
	return err
}

// ErrUnreadable: a row is no entry of the history.
var ErrUnreadable = errors.New("an entry of the history cannot be read")

func decode(number int64, text string, result sql.NullString) (reconcile.Entry, error) {
	var e, r body
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return e.Entry, fmt.Errorf("%w: number %d: %w", ErrUnreadable, number, err)
	}
	if !result.Valid {
		return e.Entry, nil
	}
	if err := json.Unmarshal([]byte(result.String), &r); err != nil {
		return e.Entry, fmt.Errorf("%w: the result of number %d: %w", ErrUnreadable, number, err)
	}
	if e.Result = r.Result; e.Result != nil {
		e.Result.At = r.At
	}
	return e.Entry, nil
}

// conditions are those of a filter on the rows h.
func conditions(f reconcile.HistoryFilter) (where string, args []any) {
	all := []string{`NOT (h.write IS NOT NULL AND EXISTS (SELECT 1 FROM history AS w WHERE w.number = h.write))`}
	add := func(condition string, arg any) {
		args = append(args, arg)
		all = append(all, condition+" "+place(len(args)))
	}
	if f.Zone != "" {
		add(`h.zone =`, f.Zone)
	}
	if f.Token != "" {
		add(`h.token =`, f.Token)
	}
	if text := f.Scope.Text(); text != "" {
		add(`json_extract(h.body, '$.subject.zone_id') =`, text)
	}
	if f.Before > 0 {
		add(`h.number <`, f.Before)
	}
	if f.Commit != "" {
		add(`h."commit" >=`, f.Commit)
		add(`h."commit" <`, f.Commit+"\U0010FFFF")
	}
	if !f.Since.IsZero() {
		add(`h.seconds >=`, f.Since.Unix())
	}
	return strings.Join(all, " AND "), args
}

// Attempt returns the number of the newest entry about an attempt to create a token, 0 for
// none.
func Attempt(ctx context.Context, tx *sql.Tx, key, attempt string) (number int64, err error) {
	err = tx.QueryRowContext(ctx, `
		SELECT number FROM history WHERE token = $1 AND json_extract(body, '$.kind') = 'write' AND json_extract(body, '$.action') = 'create'
			AND json_extract(body, '$.subject.attempt') = $2 ORDER BY number DESC LIMIT 1`, key, attempt).Scan(&number)
	_, err = rows.Found(err)
	return number, err
}
