//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package lockfile

import (
	"errors"
	"os"
)

// TryLock refuses: without a lock no token is written.
func TryLock(file *os.File) (taken bool, err error) {
	return false, &os.PathError{Op: "flock", Path: file.Name(), Err: errors.ErrUnsupported}
}

// TryShare refuses too.
func TryShare(file *os.File) (taken bool, err error) { return TryLock(file) }

// dropLock has nothing to give back that closing the file does not.
func dropLock(*os.File) error { return nil }
