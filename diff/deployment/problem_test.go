package deployment

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/edge"
)

func TestMakeProblems(t *testing.T) {
	unread := errors.New("reading: 503")
	forbidden := fmt.Errorf("reading: %w", &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}})
	const noPermission = "reading: 403 Forbidden: Authentication error (code 10000)"
	second := difftest.Execute(nil)
	second.ID = "d0000000000000000000000000000002"
	other := difftest.Execute(nil)
	other.ActionParameters = &edge.ActionParameters{ID: "another"}
	account := func(change func(*diff.AccountLive)) diff.Live {
		live := difftest.Live(difftest.Execute(nil))
		a := live.Accounts[difftest.Account]
		a.Managed = maps.Clone(a.Managed)
		change(&a)
		live.Accounts = map[edge.AccountID]diff.AccountLive{difftest.Account: a}
		return live
	}
	zone := func(o diff.Observed[edge.Ruleset]) diff.Live {
		live := difftest.Live()
		live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = o
		return live
	}
	notLooked := difftest.Live(difftest.Execute(nil))
	notLooked.Accounts = nil
	const deploy = "declare deploy: true, deploy the managed ruleset on the platform, or remove the deployment from the repository"
	for _, test := range []struct {
		name string
		live diff.Live
		want diff.Problem
	}{
		{
			"no entry point", zone(diff.Observed[edge.Ruleset]{Err: fmt.Errorf("reading: %w", edge.ErrEntryPointNotFound)}),
			diff.Problem{State: diff.NotDeployed, Reason: "the zone has no entry point ruleset", Hint: deploy, Origin: difftest.At(4)},
		},
		{
			"an entry point without rules", difftest.Live(),
			diff.Problem{State: diff.NotDeployed, Reason: `no execute rule of the zone runs managed ruleset "Core Ruleset"`, Hint: deploy, Origin: difftest.At(4)},
		},
		{
			"another managed ruleset only", difftest.Live(other),
			diff.Problem{State: diff.NotDeployed, Reason: `no execute rule of the zone runs managed ruleset "Core Ruleset"`, Hint: deploy, Origin: difftest.At(4)},
		},
		{
			"two execute rules", difftest.Live(difftest.Execute(nil), other, second),
			diff.Problem{
				State: diff.Blocked, Origin: difftest.At(4), Hint: "remove all but one of them on the platform; the overrides of two could contradict each other",
				Reason: `2 execute rules of the zone run managed ruleset "Core Ruleset" (d0000000000000000000000000000001 and d0000000000000000000000000000002)`,
			},
		},
		{
			"an unreadable zone", zone(diff.Observed[edge.Ruleset]{Err: unread}),
			diff.Problem{State: diff.Unknown, Reason: "reading: 503", Origin: difftest.At(3), Err: unread},
		},
		{
			"a forbidden zone", zone(diff.Observed[edge.Ruleset]{Err: forbidden}),
			diff.Problem{State: diff.Forbidden, Reason: noPermission, Hint: hintForbiddenZone, Origin: difftest.At(3), Err: forbidden},
		},
		{
			"a forbidden account list", account(func(a *diff.AccountLive) { a.Listed = diff.Observed[[]edge.Ruleset]{Err: forbidden} }),
			diff.Problem{State: diff.Forbidden, Reason: noPermission, Hint: hintForbiddenAccount, Origin: difftest.At(1), Err: forbidden},
		},
		{
			"a zone that was not asked for, as its account is forbidden", func() diff.Live {
				live := zone(diff.Observed[edge.Ruleset]{Err: forbidden})
				live.Accounts = map[edge.AccountID]diff.AccountLive{difftest.Account: {Listed: diff.Observed[[]edge.Ruleset]{Err: forbidden}}}
				return live
			}(),
			diff.Problem{State: diff.Forbidden, Reason: noPermission, Hint: hintForbiddenAccount, Origin: difftest.At(3), Err: forbidden},
		},
		{
			"a forbidden managed ruleset", account(func(a *diff.AccountLive) { a.Managed[difftest.Core] = diff.Observed[edge.Ruleset]{Err: forbidden} }),
			diff.Problem{State: diff.Forbidden, Reason: noPermission, Hint: hintForbiddenAccount, Origin: difftest.At(1), Err: forbidden},
		},
		{
			"an unreadable account list", account(func(a *diff.AccountLive) { a.Listed = diff.Observed[[]edge.Ruleset]{Err: unread} }),
			diff.Problem{State: diff.Unknown, Reason: "reading: 503", Origin: difftest.At(1), Err: unread},
		},
		{
			"an unreadable managed ruleset", account(func(a *diff.AccountLive) { a.Managed[difftest.Core] = diff.Observed[edge.Ruleset]{Err: unread} }),
			diff.Problem{State: diff.Unknown, Reason: "reading: 503", Origin: difftest.At(1), Err: unread},
		},
		{
			"a managed ruleset that was not read", account(func(a *diff.AccountLive) { a.Managed = nil }),
			diff.Problem{State: diff.Unknown, Reason: `managed ruleset "Core Ruleset" was not read`, Origin: difftest.At(1)},
		},
		{
			"an account that was not looked at", notLooked,
			diff.Problem{State: diff.Unknown, Reason: `the rulesets of account "prod" were not read`, Origin: difftest.At(1)},
		},
		{
			"no such managed ruleset", account(func(a *diff.AccountLive) { a.Listed.Value = []edge.Ruleset{} }),
			diff.Problem{
				State: diff.Blocked, Unfit: true, Reason: `the account has no managed ruleset named "Core Ruleset"`, Origin: difftest.At(2),
				Hint: "the account has no visible managed ruleset of this phase",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := difftest.State(difftest.Deployment(difftest.Paranoia(2)))
			state.Accounts[0].Origin, state.Accounts[0].Rulesets[0].Origin = difftest.At(1), difftest.At(2)
			plan := planScene(difftest.Scene{State: state, Live: test.live})
			if len(plan.Problems) != 1 || len(plan.Changes) != 0 || len(plan.Settled) != 0 {
				t.Fatalf("got %+v", plan)
			}
			got, want := plan.Problems[0], test.want
			want.Account, want.Zone, want.Scope, want.Deployment = "prod", "shop.example", difftest.Zone, "core"
			if want.State == diff.Unknown && want.Err == nil {
				want.Err = got.Err // its text is the reason
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if want.State == diff.Unknown && got.Err.Error() != got.Reason {
				t.Errorf("the error reads %q", got.Err)
			}
			counts := map[diff.ProblemState]int{
				diff.Unknown: plan.Summary.Unknown, diff.Forbidden: plan.Summary.Forbidden, diff.NotDeployed: plan.Summary.NotDeployed, diff.Blocked: plan.Summary.Blocked,
			}
			for state, n := range counts {
				if want := map[bool]int{true: 1}[state == test.want.State]; n != want || plan.Summary.InSync != 0 {
					t.Errorf("the summary has %d %s, want %d: %+v", n, state, want, plan.Summary)
				}
			}
			if !plan.Attention() || plan.IsEmpty() {
				t.Error("nobody is told")
			}
		})
	}
}

func TestMakeReportsEveryResolveError(t *testing.T) {
	plan := planOne(difftest.Deployment(difftest.DisableTag("nope"), difftest.DisableRule(desired.RuleRef{Ref: "nope"}), difftest.Paranoia(2)), difftest.Execute(nil))
	if len(plan.Changes) != 0 || len(plan.Problems) != 2 || plan.Problems[0].State != diff.Blocked || plan.Problems[0].Origin != difftest.At(10) ||
		plan.Problems[1].Origin != difftest.At(9) {
		t.Errorf("got %+v", plan)
	}
}

func TestMakeUndeclaredRuleset(t *testing.T) {
	state := difftest.State(difftest.Deployment())
	state.Accounts[0].Rulesets = nil
	plan := planScene(difftest.Scene{State: state, Live: difftest.Live(difftest.Execute(nil))})
	if len(plan.Problems) != 1 || plan.Problems[0].Reason != `account "prod" declares no ruleset "core"` || plan.Problems[0].Origin != difftest.At(4) {
		t.Errorf("got %+v", plan.Problems)
	}
}

// Two declarations of one execute rule would write over each other at every
// tick. Only the platform's list shows that two references are one ruleset.
func TestMakeBlocksTwoDeploymentsOfOneRuleset(t *testing.T) {
	state := difftest.State(difftest.Deployment(difftest.Paranoia(2)))
	state.Accounts[0].Rulesets = append(state.Accounts[0].Rulesets, desired.RulesetRef{Key: "owasp", ID: difftest.Core})
	again := difftest.Deployment(difftest.Paranoia(3))
	again.Ruleset, again.Origin = "owasp", difftest.At(20)
	zone := &state.Accounts[0].Zones[0]
	zone.Deployments = append(zone.Deployments, again)
	plan := planScene(difftest.Scene{State: state, Live: difftest.Live(difftest.Execute(nil))})
	if len(plan.Changes) != 0 || len(plan.Problems) != 2 {
		t.Fatalf("got %+v", plan)
	}
	for i, want := range []string{
		`deployments "core" and "owasp" of the zone both run managed ruleset "Core Ruleset"`,
		`deployments "owasp" and "core" of the zone both run managed ruleset "Core Ruleset"`,
	} {
		if got := plan.Problems[i]; got.Reason != want || got.State != diff.Blocked {
			t.Errorf("got %+v", got)
		}
	}
	if plan.Problems[1].Origin != difftest.At(20) {
		t.Errorf("got %s", plan.Problems[1].Origin)
	}
}

// Accounts may have managed rulesets of the same id; what one shows says
// nothing about the other.
func TestMakeTellsAccountsApart(t *testing.T) {
	const otherAccount edge.AccountID = "f0000000000000000000000000000001"
	otherZone := edge.ZoneScope("000000000000000000000000000000a2")
	unread := errors.New("reading: 503")
	state, live := difftest.State(difftest.Deployment()), difftest.Live(difftest.Execute(nil))
	other := difftest.State(difftest.Deployment()).Accounts[0]
	other.Key, other.ID = "stage", otherAccount
	other.Zones[0].Scope = otherZone
	state.Accounts = append(state.Accounts, other)
	live.EntryPoints[otherZone.At(edge.PhaseFirewallManaged)] = live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)]
	live.Accounts[otherAccount] = diff.AccountLive{
		Listed:  live.Accounts[difftest.Account].Listed,
		Managed: map[edge.RulesetID]diff.Observed[edge.Ruleset]{difftest.Core: {Err: unread}},
	}
	plan := planScene(difftest.Scene{State: state, Live: live})
	if len(plan.Settled) != 1 || len(plan.Problems) != 1 || plan.Problems[0].Account != "stage" || !errors.Is(plan.Problems[0].Err, unread) {
		t.Errorf("got %+v", plan)
	}
}

// A zone that could not be read is never in sync, though it declares no deployment.
func TestAnUnreadZoneWithoutDeployments(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want int
	}{
		"unread": {errors.New("503"), 1}, "no entry point": {edge.ErrEntryPointNotFound, 0}, "read": {nil, 0},
	} {
		live := difftest.Live()
		live.EntryPoints[difftest.Zone.At(edge.PhaseFirewallManaged)] = diff.Observed[edge.Ruleset]{Err: test.err}
		state := difftest.State(difftest.Deployment())
		state.Accounts[0].Zones[0].Deployments = nil
		plan := planScene(difftest.Scene{State: state, Live: live})
		if len(plan.Problems) != test.want {
			t.Errorf("%s: %+v", name, plan.Problems)
		}
	}
}
