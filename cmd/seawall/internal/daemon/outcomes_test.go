package daemon

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/reconcile/forge"
	"github.com/seawall-dev/seawall/reconcile/notify"
	"github.com/seawall-dev/seawall/reconcile/status"
)

// Every outcome of a webhook is counted, and those that refuse are logged once in a while.
func TestWebhookOutcomes(t *testing.T) {
	outcomes := []forge.Outcome{forge.Poked, forge.Ignored, forge.Unverified, forge.Unreadable, forge.Throttled, forge.NoPost, forge.Unready}
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log, r := slog.New(slog.NewTextHandler(&text, nil)), newRefusedHooks()
		for _, o := range outcomes {
			if !slices.Contains(status.WebhookOutcomes, string(o)) {
				t.Errorf("%s is not counted", o)
			}
			r.note(log, o)
			r.note(log, o)
		}
		if n := strings.Count(text.String(), "a webhook was refused"); n != 5 || len(status.WebhookOutcomes) != len(outcomes) {
			t.Errorf("%d lines:\n%s", n, text.String())
		}
		time.Sleep(refusedEvery)
		r.note(log, forge.Unverified)
		if n := strings.Count(text.String(), "outcome=unverified"); n != 2 {
			t.Errorf("%d lines:\n%s", n, text.String())
		}
	})
}

// Every outcome of a notification is counted.
func TestNotificationOutcomes(t *testing.T) {
	if outcomes := []string{notify.OutcomeSent, notify.OutcomeFailed, notify.OutcomeRefused}; !slices.Equal(outcomes, status.NotificationOutcomes) {
		t.Errorf("counted are %v, and there are %v", status.NotificationOutcomes, outcomes)
	}
}
