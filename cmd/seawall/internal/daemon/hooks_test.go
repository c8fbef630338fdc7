package daemon

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// Every outcome of a webhook is counted, and those that refuse are logged once in a while.
func TestWebhookOutcomes(t *testing.T) {
	outcomes := []forge.Outcome{forge.Poked, forge.Ignored, forge.Unverified, forge.Unreadable, forge.Throttled, forge.NoPost, forge.Unready}
	var log strings.Builder
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := refusedHooks{log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return now }, told: map[forge.Outcome]time.Time{}}
	for _, o := range outcomes {
		if !slices.Contains(status.WebhookOutcomes, string(o)) {
			t.Errorf("%s is not counted", o)
		}
		r.note(o)
		r.note(o)
	}
	if n := strings.Count(log.String(), "a webhook was refused"); n != 5 || len(status.WebhookOutcomes) != len(outcomes) {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
	now = now.Add(refusedEvery)
	r.note(forge.Unverified)
	if n := strings.Count(log.String(), "outcome=unverified"); n != 2 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}
