package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/seawall-dev/seawall/reconcile/ledger/internal/lockfile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// LockState makes this process the one daemon over a state folder, which it creates if
// need be, until release is called or the process ends in whatever way. Another that has
// the folder is [ErrRunning], at once, with its name and since when. Commands that run
// beside a daemon (plan, apply, hold) do not take this lock. Within one process, too, it
// is held once: a daemon that begins anew over the same folder keeps it.
func LockState(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, store.Explain("locking", dir, err)
	}
	path := filepath.Join(dir, "daemon-lock")
	if err := store.Guarded(dir, path); err != nil {
		return nil, store.Explain("locking", dir, err)
	}
	file, holder, err := lockfile.Claim(path)
	if err == nil && file == nil {
		err = store.Fault(ErrRunning, holder+since(path))
	}
	if err != nil {
		return nil, store.Explain("locking", dir, err)
	}
	return sync.OnceFunc(func() { _ = lockfile.Release(file) }), nil
}

// since says when a lock file was signed; nothing where that cannot be told.
func since(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return ", since " + store.RowTime(info.ModTime())
}

// Running reports whether a daemon has a state folder, and which. It creates nothing.
func Running(dir string) (holder string, running bool, err error) {
	path := filepath.Join(dir, "daemon-lock")
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, store.Explain("looking at", dir, err)
	}
	defer file.Close()
	if holder, running, err = lockfile.Holder(file); err != nil || !running {
		return "", false, store.Explain("looking at", dir, err)
	}
	return holder + since(path), true, nil
}
