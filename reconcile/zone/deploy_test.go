package zone

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// newDeployFixture has n zones without entry points, on a platform that deploys and would
// take two execute rules of one managed ruleset.
func newDeployFixture(t testT, n int) *fixture {
	t.Helper()
	seed := mem.Fleet(n)
	for i := range seed.Zones {
		seed.Zones[i].EntryPoint = nil
	}
	return fixtureOn(t, mem.Config{Seed: seed, Profile: mem.Extended})
}

func deployed1(d desired.Deployment) desired.Deployment {
	d.Deploy, d.Prune = true, true
	return d
}

func credentials() desired.Deployment {
	d := core()
	d.Ruleset = "credentials"
	return deployed1(d)
}

// runs counts the execute rules of a managed ruleset in zone 1.
func (f *fixture) runs(id edge.RulesetID) (n int) {
	f.t.Helper()
	entry := f.Platform.StoredEntryPoint(mem.FleetZone(1))
	if entry == nil {
		return 0
	}
	for _, r := range entry.Rules {
		if r.Executes(id) {
			n++
		}
	}
	return n
}

func (f *fixture) wantRuns(id edge.RulesetID, want int) {
	f.t.Helper()
	if n := f.runs(id); n != want {
		f.t.Errorf("%d execute rules, want %d", n, want)
	}
}

// The first deployment of a zone creates its entry point, the next is added to that; a
// second look changes nothing. What leaves the repository is deleted.
func TestDeployAndRemove(t *testing.T) {
	f := newDeployFixture(t, 1)
	d := f.work(declare(1, deployed1(core("xss")), credentials()))
	f.wantOutcomes(d, converged, converged)
	f.wantCalls(d.calls, "create 1", "read 1", "add 1", "read 1")
	f.wantCalls(f.work(declare(1, deployed1(core("xss")), credentials())).calls)
	if o := f.Entry(1).Rules[0].ActionParameters.Overrides; o == nil || o.Categories[0].Category != "xss" {
		t.Errorf("overrides %+v", o)
	}
	d = f.work(declare(1, credentials()))
	f.wantOutcomes(d, converged)
	f.wantCalls(d.calls, "delete 1", "read 1")
	f.wantRuns(mem.CoreRuleset, 0)
	f.wantRuns(mem.CredentialsRuleset, 1)
	if d = f.work(declare(1, credentials())); len(d.calls) > 0 || len(f.gate.prunable) != 1 || len(f.gate.applied) != 1 {
		t.Errorf("calls %v, on record %v", d.calls, f.gate.prunable)
	}
	// It comes back only if it is declared to.
	back := core("xss")
	if d = f.work(declare(1, back, credentials())); len(d.calls) > 0 || d.plan.Problems[0].State != diff.NotDeployed {
		t.Errorf("calls %v, problems %+v", d.calls, d.plan.Problems)
	}
	d = f.converge(declare(1, deployed1(back), credentials()))
	f.wantCalls(d.calls, "add 1", "read 1")
}

// Between plan and write another client deploys: what there is by then is read, and
// nothing is overwritten, nor deployed twice.
func TestDeployedByAnother(t *testing.T) {
	execute := edge.Rule{Action: edge.ActionExecute, ActionParameters: &edge.ActionParameters{ID: mem.CoreRuleset}, Expression: "true", Enabled: new(true)}
	other, tuned := execute, execute
	other.ActionParameters = &edge.ActionParameters{ID: mem.CredentialsRuleset}
	tuned.ActionParameters = &edge.ActionParameters{ID: mem.CoreRuleset, Overrides: &edge.Overrides{
		Categories: []edge.CategoryOverride{{Category: "php", Enabled: new(false)}},
	}}
	same := execute
	same.ActionParameters = &edge.ActionParameters{ID: mem.CoreRuleset, Overrides: &edge.Overrides{
		Categories: []edge.CategoryOverride{{Category: "xss", Enabled: new(false)}},
	}}
	for name, c := range map[string]struct {
		rules []edge.Rule
		calls []string
	}{
		"an entry point":     {nil, []string{"create 1", "read 1", "add 1", "read 1"}},
		"another deployment": {[]edge.Rule{other}, []string{"create 1", "read 1", "add 1", "read 1"}},
		"it, tuned":          {[]edge.Rule{other, tuned}, []string{"create 1", "read 1", "write 1", "read 1"}},
		"just so":            {[]edge.Rule{same}, []string{"create 1", "read 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newDeployFixture(t, 1)
			f.between = func() {
				if _, err := f.Platform.Send(t.Context(), edge.CreateEntryPoint(mem.FleetZone(1), edge.PhaseFirewallManaged, c.rules...)); err != nil {
					t.Fatal(err)
				}
			}
			d := f.work(declare(1, removing(deployed1(core("xss")))))
			f.wantOutcomes(d, converged)
			f.wantCalls(d.calls, c.calls...)
			f.wantRuns(mem.CoreRuleset, 1)
			f.wantRuns(mem.CredentialsRuleset, len(slices.DeleteFunc(slices.Clone(c.rules), func(r edge.Rule) bool { return !r.Executes(mem.CredentialsRuleset) })))
		})
	}
}

// A call of unknown outcome is read. One that creates an entry point, or deletes a rule,
// may be sent once more; one that adds a rule waits for the next look.
func TestDeployOfUnknownOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		entryPoint bool // there is one
		removes    bool
		effect     bool
		outcome    reconcile.Outcome
		calls      []string
	}{
		"created":     {false, false, true, converged, []string{"create 1", "read 1"}},
		"not created": {false, false, false, converged, []string{"create 1", "read 1", "create 1", "read 1"}},
		"added":       {true, false, true, converged, []string{"add 1", "read 1"}},
		"not added":   {true, false, false, failedNow, []string{"add 1", "read 1"}},
		"deleted":     {true, true, true, converged, []string{"delete 1", "read 1"}},
		"not deleted": {true, true, false, converged, []string{"delete 1", "read 1", "delete 1", "read 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newDeployFixture(t, 1)
			z := declare(1, deployed1(core("xss")))
			if c.entryPoint {
				f.converge(declare(1, credentials()))
				z.Deployments = append(z.Deployments, credentials())
			}
			if c.removes {
				z.Deployments = nil
			}
			n := 0
			f.tamper.Deploy = func(send send) (*edge.Ruleset, error) {
				if n++; n > 1 {
					return send()
				}
				if c.effect {
					_, _ = send()
				}
				return nil, edge.ErrOutcomeUnknown
			}
			d := f.work(z)
			f.wantOutcomes(d, c.outcome)
			f.wantCalls(d.calls, c.calls...)
			if c.outcome == failedNow && (d.results[0].NoEffect || !errors.Is(d.results[0].Err, edge.ErrOutcomeUnknown)) {
				t.Errorf("result %+v", d.results[0])
			}
			f.converge(z)
			f.wantRuns(mem.CoreRuleset, map[bool]int{false: 1}[c.removes])
		})
	}
}

// Whatever fails in between, no managed ruleset is run twice, and in the end all is as
// declared.
func TestNeverDeployedTwice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := newDeployFixture(rt, 1)
		both := []desired.Deployment{deployed1(core("xss")), credentials()}
		for range rapid.IntRange(1, 6).Draw(rt, "looks") {
			f.tamper.Deploy = func(send send) (*edge.Ruleset, error) {
				fault := rapid.SampledFrom([]string{"none", "lost", "done", "refused"}).Draw(rt, "fault")
				switch fault {
				case "none":
					return send()
				case "done":
					_, _ = send()
				case "refused":
					return nil, &edge.Error{Status: 400}
				}
				return nil, edge.ErrOutcomeUnknown
			}
			f.tamper.Read = func(edge.Scope) error {
				if rapid.IntRange(0, 3).Draw(rt, "read fails") == 0 {
					return errDown
				}
				return nil
			}
			f.work(declare(1, both[:rapid.IntRange(0, 2).Draw(rt, "declared")]...))
			for _, id := range []edge.RulesetID{mem.CoreRuleset, mem.CredentialsRuleset} {
				if n := f.runs(id); n > 1 {
					rt.Fatalf("%d execute rules", n)
				}
			}
		}
		f.tamper.Deploy, f.tamper.Read = nil, nil
		d := f.converge(declare(1, both...))
		must.Do(rt, f.gate.Proved(f.t.Context(), Task{}, d.plan.Settled)) // as who plans does
		f.wantRuns(mem.CoreRuleset, 1)
		f.wantRuns(mem.CredentialsRuleset, 1)
		f.converge(declare(1))
		f.wantRuns(mem.CoreRuleset, 0)
		f.wantRuns(mem.CredentialsRuleset, 0)
	})
}

// The rule was deleted by somebody else, or with its whole entry point.
func TestRemovedByAnother(t *testing.T) {
	for name, gone := range map[string]func(*fixture) error{
		"the rule": func(f *fixture) error {
			_, err := f.Platform.Send(f.t.Context(), edge.DeleteRule(mem.FleetZone(1), f.Entry(1).ID, f.Entry(1).Rules[0].ID))
			return err
		},
		"the entry point": func(f *fixture) error { return f.Platform.RemoveEntryPoint(mem.FleetZone(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newDeployFixture(t, 1)
			f.converge(declare(1, deployed1(core("xss"))))
			f.between = func() {
				must.Do(t, gone(f))
			}
			d := f.work(declare(1))
			f.wantOutcomes(d, converged)
			f.wantCalls(d.calls, "delete 1", "read 1")
			if len(f.gate.prunable) > 0 {
				t.Errorf("on record is %v", f.gate.prunable)
			}
		})
	}
}

func TestPlatformThatDeploysNothing(t *testing.T) {
	f := newDeployFixture(t, 1)
	f.tamper.Deploy = func(reconciletest.Send) (*edge.Ruleset, error) { return nil, &edge.Error{Status: 501} }
	d := f.work(declare(1, deployed1(core("xss"))))
	f.wantOutcomes(d, failedNow)
	if !errors.Is(d.results[0].Err, edge.ErrNotOffered) || !d.results[0].NoEffect {
		t.Errorf("result %+v", d.results[0])
	}
}
