package status

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// wantSeries checks several series; a negative value means that there is none.
func wantSeries(t *testing.T, s *Status, want map[string]float64) {
	t.Helper()
	for series, value := range want {
		wantMetric(t, s, series, value)
	}
}

func TestTokenFindings(t *testing.T) {
	s, c := start(t)
	wantMetric(t, s, `seawall_token_findings{kind="no_expiry"}`, -1)
	r := full(c)
	r.Plan.Findings = []diff.Finding{{Token: "a", Kind: diff.NoExpiry}, {Token: "b", Kind: diff.NoExpiry}, {Token: "b", Kind: diff.AllAccounts}}
	s.Report(t.Context(), r)
	want := map[string]float64{
		`seawall_token_findings{kind="no_expiry"}`: 2, `seawall_token_findings{kind="all_accounts"}`: 1,
		`seawall_token_findings{kind="creates_beside"}`: 0, `seawall_token_findings{kind="creates_unrestricted"}`: 0,
	}
	wantSeries(t, s, want)
	part := full(c)
	part.Full = false
	s.Report(t.Context(), part)
	wantSeries(t, s, want)
	s.Report(t.Context(), full(c))
	wantMetric(t, s, `seawall_token_findings{kind="no_expiry"}`, 0)
}

func TestTokensExpiring(t *testing.T) {
	const (
		day   = 24 * time.Hour
		next  = "seawall_token_next_expiry_timestamp_seconds"
		one   = `seawall_tokens_expiring{within="1d"}`
		week  = `seawall_tokens_expiring{within="7d"}`
		month = `seawall_tokens_expiring{within="30d"}`
	)
	s, c := start(t)
	wantSeries(t, s, map[string]float64{one: -1, week: -1, month: -1, next: -1})
	ends := func(key string, left time.Duration, current, rotates bool) diff.Expiry {
		return diff.Expiry{Token: key, At: c.now.Add(left), Current: current, Rotates: rotates}
	}
	r := full(c)
	r.Plan.Expiries = []diff.Expiry{
		ends("superseded", -day, false, false), ends("ended", -time.Hour, true, false), ends("replaced", -time.Minute, true, false),
		ends("rotates", time.Hour, true, true), ends("soon", 3*day, true, false), ends("month", 30*day, true, false),
		ends("later", 31*day, true, false),
	}
	r.Results = []reconcile.Result{{
		Change:  diff.Change{Scope: edge.CredentialScope(""), Token: "replaced", Operation: diff.Creation{}},
		Outcome: reconcile.Converged,
	}}
	s.Report(t.Context(), r)
	want := map[string]float64{one: 1, week: 2, month: 3, next: unix(c.now.Add(-time.Hour))}
	wantSeries(t, s, want)

	part := full(c)
	part.Full = false
	s.Report(t.Context(), part)
	wantSeries(t, s, want)

	unknown := full(c)
	unknown.Plan.Problems = []diff.Problem{{Scope: edge.CredentialScope(""), Token: "k", State: diff.Unknown}}
	s.Report(t.Context(), unknown)
	wantSeries(t, s, map[string]float64{one: -1, week: -1, month: -1, next: -1})

	endless := full(c)
	endless.Plan.Problems = []diff.Problem{{Zone: "z", State: diff.Unknown}, {Token: "k", State: diff.Quarantined}}
	s.Report(t.Context(), endless)
	wantSeries(t, s, map[string]float64{one: 0, week: 0, month: 0, next: -1})
}
