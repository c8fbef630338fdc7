package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// LockTokens lets this process, and no other, write tokens until [Ledger.Close].
// Take it before tokens are read that something is to be concluded from. Another
// process that has it is [ErrHeld], at once and with its name; a process that is
// killed has it no longer. Reading needs no lock.
func (l *Ledger) LockTokens() error {
	if l.readOnly {
		return explain("locking the tokens of", l.path, fault(ErrReadOnly, ""))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		return nil
	}
	file, holder, err := claim(l.path + "-lock")
	if err == nil && file == nil {
		err = fault(ErrHeld, holder)
	}
	if err != nil {
		return explain("locking the tokens of", l.path, err)
	}
	l.lock = file
	// A process that was killed may have left the log as it was.
	return explain("writing", l.path, l.truncateLog())
}

// LockState makes this process the one daemon over a state folder, which it creates if
// need be, until release is called or the process ends in whatever way. Another that has
// the folder is [ErrRunning], at once, with its name and since when. Commands that run
// beside a daemon (plan, apply, hold) do not take this lock. Within one process, too, it
// is held once: a daemon that begins anew over the same folder keeps it.
func LockState(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explain("locking", dir, err)
	}
	path := filepath.Join(dir, "daemon-lock")
	if err := guarded(dir, path); err != nil {
		return nil, explain("locking", dir, err)
	}
	file, holder, err := claim(path)
	if err == nil && file == nil {
		err = fault(ErrRunning, holder+since(path))
	}
	if err != nil {
		return nil, explain("locking", dir, err)
	}
	return sync.OnceFunc(func() { _ = giveBack(file) }), nil
}

// claim locks the file at path and writes into it who did. Where another has it, there
// is no file, and holder is what is in it. The lock counts, not the text: what is in the
// file is of the last that had it.
func claim(path string) (file *os.File, holder string, err error) {
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", err
	}
	taken, err := tryLock(file)
	if err == nil && taken {
		err = sign(file)
	}
	if err != nil {
		return nil, "", errors.Join(err, file.Close())
	}
	if !taken {
		who, _ := io.ReadAll(io.LimitReader(file, 300)) // without a name the message still says what is the matter
		return nil, strings.TrimSpace(string(who)), file.Close()
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

// since says when a lock file was signed; nothing where that cannot be told.
func since(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return ", since " + rowTime(info.ModTime())
}

// giveBack unlocks the file, which stays: another may be waiting at it. Closing alone is
// not enough: a child process that is just being started shares the open file until it
// has become another program.
func giveBack(file *os.File) error { return errors.Join(dropLock(file), file.Close()) }

// unlock gives the token lock back.
func (l *Ledger) unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	err := giveBack(l.lock)
	l.lock = nil
	return err
}

func (l *Ledger) locked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lock != nil
}

// Running reports whether a daemon has a state folder, and which. It creates nothing. To
// find out, it shares the lock for a moment.
func Running(dir string) (holder string, running bool, err error) {
	path := filepath.Join(dir, "daemon-lock")
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, explain("looking at", dir, err)
	}
	defer file.Close()
	if running, err = lockHeld(file); err != nil || !running {
		return "", false, explain("looking at", dir, err)
	}
	who, _ := io.ReadAll(io.LimitReader(file, 300))
	return strings.TrimSpace(string(who)) + since(path), true, nil
}
