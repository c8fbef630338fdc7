package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

// migratingJobs is the lock of those who bring the tables of River up to date. It ends with its
// transaction, so it works behind PgBouncer.
const migratingJobs = 0x5ea_4a11_0b5

// migrateJobs brings the tables of River up to date, which has steps of its own. Each step is a
// transaction.
func migrateJobs(ctx context.Context, db *sql.DB) error {
	err := func() error {
		lock, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = lock.Rollback() }()
		if _, err := lock.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migratingJobs)); err != nil {
			return err
		}
		steps, err := rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		_, err = steps.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	}()
	if err != nil {
		return fmt.Errorf("bringing the tables of jobs up to date: %w", err)
	}
	return nil
}
