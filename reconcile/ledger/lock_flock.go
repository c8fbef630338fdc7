//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package ledger

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tryLock locks an open file until it is closed, and does not wait.
// (lockedfile, which the git store is locked with, can only wait.)
func tryLock(file *os.File) (taken bool, err error) {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
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

// lockHeld reports whether somebody else has an open file locked.
func lockHeld(file *os.File) (bool, error) {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		switch {
		case err == nil:
			return false, dropLock(file)
		case errors.Is(err, unix.EWOULDBLOCK):
			return true, nil
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

// othersMayWrite reports whether anybody but the owner, and root, may write to a file.
func othersMayWrite(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }

// othersMayEnter reports whether anybody but the owner, and root, may put files into a
// folder. A group that has the number of the owner, or of this process, is taken for that
// user's own: as useradd makes it, and as fsGroup has it on the volumes of Kubernetes,
// which belong to root.
func othersMayEnter(info fs.FileInfo) bool {
	if !othersMayWrite(info) || info.Mode().Perm()&0o002 != 0 {
		return othersMayWrite(info)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Gid != stat.Uid && int(stat.Gid) != os.Geteuid()
}
