package zone

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

const enterprise = `cf.zone.plan eq "ENT"`

// newAccountFixture has one zone, on a platform as strict as the service.
func newAccountFixture(t testT, quirks ...string) *fixture {
	t.Helper()
	return fixtureOn(t, mem.Config{Seed: mem.Fleet(1), Profile: mem.Vendor, Quirks: quirks})
}

// accountLevel declares what the account deploys itself.
func accountLevel(deployments ...desired.Deployment) desired.Zone {
	return desired.Zone{Key: desired.AccountKey("prod"), Scope: edge.AccountScope(mem.Account), Deployments: deployments}
}

// as is a deployment at account level, by a key.
func as(key string, d desired.Deployment) desired.Deployment {
	d.Key, d.Ref = key, key
	if d.Expression == nil {
		d.Expression = declared(`http.host eq "` + key + `" and ` + enterprise)
	}
	return deployed1(d)
}

// root is the truth about the account's entry point; nil where it has none.
func (f *fixture) root() *edge.Ruleset {
	for _, a := range f.Platform.State().Accounts {
		for _, r := range a.Rulesets {
			if r.Kind == edge.KindRoot {
				return &r
			}
		}
	}
	return nil
}

// byHand adds rules to the account's entry point as a person does.
func (f *fixture) byHand(rules ...edge.Rule) {
	f.t.Helper()
	body, err := json.Marshal(edge.EntryPointBody(edge.AccountScope(mem.Account), edge.PhaseFirewallManaged, rules))
	if err == nil {
		_, err = f.Platform.In(edge.AccountScope(mem.Account), false).Create(f.t.Context(), body)
	}
	must.Do(f.t, err)
}

// handMade is an execute rule with overrides, without those that the platform refuses.
func handMade(ref string, o *edge.Overrides) edge.Rule {
	if o != nil {
		o.Rules = slices.DeleteFunc(o.Rules, func(r edge.RuleOverride) bool { return r.Extra != nil })
	}
	if o != nil && len(o.Rules)+len(o.Categories) == 0 && o.Action == nil && o.Enabled == nil {
		o = nil
	}
	return edge.Rule{
		Action: edge.ActionExecute, Ref: ref, Expression: enterprise, Enabled: new(true),
		ActionParameters: &edge.ActionParameters{ID: mem.CoreRuleset, Version: "latest", Overrides: o},
	}
}

func (f *fixture) refs() (refs []string) {
	if root := f.root(); root != nil {
		for _, r := range root.Rules {
			refs = append(refs, r.Ref)
		}
	}
	slices.Sort(refs)
	return refs
}

// Several deployments of one managed ruleset are created, changed and removed each on its
// own. A zone that deploys the same ruleset, and a rule of somebody else, stay.
func TestAccountLevelDeployments(t *testing.T) {
	f := newAccountFixture(t)
	before := f.Entry(1)
	d := f.work(accountLevel(as("eu", core("xss")), as("us", core())))
	f.wantOutcomes(d, converged, converged)
	f.wantCalls(d.calls, "create account", "read account", "add account", "read account")
	f.wantCalls(f.work(accountLevel(as("eu", core("xss")), as("us", core()))).calls)
	d = f.work(accountLevel(as("eu", core("xss")), as("us", core("php"))))
	f.wantOutcomes(d, converged)
	for _, r := range f.root().Rules {
		if want := map[string]string{"eu": "xss", "us": "php"}[r.Ref]; r.ActionParameters.Overrides.Categories[0].Category != want {
			t.Errorf("rule %s has the overrides %+v", r.Ref, r.ActionParameters.Overrides)
		}
	}
	if len(f.gate.applied) != 2 || len(f.gate.prunable) != 2 {
		t.Errorf("on record: %v, %v", f.gate.applied, f.gate.prunable)
	}
	d = f.work(accountLevel(as("us", core("php"))))
	f.wantOutcomes(d, converged)
	if refs := f.refs(); !slices.Equal(refs, []string{"us"}) {
		t.Errorf("there are %q", refs)
	}
	if !reflect.DeepEqual(f.Entry(1), before) {
		t.Error("the zone has changed")
	}
}

// A rule without ref, or with another one, is not taken for the declared one; a plan names
// the refs that there are.
func TestAccountLevelRefs(t *testing.T) {
	f := newAccountFixture(t)
	other := handMade("mine", nil)
	other.ActionParameters = &edge.ActionParameters{ID: mem.CredentialsRuleset}
	f.byHand(handMade("theirs", nil), other)
	eu := as("eu", core("xss"))
	eu.Deploy = false
	d := f.work(accountLevel(eu, as("mine", core())))
	if len(d.plan.Changes) > 0 || len(d.plan.Problems) != 2 {
		t.Fatalf("it is %+v, %+v", d.plan.Changes, d.plan.Problems)
	}
	if p := d.plan.Problems[0]; p.State != diff.NotDeployed || !strings.Contains(p.Reason, `these refs do: "theirs"`) {
		t.Errorf("problem %+v", p)
	}
	if p := d.plan.Problems[1]; p.State != diff.Blocked || !strings.Contains(p.Reason, `with ref "mine" does not run`) {
		t.Errorf("problem %+v", p)
	}
	eu.Ref = "theirs"
	f.wantOutcomes(f.work(accountLevel(eu)), converged)
	if root := f.root(); root.Rules[0].Ref != "theirs" || len(root.Rules) != 2 {
		t.Errorf("there is %+v", root.Rules)
	}
}

// The platform takes only what is for Enterprise zones: the refusal names the line.
func TestAccountLevelOfOtherZones(t *testing.T) {
	f := newAccountFixture(t)
	eu := core()
	eu.Expression, eu.Origin = declared("true"), desired.Origin{File: "edge.cue", Line: 7, Column: 3}
	d := f.work(accountLevel(as("eu", eu)))
	if len(d.results) != 1 || !errors.Is(d.results[0].Err, edge.ErrInvalid) || !strings.Contains(d.results[0].Err.Error(), "declared at edge.cue:7:3") {
		t.Errorf("it is %v", outcomes(d))
	}
	if f.root() != nil {
		t.Error("it is there")
	}
}

// The reference has no call for it: nothing is sent.
func TestAccountLevelDocumented(t *testing.T) {
	f := newAccountFixture(t)
	f.Accounts.Documented = true
	d := f.work(accountLevel(as("eu", core())))
	if len(d.plan.Problems) != 1 || d.plan.Problems[0].State != diff.Blocked || !strings.Contains(d.plan.Problems[0].Hint, `"extended"`) {
		t.Errorf("problems %+v", d.plan.Problems)
	}
	if calls := f.recorder.Calls(); len(calls) > 0 {
		t.Errorf("calls %q", calls)
	}
}

// A credential for zones alone: what the account deploys itself is forbidden, and its zones
// are read all the same.
func TestAccountLevelForbidden(t *testing.T) {
	f := newAccountFixture(t)
	f.Reader = &zonesOnly{Reader: f.Platform}
	f.Worker.Accounts = NewAccounts(f.Reader, f.clock.Now)
	s, plan := f.plan(t.Context(), f.task(accountLevel(as("eu", core()))))
	if !errors.Is(s.Err(), edge.ErrForbidden) || len(plan.Problems) != 1 ||
		plan.Problems[0].State != diff.Forbidden || !strings.Contains(plan.Problems[0].Hint, "Account WAF or Account Rulesets (edit)") {
		t.Errorf("%v, problems %+v", s.Err(), plan.Problems)
	}
	if s, err := f.Read(t.Context(), f.task(declare(1, core()))); err != nil || s.Err() != nil || s.Account.Listed.Err != nil {
		t.Errorf("the zone: %v, %v, %v", err, s.Err(), s.Account.Listed.Err)
	}
}

// Whatever is declared and whatever was there: once it was worked on nothing is left to
// do, and what is not declared stays, in the account as in the zone.
func TestAccountLevelConverges(t *testing.T) {
	keys := []string{"eu", "us", "all"}
	rapid.Check(t, func(rt *rapid.T) {
		quirks := []string{"patch=replace"}
		for _, q := range []string{"reorder", "defaults", "omit-empty-rules"} {
			if rapid.Bool().Draw(rt, q) {
				quirks = append(quirks, q)
			}
		}
		f := newAccountFixture(rt, quirks...)
		managed, zone := f.managed(mem.CoreRuleset), f.Entry(1)
		strange := handMade("strange", genLive(rt, managed))
		if rapid.Bool().Draw(rt, "by hand") {
			rules := []edge.Rule{strange}
			for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, 2, rapid.ID).Draw(rt, "there") {
				rules = append(rules, handMade(key, genLive(rt, managed)))
			}
			f.byHand(rules...)
		}
		var left []edge.Rule
		if root := f.root(); root != nil {
			left = root.Rules[:1]
		}
		for range 2 {
			var all []desired.Deployment
			wanted := rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 3, rapid.ID).Draw(rt, "declared")
			for _, key := range slices.Sorted(slices.Values(wanted)) {
				d := genDeployment(rt, managed)
				d.Expression = nil
				all = append(all, as(key, d))
			}
			first := f.work(accountLevel(all...))
			again := f.work(accountLevel(all...))
			for _, r := range first.results {
				if r.Outcome != converged {
					rt.Fatalf("under %v: %v", quirks, outcomes(first))
				}
			}
			if !quiet(first.plan) || len(again.plan.Changes) > 0 || !quiet(again.plan) || len(again.plan.Settled) != len(all) {
				rt.Fatalf("under %v: then %+v, %+v", quirks, again.plan.Changes, again.plan.Problems)
			}
			for _, key := range wanted {
				if !slices.Contains(f.refs(), key) {
					rt.Fatalf("%s is not there: %q", key, f.refs())
				}
			}
			if len(left) > 0 && !reflect.DeepEqual(f.root().Rules[0], left[0]) {
				rt.Fatalf("the rule of somebody else is %+v", f.root().Rules[0])
			}
			if !reflect.DeepEqual(f.Entry(1), zone) {
				rt.Fatalf("the zone is %+v", f.Entry(1))
			}
			if owned := slices.Collect(maps.Keys(f.gate.applied)); len(owned) != len(all) {
				rt.Fatalf("on record is %v", owned)
			}
		}
	})
}
