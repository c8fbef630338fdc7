package reconcile

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
)

// Forgetful is [Records] and a [Control] that last as long as the process. A run without
// a ledger has it, tests use it, and the ledger is held to the same behaviour.
type Forgetful struct {
	// Now is the clock by which holds end, for the question of [Records.RecordWrite] whether a
	// zone is held; nil: that is not asked.
	Now func() time.Time

	mu  sync.Mutex
	has Record
	// accepted reports whether any commit is on record; it may be one without a name.
	accepted bool
	rulesets []rulesets.Seen // in the order in which they were seen
	counts   []Count         // in the order of their numbers
	number   int64           // of the newest of them
}

func (f *Forgetful) settle(settled []diff.Settled) {
	if f.has.Applied == nil {
		f.has.Applied = diff.Applied{}
	}
	for _, s := range settled {
		delete(f.has.NonConvergent, s.ID)
		delete(f.has.Prunable, s.ID)
		if s.Removed {
			delete(f.has.Applied, s.ID)
			continue
		}
		f.has.Applied[s.ID] = s.Owned
		if s.Prune != nil {
			f.mark(s.ID, *s.Prune)
		}
	}
}

// marked is what is on record of a deployment that may be removed, nil for any other.
func (f *Forgetful) marked(id diff.ID) *diff.Prunable {
	if p, marked := f.has.Prunable[id]; marked {
		return &p
	}
	return nil
}

func (f *Forgetful) mark(id diff.ID, p diff.Prunable) {
	if f.has.Prunable == nil {
		f.has.Prunable = diff.Pruning{}
	}
	f.has.Prunable[id] = p
}

// NonConvergent implements [Records].
func (f *Forgetful) NonConvergent(_ context.Context, id diff.ID, fingerprint string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.has.NonConvergent == nil {
		f.has.NonConvergent = map[diff.ID]string{}
	}
	if _, known := f.has.NonConvergent[id]; !known {
		delete(f.has.Tries, id)
	}
	f.has.NonConvergent[id] = fingerprint
	return nil
}

// Tried implements [Records].
func (f *Forgetful) Tried(_ context.Context, id diff.ID, try diff.Try) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.has.Tries == nil {
		f.has.Tries = map[diff.ID]diff.Try{}
	}
	f.has.Tries[id] = try
	return nil
}

// Forget implements [Records].
func (f *Forgetful) Forget(_ context.Context, ids []diff.ID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		delete(f.has.Applied, id)
		delete(f.has.Prunable, id)
		delete(f.has.NonConvergent, id)
	}
	return nil
}

// Swept implements [Records].
func (f *Forgetful) Swept(ctx context.Context, until time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if lease, ok := LeaseIn(ctx); ok {
		f.has.SweptUnder = with(f.has.SweptUnder, map[LeaseName]time.Time{lease.Name: until})
		return nil
	}
	f.has.Swept = until
	return nil
}

// Approve implements [Control].
func (f *Forgetful) Approve(_ context.Context, approvals []Approval) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.approve(approvals)
	return nil
}

func (f *Forgetful) approve(approvals []Approval) {
	for _, a := range approvals {
		known := slices.ContainsFunc(f.has.Approvals, func(b Approval) bool { return b.Digest == a.Digest })
		if a.Kind == Approved && !known {
			f.has.Approvals = append(f.has.Approvals, a)
		}
	}
}

// Spend implements [Control].
func (f *Forgetful) Spend(_ context.Context, digests []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has.Approvals = slices.DeleteFunc(slices.Clone(f.has.Approvals), func(a Approval) bool { return slices.Contains(digests, a.Digest) })
	return nil
}

// Use implements [Control].
func (f *Forgetful) Use(_ context.Context, digests []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has.Approvals = slices.Clone(f.has.Approvals)
	for i, a := range f.has.Approvals {
		f.has.Approvals[i].Used = a.Used || slices.Contains(digests, a.Digest)
	}
	return nil
}

// Depart implements [Control].
func (f *Forgetful) Depart(ctx context.Context, under Memory, digests []string) error {
	f.mu.Lock()
	f.has.Memory.Kept = with(f.has.Memory.Kept, under.Kept)
	f.has.Memory.Bound = with(f.has.Memory.Bound, under.Bound)
	f.has.Departures++
	f.mu.Unlock()
	return f.Spend(ctx, digests)
}

// with is a copy of a map with the entries of another one.
func with[K comparable, V any](all, more map[K]V) map[K]V {
	if len(more) == 0 {
		return all
	}
	joined := maps.Clone(all)
	if joined == nil {
		joined = map[K]V{}
	}
	maps.Copy(joined, more)
	return joined
}

// Withdraw implements [Control].
func (f *Forgetful) Withdraw(ctx context.Context, digests []string, _ string) error {
	return f.Spend(ctx, digests)
}

// Roll implements [Control].
func (f *Forgetful) Roll(_ context.Context, change func(Rollout) Rollout) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has.Rollout = change(f.has.Rollout)
	return nil
}

// Hold keeps hands off a zone, in the place of any hold on it before.
func (f *Forgetful) Hold(hold diff.Hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has.Holds = append(slices.DeleteFunc(slices.Clone(f.has.Holds), func(h diff.Hold) bool { return h.Zone == hold.Zone }), hold)
}
