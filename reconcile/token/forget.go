package token

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// forgetGone drops from the record, within scope, the tokens that the platform
// does not have any more. They stay in live, so that the plan can say what is
// replaced.
func (w *Worker) forgetGone(ctx context.Context, live diff.TokensLive, scope Scope) error {
	for _, record := range live.Records {
		if record.State != diff.TokenConfirmed || live.Has(record) || !scope.has(record.Key) {
			continue
		}
		if err := w.Memory.Gone(ctx, record.Intent); err != nil {
			return err
		}
	}
	return nil
}

// endedFor is how long a token stays on record after its window has ended: long
// enough to be asked about, short enough for a rotation not to fill the ledger.
const endedFor = 30 * 24 * time.Hour

// forgetEnded drops tokens that ended long ago, but for the newest of each
// declaration, and returns what is left. Where the platform can delete them, those
// that may be deleted wait for that.
func (w *Worker) forgetEnded(ctx context.Context, live diff.TokensLive) (diff.TokensLive, error) {
	newest := map[string]string{}
	for _, record := range live.Records {
		newest[record.Key] = record.Intent
	}
	longAgo := w.Now().Add(-endedFor)
	kept := make([]diff.TokenRecord, 0, len(live.Records))
	for _, record := range live.Records {
		waits := record.Prune && w.of(record.Owner).deletes() || live.Of(record.Owner).Unknown != ""
		if record.State != diff.TokenConfirmed || newest[record.Key] == record.Intent || waits || !live.Has(record) || !live.Over(record, longAgo) {
			kept = append(kept, record)
			continue
		}
		if err := w.Memory.Gone(ctx, record.Intent); err != nil {
			return live, err
		}
	}
	live.Records = kept
	return live, nil
}
