package once

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestOnly(t *testing.T) {
	f := newFixture(t, 3)
	f.repo.Push("c1", declareAll(3, core("xss"))...)
	c := f.repo.Commits["c1"]
	c.State.Tokens = []desired.Token{{Key: "ci"}, {Key: "cd"}}
	f.repo.Commits["c1"] = c

	for name, c := range map[string]struct {
		order Order
		calls []string
		told  []string // tokens in the plan
	}{
		"a zone":      {Order{Zones: []string{zoneKey(2)}}, []string{"list", "managed core", "read 2"}, nil},
		"two zones":   {Order{Zones: []string{zoneKey(3), zoneKey(1)}}, []string{"list", "managed core", "read 1", "read 3"}, nil},
		"a token":     {Order{Tokens: []string{"cd"}}, nil, []string{"cd"}},
		"one of each": {Order{Zones: []string{zoneKey(2)}, Tokens: []string{"ci"}}, []string{"list", "managed core", "read 2"}, []string{"ci"}},
	} {
		t.Run(name, func(t *testing.T) {
			report, calls := f.plan(c.order)
			f.wantCalls(calls, c.calls...)
			var told []string
			for _, p := range report.Plan.Problems {
				told = append(told, p.Token)
			}
			if report.Err != nil || report.Full || !slices.Equal(told, c.told) {
				t.Errorf("error %v, full %v, %v", report.Err, report.Full, told)
			}
		})
	}
	for want, order := range map[string]Order{
		"--only zone=nope: ":  {Zones: []string{zoneKey(1), "nope"}},
		"--only token=nope: ": {Tokens: []string{"ci", "nope"}},
	} {
		for _, do := range []func(Order) (reconcile.Report, []string){f.plan, f.apply} {
			report, calls := do(order)
			f.wantCalls(calls)
			if report.Err == nil || !strings.Contains(report.Err.Error(), want) || report.Full {
				t.Errorf("error %v", report.Err)
			}
		}
	}
	if len(f.records.Made) != 0 {
		t.Errorf("records %v", f.records.Made)
	}
	if report, calls := f.plan(Order{Zones: []string{}, Tokens: []string{}}); !report.Full || len(calls) < 4 {
		t.Error("an empty list of names is not everything")
	}
}

// An apply of some zones accepts the commit and leaves the rest of it as commit work.
func TestOnlyLeavesTheRestToDo(t *testing.T) {
	f := newFixture(t, 3)
	f.repo.Push("c1", declareAll(3, removing(core("xss")))...)
	f.converge(Order{})
	before := f.recall().Proofs
	f.repo.Push("c2", declareAll(3, removing(core("php")))...)
	report, _ := f.converge(Order{Zones: []string{zoneKey(2)}})
	f.wantOutcomes(report, "2 converged")
	got := f.recall()
	if got.Accepted.Commit != "c2" || f.good.commit != "c2" {
		t.Errorf("accepted %q, good %q", got.Accepted.Commit, f.good.commit)
	}
	for id, proof := range got.Proofs {
		if again := proof.Fingerprint != before[id].Fingerprint; again != (id == deploymentID(2).Scope) {
			t.Errorf("zone %s is proved anew: %v", id, again)
		}
	}
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "1 converged", "3 converged")
}
