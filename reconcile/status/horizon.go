package status

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// horizon is a time within which what ends is counted.
type horizon struct {
	name string
	time.Duration
}

const day = 24 * time.Hour

// Those of tokens, and of acceptances of skip rules.
var (
	horizons           = []horizon{{"1d", day}, {"7d", 7 * day}, {"30d", 30 * day}}
	acceptanceHorizons = []horizon{{"1d", day}, {"7d", 7 * day}, {"14d", 14 * day}}
)

// showAcceptances shows how many acceptances of skip rules end soon.
func (m *metrics) showAcceptances(r reconcile.Report) {
	for _, h := range acceptanceHorizons {
		n := 0
		for _, end := range r.Acceptances {
			if !end.After(r.Finished.Add(h.Duration)) {
				n++
			}
		}
		m.set(acceptancesEnding, float64(n), h.name)
	}
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
