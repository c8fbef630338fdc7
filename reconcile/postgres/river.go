package postgres

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

// migrateJobs brings the tables of River up to date, which has steps of its own. Each is a
// transaction. The caller has the lock of those who take steps.
func migrateJobs(ctx context.Context, db *sql.DB) error {
	steps, err := rivermigrate.New(riverdatabasesql.New(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = steps.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
