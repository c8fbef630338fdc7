package control

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// fleetOf declares zones a, b, c, … of one account, each with these rulesets.
func fleetOf(commit string, rulesets map[string][]string) desired.State {
	account := desired.Account{Key: "prod", ID: "account", Rulesets: []desired.RulesetRef{{Key: "core", ID: "id-core"}, {Key: "other", ID: "id-other"}}}
	for _, id := range []string{"a", "b", "c"} {
		of, ok := rulesets[id]
		if !ok {
			continue
		}
		z := desired.Zone{Key: id, Scope: edge.ZoneScope(edge.ZoneID(id))}
		for _, ruleset := range of {
			z.Deployments = append(z.Deployments, desired.Deployment{Ruleset: ruleset})
		}
		account.Zones = append(account.Zones, z)
	}
	return desired.State{Commit: commit, Accounts: []desired.Account{account}}
}

func printsOf(s desired.State) map[edge.Scope]reconcile.Proof {
	proofs := map[edge.Scope]reconcile.Proof{}
	for account, z := range s.EachZone() {
		proofs[z.Scope] = reconcile.Proof{Scope: z.Scope, Fingerprint: z.Fingerprint(account)}
	}
	return proofs
}

// replaced are proofs after which others followed.
func replaced(first, then map[edge.Scope]reconcile.Proof) map[edge.Scope]reconcile.Proof {
	proofs := map[edge.Scope]reconcile.Proof{}
	for id, p := range then {
		proofs[id] = first[id].Then(p)
	}
	return proofs
}

// A rollout is about the zones whose declaration is not the one last proved there.
func TestRolloutOf(t *testing.T) {
	waves := []reconcile.Wave{{Count: 1}}
	before := fleetOf("c1", map[string][]string{"a": {"core"}, "b": {"core"}, "c": {"core"}})
	next := fleetOf("c2", map[string][]string{"a": {"core"}, "b": {"other"}, "c": {"other"}})
	halted := reconcile.Rollout{Commit: "c1", Halted: "why"}
	for name, c := range map[string]struct {
		record reconcile.Record
		waves  []reconcile.Wave
		state  desired.State
		want   reconcile.Rollout
	}{
		"what is new": {
			reconcile.Record{Proofs: printsOf(before)},
			waves, next,
			reconcile.Rollout{Commit: "c2", Wave: 1, Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("b"): {Wave: 1}, edge.ZoneScope("c"): {Wave: 2}}},
		},
		"a revert": {reconcile.Record{Proofs: printsOf(next), Rollout: halted}, waves, next, reconcile.Rollout{Commit: "c2"}},
		"a return to what was proved earlier": {
			reconcile.Record{Proofs: replaced(printsOf(next), printsOf(before)), Rollout: halted}, waves, next, reconcile.Rollout{Commit: "c2"},
		},
		"a revert has stopped one": {
			reconcile.Record{Proofs: printsOf(before), Holds: []diff.Hold{{Scope: edge.ZoneScope("b"), Declaration: printsOf(next)[edge.ZoneScope("b")].Fingerprint}}},
			waves, next,
			reconcile.Rollout{Commit: "c2", Wave: 1, Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("c"): {Wave: 1}}},
		},
		"it is under way":  {reconcile.Record{Rollout: reconcile.Rollout{Commit: "c2", Wave: 2}}, waves, next, reconcile.Rollout{Commit: "c2", Wave: 2}},
		"no waves":         {reconcile.Record{Rollout: halted}, nil, next, halted},
		"nothing declared": {reconcile.Record{}, waves, desired.State{Commit: "c2"}, reconcile.Rollout{Commit: "c2"}},
		"halted stays halted": {
			reconcile.Record{Proofs: printsOf(before), Rollout: halted},
			waves, fleetOf("c2", map[string][]string{"a": {"core"}, "b": {"other"}}),
			reconcile.Rollout{Commit: "c2", Wave: 1, Halted: "why", Zones: map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("b"): {Wave: 1}}},
		},
	} {
		if got := RolloutOf(c.record, c.waves, c.state); !got.Equal(c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// A zone is as far as the worst of its deployments.
func TestZoneOutcomes(t *testing.T) {
	refused := func(guard diff.Guard) diff.Change { return diff.Change{Refused: &diff.Refusal{Guard: guard}} }
	of := func(deployment string, outcome reconcile.Outcome) reconcile.Result {
		return reconcile.Result{Change: diff.Change{Deployment: deployment}, Outcome: outcome}
	}
	const (
		pending, done, skipped = reconcile.ZonePending, reconcile.ZoneDone, reconcile.ZoneSkipped
		failed, unkept         = reconcile.ZoneFailed, reconcile.ZoneNonConvergent
	)
	for name, c := range map[string]struct {
		problems []diff.ProblemState
		refused  []diff.Guard
		results  []reconcile.Result
		want     reconcile.ZoneOutcome
	}{
		"in sync":       {nil, nil, nil, done},
		"unknown":       {[]diff.ProblemState{diff.Unknown}, nil, nil, failed},
		"forbidden":     {[]diff.ProblemState{diff.Forbidden}, nil, nil, failed},
		"not deployed":  {[]diff.ProblemState{diff.NotDeployed}, nil, nil, skipped},
		"blocked":       {[]diff.ProblemState{diff.Blocked}, nil, nil, skipped},
		"undecided":     {[]diff.ProblemState{diff.Undecided}, nil, nil, skipped},
		"held":          {nil, []diff.Guard{diff.GuardHold}, nil, skipped},
		"not kept once": {nil, []diff.Guard{diff.GuardNonConvergent}, nil, skipped},
		"over a limit":  {nil, []diff.Guard{diff.GuardLimit}, nil, pending},
		"not approved":  {nil, []diff.Guard{diff.GuardApproval}, nil, pending},
		"frozen":        {nil, []diff.Guard{diff.GuardFreeze}, nil, pending},
		"its wave":      {nil, []diff.Guard{diff.GuardWave}, nil, pending},
		"written":       {nil, nil, []reconcile.Result{of("core", reconcile.Converged)}, done},
		"failed":        {nil, nil, []reconcile.Result{of("core", reconcile.Failed)}, failed},
		"not started":   {nil, nil, []reconcile.Result{of("core", reconcile.NotStarted)}, pending},
		"not kept":      {nil, nil, []reconcile.Result{of("core", reconcile.NonConvergent)}, unkept},
		"the worst counts": {
			[]diff.ProblemState{diff.Blocked},
			[]diff.Guard{diff.GuardFreeze},
			[]reconcile.Result{of("core", reconcile.Converged), of("other", reconcile.Failed)},
			failed,
		},
		"waiting is not done": {[]diff.ProblemState{diff.Blocked}, []diff.Guard{diff.GuardFreeze}, []reconcile.Result{of("core", reconcile.Converged)}, pending},
	} {
		var plan diff.Plan
		for _, state := range c.problems {
			plan.Problems = append(plan.Problems, diff.Problem{Scope: edge.ZoneScope("a"), State: state})
		}
		for _, guard := range c.refused {
			change := refused(guard)
			change.Scope, change.Deployment = edge.ZoneScope("a"), "refused"
			plan.Changes = append(plan.Changes, change)
		}
		var results []reconcile.Result
		for _, result := range c.results {
			result.Change.Scope = edge.ZoneScope("a")
			plan.Changes = append(plan.Changes, result.Change)
			results = append(results, result)
		}
		plan.Problems = append(plan.Problems, diff.Problem{Scope: edge.CredentialScope(""), Token: "ci", State: diff.Unknown}) // is about no zone
		got := ZoneOutcomes([]edge.Scope{edge.ZoneScope("a"), edge.ZoneScope("b")}, plan, results)
		if want := map[edge.Scope]reconcile.ZoneOutcome{edge.ZoneScope("a"): c.want, edge.ZoneScope("b"): done}; !cmp.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// What is on record of zones that a state does not declare goes with it.
func TestGone(t *testing.T) {
	record := reconcile.Record{
		Proofs:        map[edge.Scope]reconcile.Proof{edge.ZoneScope("a"): {}, edge.ZoneScope("c"): {}},
		Applied:       diff.Applied{{Scope: edge.ZoneScope("b")}: nil, {Scope: edge.ZoneScope("x")}: nil},
		NonConvergent: map[diff.ID]string{{Scope: edge.ZoneScope("w")}: "f"},
	}
	state := fleetOf("c1", map[string][]string{"a": nil, "b": nil})
	gone := Whole{Record: record, State: state}.Judge().Acceptance.Gone
	slices.SortFunc(gone, edge.Scope.Compare)
	if want := []edge.Scope{edge.ZoneScope("c"), edge.ZoneScope("w"), edge.ZoneScope("x")}; !slices.Equal(gone, want) {
		t.Errorf("got %v, want %v", gone, want)
	}
}

// What left a zone is obsolete where that can be told: where a ruleset that the zone
// declares was not found, or not looked for, it might be that one.
func TestObsolete(t *testing.T) {
	id := func(zone edge.Scope, ruleset edge.RulesetID) diff.ID {
		return diff.ID{Scope: zone, Ruleset: ruleset}
	}
	record := reconcile.Record{
		Applied:       diff.Applied{id(edge.ZoneScope("a"), "id-core"): nil, id(edge.ZoneScope("a"), "id-other"): nil, id(edge.ZoneScope("b"), "id-core"): nil},
		NonConvergent: map[diff.ID]string{id(edge.ZoneScope("b"), "id-gone"): "f", id(edge.ZoneScope("a"), "id-other"): "f"},
	}
	state := fleetOf("c1", map[string][]string{"a": {"core"}, "b": {"core"}})
	listed := func(rulesets ...edge.RulesetID) diff.Live {
		var all []edge.Ruleset
		for _, ruleset := range rulesets {
			all = append(all, edge.Ruleset{ID: ruleset, Kind: edge.KindManaged, Phase: edge.PhaseFirewallManaged})
		}
		return diff.Live{Accounts: map[edge.AccountID]diff.AccountLive{"account": {Listed: diff.Observed[[]edge.Ruleset]{Value: all}}}}
	}
	failed := diff.Live{Accounts: map[edge.AccountID]diff.AccountLive{"account": {Listed: diff.Observed[[]edge.Ruleset]{Err: errors.New("down")}}}}
	for name, c := range map[string]struct {
		live diff.Live
		want []diff.ID
	}{
		"all is known":   {listed("id-core", "id-other"), []diff.ID{id(edge.ZoneScope("a"), "id-other"), id(edge.ZoneScope("b"), "id-gone")}},
		"one is missing": {listed("id-other"), nil},
		"not listed":     {failed, nil},
		"not looked for": {diff.Live{}, nil},
	} {
		if got := Obsolete(record, state, c.live); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// Facts of a rollout that is over, or of none, hold nothing back.
func TestRolloutFactsOfNone(t *testing.T) {
	waves := []reconcile.Wave{{Count: 1}}
	zones := map[edge.Scope]reconcile.RolloutZone{edge.ZoneScope("a"): {Wave: 1}}
	if f := RolloutFacts(reconcile.Rollout{Commit: "c"}, waves, time.Time{}); f != nil {
		t.Errorf("got %+v", f)
	}
	if f := RolloutFacts(reconcile.Rollout{Commit: "c", Zones: zones}, nil, time.Time{}); f != nil {
		t.Errorf("got %+v", f)
	}
}

// Approvals cost nothing where there are none: a digest costs as much as the plan of a zone.
func TestNoApprovalsCostNothing(t *testing.T) {
	plan := diff.Plan{Changes: difftest.ChangesTo(1000, 500)}
	if n := testing.AllocsPerRun(10, func() { Agreed(nil, plan, "alice", time.Time{}) }); n > 100 {
		t.Errorf("%.0f allocations", n)
	}
	guarded := testing.AllocsPerRun(10, func() { guard.Check(plan, guard.Facts{}) })
	if n := guarded / 1000; n > 2 {
		t.Errorf("the guards allocate %.1f times for each change", n)
	}
}
