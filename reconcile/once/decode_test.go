package once

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
)

// A plan of the commit in force does not decode what that declares by the record: it costs the same
// memory whether or not that is there, and says the same. Of another commit, it does, and of another
// folder in the same commit.
func TestAPlanOfTheAcceptedCommitDecodesNothing(t *testing.T) {
	const zones = 200
	f := newFixture(t, zones+1)
	state := stateOf("c1", declareAll(zones, core("xss"))...)
	f.repo.Commit("c1", commit{State: state})
	f.converge(Order{})
	f.Click(1, switchedOff())
	for _, head := range []struct {
		name, commit string
		zones        []desired.Zone
		other        bool
	}{
		{"in force", "c1", declareAll(zones, core("xss")), false},
		{"another commit", "c2", declareAll(zones, core("sqli")), true},
		{"another folder", "c1", declareAll(zones+1, core("xss"))[1:], true},
	} {
		f.repo.Commit(head.commit, commit{State: stateOf(head.commit, head.zones...)})
		measured := func(onRecord *desired.State) (plan diff.Plan, allocs float64) {
			var parts []reconcile.StatePart // none: it is not at hand
			if onRecord != nil {
				data, err := control.EncodeState(*onRecord)
				must.Do(t, err)
				parts = append(parts, reconcile.PartOf(data))
			}
			must.Do(t, f.records.SaveState(t.Context(), "c1", parts))
			allocs = testing.AllocsPerRun(3, func() {
				var report reconcile.Report
				report, _ = f.plan(Order{Zones: []string{zoneKey(2)}})
				must.Do(t, report.Err)
				plan = report.Plan
			})
			return plan, allocs
		}
		with, cost := measured(&state)
		without, least := measured(nil)
		if decodes := cost > least+zones; decodes != head.other {
			t.Errorf("%s: %.0f allocations with what is on record, %.0f without", head.name, cost, least)
		}
		if diff := cmp.Diff(without, with, cmpopts.IgnoreFields(diff.Plan{}, "GeneratedAt")); diff != "" && !head.other {
			t.Errorf("the plan (-without +with what is on record):\n%s", diff)
		}
	}
}
