package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/sys/atomicwriter"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/move"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// ToFile moves the ledger out of the database into its file. Where the file was to be moved and
// the database has nothing of it, the file becomes the ledger again as it is.
func (m Move) ToFile(ctx context.Context) (r MoveReport, err error) {
	mark, marked, err := store.MovedAway(ctx, m.File)
	if err != nil {
		return r, err
	}
	missing, err := m.missing() //nolint:contextcheck // a file is opened without one
	if !marked && (err != nil || !missing) {
		return m.arrived(ctx, err)
	}
	made, err := m.make(ctx)
	if err != nil {
		return r, err
	}
	defer made.drop()
	tx, err := move.Alone(ctx, m.DB, made.tables)
	if err != nil {
		return r, store.Explain("moving the ledger from", m.Place, err)
	}
	defer func() { _ = tx.Rollback() }()
	known, err := move.ReadKnown(ctx, tx)
	if err != nil {
		return r, store.Explain("moving the ledger from", m.Place, err)
	}
	if marked && !mark.Done && (known.ID != mark.ID || known.Away) {
		return MoveReport{Already: true, Tokens: mark.Tokens}, m.takeBack(ctx)
	}
	if err := m.fetch(ctx, &r, made.tables, tx, made.tx, known); err != nil || m.DryRun {
		return r, store.Explain("moving the ledger from", m.Place, err)
	}
	return r, m.settle(ctx, made, tx, r)
}

// settle has the file that was made take the place of the ledger, once the database says so.
func (m Move) settle(ctx context.Context, made madeFile, tx *sql.Tx, r MoveReport) error {
	if err := errors.Join(made.tx.Commit(), made.file.Close()); err != nil {
		return store.Explain("writing", made.path, err)
	}
	if err := errors.Join(m.unused(), m.confirm(ctx, made.path, r)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil { // the database is marked: nothing opens either side
		return store.Explain("moving the ledger from", m.Place, err)
	}
	return store.Explain("writing", m.File, m.place(made.path, r.Tokens))
}

// arrived is for a file that is a ledger. It is the one that is in force where the database says
// that its own has gone there.
func (m Move) arrived(ctx context.Context, err error) (r MoveReport, _ error) {
	if err != nil {
		return r, err
	}
	tx, err := m.DB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return r, store.Explain("reading", m.Place, err)
	}
	defer func() { _ = tx.Rollback() }()
	known, err := move.ReadKnown(ctx, tx)
	if err == nil && (!known.Away || known.Place != m.Home) {
		err = &Error{Kind: ErrForeign, Reason: m.File + " is a ledger, and was not moved to this database", Hint: "set state.dir to a folder without a ledger"}
	}
	return MoveReport{Already: true}, store.Explain("moving the ledger from", m.Place, err)
}

// takeBack makes a file the ledger again from which nothing has arrived.
func (m Move) takeBack(ctx context.Context) error {
	if m.DryRun {
		return nil
	}
	return store.UnsetMoved(ctx, m.File)
}

// madeFile is a ledger that is filled in a folder of its own, beside its place.
type madeFile struct {
	workshop, path string
	file           *sql.DB
	tx             *sql.Tx
	tables         []move.Table
}

// make makes an empty one, and begins the transaction that fills it.
func (m Move) make(ctx context.Context) (made madeFile, err error) {
	folder := filepath.Dir(m.File)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return made, store.Explain("creating", m.File, err)
	}
	if made.workshop, err = os.MkdirTemp(folder, ".ledger-*.new"); err != nil {
		return made, store.Explain("creating", m.File, err)
	}
	defer func() {
		if err != nil {
			made.drop()
		}
	}()
	made.path = filepath.Join(made.workshop, filepath.Base(m.File))
	if err := store.Create(made.path); err != nil { //nolint:contextcheck // a file is made without one
		return made, store.Explain("creating", m.File, err)
	}
	if made.file, err = store.Handle(made.path, "rw"); err != nil {
		return made, store.Explain("opening", made.path, err)
	}
	if made.tx, err = made.file.BeginTx(ctx, nil); err != nil {
		return made, store.Explain("writing", made.path, err)
	}
	made.tables, err = move.Tables(ctx, made.tx)
	return made, store.Explain("reading", made.path, err)
}

// drop removes what is not in its place.
func (f madeFile) drop() {
	if f.tx != nil {
		_ = f.tx.Rollback()
	}
	if f.file != nil {
		_ = f.file.Close()
	}
	_ = os.RemoveAll(f.workshop)
}

// fetch copies the rows, and marks the database.
func (m Move) fetch(ctx context.Context, r *MoveReport, tables []move.Table, from, target *sql.Tx, known move.Known) (err error) {
	if known.Away && arriving(m.File) != known.ID {
		return m.gone(known)
	}
	empty, err := move.Empty(ctx, from, tables)
	if err == nil && empty {
		err = &Error{Kind: ErrFailed, Reason: "it has no ledger"}
	}
	if err != nil {
		return err
	}
	if err := move.Clear(ctx, target, tables); err != nil {
		return err
	}
	var tokens bool
	if err := from.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM completeness WHERE home = ledger_home())`).Scan(&tokens); err != nil {
		return err
	}
	if *r, err = m.copy(ctx, tables, from, target, tokens, false); err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.CountBack(ctx, target, from); err != nil {
			return fmt.Errorf("counting on in %s: %w", t.Name, err)
		}
	}
	to := move.Known{ID: rand.Text(), Place: m.Home, At: store.RowTime(m.Now()), Away: true}
	if known.Away { // an earlier try has come as far as this
		to.ID = known.ID
	}
	if !m.DryRun {
		err = atomicwriter.WriteFile(arrivingPath(m.File), []byte(to.ID), 0o600)
	}
	return errors.Join(err, to.Put(ctx, from))
}

// arrivingPath is the file beside a ledger that names the move by which it comes there: once the
// database says that the ledger has gone, this folder alone may go on.
func arrivingPath(ledger string) string { return ledger + "-arriving" }

func arriving(ledger string) string {
	id, _ := os.ReadFile(arrivingPath(ledger)) // without one nothing arrives
	return string(id)
}

func (m Move) gone(known move.Known) error {
	return &Error{
		Kind: ErrMoved, Reason: "it is in " + known.Place + " since " + known.At,
		Hint: "take state.postgres out of the configuration, on the machine that has the file",
	}
}

// Here fails with [ErrMoved] where the ledger of the database was moved to a file, and where the file
// was moved to a database and this one is another: it would begin with an empty ledger. Without a
// database that has a ledger, nothing was moved from it.
func (m Move) Here(ctx context.Context) error {
	if m.DB == nil {
		return store.Explain("opening", m.Place, m.elsewhere(ctx))
	}
	tx, err := m.DB.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return store.Explain("opening", m.Place, err)
	}
	defer func() { _ = tx.Rollback() }()
	known, err := move.ReadKnown(ctx, tx)
	switch {
	case err == nil && known.Away:
		err = m.gone(known)
	case err == nil && known.ID == "":
		err = m.elsewhere(ctx)
	}
	return store.Explain("opening", m.Place, err)
}

// elsewhere fails where the file was moved to a database; no ledger was ever moved to this one.
func (m Move) elsewhere(ctx context.Context) error {
	mark, moved, err := store.MovedAway(ctx, m.File)
	if err != nil || !moved {
		return err
	}
	return &Error{
		Kind: ErrMoved, Reason: m.File + " was moved to " + mark.Place + " at " + mark.At + ", and this is another database, which has nothing of it",
		Hint: "set state.postgres to the database that has the ledger, or restore it; to begin with an empty ledger, move that file away",
	}
}

// unused fails where a process has the file open that is to be replaced: its log would be taken for
// that of the new one.
func (m Move) unused() error {
	if info, err := os.Stat(m.File + "-wal"); err == nil && info.Size() > 0 {
		return store.Explain("replacing", m.File, store.Fault(ErrBusy, "another process has the old file open"))
	}
	return nil
}

// confirm writes what stands beside a ledger: its head, and that it has all tokens.
func (m Move) confirm(ctx context.Context, made string, r MoveReport) error {
	head, err := history.ParseHead(r.Head)
	if err == nil {
		err = head.Write(store.HeadPath(made))
	}
	if err != nil {
		return store.Explain("writing", store.HeadPath(made), err)
	}
	l, err := Open(made) //nolint:contextcheck // a file is opened without one
	if err != nil {
		return err
	}
	if r.Tokens {
		err = l.ConfirmMoved(ctx)
	}
	return errors.Join(err, l.Close())
}

// place puts the ledger that was made into its place. The last step makes it the ledger.
func (m Move) place(made string, tokens bool) error {
	for _, beside := range []string{"-wal", "-shm", "-checked"} {
		if err := os.Remove(m.File + beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if tokens {
		if err := os.Rename(store.MarkPath(made), store.MarkPath(m.File)); err != nil {
			return err
		}
	} else if err := os.Remove(store.MarkPath(m.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(store.HeadPath(made), store.HeadPath(m.File)); err != nil {
		return err
	}
	if err := os.Rename(made, m.File); err != nil {
		return err
	}
	if err := os.Remove(arrivingPath(m.File)); err != nil {
		return err
	}
	return store.SyncFolder(filepath.Dir(m.File))
}
