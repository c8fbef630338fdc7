package history

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// unfinishedRows is how many of the last rows Unfinished looks at, and unfinishedWrites how
// many writes it returns at the most, the newest ones.
const (
	unfinishedRows   = 20_000
	unfinishedWrites = 1000
)

// selectUnfinished selects writes to zones that no result follows, and no other write of the
// same deployment. What has a result, and results themselves, are left out by an index, so
// that few bodies are read: the order of the joins matters.
const selectUnfinished = `
	WITH open (number) AS MATERIALIZED (
		SELECT number FROM history WHERE number > $1
		EXCEPT SELECT write FROM history WHERE write > $1
		EXCEPT SELECT number FROM history WHERE write > $1
	)
	SELECT h.number, h.body FROM open CROSS JOIN history AS h
	WHERE h.number = open.number AND json_extract(h.body, '$.kind') = 'write' AND h.zone IS NOT NULL
		AND json_extract(h.body, '$.result') IS NULL AND json_extract(h.body, '$.trigger') <> 'revert'
		AND NOT EXISTS (
			SELECT 1 FROM history AS later WHERE later.zone = h.zone AND later.number > h.number
				AND json_extract(later.body, '$.kind') = 'write'
				AND json_extract(later.body, '$.subject.zone_id') IS NOT DISTINCT FROM json_extract(h.body, '$.subject.zone_id')
				AND json_extract(later.body, '$.subject.ruleset_id') IS NOT DISTINCT FROM json_extract(h.body, '$.subject.ruleset_id')
				AND json_extract(later.body, '$.subject.ref') IS NOT DISTINCT FROM json_extract(h.body, '$.subject.ref'))
	ORDER BY h.number DESC LIMIT $2`

// Unfinished returns writes as [reconcile.Records] says.
func Unfinished(ctx context.Context, tx *sql.Tx) (writes []reconcile.Entry, err error) {
	have, err := scanEnds(tx.QueryRowContext(ctx, selectEnds))
	if err != nil {
		return nil, err
	}
	return rows.All(ctx, tx, selectUnfinished, func(row *sql.Rows, e *reconcile.Entry) (err error) {
		var number int64
		var text string
		if err := row.Scan(&number, &text); err != nil {
			return err
		}
		*e, err = decode(number, text, sql.NullString{})
		return err
	}, have.head.Number-unfinishedRows, unfinishedWrites)
}
