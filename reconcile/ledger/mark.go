package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// mark is the file beside the ledger by which an old ledger gives itself away;
// see [Ledger.Init]. It is written after the ledger and before the act the
// write is about, so that at any time it is as far as the ledger or one behind.
type mark struct {
	Serial     string `json:"serial"`
	Generation int64  `json:"generation"`
	Born       string `json:"born,omitempty"` // of the ledger's file; empty where the file system does not tell
}

func markPath(ledger string) string { return ledger + "-mark" }

// readMark returns the zero mark where there is none that can be understood:
// either way the ledger is in doubt.
func (l *Ledger) readMark() (m mark, err error) {
	data, err := os.ReadFile(markPath(l.path))
	if errors.Is(err, fs.ErrNotExist) {
		return mark{}, nil
	}
	if err != nil {
		return mark{}, err
	}
	if json.Unmarshal(data, &m) != nil {
		return mark{}, nil
	}
	return m, nil
}

// putMark writes what the ledger says now.
func (l *Ledger) putMark(ctx context.Context) error {
	c, err := l.completeness(ctx)
	if err != nil {
		return err
	}
	born, err := bornAt(l.path)
	if err != nil {
		return err
	}
	data, err := json.Marshal(mark{c.serial, c.generation, born})
	if err != nil {
		return err
	}
	// A rename that a loss of power undoes leaves the mark one behind, and two
	// could be undone: the name is made to last.
	folder := filepath.Dir(l.path)
	err = renameio.WriteFile(markPath(l.path), append(data, '\n'), 0o600, renameio.WithTempDir(folder))
	if err != nil {
		return err
	}
	return syncFolder(folder)
}

func (l *Ledger) completeness(ctx context.Context) (completeness, error) {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return completeness{}, err
	}
	defer func() { _ = tx.Rollback() }()
	return recallCompleteness(ctx, tx)
}

// certain refuses an attempt while the ledger is in doubt, and brings a mark
// that is one behind up to date: a second failure to write it must not look
// like a backup.
func (l *Ledger) certain(ctx context.Context) error {
	m, err := l.readMark()
	if err != nil {
		return err
	}
	c, err := l.completeness(ctx)
	if err != nil {
		return err
	}
	born, err := bornAt(l.path)
	if err != nil {
		return err
	}
	if doubt := c.doubt(l.Binding, m, born); doubt != "" {
		return fault(ErrUnknown, doubt)
	}
	if m.Generation != c.generation {
		return l.putMark(ctx)
	}
	return nil
}
