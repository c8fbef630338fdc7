package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// recallTokens returns what is known of tokens. A run that may write settles
// first what an earlier process left behind.
func (r *Reconciler) recallTokens(ctx context.Context, tokens []desired.Token, write bool) (diff.TokensLive, error) {
	if r.Tokens == nil {
		return diff.TokensLive{
			Unknown: "which tokens exist is on record only in a ledger, and this run has none",
			Hint:    "plan and apply tokens with the daemon's configuration, not with --dir",
		}, nil
	}
	if write {
		if err := QuarantineUnfinished(ctx, r.Tokens); err != nil {
			return diff.TokensLive{}, err
		}
	}
	live, err := r.Tokens.Tokens(ctx)
	if err != nil || live.Unknown != "" {
		return live, err
	}
	if write {
		if live.Records, err = r.forgetEnded(ctx, live.Records); err != nil {
			return live, err
		}
	}
	if r.TokenReader == nil || len(live.Records) == 0 && len(tokens) == 0 {
		return live, nil
	}
	return r.lookUpTokens(ctx, live, tokens, write)
}

// QuarantineUnfinished settles what a process left behind that died between
// sending and recording. Nobody else may be creating meanwhile; a memory that
// another process has open for that says so by being unknown, without records.
func QuarantineUnfinished(ctx context.Context, memory TokenMemory) error {
	live, err := memory.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, record := range live.Records {
		if record.State == diff.TokenIntended {
			if err := memory.Quarantine(ctx, record.Intent, "the process ended before the answer was on record"); err != nil {
				return err
			}
		}
	}
	return nil
}

// endedFor is how long a token stays on record after its window has ended: long
// enough to be asked about, short enough for a rotation not to fill the ledger.
const endedFor = 30 * 24 * time.Hour

// forgetEnded drops tokens that ended long ago, but for the newest of each
// declaration, and returns the others. Where the platform can delete them, those
// that may be deleted wait for that.
func (r *Reconciler) forgetEnded(ctx context.Context, records []diff.TokenRecord) ([]diff.TokenRecord, error) {
	newest := map[string]string{}
	for _, record := range records {
		newest[record.Key] = record.Intent
	}
	kept := slices.Clone(records)
	for _, record := range records {
		end, err := time.Parse(time.RFC3339, record.Spec.ExpiresOn)
		if err != nil || record.State != diff.TokenConfirmed || newest[record.Key] == record.Intent ||
			record.Prune && r.TokenWriter != nil || r.Now().Before(end.Add(endedFor)) {
			continue
		}
		if err := r.Tokens.Gone(ctx, record.Intent); err != nil {
			return kept, err
		}
		kept = without(kept, record.Intent)
	}
	return kept, nil
}

func without(records []diff.TokenRecord, intent string) []diff.TokenRecord {
	return slices.DeleteFunc(records, func(record diff.TokenRecord) bool { return record.Intent == intent })
}

// dueTokens returns the declared tokens that a sync is about although nothing was
// declared anew: their time has come, their secret still waits, or an earlier
// run did not finish with them.
func (r *Reconciler) dueTokens(ctx context.Context, tokens []desired.Token) ([]desired.Token, error) {
	if r.Tokens == nil || len(tokens) == 0 {
		return nil, nil
	}
	live, err := r.Tokens.Tokens(ctx)
	if err != nil || live.Unknown != "" {
		return nil, err // a sweep says so often enough
	}
	now := r.Now()
	var due []desired.Token
	for _, token := range tokens {
		_, waits := r.pendingTokens[token.Key]
		if r.pendingTokens.due(token.Key) || !waits && diff.Due(token, live.Records, now) {
			due = append(due, token)
		}
	}
	return due, nil
}
