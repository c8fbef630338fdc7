package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

func jobSteps(db *sql.DB) (*rivermigrate.Migrator[*sql.Tx], error) {
	return rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
}

// hasJobs reports whether the tables of River are up to date.
func hasJobs(ctx context.Context, db *sql.DB) (bool, error) {
	steps, err := jobSteps(db)
	if err != nil {
		return false, err
	}
	found, err := steps.Validate(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("reading the steps of the tables of jobs: %w", plainly(err))
	}
	return found.OK, nil
}

// migrateJobs brings the tables of River up to date, which has steps of its own. Each is a
// transaction. The caller has the lock of those who take steps.
func migrateJobs(ctx context.Context, db *sql.DB) error {
	steps, err := jobSteps(db)
	if err != nil {
		return err
	}
	_, err = steps.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
