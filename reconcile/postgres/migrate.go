package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
)

// A step of the schema is a file. Programs of two releases run beside each other for a while, so a
// step of one release adds something, which the release before does not look at; or it takes away
// what the release before does not use any more, and then it says in seawall_schema_least which
// step a program must know. So no upgrade skips a release, and none has a gap.
//
//go:embed migrations/*.sql
var migrations embed.FS

const (
	// versions is the table that says which steps were taken, and least the one that says which a
	// program must know.
	versions = "seawall_schema"
	least    = "seawall_schema_least"
	// migratorsLock is what the process has that takes the steps: "SWLM".
	migratorsLock = 0x53574c4d
)

// ErrTooOld: the tables were changed by a newer program in a way that this one does not know.
var ErrTooOld = errors.New("the tables in the database need a newer version of this program")

// Migrate brings the tables up to date. Several processes may do so at once, and those that run may
// go on. Tables with more steps than this program knows are left as they are; it fails with
// [ErrTooOld] where it cannot work with them.
func Migrate(ctx context.Context, db *sql.DB) error { return migrate(ctx, db, migrations) }

// MigrateNew is Migrate, and reports whether there were no tables before.
func MigrateNew(ctx context.Context, db *sql.DB) (created bool, err error) {
	have, want, err := Version(ctx, db)
	if err != nil {
		return false, err
	}
	return have == 0, migrateFrom(ctx, db, migrations, have == want)
}

func migrate(ctx context.Context, db *sql.DB, files fs.FS) (err error) {
	have, want, err := version(ctx, db, files)
	if err != nil {
		return err
	}
	return migrateFrom(ctx, db, files, have == want)
}

// migrateFrom takes the steps that are missing; ours may all have been taken.
func migrateFrom(ctx context.Context, db *sql.DB, files fs.FS, taken bool) (err error) {
	if taken { // no step is taken back: whoever has the lock cannot change that
		if done, err := hasJobs(ctx, db); done || err != nil {
			return err
		}
	}
	steps, err := fs.Sub(files, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, steps, goose.WithTableName(versions))
	if err != nil {
		return fmt.Errorf("reading the steps of the schema: %w", err)
	}
	defer func() {
		if err != nil && !errors.Is(err, ErrForeign) {
			err = fmt.Errorf("bringing the schema up to date: %w", plainly(err))
		}
	}()
	alone, err := aloneIn(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, alone.Rollback()) }()
	if err := vacant(ctx, db, files); err != nil { // under the lock: no one makes ours meanwhile
		return err
	}
	if _, err = provider.Up(ctx); err != nil {
		return err
	}
	if err := migrateJobs(ctx, db); err != nil {
		return fmt.Errorf("the tables of jobs: %w", err)
	}
	return nil
}

// aloneIn returns a transaction of which there is one at a time. It does nothing, for as long as it
// takes: the steps are taken on another connection.
func aloneIn(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	const patient = `SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`
	if _, err := tx.ExecContext(ctx, patient); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, migratorsLock); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// Version returns how many of the steps that this program knows were taken, 0 for a database without
// tables, and how many it knows. It changes nothing, and fails with [ErrTooOld] where this program
// cannot work with the tables.
func Version(ctx context.Context, db *sql.DB) (have, want int, err error) {
	return version(ctx, db, migrations)
}

func version(ctx context.Context, db *sql.DB, files fs.FS) (have, want int, err error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return 0, 0, err
	}
	steps := make([]int64, len(names))
	for i, name := range names {
		if steps[i], err = goose.NumericComponent(name); err != nil {
			return 0, 0, err
		}
	}
	needed, there, err := needed(ctx, db)
	if err != nil {
		return 0, 0, err
	}
	if newest := slices.Max(steps); needed > newest {
		return 0, 0, fmt.Errorf("%w: whoever uses them must know step %d, and this one knows %d steps", ErrTooOld, needed, newest)
	}
	if !there {
		return 0, len(names), nil
	}
	err = db.QueryRowContext(ctx, `SELECT count(DISTINCT version_id) FROM `+versions+` WHERE is_applied AND version_id = ANY($1)`, steps).Scan(&have)
	return have, len(names), err
}

// needed is the step that a program must know; there is whether any was taken.
func needed(ctx context.Context, db *sql.DB) (step int64, there bool, err error) {
	var says bool
	err = db.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL, to_regclass($2) IS NOT NULL`, versions, least).Scan(&there, &says)
	if err != nil || !says {
		return 0, there, err
	}
	err = db.QueryRowContext(ctx, `SELECT step FROM `+least).Scan(&step)
	return step, there, err
}
