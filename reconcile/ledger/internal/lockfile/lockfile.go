// Package lockfile locks a file for one process, and has it say which.
//
// It works on an open file, as what is in the file is read and written under the lock; and each
// attempt asks the system anew, as one that fails to turn a shared lock into an exclusive one ends
// the shared one. (lockedfile, which the git store is locked with, can only wait; gofrs/flock keeps
// the file to itself, and remembers a lock that has ended so.)
package lockfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Claim locks the file at path and writes into it who did. Where another has it, there
// is no file, and holder is what is in it. The lock counts, not the text: what is in the
// file is of the last that had it.
func Claim(path string) (file *os.File, holder string, err error) {
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", err
	}
	taken, err := TryLock(file)
	if err == nil && taken {
		err = sign(file)
	}
	if err != nil {
		return nil, "", errors.Join(err, file.Close())
	}
	if !taken {
		return nil, signature(file), file.Close()
	}
	return file, "", nil
}

func sign(file *os.File) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "process %d on %s\n", os.Getpid(), host)
	return err
}

// Release unlocks the file, which stays: another may be waiting at it. Closing alone is
// not enough: a child process that is just being started shares the open file until it
// has become another program.
func Release(file *os.File) error { return errors.Join(dropLock(file), file.Close()) }

// Holder reports whether another process has the lock of an open file, and what it wrote
// there. To find out, it shares the lock for a moment.
func Holder(file *os.File) (holder string, held bool, err error) {
	taken, err := TryShare(file)
	switch {
	case err != nil:
		return "", false, err
	case taken:
		return "", false, dropLock(file)
	}
	return signature(file), true, nil
}

// signature is what is in a lock file; without one a message still says what is the matter.
func signature(file *os.File) string {
	who, _ := io.ReadAll(io.LimitReader(file, 300))
	return strings.TrimSpace(string(who))
}
