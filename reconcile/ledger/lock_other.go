//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package ledger

import (
	"errors"
	"io/fs"
	"os"
)

// tryLock refuses: without a lock no token is written.
func tryLock(file *os.File) (taken bool, err error) {
	return false, &os.PathError{Op: "flock", Path: file.Name(), Err: errors.ErrUnsupported}
}

// lockHeld does not know.
func lockHeld(file *os.File) (bool, error) {
	return false, &os.PathError{Op: "flock", Path: file.Name(), Err: errors.ErrUnsupported}
}

// dropLock has nothing to give back that closing the file does not.
func dropLock(*os.File) error { return nil }

// othersMayWrite does not know: modes do not tell here.
func othersMayWrite(fs.FileInfo) bool { return false }

// othersMayEnter does not know either.
func othersMayEnter(fs.FileInfo) bool { return false }
