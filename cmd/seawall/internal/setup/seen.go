package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/ledger"
)

// seenFile is the file of this machine that says which entry of the history it has written last to a
// database: one for each, however its address is written. The first time that a database is used, what
// was written to the one before at the same address counts: it may have been restored from a backup.
func (s Settings) seenFile(ctx context.Context, memory *ledger.Ledger, readOnly bool) (string, error) {
	file := func(of string) string {
		sum := sha256.Sum256([]byte(of))
		return filepath.Join(s.StateDir, "history-seen-"+hex.EncodeToString(sum[:4]))
	}
	byAddress := file(s.Postgres.URL)
	db := memory.Database()
	if db == nil {
		return byAddress, nil
	}
	var home string
	if err := db.QueryRowContext(ctx, `SELECT ledger_home()`).Scan(&home); err != nil {
		return "", err
	}
	if strings.HasPrefix(home, "/") { // the server does not say which it is
		return byAddress, nil
	}
	own := file(home)
	if _, err := os.Stat(own); err != nil && (readOnly || !takenOver(byAddress, own)) {
		return byAddress, nil
	}
	if !readOnly {
		_ = pointTo(byAddress, own) // where it cannot be written, a restored database is not seen by it
	}
	return own, nil
}

// takenOver has a file begin with what another one has, where there is one; it reports whether it can be
// used. The file is there whole or not at all, it is the daemon's also where root makes it, and one that
// another process has made meanwhile stays.
func takenOver(from, to string) bool {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	made, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".new-")
	if err != nil {
		return false
	}
	defer func() { _ = os.Remove(made.Name()) }()
	_, err = made.Write(data)
	err = errors.Join(err, made.Sync(), made.Close())
	if owner := rootsOwner(filepath.Dir(to)); err == nil && owner.dir != "" {
		err = os.Lchown(made.Name(), owner.uid, owner.gid)
	}
	if err == nil {
		err = os.Link(made.Name(), to)
	}
	return err == nil || errors.Is(err, fs.ErrExist)
}

// rootsOwner is the owner of the state folder where root makes files in it and may give them away. Who
// cannot write there leaves none.
func rootsOwner(dir string) stateOwner {
	if dir == "" || os.Geteuid() != 0 {
		return stateOwner{}
	}
	owner, err := OwnerOfState(dir)
	if err != nil {
		return stateOwner{}
	}
	return owner
}

// pointTo has a path be a link to a file beside it.
func pointTo(path, file string) error {
	if to, err := os.Readlink(path); err == nil && to == filepath.Base(file) {
		return nil
	}
	made := path + ".new"
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Symlink(filepath.Base(file), made); err != nil {
		return err
	}
	return os.Rename(made, path)
}
