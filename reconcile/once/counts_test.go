package once

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// What a commit may change is counted over all runs that write some of it: the parts of a commit that
// is too large are not written one after the other.
func TestPartsOfACommitCountTogether(t *testing.T) {
	f := overLimit(t)
	report, _ := f.apply(Order{Zones: []string{zoneKey(1), zoneKey(2), zoneKey(3)}})
	f.wantOutcomes(report, "1 converged", "2 converged", "3 converged")
	rest := Order{Zones: []string{zoneKey(4)}}
	for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
		report, calls := do(rest)
		f.wantRefused(report, "limit")
		if writes(calls) != 0 {
			t.Fatalf("it writes: %v", calls)
		}
	}
	planned, _ := f.plan(rest)
	rest.Approve, rest.Who = []string{planned.Plan.Changes[0].Refused.Digest}, "kim"
	report, _ = f.apply(rest)
	f.wantOutcomes(report, "4 converged")
	f.Click(1, switchedOff("xss")) // a drift is none of the commit
	report, _ = f.apply(Order{Zones: []string{zoneKey(1)}})
	f.wantOutcomes(report, "1 converged")
}

// What other processes count of the same commit counts for a run, too, and what the run writes counts for
// them.
func TestRunCountsBesideOthers(t *testing.T) {
	f := overLimit(t)
	report, _ := f.apply(Order{Zones: []string{zoneKey(1)}})
	f.wantOutcomes(report, "1 converged")
	counted, err := f.records.Tallied(t.Context(), 0)
	must.Do(t, err)
	if len(counted) != 1 || counted[0].Scope != mem.FleetZone(1) || counted[0].Commit != "c2" {
		t.Fatalf("others know of %+v", counted)
	}
	all := map[edge.Scope]bool{}
	for i := 1; i <= 4; i++ {
		all[mem.FleetZone(i)] = false
	}
	must.Do(t, f.records.Counted(t.Context(), reconcile.Count{Commit: "c2", By: "a daemon", All: all}))
	report, calls := f.apply(Order{Zones: []string{zoneKey(2)}})
	if writes(calls) != 0 || len(report.Results) != 1 || report.Results[0].Change.Refused == nil {
		t.Errorf("of a commit that is too large, as a daemon has counted it, %v is written: %+v", calls, report.Results)
	}
}
