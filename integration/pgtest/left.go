package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// folder is how the name of the folder of a server begins.
const folder = "seawall-postgres-"

// lock marks a folder as that of a process that runs: the system takes the lock from it, however it ends.
func lock(dir string) (*os.File, error) {
	made := filepath.Join(dir, "making")
	f, err := os.Create(made)
	if err != nil {
		return nil, err
	}
	// Only once it is locked it has the name by which others find it.
	if err := errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), os.Rename(made, filepath.Join(dir, "lock"))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeLeft removes the folders of processes that are gone. One that is killed, that panics, or whose
// tests take too long has not removed its own, and its servers have ended with it.
func removeLeft() {
	locks, _ := filepath.Glob(filepath.Join(os.TempDir(), folder+"*", "lock"))
	for _, name := range locks {
		f, err := os.Open(name)
		if err != nil {
			continue // it was just removed, or is another user's
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = f.Close()
	}
}
