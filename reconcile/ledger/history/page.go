package history

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// SchemaPages selects a page from the end by what its entries are about, and counts what was
// written for commits, without reading other bodies. What became of a write stands beside its
// number. What corrects drift or puts back is not the work of the commit that it names. The
// indexes are of expressions, since to add a column reads each row once more.
const SchemaPages = `
CREATE INDEX history_scope ON history (json_extract(body, '$.subject.zone_id')) WHERE json_extract(body, '$.subject.zone_id') IS NOT NULL;
DROP INDEX history_write;
CREATE INDEX history_result ON history (write, number, json_extract(body, '$.result.outcome')) WHERE write IS NOT NULL;
CREATE INDEX history_accepted ON history (number) WHERE json_extract(body, '$.kind') = 'commit';
CREATE INDEX history_written ON history ("commit", json_extract(body, '$.subject.zone_id'), json_extract(body, '$.result.outcome'))
	WHERE json_extract(body, '$.kind') = 'write' AND coalesce(json_extract(body, '$.trigger'), '') NOT IN ('sweep', 'revert');
`

// Page returns entries as [reconcile.HistoryPages] says.
func Page(ctx context.Context, tx *sql.Tx, f reconcile.HistoryFilter) (entries []reconcile.Entry, earlier bool, err error) {
	var commits []any
	if f.Commit != "" {
		if commits, err = beginning(ctx, tx, f.Commit); err != nil || len(commits) == 0 {
			return nil, false, err
		}
	}
	query, args := pageQuery(f, commits)
	entries, err = rows.All(ctx, tx, query, scanEntry, args...)
	entries, earlier = cut(entries, f.Last)
	return entries, earlier, err
}

// pageQuery selects a page and one entry more. Each condition has an index in the order of the
// numbers, so that nothing is sorted: the beginning of a commit is replaced by the commits
// that begin so, as a rule one.
func pageQuery(f reconcile.HistoryFilter, commits []any) (query string, args []any) {
	f.Commit = ""
	where, args := conditions(f)
	if len(commits) > 0 {
		where += ` AND h."commit" IN (` + places(len(args), len(commits)) + `)`
		args = append(args, commits...)
	}
	args = append(args, f.Last+1)
	return selectEntries + where + ` ORDER BY h.number DESC LIMIT ` + place(len(args)), args
}

// cut is a page of what was read to see whether more follows.
func cut[T any](all []T, last int) (page []T, more bool) {
	return all[:min(len(all), last)], len(all) > last
}

// place is that of an argument; the first has the number 1.
func place(number int) string { return "$" + strconv.Itoa(number) }

// places are those of n arguments behind so many.
func places(before, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = place(before + i + 1)
	}
	return strings.Join(all, ", ")
}

// selectBeginning goes from one commit to the next by the index, however many entries each has.
const selectBeginning = `
	WITH RECURSIVE found ("commit", place) AS (
		SELECT (SELECT min("commit") FROM history WHERE "commit" >= $1 AND "commit" < $2), 1
		UNION ALL
		SELECT (SELECT min("commit") FROM history WHERE "commit" > found."commit" AND "commit" < $2), place + 1 FROM found
			WHERE found."commit" IS NOT NULL AND place < $3
	)
	SELECT "commit" FROM found WHERE "commit" IS NOT NULL`

// beginning returns the commits that begin so.
func beginning(ctx context.Context, tx *sql.Tx, begins string) (commits []any, err error) {
	commits, err = rows.All(ctx, tx, selectBeginning, func(row *sql.Rows, commit *any) error {
		var text string
		err := row.Scan(&text)
		*commit = text
		return err
	}, begins, begins+"\U0010FFFF", reconcile.MostCommits+1)
	if len(commits) > reconcile.MostCommits {
		return nil, fmt.Errorf("%w: %q", reconcile.ErrManyCommits, begins)
	}
	return commits, err
}
