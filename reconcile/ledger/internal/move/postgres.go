package move

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/zones"
)

// Known is what a database knows of moves.
type Known struct {
	ID, Place, At string
	Away          bool // the ledger has gone there; else it came from there
}

// ReadKnown reads it; the zero value where the ledger began there.
func ReadKnown(ctx context.Context, tx *sql.Tx) (k Known, err error) {
	row := tx.QueryRowContext(ctx, `SELECT id, place, at, away FROM moved`)
	_, err = rows.Found(row.Scan(&k.ID, &k.Place, &k.At, &k.Away))
	return k, err
}

// Put replaces it.
func (k Known) Put(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO moved (one, id, place, at, away) VALUES (1, $1, $2, $3, $4)
		ON CONFLICT (one) DO UPDATE SET id = excluded.id, place = excluded.place, at = excluded.at, away = excluded.away`, k.ID, k.Place, k.At, k.Away)
	return err
}

// Alone has a transaction be the only one that writes to the database until it ends. Where a
// replica runs, or a command writes to zones, it fails with [store.ErrOccupied].
func Alone(ctx context.Context, db *sql.DB, tables []Table) (_ *sql.Tx, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	names := []string{`"lease"`, `"replica"`, `"process"`, `"moved"`}
	for _, t := range tables {
		names = append(names, `"`+t.Name+`"`)
	}
	for _, statement := range []string{
		`SELECT set_config('lock_timeout', '10s', true)`,
		fmt.Sprintf(`SELECT pg_advisory_xact_lock(%d)`, store.WritersLock), // first, as those who write
		`LOCK TABLE ` + strings.Join(names, ", ") + ` IN EXCLUSIVE MODE`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	running, err := rows.All(ctx, tx, `SELECT name FROM replica WHERE expires_at > now()
		UNION SELECT replica FROM lease WHERE expires_at > now() AND NOT given_up ORDER BY 1`, func(row *sql.Rows, name *string) error { return row.Scan(name) })
	if err == nil && len(running) > 0 {
		err = &store.Error{
			Kind: store.ErrOccupied, Reason: "replicas run on it: " + strings.Join(running, ", "),
			Hint: "stop all of them first; one that was killed counts as running for up to half a minute",
		}
	}
	if err != nil {
		return tx, err
	}
	writing, err := zones.Running(ctx, tx)
	if err == nil && len(writing) > 0 {
		err = &store.Error{
			Kind: store.ErrOccupied, Reason: "it is written to by " + strings.Join(writing, ", "),
			Hint: "stop all daemons, and wait for commands such as apply to end; one that was killed counts as running for up to a minute",
		}
	}
	return tx, err
}

// Empty reports whether no ledger has begun in a database.
func Empty(ctx context.Context, tx *sql.Tx, tables []Table) (bool, error) {
	for _, t := range tables {
		query := `SELECT EXISTS (SELECT FROM "` + t.Name + `")`
		if t.Name == "history_ends" {
			query = `SELECT EXISTS (SELECT FROM history_ends WHERE head_number > 0)`
		}
		var some bool
		if err := tx.QueryRowContext(ctx, query).Scan(&some); err != nil || some {
			return false, err
		}
	}
	return true, nil
}

// Clear removes all rows, of those first that refer to others.
func Clear(ctx context.Context, tx *sql.Tx, tables []Table) error {
	for i := range tables {
		if _, err := tx.ExecContext(ctx, `DELETE FROM "`+tables[len(tables)-1-i].Name+`"`); err != nil {
			return err
		}
	}
	return nil
}

// Count has PostgreSQL go on counting where the file was: a number that was given is never given
// again, also where its row is gone.
func (t Table) Count(ctx context.Context, file, postgres *sql.Tx) error {
	sequence, err := t.sequence(ctx, postgres)
	if err != nil || sequence == "" {
		return err
	}
	last, err := t.highest(ctx, file)
	if err == nil && t.counted(ctx, file) {
		var ever int64
		_, err = rows.Found(file.QueryRowContext(ctx, `SELECT seq FROM sqlite_sequence WHERE name = $1`, t.Name).Scan(&ever))
		last = max(last, ever)
	}
	if err != nil {
		return err
	}
	_, err = postgres.ExecContext(ctx, `SELECT setval($1::text::regclass, $2::bigint, $3::boolean)`, sequence, max(last, 1), last > 0)
	return err
}

// CountBack is that the other way.
func (t Table) CountBack(ctx context.Context, file, postgres *sql.Tx) error {
	sequence, err := t.sequence(ctx, postgres)
	if err != nil || sequence == "" || !t.counted(ctx, file) {
		return err
	}
	var last int64
	var called bool
	if err := postgres.QueryRowContext(ctx, `SELECT last_value, is_called FROM `+sequence).Scan(&last, &called); err != nil || !called {
		return err
	}
	if _, err := file.ExecContext(ctx, `DELETE FROM sqlite_sequence WHERE name = $1`, t.Name); err != nil {
		return err
	}
	_, err = file.ExecContext(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)`, t.Name, last)
	return err
}

// sequence is what PostgreSQL counts a table with; empty for nothing.
func (t Table) sequence(ctx context.Context, postgres *sql.Tx) (string, error) {
	if t.key == "" {
		return "", nil
	}
	var name sql.NullString
	err := postgres.QueryRowContext(ctx, `SELECT pg_get_serial_sequence($1::text, $2::text)`, t.Name, t.key).Scan(&name)
	return name.String, err
}

// counted reports whether the file remembers numbers whose rows are gone.
func (t Table) counted(ctx context.Context, file *sql.Tx) bool {
	var counts bool
	err := file.QueryRowContext(ctx, `SELECT sql LIKE '%AUTOINCREMENT%' FROM sqlite_schema WHERE name = $1`, t.Name).Scan(&counts)
	return err == nil && counts
}

func (t Table) highest(ctx context.Context, tx *sql.Tx) (n int64, err error) {
	err = tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT coalesce(max("%s"), 0) FROM "%s"`, t.key, t.Name)).Scan(&n)
	return n, err
}
