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

// Present returns [ErrGone] where the file that is open is not the one at its path any more.
// A connection must be open. For a file that is open for reading only it does nothing.
func (f *File) Present() error {
	if f.opened == nil {
		return nil
	}
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone("it was deleted or moved")
	case err != nil:
		return err
	case !os.SameFile(info, f.opened):
		return gone("another file is in its place")
	}
	if _, err := os.Stat(f.Path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		return gone(filepath.Base(f.Path) + "-wal, with its latest writes, was deleted or moved")
	}
	return nil
}

// lostWith is what goes with a ledger.
const lostWith = "with it are lost: the history, holds, approvals, and what was proved; tokens are unknown until seawall token init"

func gone(what string) error { return Fault(ErrGone, what+"; "+lostWith) }
