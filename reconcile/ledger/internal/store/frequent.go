package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// frequent are the statements that are made for each zone of a commit, by their text. To
// prepare one takes longer than to run it.
type frequent map[string]*sql.Stmt

// prepare prepares them, for as long as the database is open.
func prepare(ctx context.Context, db *sql.DB, texts []string) (frequent, error) {
	all := make(frequent, len(texts))
	for _, text := range texts {
		statement, err := db.PrepareContext(ctx, text)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all[text] = statement
	}
	return all, nil
}

func (s frequent) close() (err error) {
	for _, statement := range s {
		err = errors.Join(err, statement.Close())
	}
	return err
}

// prepared is a statement that is run often, in a change. It ends with the transaction.
func (f *File) prepared(ctx context.Context, tx *sql.Tx, text string) *sql.Stmt {
	bound := f.group.bound[text]
	if bound == nil {
		bound = tx.StmtContext(ctx, f.group.prepared[text])
		f.group.bound[text] = bound
	}
	return bound
}

// Often runs a statement that is prepared, in a change. PostgreSQL may say only afterwards that it has
// failed.
func (f *File) Often(ctx context.Context, tx *sql.Tx, text string, args ...any) error {
	_, err := f.prepared(ctx, tx, text).ExecContext(postgres.Late(ctx), args...)
	return err
}

// OftenRow runs one that has one row at the most.
func (f *File) OftenRow(ctx context.Context, tx *sql.Tx, text string, args ...any) *sql.Row {
	return f.prepared(ctx, tx, text).QueryRowContext(postgres.Late(ctx), args...)
}
