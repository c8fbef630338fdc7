package reconcile

import (
	"context"
	"slices"
)

// hear adds the approvals that a commit carries to what is remembered, and on
// record where the run may write. A commit is asked until it is in force, and not
// again after that, a restart included: an approval is spent with the change it
// was for, and the commit that carried it must not renew it.
func (r *Reconciler) hear(ctx context.Context, order Order, memory Recollection, commit string) Recollection {
	if r.Agreed == nil || commit == "" || r.heard == commit || r.isInForce(ctx, commit) {
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
	if r.Begin != nil && commit != "" && !r.isInForce(ctx, commit) {
		r.Begin(commit)
	}
}

// isInForce reports whether a commit was accepted, by an earlier process too.
func (r *Reconciler) isInForce(ctx context.Context, commit string) bool {
	if r.inForce != nil {
		return r.inForce.Commit == commit
	}
	if r.Good == nil {
		return false
	}
	good, ok, err := r.Good.Good(ctx)
	return err == nil && ok && good == commit
}
