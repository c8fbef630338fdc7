package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Create makes an empty ledger at path. It is made whole in a folder of its own
// and then linked to its place: a process that is killed leaves none, and of two
// that create at once the second takes the ledger of the first.
func Create(path string) (err error) {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	workshop, err := os.MkdirTemp(folder, ".ledger-*.new") // mode 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(workshop)) }()
	made := filepath.Join(workshop, "ledger.db")
	if err := build(made); err != nil {
		return err
	}
	if err := os.Link(made, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncFolder(folder)
}

// empty is the file of the empty ledger that this process has laid out, and by which steps:
// a further one is a copy of it, which takes a tenth of the time.
var empty struct {
	sync.Mutex
	steps string
	file  []byte
}

// build writes the file.
func build(path string) (err error) {
	empty.Lock()
	defer empty.Unlock()
	steps := strings.Join(Migrations, "\n")
	if empty.steps == steps {
		return write(path, empty.file)
	}
	if err := write(path, nil); err != nil { // SQLite gives its companions the mode of the file
		return err
	}
	db, err := handle(path, "rw")
	if err != nil {
		return err
	}
	if err := errors.Join(lay(db), db.Close()); err != nil {
		return err
	}
	if empty.file, err = os.ReadFile(path); err == nil {
		empty.steps = steps
	}
	return err
}

// write makes a file that lasts.
func write(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// lay gives an empty file its journal and its tables. Closing the last
// connection moves all of it from the log into the file.
func lay(db *sql.DB) error {
	ctx := context.Background()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	return migrate(ctx, db)
}

// SyncFolder makes the new name in a folder last through a loss of power.
func SyncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
