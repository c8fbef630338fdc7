package history

import (
	"database/sql"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What a page costs does not grow with the history: it is read by an index in its order, so
// that nothing is sorted and no table is read through. Counts have an index with all that they
// count.
func TestPagesCostWhatTheyShow(t *testing.T) {
	db, err := sql.Open("sqlite", "file:pages?mode=memory&cache=shared")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(Schema + SchemaGaps + SchemaPages); err != nil {
		t.Fatal(err)
	}
	one := []any{"0123456789abcdef"}
	for name, want := range map[string]struct {
		filter  reconcile.HistoryFilter
		commits []any
		uses    string
	}{
		"all":    {reconcile.HistoryFilter{}, nil, "SEARCH h USING INTEGER PRIMARY KEY (rowid<?)"},
		"zone":   {reconcile.HistoryFilter{Scope: edge.ZoneScope("a")}, nil, "SEARCH h USING INDEX history_scope (<expr>=? AND rowid<?)"},
		"token":  {reconcile.HistoryFilter{Token: "ci"}, nil, "SEARCH h USING INDEX history_token (token=? AND rowid<?)"},
		"commit": {reconcile.HistoryFilter{Commit: "0123456"}, one, "SEARCH h USING INDEX history_commit (commit=? AND rowid<?)"},
	} {
		want.filter.Before, want.filter.Last = 1000, 10
		query, args := pageQuery(want.filter, want.commits)
		plan := planOf(t, db, query, args...)
		if !strings.Contains(plan, want.uses) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
	for name, want := range map[string]struct {
		query string
		args  []any
		uses  string
	}{
		"the beginning of a commit": {selectBeginning, []any{"a", "b", 11}, "USING INDEX history_commit (commit>? AND commit<?)"},
		"newest":                    {selectNewest, []any{"a"}, "SEARCH history USING INDEX history_commit (commit=?)"},
		"accepted":                  {selectAccepted, []any{1000, 10}, "SEARCH history USING INDEX history_accepted (number<?)"},
		"written":                   {selectWritten, []any{"a"}, "SEARCH h USING INDEX history_written (commit=?)"},
		"became of":                 {selectWritten, []any{"a"}, "SEARCH r USING INDEX history_result (write=?)"},
	} {
		if plan := planOf(t, db, want.query, want.args...); !strings.Contains(plan, want.uses) {
			t.Errorf("%s:\n%s", name, plan)
		}
	}
}

// planOf is how SQLite runs a query, a line for each step.
func planOf(t *testing.T, db *sql.DB, query string, args ...any) string {
	t.Helper()
	rows, err := db.Query("EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var id, parent, unused int
		var text string
		if err := rows.Scan(&id, &parent, &unused, &text); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
