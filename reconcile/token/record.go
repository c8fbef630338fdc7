package token

import (
	"context"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
)

// record brings the ledger up to date for tokens that are as declared: an update
// may have been sent by a process that died before it was recorded, and a
// declaration may have changed what becomes of the token once it is gone.
func (w *Worker) record(ctx context.Context, live diff.TokensLive, settled []diff.Settled) error {
	records := map[string]diff.TokenRecord{}
	for _, record := range live.Records {
		records[record.Intent] = record
	}
	prune := map[bool][]string{}
	for _, of := range settled {
		s := of.Token
		if s == nil {
			continue
		}
		record := records[s.Intent]
		if outdated(record, *s) {
			if err := w.Memory.Amend(ctx, s.Intent, s.Spec, s.Hash); err != nil {
				return fmt.Errorf("recording what a token is: %w", err)
			}
		}
		if record.Prune != s.Prune {
			prune[s.Prune] = append(prune[s.Prune], s.Intent)
		}
	}
	for allowed, intents := range prune {
		if err := w.Memory.Prunable(ctx, intents, allowed); err != nil {
			return fmt.Errorf("recording which tokens may be deleted: %w", err)
		}
	}
	return nil
}

// outdated reports whether a token is not on record as it is.
func outdated(record diff.TokenRecord, is diff.SettledToken) bool {
	return record.Hash != is.Hash || record.Spec.Name != is.Spec.Name ||
		record.Spec.ExpiresOn != is.Spec.ExpiresOn || record.Spec.NotBefore != is.Spec.NotBefore
}
