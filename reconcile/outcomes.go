package reconcile

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// severity orders the outcomes of the deployments of one zone: the last counts. A
// zone that waits for anything is not done, and one that failed has failed
// whatever else it waits for.
var severity = []ZoneOutcome{ZoneDone, ZoneSkipped, ZonePending, ZoneFailed, ZoneNonConvergent}

// zoneOutcomes is what a run has made of each zone in its scope.
func zoneOutcomes(scoped desired.State, report *Report) map[edge.ZoneID]ZoneOutcome {
	outcomes := map[edge.ZoneID]ZoneOutcome{}
	for id := range zoneIDs(scoped) {
		outcomes[id] = ZoneDone
	}
	note := func(id edge.ZoneID, outcome ZoneOutcome) {
		if have, ok := outcomes[id]; ok && slices.Index(severity, outcome) > slices.Index(severity, have) {
			outcomes[id] = outcome
		}
	}
	for _, problem := range report.Plan.Problems {
		note(problem.ZoneID, ofProblem(problem))
	}
	results := map[string]Outcome{}
	for _, result := range report.Results {
		results[result.Change.Name()] = result.Outcome
	}
	for _, c := range report.Plan.Changes {
		if c.Kind == diff.KindDeployment {
			note(c.ZoneID, ofChange(c, results[c.Name()]))
		}
	}
	return outcomes
}

func ofProblem(p diff.Problem) ZoneOutcome {
	if p.State.Unread() {
		return ZoneFailed
	}
	return ZoneSkipped
}

func ofChange(c diff.Change, outcome Outcome) ZoneOutcome {
	if c.Refused != nil {
		switch c.Refused.Guard {
		case "unmanaged", guardNonConvergent, guardHold:
			return ZoneSkipped
		}
		return ZonePending
	}
	switch outcome {
	case Converged:
		return ZoneDone
	case Failed:
		return ZoneFailed
	case NonConvergent:
		return ZoneNonConvergent
	}
	return ZonePending
}

// The guards that this package knows by name, as diff calls them.
const (
	guardNonConvergent = "non_convergent"
	guardHold          = "hold"
	guardLimit         = "limit"
	guardApproval      = "approval"
	guardFreeze        = "freeze"
	guardWave          = "wave"
)
