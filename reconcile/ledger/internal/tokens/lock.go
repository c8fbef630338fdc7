package tokens

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/lockfile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// LockTokens lets this process, and no other, write tokens until [Memory.UnlockTokens],
// which closing the ledger does too. Take it before tokens are read that something is to be
// concluded from. Another process that has it is [store.ErrHeld], at once and with its name; a process that is
// killed has it no longer. Reading needs no lock.
//
// Over PostgreSQL it is the lease on tokens. Work that is done under that needs no more.
func (t *Memory) LockTokens(ctx context.Context) error {
	if t.file.ReadOnly {
		return store.Explain("locking the tokens of", t.file.Path, store.Fault(store.ErrReadOnly, ""))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock != nil || t.leased(ctx) {
		return nil
	}
	lock := t.lockFile
	if t.file.Database() != nil {
		lock = t.takeLease
	}
	var err error
	if t.lock, err = lock(ctx); err != nil {
		return store.Explain("locking the tokens of", t.file.Path, err)
	}
	// A process that was killed may have left the log as it was. It is wiped even where ctx has ended.
	return store.Explain("writing", t.file.Path, t.file.Wipe())
}

// lockFile locks a file beside the ledger.
func (t *Memory) lockFile(context.Context) (unlock func() error, err error) {
	file, holder, err := lockfile.Claim(t.file.Path + "-lock")
	if err == nil && file == nil {
		err = store.Fault(store.ErrHeld, holder)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return lockfile.Release(file) }, nil
}

// takeLease takes the lease on tokens for this process, as a command does.
func (t *Memory) takeLease(ctx context.Context) (unlock func() error, err error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	config := lease.Config{DB: t.file.Database(), Replica: fmt.Sprintf("process %d on %s", os.Getpid(), host)}
	leases, release, err := lease.Take(ctx, config, reconcile.LeaseTokens)
	if held := new(lease.HeldError); errors.As(err, &held) {
		return nil, store.Fault(store.ErrHeld, held.Error())
	}
	if err != nil {
		return nil, err
	}
	t.leases = leases
	return func() error { release(); return nil }, nil
}

// leased reports whether the work of a context is done under the lease on tokens.
func (t *Memory) leased(ctx context.Context) bool {
	lease, ok := reconcile.LeaseIn(ctx)
	return ok && lease.Name == reconcile.LeaseTokens && t.file.Database() != nil
}

// BeginRequest begins a request that writes under the lease that this process has taken by itself: the request
// ends before the lease does, and until end is called, and for as long as a server may be at work on what was
// cut, the lease is not given back. Where it is lost, it is [reconcile.ErrLeaseLost]. Work under a lease of its
// own, and over a file, needs no more than its context.
func (t *Memory) BeginRequest(ctx context.Context) (within context.Context, end func(), err error) {
	t.mu.Lock()
	leases := t.leases
	t.mu.Unlock()
	if leases == nil || t.leased(ctx) {
		return ctx, func() {}, nil
	}
	within, end, held := reconcile.Begin(ctx, leases, reconcile.LeaseTokens)
	if !held {
		return ctx, end, reconcile.ErrLeaseLost
	}
	return within, end, nil
}

// UnlockTokens gives the token lock back.
func (t *Memory) UnlockTokens() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lock == nil {
		return nil
	}
	err := t.lock()
	t.lock, t.leases = nil, nil
	return err
}

func (t *Memory) locked(ctx context.Context) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lock != nil || t.leased(ctx)
}

// under is the context of a write under the lease that this process has taken by itself: with another
// one, or without, it is refused.
func (t *Memory) under(ctx context.Context) (context.Context, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leases == nil || t.leased(ctx) {
		return ctx, nil
	}
	own, held := t.leases.Held(reconcile.LeaseTokens)
	if !held {
		return nil, reconcile.ErrLeaseLost
	}
	return reconcile.Under(ctx, own), nil
}
