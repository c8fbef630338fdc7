package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// scope is which declarations of tokens a run is about: nil for all of them, those
// that left the repository too.
type scope map[string]bool

func (s scope) has(key string) bool { return s == nil || s[key] }

// scopeOf is the scope of a run about these tokens.
func scopeOf(tokens []desired.Token, all bool) scope {
	if all {
		return nil
	}
	s := scope{}
	for _, token := range tokens {
		s[token.Key] = true
	}
	return s
}

// recallTokens returns what is known of tokens. A run that may write settles
// first what an earlier process left behind. Where the platform does not accept
// the credential for tokens, these are unknown, beside the error.
func (r *Reconciler) recallTokens(ctx context.Context, tokens []desired.Token, within scope, write bool) (diff.TokensLive, error) {
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
	if r.TokenReader != nil && len(live.Records)+len(tokens) > 0 {
		live, err = r.lookUpTokens(ctx, live, tokens, within, write)
	}
	if err == nil && write && live.Unknown == "" {
		live.Records, err = r.forgetEnded(ctx, live)
	}
	return live, err
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
func (r *Reconciler) forgetEnded(ctx context.Context, live diff.TokensLive) ([]diff.TokenRecord, error) {
	newest := map[string]string{}
	for _, record := range live.Records {
		newest[record.Key] = record.Intent
	}
	longAgo := r.Now().Add(-endedFor)
	kept := make([]diff.TokenRecord, 0, len(live.Records))
	for _, record := range live.Records {
		waits := record.Prune && r.TokenWriter != nil
		if record.State != diff.TokenConfirmed || newest[record.Key] == record.Intent || waits || !live.Has(record) || !live.Over(record, longAgo) {
			kept = append(kept, record)
			continue
		}
		if err := r.Tokens.Gone(ctx, record.Intent); err != nil {
			return live.Records, err
		}
	}
	return kept, nil
}

func without(records []diff.TokenRecord, intent string) []diff.TokenRecord {
	return slices.DeleteFunc(records, func(record diff.TokenRecord) bool { return record.Intent == intent })
}

// dueTokens returns the declared tokens that a sync is about although nothing was
// declared anew: their time has come, their secret still waits, or an earlier
// run did not finish with them.
func (r *Reconciler) dueTokens(ctx context.Context, tokens []desired.Token, facts diff.Facts) ([]desired.Token, error) {
	if r.Tokens == nil || len(tokens) == 0 {
		return nil, nil
	}
	live, err := r.Tokens.Tokens(ctx)
	if err != nil || live.Unknown != "" {
		return nil, err // a sweep says so often enough
	}
	keys := diff.Due(tokens, live, r.TokenReader != nil, r.Now())
	var due []desired.Token
	for _, token := range tokens {
		_, waits := r.pendingTokens[token.Key]
		if r.pendingTokens.due(token.Key) || r.delayed.dueToken(token.Key, facts) || !waits && keys[token.Key] {
			due = append(due, token)
		}
	}
	return due, nil
}
