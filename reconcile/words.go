package reconcile

import (
	"context"
	"log/slog"
	"slices"
)

// hear adds the approvals that a commit carries to what is remembered, and on
// record where the run may write. A commit is asked until it is in force, and not
// again after that, a restart included: an approval is spent with the change it
// was for, and the commit that carried it must not renew it. One that could not be
// asked (a file of keys was away) is asked again though it is in force by then.
func (r *Reconciler) hear(ctx context.Context, order Order, memory Recollection, commit string) Recollection {
	if r.Agreed == nil || commit == "" || r.heard == commit || r.unheard != commit && r.isInForce(ctx, commit) {
		return memory
	}
	writes := r.Writer != nil && !order.PlanOnly
	words, err := r.Agreed(ctx, commit)
	if err != nil {
		r.notHeard(ctx, writes, commit, "the approvals in a commit's trailers do not count", err)
		return memory
	}
	if writes && r.Control != nil && len(words) > 0 {
		if err := r.Control.Approve(ctx, words); err != nil {
			r.notHeard(ctx, writes, commit, "the approvals in a commit's trailers were not recorded", err)
			return memory
		}
	}
	if writes {
		r.heard, r.unheard = commit, ""
	}
	memory.Approvals = append(slices.Clone(memory.Approvals), words...)
	return memory
}

// notHeard tells of a commit once, and remembers to ask it again.
func (r *Reconciler) notHeard(ctx context.Context, writes bool, commit, what string, err error) {
	level := slog.LevelWarn
	if r.unheard == commit {
		level = slog.LevelDebug
	}
	r.log().Log(ctx, level, what, "commit", commit, "error", err.Error())
	if writes {
		r.unheard = commit
	}
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
