package reconcile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Creating a token is the one act that cannot be repeated or undone here. So
// every step is on record before the next one begins:
//
//	intend     the attempt is durable, and nothing was sent
//	create     POST, once
//	confirm    id and sealed secret, in one transaction
//	deliver    the secret reaches its sink, and is read back where it can be
//	delivered  the sealed copy is destroyed
//
// Wherever a crash falls, what is on record says which of these may have
// happened. Between create and confirm nobody can know: such an attempt is
// quarantined and never sent again. A person says what became of it, or a platform
// that lists its tokens does (lookup.go).

// applyTokens delivers secrets that still wait for their sink, then sends what
// the plan has for tokens: creations first, deletions last. In this order a new
// secret goes where the one it replaces went.
func (r *Reconciler) applyTokens(ctx context.Context, live diff.TokensLive, report *Report) error {
	empty := map[desired.Sink]bool{} // places that still wait for their secret
	for _, record := range waiting(live) {
		empty[*record.Sink] = ctx.Err() != nil || !r.redeliver(ctx, record, report)
	}
	var stopped error
	for _, act := range []func(diff.Change) func(context.Context, diff.Change) Result{r.creation, r.amendment, r.deletion} {
		for _, c := range report.Plan.Changes {
			do := act(c)
			if do == nil || !c.Applies() {
				continue
			}
			result := Result{Change: c, Outcome: NotStarted}
			switch {
			case ctx.Err() != nil || stopped != nil:
			case c.Deletion != nil && unfilled(c.Deletion.Sink, empty, *report):
				result.Err = errors.New("its secret is still in use: the token that is to take its place did not come to be")
			default:
				result = do(ctx, c)
			}
			if stops(result.Err) {
				stopped = fmt.Errorf("%w; check credentials.tokens: %w", edge.ErrUnauthenticated, result.Err)
			}
			report.Results = append(report.Results, result)
		}
	}
	return errors.Join(stopped, r.settleTokens(ctx, live, report.Plan.SettledTokens))
}

// unfilled reports whether a place still waits for another token's secret: what is
// there now is needed.
func unfilled(place *desired.Sink, empty map[desired.Sink]bool, report Report) bool {
	if place == nil || empty[*place] {
		return place != nil
	}
	filled := map[string]bool{}
	for _, result := range report.Results {
		filled[result.Change.Token] = filled[result.Change.Token] || result.Change.Creation != nil && result.Outcome == Converged
	}
	return slices.ContainsFunc(report.Plan.Changes, func(c diff.Change) bool {
		return c.Creation != nil && c.Creation.Sink != nil && *c.Creation.Sink == *place && !filled[c.Token]
	})
}

func (r *Reconciler) creation(c diff.Change) func(context.Context, diff.Change) Result {
	if c.Creation == nil {
		return nil
	}
	return r.create
}

// waiting returns the tokens whose secrets are to be delivered. One that waits
// while a newer token's secret is for the same place stays sealed: it would take
// that place from the token that is in use.
func waiting(live diff.TokensLive) (records []diff.TokenRecord) {
	if live.Unknown != "" {
		return nil // a ledger that was put back may hold a secret that a newer one has replaced
	}
	taken := map[desired.Sink]bool{}
	for _, record := range slices.Backward(live.Records) {
		if record.State != diff.TokenConfirmed || record.Sink == nil || taken[*record.Sink] || !live.Has(record) {
			continue
		}
		taken[*record.Sink] = true
		if !record.Delivered {
			records = append(records, record)
		}
	}
	slices.Reverse(records)
	return records
}

// create makes one attempt, from intent to delivery. Once begun it is finished
// even when the run is told to stop.
func (r *Reconciler) create(ctx context.Context, c diff.Change) Result {
	ctx, cancel := lingering(ctx, grace)
	defer cancel()
	if r.Creator == nil {
		return failed(c, "creating the token", errNoCredential)
	}
	now, intent := r.Now(), NewIntent()
	record := diff.TokenRecord{
		Intent: intent, Key: c.Token, State: diff.TokenIntended, Spec: c.Creation.Body(intent, now), Hash: c.Creation.Hash,
		Sink: c.Creation.Sink, Prune: c.Creation.Prune, At: now,
	}
	if err := r.Tokens.Intend(ctx, record); err != nil {
		return failed(c, "recording the intent to create", err)
	}
	created, err := r.Creator.CreateToken(ctx, record.Spec)
	switch {
	case errors.Is(err, edge.ErrOutcomeUnknown):
		return r.quarantine(ctx, c, record, err)
	case err != nil:
		return failed(c, "creating the token", errors.Join(err, r.Tokens.NotCreated(ctx, record.Intent)))
	}
	if err := r.Tokens.Confirm(ctx, record.Intent, created.ID, created.Value); err != nil {
		return r.quarantine(ctx, c, record, fmt.Errorf("sealing the secret of token %s: %w", created.ID, err))
	}
	if err := r.deliver(ctx, record, created.Value); err != nil {
		return failed(c, "the token exists and its secret is sealed; delivering it", err)
	}
	return Result{Change: c, Outcome: Converged}
}

func (r *Reconciler) quarantine(ctx context.Context, c diff.Change, record diff.TokenRecord, cause error) Result {
	return Result{
		Change: c, Outcome: Quarantined,
		Err: errors.Join(cause, r.Tokens.Quarantine(ctx, record.Intent, cause.Error())),
	}
}

var errNoCredential = errors.New("credentials.tokens is not configured")

func failed(c diff.Change, doing string, err error) Result {
	return Result{Change: c, Outcome: Failed, Err: fmt.Errorf("%s: %w", doing, err)}
}

// redeliver tries again to deliver a sealed secret, and reports whether it did.
func (r *Reconciler) redeliver(ctx context.Context, record diff.TokenRecord, report *Report) bool {
	c := diff.Change{Kind: diff.KindToken, Token: record.Key, Action: diff.ActionCreate, Direction: diff.Neutral}
	result := Result{Change: c, Outcome: Converged}
	secret, err := r.Tokens.Sealed(ctx, record.Intent)
	if err == nil {
		err = r.deliver(ctx, record, secret)
	}
	if err != nil {
		result.Outcome, result.Err = Failed, fmt.Errorf("delivering the sealed secret: %w", err)
	} else {
		report.Plan.Problems = withoutUndelivered(report.Plan.Problems, record.Key)
	}
	report.Results = append(report.Results, result)
	return err == nil
}

func (r *Reconciler) deliver(ctx context.Context, record diff.TokenRecord, secret edge.Secret) error {
	if r.Sinks == nil {
		return errors.New("no sinks are configured")
	}
	if err := r.Sinks.Deliver(ctx, *record.Sink, secret); err != nil {
		return err
	}
	return r.Tokens.Delivered(ctx, record.Intent)
}

func withoutUndelivered(problems []diff.Problem, key string) []diff.Problem {
	kept := make([]diff.Problem, 0, len(problems))
	for _, p := range problems {
		if p.State != diff.Undelivered || p.Token != key {
			kept = append(kept, p)
		}
	}
	return kept
}

// NewIntent returns the identity of an attempt: 16 random hex digits.
func NewIntent() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
