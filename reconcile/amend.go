package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

func (r *Reconciler) amendment(c diff.Change) func(context.Context, diff.Change) Result {
	if c.Amendment == nil {
		return nil
	}
	return r.amend
}

// amend updates a token in place and reads it back. An update whose outcome is
// unknown is judged by what is read: sent again it would do the same.
func (r *Reconciler) amend(ctx context.Context, c diff.Change) Result {
	ctx, cancel := lingering(ctx, grace)
	defer cancel()
	if r.TokenWriter == nil {
		return failed(c, "updating the token", errNoCredential)
	}
	a := c.Amendment
	if _, err := r.TokenWriter.UpdateToken(ctx, a.ID, a.Body); err != nil && !errors.Is(err, edge.ErrOutcomeUnknown) {
		return failed(c, "updating the token", err)
	}
	live, err := r.TokenReader.UserToken(ctx, a.ID)
	if err != nil {
		return failed(c, "reading the token back", err)
	}
	if left := a.Remaining(live); len(left) > 0 {
		if r.unkept == nil {
			r.unkept = map[edge.TokenID]string{}
		}
		r.unkept[a.ID] = c.Fingerprint()
		return Result{Change: c, Outcome: NonConvergent, Left: left, Err: fmt.Errorf("token %s was written and is not as sent", a.ID)}
	}
	delete(r.unkept, a.ID)
	settled := diff.SettledToken{Intent: a.Intent, Spec: a.Spec, Hash: a.Hash, Prune: a.Prune}
	if err := r.Tokens.Amend(ctx, a.Intent, settled.Spec, settled.Hash); err != nil {
		return failed(c, "recording the update", err)
	}
	return Result{Change: c, Outcome: Converged}
}

func (r *Reconciler) deletion(c diff.Change) func(context.Context, diff.Change) Result {
	if c.Deletion == nil {
		return nil
	}
	return r.delete
}

// delete ends a token that Seawall made or adopted. One that is gone already is
// as good as deleted.
func (r *Reconciler) delete(ctx context.Context, c diff.Change) Result {
	ctx, cancel := lingering(ctx, grace)
	defer cancel()
	if r.TokenWriter == nil {
		return failed(c, "deleting the token", errNoCredential)
	}
	err := r.TokenWriter.DeleteToken(ctx, c.Deletion.ID)
	if errors.Is(err, edge.ErrOutcomeUnknown) {
		if _, readErr := r.TokenReader.UserToken(ctx, c.Deletion.ID); readErr != nil {
			err = readErr
		}
	}
	if err != nil && !errors.Is(err, edge.ErrNotFound) {
		return failed(c, "deleting the token", err)
	}
	if err := r.Tokens.Gone(ctx, c.Deletion.Intent); err != nil {
		return failed(c, "recording the deletion", err)
	}
	return Result{Change: c, Outcome: Converged}
}

// settleTokens brings the record up to date for tokens that are as declared: an
// update may have been sent by a process that died before it was recorded, and a
// declaration may have changed what becomes of the token once it is gone.
func (r *Reconciler) settleTokens(ctx context.Context, live diff.TokensLive, settled []diff.SettledToken) error {
	records := map[string]diff.TokenRecord{}
	for _, record := range live.Records {
		records[record.Intent] = record
	}
	prune := map[bool][]string{}
	for _, s := range settled {
		record := records[s.Intent]
		if record.Hash != s.Hash || record.Spec.Name != s.Spec.Name || record.Spec.ExpiresOn != s.Spec.ExpiresOn || record.Spec.NotBefore != s.Spec.NotBefore {
			if err := r.Tokens.Amend(ctx, s.Intent, s.Spec, s.Hash); err != nil {
				return fmt.Errorf("recording what a token is: %w", err)
			}
		}
		if record.Prune != s.Prune {
			prune[s.Prune] = append(prune[s.Prune], s.Intent)
		}
	}
	for allowed, intents := range prune {
		if err := r.Tokens.Prunable(ctx, intents, allowed); err != nil {
			return fmt.Errorf("recording which tokens may be deleted: %w", err)
		}
	}
	return nil
}
