package planner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

func TestMakeSortsAndCounts(t *testing.T) {
	in := difftest.Zones(6,
		func(i int) desired.Deployment {
			return [...]desired.Deployment{
				difftest.Deployment(),                                // 0 in sync
				difftest.Deployment(difftest.Paranoia(3)),            // 1 weakens
				difftest.Deployment(difftest.Threshold(25, "block")), // 2 strengthens
				difftest.Deployment(),                                // 3 undecided
				difftest.Deployment(difftest.DisableTag("nope")),     // 4 blocked
				difftest.Deployment(),                                // 5 not deployed
			}[i]
		},
		func(i int) edge.Rule {
			switch i {
			case 3:
				return difftest.Execute(difftest.ParseOverrides(t, `{"rules":[{"id":"R1","enabled":false}]}`))
			case 5:
				return edge.Rule{Action: edge.ActionBlock}
			}
			return difftest.Execute(nil)
		})
	zones := in.State.Accounts[0].Zones
	slices.Reverse(zones)
	// A second deployment of the weakened zone strengthens, one of the zone in
	// sync is unreadable: each zone counts once in a row.
	log := difftest.Managed()
	log.ID, log.Name = "c04e0000000000000000000000000002", "Other Ruleset"
	unread := edge.Ruleset{ID: "c04e0000000000000000000000000003", Name: "Third Ruleset", Kind: edge.KindManaged, Phase: edge.PhaseFirewallManaged}
	account := in.Live.Accounts[difftest.Account]
	account.Listed.Value = append(account.Listed.Value, log, unread)
	account.Managed[log.ID] = diff.Observed[edge.Ruleset]{Value: log}
	in.Live.Accounts[difftest.Account] = account
	in.State.Accounts[0].Rulesets = append(in.State.Accounts[0].Rulesets,
		desired.RulesetRef{Key: "other", Name: log.Name}, desired.RulesetRef{Key: "third", Name: unread.Name})
	second := difftest.Deployment(difftest.Threshold(20, "block"))
	second.Ruleset = "other"
	zones[4].Deployments = []desired.Deployment{second, zones[4].Deployments[0]}
	third := difftest.Deployment()
	third.Ruleset = "third"
	zones[5].Deployments = append(zones[5].Deployments, third)
	rule := difftest.Execute(nil)
	rule.ActionParameters = &edge.ActionParameters{ID: log.ID}
	entryPoint := in.Live.EntryPoints[zones[4].Scope.At(edge.PhaseFirewallManaged)]
	entryPoint.Value.Rules = append(entryPoint.Value.Rules, rule)
	in.Live.EntryPoints[zones[4].Scope.At(edge.PhaseFirewallManaged)] = entryPoint

	plan := guard.Check(planner.Make(in.Input()), guard.Facts{})
	var order []string
	for _, c := range plan.Changes {
		order = append(order, c.Zone+"/"+c.Deployment+" "+string(c.Direction))
	}
	if want := []string{"z1/core weakens", "z1/other strengthens", "z2/core strengthens"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
	want := diff.Summary{Zones: 6, InSync: 0, Changed: 2, Weakening: 1, Undecided: 1, Blocked: 1, NotDeployed: 1, Unknown: 1}
	if plan.Summary != want {
		t.Errorf("got %+v, want %+v", plan.Summary, want)
	}
	if want := (diff.Requests{ToApply: 6}); plan.Requests != want {
		t.Errorf("got %+v, want %+v", plan.Requests, want)
	}
	settled := diff.DeploymentID{Scope: zones[5].Scope, Ruleset: difftest.Core}
	undecided := diff.DeploymentID{Scope: zones[2].Scope, Ruleset: difftest.Core}
	if len(plan.Settled) != 2 || plan.Settled[0].ID != undecided || plan.Settled[1].ID != settled {
		t.Errorf("settled: %+v", plan.Settled)
	}
}

// The digest is that of one JSON document, though it is never in memory as a whole.
func TestDigestIsOfTheWhole(t *testing.T) {
	for n := range 4 {
		p := planner.Make(difftest.Large(n, 60).Input())
		p.Commit = `"changes":[]`
		p.Problems = append(p.Problems, diff.Problem{Reason: `"changes":[]`, Origin: desired.Origin{File: "a.cue"}})
		if len(p.Changes) != n {
			t.Fatalf("%d changes, want %d", len(p.Changes), n)
		}
		p = p.Sealed()
		whole := p
		whole.Deprecations = []deprecation.Notice{}
		whole.Digest, whole.GeneratedAt, whole.Kept, whole.Requests = "", time.Time{}, nil, diff.Requests{ToApply: p.Requests.ToApply}
		if want := "sha256:" + words.Digest(whole); p.Digest != want {
			t.Errorf("%d changes: the digest is %s, want %s", n, p.Digest, want)
		}
	}
}

// What nobody gets to see is not digested, and comes out the same otherwise.
func TestUndigested(t *testing.T) {
	scene := difftest.Large(3, 60)
	in := planner.Input{State: scene.State, Live: scene.Live}
	want := guard.Check(planner.Make(in), guard.Facts{})
	in.Undigested = true
	got := guard.Check(planner.Make(in), guard.Facts{})
	if want.Digest == "" || got.Digest != "" {
		t.Errorf("digests are %q and %q", want.Digest, got.Digest)
	}
	if got.Digest = want.Digest; fmt.Sprintf("%+v", got.Summary) != fmt.Sprintf("%+v", want.Summary) || got.Sealed().Digest != want.Digest {
		t.Errorf("it is %+v, want %+v", got, want)
	}
}
