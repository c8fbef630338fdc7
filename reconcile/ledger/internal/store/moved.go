package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// movedVersions is added to the version of the schema of a ledger that was moved away, so that a
// program that knows nothing of moving refuses the file as one of a newer version.
const movedVersions = 1_000_000

// Moved says where the ledger of a file is now.
type Moved struct {
	ID     string // of the move
	Place  string // where it is
	At     string
	Tokens bool // the file knew all tokens of its platform
	Done   bool // it has arrived
}

// movedSchema is what such a file has beside its tables: nothing is written any more, also not by a
// process that has had it open all along.
const movedSchema = `CREATE TABLE moved (
	one    INTEGER PRIMARY KEY CHECK (one = 1),
	id     TEXT NOT NULL,
	place  TEXT NOT NULL,
	at     TEXT NOT NULL,
	tokens INTEGER NOT NULL CHECK (tokens IN (0, 1)),
	done   INTEGER NOT NULL CHECK (done IN (0, 1))
) STRICT`

// Fault is why nothing is done with such a file.
func (m Moved) Fault() error {
	if !m.Done {
		return &Error{
			Kind: ErrMoved, Reason: "moving it to " + m.Place + " began at " + m.At + " and did not end",
			Hint: "with state.postgres set to that database, run again: seawall state migrate --to postgres; to stay with the file instead: seawall state migrate --to file",
		}
	}
	return &Error{
		Kind: ErrMoved, Reason: "it is in " + m.Place + " since " + m.At,
		Hint: "set state.postgres in the configuration to that database; to go back to the file: seawall state migrate --to file",
	}
}

// MovedAway says where the ledger at path was moved to; false where it was not, or there is none.
func MovedAway(ctx context.Context, path string) (m Moved, moved bool, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	db, err := Handle(path, "ro")
	if err != nil {
		return m, false, Explain("reading", path, err)
	}
	defer db.Close()
	m, moved, err = movedOf(ctx, db)
	return m, moved, Explain("reading", path, err)
}

func movedOf(ctx context.Context, db *sql.DB) (m Moved, moved bool, err error) {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version < movedVersions {
		return m, false, err
	}
	err = db.QueryRowContext(ctx, `SELECT id, place, at, tokens, done FROM moved`).Scan(&m.ID, &m.Place, &m.At, &m.Tokens, &m.Done)
	return m, true, err
}

// Handle opens the file of a ledger as it is, checks nothing, and has one connection.
func Handle(path, mode string) (*sql.DB, error) {
	db, err := handle(path, mode)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// SetMoved marks a file: from now on nothing opens it as a ledger, and nothing is written to it.
// One that is marked gets the new mark.
func SetMoved(ctx context.Context, path string, m Moved) error {
	return marked(ctx, path, func(tx *sql.Tx, tables []string, version int) error {
		statements := []string{`DELETE FROM moved`}
		if version < movedVersions {
			statements = append([]string{movedSchema}, statements...)
			for _, table := range tables {
				for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
					statements = append(statements, fmt.Sprintf(`CREATE TRIGGER moved_%s_%s BEFORE %s ON "%s" BEGIN SELECT RAISE(ABORT, 'the ledger was moved'); END`, table, event, event, table))
				}
			}
			statements = append(statements, fmt.Sprintf("PRAGMA user_version = %d", version+movedVersions))
		}
		if err := each(ctx, tx, statements); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO moved VALUES (1, $1, $2, $3, $4, $5)`, m.ID, m.Place, m.At, m.Tokens, m.Done)
		return err
	})
}

// UnsetMoved takes the mark off: the file is the ledger again.
func UnsetMoved(ctx context.Context, path string) error {
	return marked(ctx, path, func(tx *sql.Tx, tables []string, version int) error {
		if version < movedVersions {
			return nil
		}
		statements := []string{`DROP TABLE moved`, fmt.Sprintf("PRAGMA user_version = %d", version-movedVersions)}
		for _, table := range tables {
			if table != "moved" {
				for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
					statements = append(statements, fmt.Sprintf(`DROP TRIGGER moved_%s_%s`, table, event))
				}
			}
		}
		return each(ctx, tx, statements)
	})
}

// marked changes the mark of a file in one transaction.
func marked(ctx context.Context, path string, change func(tx *sql.Tx, tables []string, version int) error) error {
	db, err := Handle(path, "rw")
	if err != nil {
		return Explain("writing", path, err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return Explain("writing", path, err)
	}
	defer func() { _ = tx.Rollback() }()
	var version int
	err = tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	var tables []string
	if err == nil {
		tables, err = TablesOf(ctx, tx)
	}
	if err == nil {
		err = change(tx, tables, version)
	}
	if err == nil {
		err = tx.Commit()
	}
	return Explain("writing", path, errors.Join(err, db.Close()))
}

// TablesOf are the tables of a file.
func TablesOf(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	found, err := tx.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, found.Err()
}

func each(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
