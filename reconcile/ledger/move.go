package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/move"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Move moves a ledger between its file and PostgreSQL. The caller has the lock of the state
// folder ([LockState]), and the schema of the database is up to date.
//
// At each moment one side is the ledger: the file is marked before the first row is copied, and
// the rows come with one transaction. A move that was interrupted is done again, or taken back.
type Move struct {
	File    string // the path of the ledger
	Home    string // the same for people: with the name of the machine
	DB      *sql.DB
	Place   string // of the database, for people
	Binding Binding
	Now     func() time.Time
	DryRun  bool // all is copied and compared, and nothing is kept
	// Progress is called with each table and how many rows it has; nil calls nothing.
	Progress func(table string, rows int64)
}

// MoveReport says what was moved.
type MoveReport struct {
	Tables  []TableSum `json:"tables"`
	Head    string     `json:"head"`   // of the history, which is whole as it was before
	Tokens  bool       `json:"tokens"` // all tokens of the platform stay known
	Sealed  int64      `json:"sealed"` // secrets that wait for their sink
	Already bool       `json:"already"`
}

// TableSum is a table: how many rows, and a digest of them that both databases have.
type TableSum struct {
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`
	Digest string `json:"digest"`
}

// ToPostgres moves the ledger into the database, which has none, or one that was moved away.
func (m Move) ToPostgres(ctx context.Context) (r MoveReport, err error) {
	mark, err := m.leave(ctx)
	if err != nil {
		return r, err
	}
	file, source, err := m.source(ctx)
	if err != nil {
		return r, err
	}
	defer file.Close()
	defer func() { _ = source.Rollback() }()
	tables, err := move.Tables(ctx, source)
	if err != nil {
		return r, store.Explain("reading", m.File, err)
	}
	tx, err := move.Alone(ctx, m.DB, tables)
	if err != nil {
		return r, store.Explain("moving the ledger to", m.Place, err)
	}
	defer func() { _ = tx.Rollback() }()
	r, err = m.bring(ctx, mark, tables, source, tx)
	if err == nil && !m.DryRun {
		err = tx.Commit()
	}
	if err != nil || m.DryRun {
		return r, store.Explain("moving the ledger to", m.Place, err)
	}
	if err := errors.Join(source.Rollback(), file.Close()); err != nil {
		return r, store.Explain("closing", m.File, err)
	}
	mark.Done = true
	return r, store.SetMoved(ctx, m.File, mark)
}

// leave checks the ledger, and marks it: from now on it is the one that is moved, and nothing
// else writes to it. One that is marked already has to go to the same place.
func (m Move) leave(ctx context.Context) (mark store.Moved, err error) {
	mark, moved, err := store.MovedAway(ctx, m.File)
	if err != nil {
		return mark, err
	}
	if moved && mark.Place != m.Place {
		return mark, store.Explain("opening", m.File, mark.Fault())
	}
	if moved {
		return mark, nil
	}
	open := Open
	if m.DryRun {
		open = OpenReadOnly
	}
	if missing, err := m.missing(); err != nil || missing { //nolint:contextcheck // a file is opened without one
		return mark, errors.Join(err, errNothing(m.File))
	}
	l, err := open(m.File)
	if err != nil {
		return mark, err
	}
	defer l.Close()
	l.Binding = m.Binding
	if !m.DryRun {
		err = l.LockTokens(ctx)
	}
	if err == nil && !m.DryRun {
		err = l.NotePutBack(ctx) // what shows it stays here
	}
	if err == nil {
		mark = store.Moved{ID: rand.Text(), Place: m.Place, At: store.RowTime(m.Now())}
		mark.Tokens, err = l.Confirmed(ctx)
	}
	if err != nil || m.DryRun {
		return mark, err
	}
	return mark, store.SetMoved(ctx, m.File, mark)
}

func (m Move) missing() (bool, error) {
	l, err := OpenReadOnly(m.File)
	if err != nil {
		return false, err
	}
	return l.Missing() != "", l.Close()
}

func errNothing(path string) error {
	return &Error{Kind: ErrFailed, Doing: "moving " + path, Reason: "there is no ledger", Hint: "without one there is nothing to move: start the daemon with state.postgres"}
}

// source opens the marked file for reading.
func (m Move) source(ctx context.Context) (*sql.DB, *sql.Tx, error) {
	file, err := store.Handle(m.File, "ro")
	if err != nil {
		return nil, nil, store.Explain("opening", m.File, err)
	}
	tx, err := file.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, nil, store.Explain("opening", m.File, errors.Join(err, file.Close()))
	}
	return file, tx, nil
}

// bring brings all rows into the database, and has it say that it has them; unless an earlier try has.
func (m Move) bring(ctx context.Context, mark store.Moved, tables []move.Table, source, tx *sql.Tx) (r MoveReport, err error) {
	known, err := move.ReadKnown(ctx, tx)
	if err != nil {
		return r, err
	}
	if mark.Done && known.ID != mark.ID {
		return r, &Error{Kind: ErrMoved, Reason: "the file was moved there at " + mark.At + ", and the database has nothing of it", Hint: "restore the database from a backup"}
	}
	if known.ID == mark.ID && !known.Away {
		return MoveReport{Already: true}, nil
	}
	if err := m.vacant(ctx, tx, tables, known); err != nil {
		return r, err
	}
	if r, err = m.copy(ctx, tables, source, tx, mark.Tokens, true); err != nil {
		return r, err
	}
	return r, errors.Join(counts(ctx, tables, source, tx), move.Known{ID: mark.ID, Place: m.Home, At: mark.At}.Put(ctx, tx))
}

// vacant sees to it that the database has no rows: it never had any, or its ledger has gone.
func (m Move) vacant(ctx context.Context, tx *sql.Tx, tables []move.Table, known move.Known) error {
	empty, err := move.Empty(ctx, tx, tables)
	if err == nil && !empty && !known.Away {
		return store.Fault(ErrOccupied, "it has a ledger already")
	}
	if err != nil {
		return err
	}
	return move.Clear(ctx, tx, tables)
}

// copy copies all tables, reads them again, and compares; and the chain of the history as well.
func (m Move) copy(ctx context.Context, tables []move.Table, from, to *sql.Tx, tokens, toPostgres bool) (r MoveReport, err error) {
	r.Tokens = tokens
	for _, t := range tables {
		if t.Name == "completeness" && !tokens { // a word that nothing confirms does not count elsewhere either
			continue
		}
		sum, err := t.Copy(ctx, from, to, toPostgres)
		if err != nil {
			return r, fmt.Errorf("copying the table %s: %w", t.Name, err)
		}
		again, err := t.Sum(ctx, to)
		if err != nil {
			return r, fmt.Errorf("reading the table %s again: %w", t.Name, err)
		}
		if again != sum {
			return r, fmt.Errorf("the table %s is not the same: %d rows with the digest %s have become %d rows with %s", t.Name, sum.Rows, sum.Digest, again.Rows, again.Digest)
		}
		r.Tables = append(r.Tables, TableSum{t.Name, sum.Rows, sum.Digest})
		if t.Name == "sealed" {
			r.Sealed = sum.Rows
		}
		if m.Progress != nil {
			m.Progress(t.Name, sum.Rows)
		}
	}
	was, err := history.Verify(ctx, from)
	if err != nil {
		return r, err
	}
	is, err := history.Verify(ctx, to)
	if err == nil && !reflect.DeepEqual(was, is) {
		err = fmt.Errorf("the history is not the same: its head was %s and is %s", was.Head, is.Head)
	}
	r.Head = is.Head
	return r, err
}

func counts(ctx context.Context, tables []move.Table, file, postgres *sql.Tx) error {
	for _, t := range tables {
		if err := t.Count(ctx, file, postgres); err != nil {
			return fmt.Errorf("counting on in %s: %w", t.Name, err)
		}
	}
	return nil
}

// MovedAway fails with [ErrMoved] where the ledger at path was moved into a database, or such a move did
// not end: it says which one, and what to do. What cannot be read was not moved, as far as is known.
func MovedAway(ctx context.Context, path string) error {
	mark, moved, err := store.MovedAway(ctx, path)
	if err != nil || !moved {
		return nil //nolint:nilerr // whoever opens it says what is wrong with it
	}
	return store.Explain("opening", path, mark.Fault())
}

// WasMoved reports whether the ledger at path was moved into a database as a whole. One whose
// move did not end is an error that says what to do.
func WasMoved(ctx context.Context, path string) (bool, error) {
	mark, moved, err := store.MovedAway(ctx, path)
	if err == nil && moved && !mark.Done {
		err = store.Explain("opening", path, mark.Fault())
	}
	return moved, err
}
