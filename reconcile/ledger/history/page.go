package history

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

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
		where += ` AND h."commit" IN (` + places(len(commits)) + `)`
		args = append(args, commits...)
	}
	return selectEntries + where + ` ORDER BY h.number DESC LIMIT ?`, append(args, f.Last+1)
}

// cut is a page of what was read to see whether more follows.
func cut[T any](all []T, last int) (page []T, more bool) {
	return all[:min(len(all), last)], len(all) > last
}

// places are the places of so many arguments.
func places(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// selectBeginning goes from one commit to the next by the index, however many entries each has.
const selectBeginning = `
	WITH RECURSIVE found ("commit") AS (
		SELECT (SELECT min("commit") FROM history WHERE "commit" >= ?1 AND "commit" < ?2)
		UNION ALL
		SELECT (SELECT min("commit") FROM history WHERE "commit" > found."commit" AND "commit" < ?2) FROM found WHERE found."commit" IS NOT NULL
		LIMIT ?3
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
