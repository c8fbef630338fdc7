package tokens

import (
	"fmt"
	"testing"

	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestTokensWithBadAnswers: whatever becomes of answers, over several runs with
// one ledger nothing is created twice, and no secret that came through is lost.
func TestTokensWithBadAnswers(t *testing.T) {
	t.Parallel()
	for _, quirk := range []struct {
		name        string
		unknown     bool // whether a token exists afterwards
		takesEffect bool // it may
	}{
		{"error-before", true, false},
		{"error-after", true, true},
		{"cut-after", true, true},
		{"truncate", true, true},
		{"html", true, false},
		{"throttle", false, false},
	} {
		for every := 1; every <= 3; every++ {
			if every != 2 && !soak.On {
				continue
			}
			set := fmt.Sprintf("%s=%d", quirk.name, every)
			t.Run(set, func(t *testing.T) {
				t.Parallel()
				w := newTokenWorld(t)
				hit := len(tokenKeys) / every // of the creations in the first run
				w.wantOutcomes(w.runWith(set), quirk.unknown, hit)
				w.holds()
				existing := len(tokenKeys) - hit
				if quirk.takesEffect {
					existing = len(tokenKeys)
				}
				if got := len(made(w.Platform)); got != existing {
					t.Errorf("after the first run %d tokens exist, want %d", got, existing)
				}
				sent := creations(w.Platform)
				for range 2 {
					w.runWith(set)
					w.holds()
				}
				if again := creations(w.Platform) - sent; quirk.unknown && again != 0 {
					t.Errorf("%d more were sent without a person's word", again)
				} else if !quirk.unknown && again == 0 {
					t.Error("a creation that certainly failed is not tried again")
				}
				if got := w.resolve(); quirk.unknown && got != hit || !quirk.unknown && got != 0 {
					t.Errorf("a person was needed %d times", got)
				}
				if report := w.runOnce(); !report.Converged() {
					t.Errorf("the last run did not converge: %+v %v", report.Results, report.Err)
				}
				w.ends()
			})
		}
	}
}

// runWith makes one run with a quirk set.
func (w *tokenWorld) runWith(quirk string) reconcile.Report {
	w.T.Helper()
	must.Do(w.T, w.SetQuirks([]string{quirk}))
	report := w.runOnce()
	must.Do(w.T, w.SetQuirks(nil))
	return report
}

// wantOutcomes checks that of the first run's creations some failed in one way
// and the others came all the way.
func (w *tokenWorld) wantOutcomes(report reconcile.Report, unknown bool, bad int) {
	w.T.Helper()
	want := map[reconcile.Outcome]int{reconcile.Converged: len(tokenKeys) - bad, reconcile.Failed: bad, reconcile.Quarantined: 0}
	if unknown {
		want[reconcile.Failed], want[reconcile.Quarantined] = 0, bad
	}
	got := map[reconcile.Outcome]int{}
	for _, result := range report.Results {
		got[result.Outcome]++
	}
	for outcome, n := range want {
		if got[outcome] != n {
			w.T.Errorf("%d of the creations ended as %s, want %d: %+v", got[outcome], outcome, n, report.Results)
		}
	}
}
