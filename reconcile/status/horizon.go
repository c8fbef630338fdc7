package status

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// horizons are the times within which tokens that end are counted.
var horizons = []struct {
	name string
	time.Duration
}{
	{"1d", 24 * time.Hour},
	{"7d", 7 * 24 * time.Hour},
	{"30d", 30 * 24 * time.Hour},
}

// showTokens shows what a run over everything has found of tokens.
func (m *metrics) showTokens(r reconcile.Report) {
	counts := tokenCounts(r)
	for _, state := range tokenStates {
		m.set(tokens, float64(counts[state]), state)
	}
	findings := map[diff.FindingKind]int{}
	for _, f := range r.Plan.Findings {
		findings[f.Kind]++
	}
	for _, kind := range diff.FindingKinds() {
		m.set(tokenFindings, float64(findings[kind]), string(kind))
	}
	m.showHorizon(r)
}

// showHorizon shows when tokens end, where it is known which there are.
func (m *metrics) showHorizon(r reconcile.Report) {
	m.unset(nextExpiry)
	if tokensUnknown(r.Plan) {
		m.unset(tokensExpiring)
		return
	}
	for _, h := range horizons {
		m.set(tokensExpiring, float64(len(r.Expiring(h.Duration))), h.name)
	}
	if i := slices.IndexFunc(r.Plan.Expiries, func(e diff.Expiry) bool { return e.Current }); i >= 0 {
		m.set(nextExpiry, unix(r.Plan.Expiries[i].At)) // the soonest comes first
	}
}

func tokensUnknown(p diff.Plan) bool {
	return slices.ContainsFunc(p.Problems, func(problem diff.Problem) bool {
		return problem.Level() == edge.LevelCredential && problem.State == diff.Unknown
	})
}
