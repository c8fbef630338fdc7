package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A process that has a file open goes on with it after somebody has deleted or moved it, or
// has put another into its place: what it writes is lost, and no one else sees it. So each
// transaction, and what is read each second, asks whether the file is the one at its path.
// The write-ahead log is there for as long as a connection is open.

func (d *disk) present() error {
	if d.opened == nil {
		return nil
	}
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone("it was deleted or moved")
	case err != nil:
		return err
	case !os.SameFile(info, d.opened):
		return gone("another file is in its place")
	}
	if _, err := os.Stat(d.path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return gone(filepath.Base(d.path) + "-wal, with its latest writes, was deleted or moved")
	}
	return nil
}

// lostWith is what goes with a ledger.
const lostWith = "with it are lost: the history, holds, approvals, and what was proved; tokens are unknown until seawall token init"

func gone(what string) error { return Fault(ErrGone, what+"; "+lostWith) }
