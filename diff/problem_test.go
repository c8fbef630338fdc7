package diff

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

func TestMakeProblems(t *testing.T) {
	unread := errors.New("reading: 503")
	forbidden := fmt.Errorf("reading: %w", &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeAuthentication, Message: "Authentication error"}}})
	const noPermission = "reading: 403 Forbidden: Authentication error (code 10000)"
	second := testExecute(nil)
	second.ID = "d0000000000000000000000000000002"
	other := testExecute(nil)
	other.ActionParameters = &edge.ActionParameters{ID: "another"}
	account := func(change func(*AccountLive)) Live {
		live := testLive(testExecute(nil))
		a := live.Accounts[testAccount]
		a.Managed = maps.Clone(a.Managed)
		change(&a)
		live.Accounts = map[edge.AccountID]AccountLive{testAccount: a}
		return live
	}
	zone := func(o Observed[edge.Ruleset]) Live {
		live := testLive()
		live.EntryPoints[testZone] = o
		return live
	}
	notLooked := testLive(testExecute(nil))
	notLooked.Accounts = nil
	const deploy = "deploy the managed ruleset in the zone on the platform, or remove the deployment from the repository"
	for _, test := range []struct {
		name string
		live Live
		want Problem
	}{
		{
			"no entry point", zone(Observed[edge.Ruleset]{Err: fmt.Errorf("reading: %w", edge.ErrEntryPointNotFound)}),
			Problem{State: NotDeployed, Reason: "the zone has no entry point ruleset", Hint: deploy, Origin: at(4)},
		},
		{
			"an entry point without rules", testLive(),
			Problem{State: NotDeployed, Reason: `no execute rule of the zone runs managed ruleset "Core Ruleset"`, Hint: deploy, Origin: at(4)},
		},
		{
			"another managed ruleset only", testLive(other),
			Problem{State: NotDeployed, Reason: `no execute rule of the zone runs managed ruleset "Core Ruleset"`, Hint: deploy, Origin: at(4)},
		},
		{
			"two execute rules", testLive(testExecute(nil), other, second),
			Problem{
				State: Blocked, Origin: at(4), Hint: "remove all but one of them on the platform; the overrides of two could contradict each other",
				Reason: `2 execute rules of the zone run managed ruleset "Core Ruleset" (d0000000000000000000000000000001 and d0000000000000000000000000000002)`,
			},
		},
		{
			"an unreadable zone", zone(Observed[edge.Ruleset]{Err: unread}),
			Problem{State: Unknown, Reason: "reading: 503", Origin: at(3), Err: unread},
		},
		{
			"a forbidden zone", zone(Observed[edge.Ruleset]{Err: forbidden}),
			Problem{State: Forbidden, Reason: noPermission, Hint: hintForbiddenZone, Origin: at(3), Err: forbidden},
		},
		{
			"a forbidden account list", account(func(a *AccountLive) { a.Listed = Observed[[]edge.Ruleset]{Err: forbidden} }),
			Problem{State: Forbidden, Reason: noPermission, Hint: hintForbiddenAccount, Origin: at(1), Err: forbidden},
		},
		{
			"a zone that was not asked for, as its account is forbidden", func() Live {
				live := zone(Observed[edge.Ruleset]{Err: forbidden})
				live.Accounts = map[edge.AccountID]AccountLive{testAccount: {Listed: Observed[[]edge.Ruleset]{Err: forbidden}}}
				return live
			}(),
			Problem{State: Forbidden, Reason: noPermission, Hint: hintForbiddenAccount, Origin: at(3), Err: forbidden},
		},
		{
			"a forbidden managed ruleset", account(func(a *AccountLive) { a.Managed[testCore] = Observed[edge.Ruleset]{Err: forbidden} }),
			Problem{State: Forbidden, Reason: noPermission, Hint: hintForbiddenAccount, Origin: at(1), Err: forbidden},
		},
		{
			"an unreadable account list", account(func(a *AccountLive) { a.Listed = Observed[[]edge.Ruleset]{Err: unread} }),
			Problem{State: Unknown, Reason: "reading: 503", Origin: at(1), Err: unread},
		},
		{
			"an unreadable managed ruleset", account(func(a *AccountLive) { a.Managed[testCore] = Observed[edge.Ruleset]{Err: unread} }),
			Problem{State: Unknown, Reason: "reading: 503", Origin: at(1), Err: unread},
		},
		{
			"a managed ruleset that was not read", account(func(a *AccountLive) { a.Managed = nil }),
			Problem{State: Unknown, Reason: `managed ruleset "Core Ruleset" was not read`, Origin: at(1)},
		},
		{
			"an account that was not looked at", notLooked,
			Problem{State: Unknown, Reason: `the rulesets of account "prod" were not read`, Origin: at(1)},
		},
		{
			"no such managed ruleset", account(func(a *AccountLive) { a.Listed.Value = []edge.Ruleset{} }),
			Problem{
				State: Blocked, Reason: `the account has no managed ruleset named "Core Ruleset"`, Origin: at(2),
				Hint: "the account has no visible managed ruleset of this phase",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			state := testState(deployment(paranoia(2)))
			state.Accounts[0].Origin, state.Accounts[0].Rulesets[0].Origin = at(1), at(2)
			plan := Make(Input{State: state, Live: test.live})
			if len(plan.Problems) != 1 || len(plan.Changes) != 0 || len(plan.Settled) != 0 {
				t.Fatalf("got %+v", plan)
			}
			got, want := plan.Problems[0], test.want
			want.Account, want.Zone, want.ZoneID, want.Deployment = "prod", "shop.example", testZone, "core"
			if want.State == Unknown && want.Err == nil {
				want.Err = got.Err // its text is the reason
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if want.State == Unknown && got.Err.Error() != got.Reason {
				t.Errorf("the error reads %q", got.Err)
			}
			counts := map[ProblemState]int{
				Unknown: plan.Summary.Unknown, Forbidden: plan.Summary.Forbidden, NotDeployed: plan.Summary.NotDeployed, Blocked: plan.Summary.Blocked,
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
	plan := makeOne(deployment(disableTag("nope"), disableRule(desired.RuleRef{Ref: "nope"}), paranoia(2)), testExecute(nil))
	if len(plan.Changes) != 0 || len(plan.Problems) != 2 || plan.Problems[0].State != Blocked || plan.Problems[0].Origin != at(10) ||
		plan.Problems[1].Origin != at(9) {
		t.Errorf("got %+v", plan)
	}
}

func TestMakeUndeclaredRuleset(t *testing.T) {
	state := testState(deployment())
	state.Accounts[0].Rulesets = nil
	plan := Make(Input{State: state, Live: testLive(testExecute(nil))})
	if len(plan.Problems) != 1 || plan.Problems[0].Reason != `account "prod" declares no ruleset "core"` || plan.Problems[0].Origin != at(4) {
		t.Errorf("got %+v", plan.Problems)
	}
}

// Two declarations of one execute rule would write over each other at every
// tick. Only the platform's list shows that two references are one ruleset.
func TestMakeBlocksTwoDeploymentsOfOneRuleset(t *testing.T) {
	state := testState(deployment(paranoia(2)))
	state.Accounts[0].Rulesets = append(state.Accounts[0].Rulesets, desired.RulesetRef{Key: "owasp", ID: testCore})
	again := deployment(paranoia(3))
	again.Ruleset, again.Origin = "owasp", at(20)
	zone := &state.Accounts[0].Zones[0]
	zone.Deployments = append(zone.Deployments, again)
	plan := Make(Input{State: state, Live: testLive(testExecute(nil))})
	if len(plan.Changes) != 0 || len(plan.Problems) != 2 {
		t.Fatalf("got %+v", plan)
	}
	for i, want := range []string{
		`deployments "core" and "owasp" of the zone both run managed ruleset "Core Ruleset"`,
		`deployments "owasp" and "core" of the zone both run managed ruleset "Core Ruleset"`,
	} {
		if got := plan.Problems[i]; got.Reason != want || got.State != Blocked {
			t.Errorf("got %+v", got)
		}
	}
	if plan.Problems[1].Origin != at(20) {
		t.Errorf("got %s", plan.Problems[1].Origin)
	}
}

// Accounts may have managed rulesets of the same id; what one shows says
// nothing about the other.
func TestMakeTellsAccountsApart(t *testing.T) {
	const otherAccount, otherZone = edge.AccountID("f0000000000000000000000000000001"), edge.ZoneID("000000000000000000000000000000a2")
	unread := errors.New("reading: 503")
	state, live := testState(deployment()), testLive(testExecute(nil))
	other := testState(deployment()).Accounts[0]
	other.Key, other.ID = "stage", otherAccount
	other.Zones[0].ID = otherZone
	state.Accounts = append(state.Accounts, other)
	live.EntryPoints[otherZone] = live.EntryPoints[testZone]
	live.Accounts[otherAccount] = AccountLive{
		Listed:  live.Accounts[testAccount].Listed,
		Managed: map[edge.RulesetID]Observed[edge.Ruleset]{testCore: {Err: unread}},
	}
	plan := Make(Input{State: state, Live: live})
	if len(plan.Settled) != 1 || len(plan.Problems) != 1 || plan.Problems[0].Account != "stage" || !errors.Is(plan.Problems[0].Err, unread) {
		t.Errorf("got %+v", plan)
	}
}
