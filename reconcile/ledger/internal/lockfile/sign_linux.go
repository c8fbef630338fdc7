package lockfile

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The locks are of the open file, not of the process: two ledgers in one process are told
// apart, and closing another handle of the file gives nothing back.

func lockPlace(file *os.File, place int64) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: place, Len: 1}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		return &os.PathError{Op: "lock", Path: file.Name(), Err: err}
	}
	return nil
}

func placeLocked(file *os.File, place int64) bool {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: place, Len: 1}
	err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock)
	return err != nil || lock.Type != unix.F_UNLCK
}
