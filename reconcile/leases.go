package reconcile

import (
	"context"
	"time"
)

// LeaseName names work that one process at a time does.
type LeaseName string

// The leases beside those of credentials.
const (
	LeaseCommits LeaseName = "commits" // looks at git, accepts commits, opens waves, notifies
	LeaseTokens  LeaseName = "tokens"  // all work on tokens
)

// LeaseOf is the lease for the zones of a credential, by its path in the configuration.
//
// Two processes may run with different configurations for a while, as when an account gets a
// credential of its own: then its zones are under one lease in the one, and under another in the
// other, and both leases are held. What keeps the two processes apart at such a zone is the claim on
// it, which each write needs whatever lease it is under, and which says when another has it; that
// both plan it costs requests, and writes nothing twice.
func LeaseOf(l Lane) LeaseName { return LeaseName("credential " + l.Credential) }

// Lease is the right of this process to do such work. The zero value is none.
type Lease struct {
	Name LeaseName
	// Epoch is another, higher number with each process that gets the lease. What is put on
	// record under a lower one is refused. 0 is for the only process over its records.
	Epoch int64
}

// Leases say which work is this process's own.
type Leases interface {
	// Held returns the lease on a name; false where another process has it, and where it ends too
	// soon for work to begin.
	Held(name LeaseName) (Lease, bool)
	// Begin is Held for work that begins now. Until end is called, the lease is not given to another
	// in good order: it is first not Held any more, and still lasts for what has begun. end may be
	// called from any goroutine, and more than once; it is never nil.
	Begin(name LeaseName) (lease Lease, end func(), held bool)
	// Left is for how long requests under a lease may still be on their way; 0 where it is over.
	// It grows with each renewal, so each request asks anew.
	Left(lease Lease) time.Duration
	// Cut tells that a request which writes was ended without an answer. A server may still be at work
	// on it: so the lease is not given to another for as long as that may take.
	Cut(lease Lease)
	// Changed returns a channel that is closed with the next lease that this process gets or loses.
	Changed() <-chan struct{}
}

// News are numbers that grow with what is put on record by any of several processes: who has taken in
// what there was by the same numbers need not ask again.
type News struct {
	Said    int64 // by people, and by who decides about commits: see [Standing]
	Newest  int64 // the newest entry of the history
	Counted int64 // for limits
	Poked   int64 // by who asks others for something
	// PutBack is how often this process has found that the records are those of an earlier time: each
	// number may be that of something else than before.
	PutBack int64
}

// ErrLeaseLost: another process has the lease now, or may have it at any moment. Nothing was
// written. It is an [ErrSuperseded]: what is to be done is for another to do.
var ErrLeaseLost error = leaseLostError{}

type leaseLostError struct{}

func (leaseLostError) Error() string { return "another process does this work now" }

func (leaseLostError) Is(target error) bool { return target == ErrSuperseded }

// OnlyProcess has every lease: there is no other process.
type OnlyProcess struct{}

// Held implements [Leases].
func (OnlyProcess) Held(name LeaseName) (Lease, bool) { return Lease{Name: name}, true }

// Begin implements [Leases].
func (OnlyProcess) Begin(name LeaseName) (Lease, func(), bool) {
	return Lease{Name: name}, func() {}, true
}

// Left implements [Leases].
func (OnlyProcess) Left(Lease) time.Duration { return time.Duration(1<<63 - 1) }

// Cut implements [Leases]: there is no other process to wait.
func (OnlyProcess) Cut(Lease) {}

// Changed implements [Leases]: nothing does.
func (OnlyProcess) Changed() <-chan struct{} { return nil }

type leaseKey struct{}

// Under returns the context of work that is done under a lease: records refuse what is written
// with it once another process has the lease, with [ErrLeaseLost].
func Under(ctx context.Context, lease Lease) context.Context {
	return context.WithValue(ctx, leaseKey{}, lease)
}

// LeaseIn is the lease under which the work of a context is done; false where it needs none.
func LeaseIn(ctx context.Context) (Lease, bool) {
	lease, ok := ctx.Value(leaseKey{}).(Lease)
	return lease, ok && lease.Epoch > 0
}
