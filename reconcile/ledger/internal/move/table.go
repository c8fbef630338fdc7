// Package move copies the tables of a ledger from one database to the other, and shows that
// they are the same:
//
//	tables, err := move.Tables(ctx, file)                 // in the order in which rows refer to others
//	sum, err := table.Copy(ctx, from, to, toPostgres)     // in a transaction of each
//	same, err := table.Sum(ctx, to)                       // read again: equal to sum
//
// A row is compared by the values of its columns, in one form for both databases. The rows of a
// table have no order: databases sort text in ways of their own.
package move

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Table is a table that both databases have. Columns that the database works out itself are none
// of it.
type Table struct {
	Name    string
	columns []string
	key     string // a whole number that the database counts up; empty for none
	refers  []string
}

// left are the tables that stay: which process of a machine writes where, how what is cached is
// told from what is not, and where the ledger was moved to.
var left = []string{"claim", "said", "moved"}

// Tables are the tables of the ledger in a file, each behind those that its rows refer to.
func Tables(ctx context.Context, file *sql.Tx) (sorted []Table, err error) {
	names, err := store.TablesOf(ctx, file)
	if err != nil {
		return nil, err
	}
	var rest []Table
	for _, name := range names {
		if slices.Contains(left, name) {
			continue
		}
		t, err := tableOf(ctx, file, name)
		if err != nil {
			return nil, err
		}
		rest = append(rest, t)
	}
	for len(rest) > 0 {
		i := slices.IndexFunc(rest, func(t Table) bool {
			return !slices.ContainsFunc(rest, func(other Table) bool { return other.Name != t.Name && slices.Contains(t.refers, other.Name) })
		})
		if i < 0 {
			return nil, fmt.Errorf("the rows of %s refer to each other", rest[0].Name)
		}
		sorted, rest = append(sorted, rest[i]), slices.Delete(rest, i, i+1)
	}
	return sorted, nil
}

func tableOf(ctx context.Context, file *sql.Tx, name string) (t Table, err error) {
	t.Name = name
	var keys, counted int
	err = rows.Each(ctx, file, `SELECT name, type = 'INTEGER' AND pk = 1, pk > 0 FROM pragma_table_info($1) ORDER BY cid`, func(row *sql.Rows) error {
		var column string
		var whole, key bool
		if err := row.Scan(&column, &whole, &key); err != nil {
			return err
		}
		t.columns = append(t.columns, column)
		if key {
			keys++
		}
		if whole {
			counted++
			t.key = column
		}
		return nil
	}, name)
	if keys != 1 || counted != 1 {
		t.key = ""
	}
	if err == nil {
		err = rows.Each(ctx, file, `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1)`, func(row *sql.Rows) error {
			var other string
			err := row.Scan(&other)
			t.refers = append(t.refers, other)
			return err
		}, name)
	}
	return t, err
}

// names are the columns in a statement.
func (t Table) names() string { return `"` + strings.Join(t.columns, `", "`) + `"` }
