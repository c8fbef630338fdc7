//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lockfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock locks an open file until it is closed, and does not wait.
func TryLock(file *os.File) (taken bool, err error) { return flock(file, unix.LOCK_EX) }

// TryShare locks it together with others that do so.
func TryShare(file *os.File) (taken bool, err error) { return flock(file, unix.LOCK_SH) }

func flock(file *os.File, how int) (taken bool, err error) {
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &os.PathError{Op: "flock", Path: file.Name(), Err: err}
		}
	}
}

// dropLock gives the lock back, whoever else still has the file open.
func dropLock(file *os.File) error {
	if err := unix.Flock(int(file.Fd()), unix.LOCK_UN); err != nil {
		return &os.PathError{Op: "flock", Path: file.Name(), Err: err}
	}
	return nil
}
