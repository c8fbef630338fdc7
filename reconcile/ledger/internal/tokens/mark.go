package tokens

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/sys/atomicwriter"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// mark is the file beside the ledger by which an old ledger gives itself away;
// see [Memory.Init]. It is written after the ledger and before the act the
// write is about, so that at any time it is as far as the ledger or one behind.
type mark struct {
	Serial     string `json:"serial"`
	Generation int64  `json:"generation"`
	Born       string `json:"born,omitempty"` // of the ledger's file; empty where the file system does not tell
	of         string // what was born so; empty for the file
}

// readMark returns the zero mark where there is none that can be understood:
// either way the ledger is in doubt.
func (t *Memory) readMark(ctx context.Context) (m mark, err error) {
	if db := t.file.Database(); db != nil {
		return t.homeMark(ctx, db)
	}
	data, err := os.ReadFile(store.MarkPath(t.file.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, err
	}
	if json.Unmarshal(data, &m) != nil {
		return mark{}, nil //nolint:nilerr // a damaged mark confirms nothing, as none does
	}
	return m, nil
}

// putMark writes what the ledger says now.
func (t *Memory) putMark(ctx context.Context) error {
	if t.file.Database() != nil {
		return nil // it is in the row itself
	}
	c, err := t.completeness(ctx)
	if err != nil {
		return err
	}
	born, err := BornAt(t.file.Path)
	if err != nil {
		return err
	}
	data, err := json.Marshal(mark{Serial: c.serial, Generation: c.generation, Born: born})
	if err != nil {
		return err
	}
	// A rename that a loss of power undoes leaves the mark one behind, and two
	// could be undone: the name is made to last.
	folder := filepath.Dir(t.file.Path)
	err = atomicwriter.WriteFile(store.MarkPath(t.file.Path), append(data, '\n'), 0o600)
	if err != nil {
		return err
	}
	return store.SyncFolder(folder)
}

func (t *Memory) completeness(ctx context.Context) (c completeness, err error) {
	err = t.file.Read(ctx, func(tx *sql.Tx) error {
		c, err = recallCompleteness(ctx, tx)
		return err
	})
	return c, err
}

// certain refuses an attempt while the ledger is in doubt, and brings a mark
// that is one behind up to date: a second failure to write it must not look
// like a backup.
func (t *Memory) certain(ctx context.Context) error {
	m, err := t.readMark(ctx)
	if err != nil {
		return err
	}
	c, err := t.completeness(ctx)
	if err != nil {
		return err
	}
	born, err := t.born(ctx)
	if err != nil {
		return err
	}
	if doubt := c.doubt(t.Binding, m, born); doubt != "" {
		return store.Fault(store.ErrUnknown, doubt)
	}
	if m.Generation != c.generation {
		return t.putMark(ctx)
	}
	return nil
}

// born is when the file was made, or which database it is.
func (t *Memory) born(ctx context.Context) (home string, err error) {
	db := t.file.Database()
	if db == nil {
		return BornAt(t.file.Path)
	}
	err = db.QueryRowContext(ctx, `SELECT ledger_home()`).Scan(&home)
	return home, err
}

// homeMark is the mark that the row of the word is itself: it says in which database it was given. Where
// this machine knows more than the database, that was put back, and others are told with the next write.
func (t *Memory) homeMark(ctx context.Context, db *sql.DB) (mark, error) {
	m := mark{of: "database"}
	_, err := rows.Found(db.QueryRowContext(ctx, `SELECT serial, generation, home FROM completeness`).Scan(&m.Serial, &m.Generation, &m.Born))
	if err != nil {
		return m, err
	}
	back, err := t.file.PutBack(ctx)
	if back {
		m.Born = store.PutBackHome
	}
	return m, err
}
