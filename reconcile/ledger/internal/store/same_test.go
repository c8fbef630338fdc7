package store_test

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// Both databases have the same tables with the same columns. Others than the ledger's may be in
// PostgreSQL, and what stands beside a file.
func TestBothHaveTheSameTables(t *testing.T) {
	file, err := store.Open(filepath.Join(t.TempDir(), "state", "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	db, err := postgres.Open(postgres.Config{URL: pgtest.Filled(t, "begun", postgres.Migrate)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ours := tables(t, file.DB, `
		SELECT t.name, c.name, CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'BLOB' THEN 'bytea' ELSE lower(c.type) END,
			CASE WHEN c."notnull" OR c.pk THEN 'NO' ELSE 'YES' END
		FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`)
	theirs := tables(t, db, `
		SELECT table_name, column_name, data_type, CASE WHEN t.table_type = 'VIEW' THEN 'NO' ELSE c.is_nullable END -- of a view it cannot be told
		FROM information_schema.columns AS c JOIN information_schema.tables AS t USING (table_schema, table_name) WHERE table_schema = current_schema()`)
	theirs["completeness"] = slices.DeleteFunc(theirs["completeness"], func(column string) bool { return column == "home text NO" })
	maps.DeleteFunc(theirs, func(name string, _ []string) bool { return ours[name] == nil })
	if diff := cmp.Diff(ours, theirs); diff != "" {
		t.Errorf("the tables of a file (-) and of PostgreSQL (+) differ:\n%s", diff)
	}
}

// tables are the columns of each table: name, type, whether it may be NULL.
func tables(t *testing.T, db *sql.DB, query string) map[string][]string {
	t.Helper()
	found, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	all := map[string][]string{}
	for found.Next() {
		var table, column, kind, nullable string
		if err := found.Scan(&table, &column, &kind, &nullable); err != nil {
			t.Fatal(err)
		}
		all[table] = append(all[table], strings.Join([]string{column, kind, nullable}, " "))
	}
	for _, columns := range all {
		slices.Sort(columns)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
