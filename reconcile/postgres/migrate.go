package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versions is the table that says which steps were taken.
const versions = "seawall_schema"

// migratorsLock is what the process has that takes the steps: "SWLM".
const migratorsLock = 0x53574c4d

// Migrate brings the tables up to date. Several processes may do so at once.
func Migrate(ctx context.Context, db *sql.DB) error {
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, steps, goose.WithTableName(versions))
	if err != nil {
		return fmt.Errorf("reading the steps of the schema: %w", err)
	}
	turn, err := db.BeginTx(ctx, nil) // the steps are taken on another connection
	if err != nil {
		return err
	}
	defer func() { _ = turn.Rollback() }()
	if _, err := turn.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, migratorsLock); err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bringing the schema up to date: %w", err)
	}
	if err := migrateJobs(ctx, db); err != nil {
		return fmt.Errorf("bringing the tables of jobs up to date: %w", err)
	}
	return nil
}

// Version returns how many steps were taken, 0 for a database without tables, and how many there
// are. It changes nothing.
func Version(ctx context.Context, db *sql.DB) (have, want int, err error) {
	steps, err := migrations.ReadDir("migrations")
	if err != nil {
		return 0, 0, err
	}
	var there bool
	if err := db.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, versions).Scan(&there); err != nil || !there {
		return 0, len(steps), err
	}
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM `+versions+` WHERE is_applied AND version_id > 0`).Scan(&have)
	return have, len(steps), err
}
