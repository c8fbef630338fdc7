package review

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/reconcile"
)

// withdraw ends the approvals of reviews that are not spent, where the pull request was
// closed without a merge, or its review was dismissed, deleted, or taken back by a later
// one. A merge takes nothing back, nor does a new head: an approval is of changes, and the
// next commit may bring the same ones.
func (r *Reviews) withdraw(ctx context.Context) error {
	standing, err := r.Records.Standing(ctx)
	if err != nil {
		return fmt.Errorf("reading the approvals on record: %w", err)
	}
	given := map[int][]reconcile.Approval{}
	for _, approval := range standing.Approvals {
		if number, ok := approval.OfReview(); ok {
			given[number] = append(given[number], approval)
		}
	}
	maps.DeleteFunc(r.merged, func(number int, _ bool) bool { return given[number] == nil })
	var failed error
	for _, number := range slices.Sorted(maps.Keys(given)) {
		if r.merged[number] {
			continue
		}
		failed = errors.Join(failed, r.withdrawOf(ctx, number, given[number]))
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

func (r *Reviews) withdrawOf(ctx context.Context, number int, given []reconcile.Approval) error {
	now, err := r.Forge.Standing(ctx, number)
	if err != nil {
		return err
	}
	if now.State == reconcile.PullMerged {
		r.merged[number] = true
		return nil
	}
	byReason := map[string][]string{}
	for _, approval := range given {
		switch {
		case now.State == reconcile.PullClosed:
			reason := fmt.Sprintf("pull request %d was closed without a merge", number)
			byReason[reason] = append(byReason[reason], approval.Digest)
		case !slices.ContainsFunc(now.Approvers, func(a reconcile.Account) bool { return r.isBy(approval, a) }):
			reason := fmt.Sprintf("the review of pull request %d by %s was taken back", number, approval.Who)
			byReason[reason] = append(byReason[reason], approval.Digest)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		if err := r.Records.Withdraw(ctx, byReason[reason], reason); err != nil {
			return fmt.Errorf("recording that an approval is withdrawn: %w", err)
		}
		r.Log.InfoContext(ctx, "an approval was withdrawn", "number", number, "reason", reason)
		if said, ok := r.shown[number]; ok {
			said.approved, said.at = false, r.Now() // a later review is another one
			r.shown[number] = said
			r.tellAgreed(ctx, number, said)
		}
	}
	return nil
}

// isBy reports whether an approval is by an account, which may have another name by now.
func (r *Reviews) isBy(approval reconcile.Approval, a reconcile.Account) bool {
	if strings.EqualFold(approval.Who, a.Name) {
		return !r.approvers.impostor(a)
	}
	id := r.approvers.ids[strings.ToLower(approval.Who)]
	return id != 0 && id == a.ID
}
