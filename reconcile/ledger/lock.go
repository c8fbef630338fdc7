package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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
	file, err := os.OpenFile(l.path+"-lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return explain("locking the tokens of", l.path, err)
	}
	if err := claim(file); err != nil {
		return explain("locking the tokens of", l.path, errors.Join(err, file.Close()))
	}
	l.lock = file
	// A process that was killed may have left the log as it was.
	return explain("writing", l.path, l.truncateLog())
}

// claim locks the file and writes into it who did. The lock counts, not the
// text: what is in the file afterwards is of the last that had it.
func claim(file *os.File) error {
	taken, err := tryLock(file)
	if err != nil {
		return err
	}
	if !taken {
		who, _ := io.ReadAll(io.LimitReader(file, 300)) // without a name the message still says what is the matter
		return fault(ErrHeld, strings.TrimSpace(string(who)))
	}
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

// unlock gives the lock back; the file stays, as another may be waiting at it.
func (l *Ledger) unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	// Closing alone is not enough: a child process that is just being started
	// shares the open file until it has become another program.
	err := errors.Join(dropLock(l.lock), l.lock.Close())
	l.lock = nil
	return err
}

func (l *Ledger) locked() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lock != nil
}
