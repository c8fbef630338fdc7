package review

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/reconcile"
)

// firstThatCounts is the name of the first account whose review counts; empty for none.
func (r *Reviews) firstThatCounts(ctx context.Context, accounts []reconcile.Account) (string, error) {
	for _, account := range accounts {
		counts, err := r.counts(ctx, account)
		if err != nil {
			return "", fmt.Errorf("finding out whose review that is: %w", err)
		}
		if counts {
			return account.Name, nil
		}
	}
	return "", nil
}

// agree records the approving reviews of what was shown. Only those count that were
// given after it was shown: an earlier one is of another plan, and would renew
// itself whenever the plan is made anew.
func (r *Reviews) agree(ctx context.Context, number int, said shown) error {
	if said.approved || len(r.Trust.Approvers) == 0 || len(said.approvable) == 0 {
		return nil
	}
	accounts, err := r.Forge.Approvals(ctx, number, said.head, said.at)
	if err != nil {
		return fmt.Errorf("reading the approvals: %w", err)
	}
	by, err := r.firstThatCounts(ctx, accounts)
	if err != nil || by == "" {
		return err
	}
	approvals := make([]reconcile.Approval, len(said.approvable))
	for n, digest := range said.approvable {
		approvals[n] = reconcile.Approval{
			Digest: digest, Kind: reconcile.Approved, Who: by, Reason: reconcile.ReasonOfReview(number, said.at), At: r.Now(),
		}
	}
	if err := r.Records.Approve(ctx, approvals); err != nil {
		return fmt.Errorf("recording the approval: %w", err)
	}
	said.approved = true
	r.shown[number] = said
	r.tellAgreed(ctx, number, said)
	r.Log.InfoContext(ctx, "a plan was approved by a review", "number", number, "who", by, "head", said.head)
	return nil
}
