package reconcile

import (
	"context"
	"log/slog"
	"maps"
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

	told map[edge.TokenID]string // on which day last; only of tokens that end soon
}

// Report implements [Reporter].
func (h *Horizon) Report(ctx context.Context, r Report) {
	today, told := r.Finished.UTC().Format(time.DateOnly), map[edge.TokenID]string{}
	if !r.Full || r.Err != nil {
		maps.Copy(told, h.told) // this run has not seen all there are
	}
	var news []diff.Expiry
	for _, e := range r.Expiring(warnWithin) {
		if h.told[e.ID] != today {
			news = append(news, e)
		}
		told[e.ID] = today
	}
	h.told = told
	for _, e := range news[:min(len(news), linesPerRun)] {
		h.Log.WarnContext(ctx, "a token ends soon or has ended", "when", e.When(r.Finished), "token", e.Token, "id", string(e.ID),
			"expires_on", e.At.Format(time.RFC3339), "hint", "set a later expires_on, or rotate; seawall plan shows the effect")
	}
	if n := len(news) - linesPerRun; n > 0 {
		h.Log.WarnContext(ctx, "further lines of this kind are left out", "kind", "tokens that expire", "left_out", n)
	}
}
