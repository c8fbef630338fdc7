package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

var _ Records = (*Forgetful)(nil)

// Restore implements [Records].
func (f *Forgetful) Restore(context.Context) (Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.has
	r.Accepted.State = bytes.Clone(r.Accepted.State)
	r.Applied, r.NonConvergent, r.Proofs = maps.Clone(r.Applied), maps.Clone(r.NonConvergent), maps.Clone(r.Proofs)
	r.Tries = maps.Clone(r.Tries)
	maps.DeleteFunc(r.Tries, func(id diff.ID, _ diff.Try) bool { _, unkept := r.NonConvergent[id]; return !unkept })
	r.Prunable, r.Written = maps.Clone(r.Prunable), maps.Clone(r.Written)
	for id, p := range r.Proofs {
		p.Labels = maps.Clone(p.Labels)
		r.Proofs[id] = p
	}
	r.Holds, r.Approvals, r.Drifts = slices.Clone(r.Holds), slices.Clone(r.Approvals), slices.Clone(r.Drifts)
	r.Rollout.Zones = maps.Clone(r.Rollout.Zones)
	r.Memory = Memory{maps.Clone(r.Memory.Kept), maps.Clone(r.Memory.Bound)}
	return r, nil
}

// RestoreSince implements [Records].
func (f *Forgetful) RestoreSince(ctx context.Context, _ Known) (Record, error) { return f.Restore(ctx) }

// Newer implements [Records].
func (f *Forgetful) Newer(context.Context, Mark) (int64, error) { return 0, nil }

// Standing implements [Records].
func (f *Forgetful) Standing(context.Context) (Standing, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Standing{
		Commit: f.has.Accepted.Commit,
		Holds:  slices.Clone(f.has.Holds), Approvals: slices.Clone(f.has.Approvals),
		RolloutCommit: f.has.Rollout.Commit, RolloutHalted: f.has.Rollout.Halted, RolloutWave: f.has.Rollout.Wave,
		Departures: f.has.Departures, PutBack: f.has.PutBack,
	}, nil
}

// LookedAt implements [Records].
func (f *Forgetful) LookedAt(_ context.Context, putBack int64, commit string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.has.PutBack == putBack && f.has.Accepted.Commit == commit {
		f.has.PutBack = 0
	}
	return nil
}

// GoBack has these records be those of an earlier time, as by [Standing.PutBack].
func (f *Forgetful) GoBack(earlier Accepted, putBack int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has.Accepted, f.has.PutBack = earlier, putBack
}

// StillSaid implements [Records].
func (f *Forgetful) StillSaid(context.Context, int64) (bool, error) { return false, nil }

// AcceptCommit implements [Records].
func (f *Forgetful) AcceptCommit(ctx context.Context, a Acceptance) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Rollout != nil {
		if err := a.Rollout.TakesPlaceOf(f.has.Rollout); err != nil {
			return err
		}
	}
	f.accept(a.Commit, a.Size, a.State)
	f.has.Accepted.Author, f.has.Accepted.Earlier = a.Author, a.Earlier
	if a.Declared != nil {
		f.has.Holds = slices.DeleteFunc(slices.Clone(f.has.Holds), func(h diff.Hold) bool {
			return h.Reverted() && a.Declared(h.Scope) != h.Declaration
		})
	}
	f.approve(a.Approvals)
	if a.Rollout != nil {
		f.has.Rollout = *a.Rollout
		f.has.Rollout.Zones = maps.Clone(a.Rollout.Zones)
	}
	if a.Memory != nil {
		f.has.Memory.Kept = maps.Clone(a.Memory.Kept)
		f.has.Memory.Bound = with(f.has.Memory.Bound, a.Memory.Bound)
	}
	for _, id := range a.Keep {
		delete(f.has.Prunable, id)
	}
	for _, zone := range a.Gone {
		delete(f.has.Proofs, zone)
		maps.DeleteFunc(f.has.Applied, func(id diff.ID, _ []diff.Member) bool { return id.Scope == zone })
		maps.DeleteFunc(f.has.Prunable, func(id diff.ID, _ diff.Prunable) bool { return id.Scope == zone })
		maps.DeleteFunc(f.has.NonConvergent, func(id diff.ID, _ string) bool { return id.Scope == zone })
	}
	return nil
}

func (f *Forgetful) accept(commit string, size guard.Size, state []byte) {
	if state == nil && f.accepted && f.has.Accepted.Commit == commit {
		state = f.has.Accepted.State
	}
	if f.has.Accepted.Commit != commit {
		f.has.Written = nil
		f.counts = slices.DeleteFunc(f.counts, func(c Count) bool { return c.Commit != "" })
	}
	f.accepted, f.has.Accepted = true, Accepted{Commit: commit, Size: size, State: bytes.Clone(state)}
}

// SaveState implements [Records].
func (f *Forgetful) SaveState(_ context.Context, commit string, state []StatePart) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.accepted && f.has.Accepted.Commit == commit {
		f.has.Accepted.State = Joined(state)
	}
	return nil
}

// Prove implements [Records].
func (f *Forgetful) Prove(ctx context.Context, commit string, proofs []Proof, settled []diff.Settled, _ ...Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	late := f.accepted && f.has.Accepted.Commit != commit
	for _, s := range settled {
		if _, known := f.has.Applied[s.ID]; known || !late {
			if s.Owned = slices.Clone(s.Owned); late {
				s.Prune = f.marked(s.ID)
			}
			f.settle([]diff.Settled{s})
		}
		delete(f.has.NonConvergent, s.ID)
	}
	if f.has.Proofs == nil {
		f.has.Proofs = map[edge.Scope]Proof{}
	}
	for _, p := range proofs {
		have, known := f.has.Proofs[p.Scope]
		same := known && have.Fingerprint == p.Fingerprint && maps.Equal(have.Labels, p.Labels)
		if same || late && !known {
			continue
		}
		p.Labels = maps.Clone(p.Labels)
		f.has.Proofs[p.Scope] = have.Then(p)
	}
	return nil
}

// Widen implements [Records].
func (f *Forgetful) Widen(ctx context.Context, owned []diff.Settled) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.has.Applied == nil {
		f.has.Applied = diff.Applied{}
	}
	for _, s := range owned {
		union := slices.Clone(f.has.Applied[s.ID])
		for _, member := range s.Owned {
			if !slices.Contains(union, member) {
				union = append(union, member)
			}
		}
		f.has.Applied[s.ID] = union
	}
	return nil
}

// RecordWrite implements [Records]. It keeps no history but which zones were written.
func (f *Forgetful) RecordWrite(ctx context.Context, write Entry, owned []diff.Settled) (int64, error) {
	if err := f.permitted(write); err != nil {
		return 0, err
	}
	if err := f.Widen(ctx, owned); err != nil {
		return 0, err
	}
	if h := write.Heals; h != nil {
		if err := f.Drifted(ctx, []Drift{h.Drift}, h.Before); err != nil {
			return 0, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.accepted && write.CountsForCommit() && write.Asked.Commit == f.has.Accepted.Commit {
		if f.has.Written == nil {
			f.has.Written = map[edge.Scope]bool{}
		}
		f.has.Written[write.Subject.Scope] = f.has.Written[write.Subject.Scope] || write.Direction == diff.Weakens
	}
	return 0, nil
}

// permitted says why a write may not be recorded. No other process has this memory, so there
// are no claims.
func (f *Forgetful) permitted(write Entry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.accepted {
		return nil
	}
	var holds []diff.Hold
	if f.Now != nil {
		holds = diff.Active(f.has.Holds, f.Now(), nil)
	}
	if f.has.PutBack != 0 {
		return ErrPutBack
	}
	if write.Trigger == TriggerRevert { // which puts back what an earlier one has, too
		holds = slices.DeleteFunc(holds, diff.Hold.Reverted)
	}
	return write.Permitted(f.has.Accepted.Commit, holds)
}

// Unclaim implements [Records].
func (f *Forgetful) Unclaim(context.Context, edge.Scope, string) error { return nil }

// Unfinished implements [Records]. It keeps no history.
func (f *Forgetful) Unfinished(context.Context) ([]Entry, error) { return nil, nil }

// Record implements [Records]. It keeps no history.
func (f *Forgetful) Record(context.Context, ...Entry) error { return nil }

// Drifted implements [Records].
func (f *Forgetful) Drifted(ctx context.Context, drifts []Drift, before time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.has.Drifts = slices.Clone(f.has.Drifts)
	for _, d := range drifts {
		d.At = d.At.UTC()
		i := slices.IndexFunc(f.has.Drifts, func(have Drift) bool { return have.Scope == d.Scope && have.At.Equal(d.At) })
		if i < 0 {
			f.has.Drifts = append(f.has.Drifts, d)
			continue
		}
		f.has.Drifts[i].Weakens = f.has.Drifts[i].Weakens || d.Weakens
	}
	f.has.Drifts = slices.DeleteFunc(f.has.Drifts, func(d Drift) bool { return d.At.Before(before) })
	slices.SortFunc(f.has.Drifts, func(a, b Drift) int { return cmp.Or(a.At.Compare(b.At), a.Scope.Compare(b.Scope)) })
	return nil
}

// SkipRules implements [Records]: it keeps no history.
func (f *Forgetful) SkipRules(context.Context) ([]Entry, error) { return nil, nil }

// WrittenByCommands implements [Records]: no other process has this memory.
func (f *Forgetful) WrittenByCommands(context.Context, int64) ([]edge.Scope, error) { return nil, nil }
