package reconcile

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Expiring returns the tokens in use that end within a time from the end of the
// run, or have ended, with nothing to follow them by itself: see
// [diff.Plan.Expiring]. One that this run replaced or changed is not among them.
func (r Report) Expiring(within time.Duration) []diff.Expiry {
	replaced := map[string]bool{}
	for _, result := range r.Results {
		if result.Change.Do().Renews() && result.Outcome == Converged {
			replaced[result.Change.Token] = true
		}
	}
	return slices.DeleteFunc(r.Plan.Expiring(r.Finished, within), func(e diff.Expiry) bool { return replaced[e.Token] })
}

// warnWithin is how long before its end the log begins to warn of a token.
const warnWithin = 7 * 24 * time.Hour

// Horizon is a [Reporter] that warns in a log of tokens in use that end within a
// week, or have ended, with nothing to follow them: of each once a day, by UTC,
// however often runs come. It is not safe for concurrent use; [Loop] has one
// report at a time.
type Horizon struct {
	Log *slog.Logger

	told daily[edge.TokenID] // only of tokens that end soon
}

// Report implements [Reporter].
func (h *Horizon) Report(ctx context.Context, r Report) {
	news := newsOf(&h.told, r, r.Expiring(warnWithin), func(e diff.Expiry) edge.TokenID { return e.ID })
	tellFirst(ctx, h.Log, "tokens that expire", news, func(e diff.Expiry) {
		h.Log.WarnContext(ctx, "a token ends soon or has ended", "when", e.When(r.Finished), "token", e.Token, "id", string(e.ID),
			"expires_on", e.At.Format(time.RFC3339), "hint", "set a later expires_on, or rotate; seawall plan shows the effect")
	})
}
