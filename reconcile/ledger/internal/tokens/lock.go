package tokens

import (
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/lockfile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// LockTokens lets this process, and no other, write tokens until [Memory.UnlockTokens],
// which closing the ledger does too. Take it before tokens are read that something is to be
// concluded from. Another process that has it is [store.ErrHeld], at once and with its name; a process that is
// killed has it no longer. Reading needs no lock.
func (t *Memory) LockTokens() error {
	if t.file.ReadOnly {
		return store.Explain("locking the tokens of", t.file.Path, store.Fault(store.ErrReadOnly, ""))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock != nil {
		return nil
	}
	file, holder, err := lockfile.Claim(t.file.Path + "-lock")
	if err == nil && file == nil {
		err = store.Fault(store.ErrHeld, holder)
	}
	if err != nil {
		return store.Explain("locking the tokens of", t.file.Path, err)
	}
	t.lock = file
	// A process that was killed may have left the log as it was.
	return store.Explain("writing", t.file.Path, t.file.Wipe())
}

// UnlockTokens gives the token lock back.
func (t *Memory) UnlockTokens() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return nil
	}
	err := lockfile.Release(t.lock)
	t.lock = nil
	return err
}

func (t *Memory) locked() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lock != nil
}
