package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
)

// ErrForeign is a database with tables of something else that have names of ours. It is left as it is.
var ErrForeign = errors.New("it has tables of something else")

// jobTables are those of River, which another program may have, too: it would do our jobs.
var jobTables = []string{"river_migration", "river_job"}

// made is what a step makes that has a name among tables.
var made = regexp.MustCompile(`(?m)^\s*CREATE (?:UNIQUE )?(?:TABLE|VIEW|INDEX) (\w+)`)

// Vacant fails with [ErrForeign] where ours cannot be made beside the tables of a database. It changes
// nothing.
func Vacant(ctx context.Context, db *sql.DB) error { return vacant(ctx, db, migrations) }

func vacant(ctx context.Context, db *sql.DB, files fs.FS) error {
	if have, _, err := version(ctx, db, files); err != nil || have > 0 {
		return err
	}
	steps, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return err
	}
	names := slices.Clone(jobTables)
	for _, step := range steps {
		text, err := fs.ReadFile(files, step)
		if err != nil {
			return err
		}
		for _, found := range made.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	var name string
	err = db.QueryRowContext(ctx, `
		SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = ANY($1::text[])
			ORDER BY relkind NOT IN ('r', 'p', 'v'), relname LIMIT 1`, names).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%w: Seawall did not make %q", ErrForeign, name)
	}
	return err
}

// Unused fails with [ErrForeign] where a database without tables of ours has some of something else, by
// whatever name: it is not the one that is meant, as far as who only reads can tell. Those of extensions
// are of no one.
func Unused(ctx context.Context, db *sql.DB) error {
	if err := Vacant(ctx, db); err != nil {
		return err
	}
	var name string
	err := db.QueryRowContext(ctx, `
		SELECT relname FROM pg_class AS c WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
			AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
			ORDER BY relname LIMIT 1`).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%w, such as %q, and no ledger", ErrForeign, name)
	}
	return err
}
