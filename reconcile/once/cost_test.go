package once

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// healing is an apply that writes to all of n zones, each time to what they are not.
func healing(t testT, n int) func() {
	f, times := newFixture(t, n), 0
	return func() {
		times++
		tag := []string{"xss", "sqli"}[times%2]
		name := fmt.Sprintf("c%d", times)
		f.repo.Commit(name, commit{State: stateOf(name, declareAll(n, core(tag))...)})
		r := f.run()
		r.Lanes.All[0].Reader, r.Lanes.All[0].Writer = edge.ReadOnly(f.Platform), f.Platform // a transcript costs more than it records
		if report := r.Apply(t.Context(), Order{Brief: true}); len(report.Results) != n || !report.Converged() {
			t.Fatalf("%d results, error %v", len(report.Results), report.Err)
		}
	}
}

// What an apply does for a zone does not grow with the fleet.
func TestApplyCostsWhatItWrites(t *testing.T) {
	const few, many = 50, 500
	of := func(zones int) float64 { return testing.AllocsPerRun(2, healing(t, zones)) / float64(zones) }
	if small, large := of(few), of(many); large > 1.1*small {
		t.Errorf("a zone among %d costs %.0f allocations, and one among %d costs %.0f", few, small, many, large)
	}
}

func BenchmarkApply(b *testing.B) {
	for _, zones := range []int{100, 1000} {
		b.Run(fmt.Sprint(zones), func(b *testing.B) {
			heal := healing(b, zones)
			b.ReportAllocs()
			for b.Loop() {
				heal()
			}
		})
	}
}

// A brief run tells and records what any other does, what was approved included, but keeps
// nothing of what it has sent.
func TestABriefRunTellsTheSame(t *testing.T) {
	run := func(brief bool) (texts []string, on reconcile.Record) {
		f := newFixture(t, 3)
		apply := func(order Order) reconcile.Report {
			order.Brief = brief
			report, _ := f.apply(order)
			var text strings.Builder
			if err := report.Text(&text, true); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text.String())
			return report
		}
		f.repo.Push("c1", declareAll(3, core())...)
		apply(Order{})
		f.repo.Push("c2", declareAll(3, core("xss"))...)
		f.tamper.Write = failWrite(1, errForbidden)
		report := apply(Order{})
		f.wantOutcomes(report, "1 failed", "2 converged", "3 converged")
		for _, c := range append(report.Plan.Changes, report.Results[0].Change) {
			if o, _ := c.Operation.(diff.RuleOperation); (o.Target.EntryPoint == "") != brief || len(c.Fields) == 0 {
				t.Errorf("brief %v, and a change has %+v", brief, c)
			}
		}
		f.tamper.Write, f.guards = nil, calm
		f.repo.Push("c3", declareAll(3, core("xss", "sqli"))...)
		plan, _ := f.plan(Order{})
		f.tamper.Write = failWrite(2, errForbidden)
		apply(approving(plan.Plan.ApprovalDigest()))
		f.tamper.Write = nil
		apply(Order{})
		return texts, f.recall()
	}
	whole, record := run(false)
	brief, same := run(true)
	if d := cmp.Diff(whole, brief); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(record, same, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}
