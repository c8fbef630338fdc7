package reconcile

import (
	"context"
	"slices"
)

// hear adds the approvals that a commit carries to what is remembered, and on
// record where the run may write. A commit is asked once; what it could not say
// then, because a file of keys was missing, is asked again.
func (r *Reconciler) hear(ctx context.Context, order Order, memory Recollection, commit string) Recollection {
	if r.Agreed == nil || commit == "" || r.heard == commit {
		return memory
	}
	words, err := r.Agreed(ctx, commit)
	if err != nil {
		r.log().WarnContext(ctx, "the approvals in a commit's trailers do not count", "commit", commit, "error", err.Error())
		return memory
	}
	writes := r.Writer != nil && !order.PlanOnly
	if writes && r.Control != nil && len(words) > 0 {
		if err := r.Control.Approve(ctx, words); err != nil {
			r.log().WarnContext(ctx, "the approvals in a commit's trailers were not recorded", "commit", commit, "error", err.Error())
			return memory
		}
	}
	if writes {
		r.heard = commit
	}
	memory.Approvals = append(slices.Clone(memory.Approvals), words...)
	return memory
}

// announce tells that a commit is about to be applied, if it is another one than
// the one in force, before a restart too.
func (r *Reconciler) announce(ctx context.Context, commit string) {
	if r.Begin == nil || commit == "" || r.inForce != nil && r.inForce.Commit == commit {
		return
	}
	if r.Good != nil {
		if good, ok, err := r.Good.Good(ctx); err == nil && ok && good == commit {
			return
		}
	}
	r.Begin(commit)
}
