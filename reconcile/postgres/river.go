package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

func jobSteps(db *sql.DB) (*rivermigrate.Migrator[*sql.Tx], error) {
	return rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
}

// hasJobs reports whether the tables of River are up to date. River itself asks information_schema for
// that, which takes the server several times as long as all else that a process asks at its start. So it
// is asked only where not all of its steps are found.
func hasJobs(ctx context.Context, db *sql.DB) (bool, error) {
	steps, err := jobSteps(db)
	if err != nil {
		return false, err
	}
	var known []int64
	for _, step := range steps.AllVersions() {
		known = append(known, int64(step.Version))
	}
	var have int
	err = db.QueryRowContext(ctx, `SELECT count(DISTINCT version) FROM river_migration WHERE line = $1 AND version = ANY($2)`, riverdriver.MigrationLineMain, known).Scan(&have)
	if err == nil && have == len(known) {
		return true, nil
	}
	found, err := steps.Validate(ctx, nil) // there may be no such table, or an earlier form of it
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
