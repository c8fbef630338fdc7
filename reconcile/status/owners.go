package status

import (
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// owners say of which work a number is, where only who does that work knows it as it is now. Of
// several replicas that one alone has a series, so that a sum over replicas counts each thing once,
// and what one has known before it lost a lease alarms no one.
var owners = map[string]func(reconcile.LeaseName) bool{
	lastFetch.name: isCommits, commitHeld.name: isCommits, commitProblems.name: isCommits, wavesHalted.name: isCommits, heldZones.name: isCommits,
	headsRefused.name: isCommits,

	tokens.name: isTokens, tokenFindings.name: isTokens, tokensExpiring.name: isTokens, nextExpiry.name: isTokens, deprecations.name: isTokens,

	lastObservation.name: isCredential, zoneOutcomes.name: isCredential, oldestDrift.name: isCredential, declaredZones.name: isCredential, zones.name: isCredential,
	nonConvergent.name: isCredential, lastSweep.name: isCredential, lastConverged.name: isCredential, acceptancesEnding.name: isCredential,
}

func isTokens(name reconcile.LeaseName) bool { return name == reconcile.LeaseTokens }

// tells reports whether a daemon has a number by its name.
func tells(s inspect.Status, name string) bool {
	owner := owners[name]
	if owner == nil {
		return true
	}
	does, _ := here(s, owner)
	return does
}

// gather are the numbers that this daemon tells.
func (m *metrics) gather() ([]*dto.MetricFamily, error) {
	all, err := m.registry.Gather()
	s := m.look()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return !tells(s, f.GetName()) }), err
}
