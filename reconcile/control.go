package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// Guards is what the configuration says of guards. The zero value guards against
// nothing that the zero [diff.Facts] do not.
type Guards struct {
	Rules   []diff.Rule // in the order of their names
	Shrink  diff.Shrink
	Freezes []Freeze
	Waves   []Wave
}

// Control is what people said to runs, and how far waves have come;
// reconcile/ledger keeps it. What it holds is read with [Memory.Recall].
type Control interface {
	// Approve records approvals. One that is on record and not spent keeps its
	// first word.
	Approve(ctx context.Context, approvals []Approval) error
	// Spend ends approvals of these digests: what they were about is done.
	Spend(ctx context.Context, digests []string) error
	// Roll changes the record of the waves in one step that nobody else can come
	// between. It writes nothing where nothing differs.
	Roll(ctx context.Context, change func(Rollout) Rollout) error
}

// Approval is a person's word for a digest; see [diff.Facts].
type Approval struct {
	Digest string
	Kind   ApprovalKind
	Who    string
	Reason string // where somebody gave one
	At     time.Time
}

// ApprovalKind is what a person's word is about.
type ApprovalKind string

// The kinds of approvals. An override is on record for people alone, and spent
// from the start: its digest is the name of what it has overridden.
const (
	Approved   ApprovalKind = "approval"
	Overridden ApprovalKind = "override"
)

// facts gathers what guards need to know.
func (r *Reconciler) facts(order Order, memory Recollection, state desired.State) diff.Facts {
	now := r.Now()
	f := r.sizes(order, memory, state)
	f.Now, f.Holds = now, diff.Active(memory.Holds, now)
	f.Zones, f.Rules, f.Approved = r.fleetOf(state).zones, r.Guards.Rules, approvedDigests(memory, order)
	f.Touched = r.touched(order, state.Commit)
	f.Freezes, _ = r.frozen(order, now)
	if !order.Retry {
		f.NonConvergent, f.NonConvergentTokens = memory.NonConvergent, r.unkept
	}
	if r.Sinks != nil {
		f.CheckSink = r.Sinks.Check
	}
	return f
}

// sizes are the facts by which a commit is judged before anything is looked at.
func (r *Reconciler) sizes(order Order, memory Recollection, state desired.State) diff.Facts {
	return diff.Facts{
		Before:      memory.Size,
		After:       diff.Size{Zones: state.Zones(), Deployments: state.Deployments(), Tokens: len(state.Tokens)},
		AllowShrink: order.AllowShrink,
		Shrink:      r.Guards.Shrink,
	}
}

func approvedDigests(memory Recollection, order Order) map[string]bool {
	approved := map[string]bool{}
	for _, a := range memory.Approvals {
		approved[a.Digest] = true
	}
	for _, digest := range order.Approve {
		approved[digest] = true
	}
	return approved
}

// recordWords writes down what a person said to this run before it acts on it:
// which freezes were overridden, and each change that was approved, by itself. A
// run may not come to all of them, and the digest of what is left is another.
func (r *Reconciler) recordWords(ctx context.Context, order Order, memory Recollection, report *Report) error {
	for _, f := range report.Overridden {
		r.log().WarnContext(ctx, "a freeze is overridden", "freeze", f, "who", order.Who, "reason", order.DuringFreeze)
	}
	if r.Control == nil {
		return nil
	}
	words := newApprovals(order, memory, report.Plan, r.Now())
	for _, f := range report.Overridden {
		words = append(words, Approval{Digest: "freezes." + f, Kind: Overridden, Who: order.Who, Reason: order.DuringFreeze, At: r.Now()})
	}
	if len(words) == 0 {
		return nil
	}
	return r.Control.Approve(ctx, words)
}

// newApprovals are those of single changes that are not on record yet.
func newApprovals(order Order, memory Recollection, plan diff.Plan, now time.Time) (words []Approval) {
	known, who := map[string]bool{}, order.Who
	for _, a := range memory.Approvals {
		known[a.Digest] = true
		if slices.Contains(plan.Granted, a.Digest) {
			who = a.Who
		}
	}
	for _, c := range plan.Changes {
		if digest := c.ApprovalDigest(); c.Approved && !known[digest] {
			known[digest] = true
			words = append(words, Approval{Digest: digest, Kind: Approved, Who: who, Reason: c.Name(), At: now})
		}
	}
	return words
}

// spend ends approvals: of changes that are made, because asked for again they are
// another decision; and of several changes, because each of them is on record by
// itself.
func (r *Reconciler) spend(ctx context.Context, report *Report) error {
	if r.Control == nil {
		return nil
	}
	single, done := map[string]bool{}, map[string]bool{}
	for _, result := range report.Results {
		done[result.Change.Name()] = done[result.Change.Name()] || result.Outcome == Converged
	}
	var spent []string
	for _, c := range report.Plan.Changes {
		digest := c.ApprovalDigest()
		single[digest] = true
		if c.Approved && done[c.Name()] {
			spent = append(spent, digest)
		}
	}
	for _, digest := range report.Plan.Granted {
		if !single[digest] {
			spent = append(spent, digest)
		}
	}
	if len(spent) == 0 {
		return nil
	}
	return r.Control.Spend(ctx, spent)
}
