package token

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/diff/render"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

func TestTokenPlans(t *testing.T) {
	a, b := difftest.Token("ci-dns", "000000000000000000000000000000aa"), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	undelivered := difftest.RecordOf(1, a, diff.TokenConfirmed)
	undelivered.Delivered = false
	for name, c := range map[string]struct {
		live     diff.TokensLive
		declared []desired.Token
		want     []string // action or state, in order: changes, then problems
	}{
		"none":             {diff.TokensLive{}, []desired.Token{a}, []string{"create"}},
		"same":             {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{a}, nil},
		"changed":          {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{b}, []string{"replace"}},
		"back to what was": {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, difftest.Elsewhere(b), diff.TokenConfirmed)}}, []desired.Token{a}, []string{"orphan t2"}},
		// The sink holds the later one's secret: reusing the first would leave it there, to be revoked.
		"back, secret replaced":   {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, b, diff.TokenConfirmed)}}, []desired.Token{a}, []string{"replace"}},
		"another sink":            {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{difftest.Elsewhere(a)}, []string{"replace"}},
		"no sink any more":        {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{difftest.Nowhere(a)}, nil},
		"superseded":              {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, b, diff.TokenConfirmed)}}, []desired.Token{b}, []string{"orphan t1"}},
		"gone from git":           {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, nil, []string{"orphan t1"}},
		"gone from git, in doubt": {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenQuarantined)}}, nil, []string{"quarantined"}},
		"unknown":                 {diff.TokensLive{Unknown: "the ledger is new"}, []desired.Token{a}, []string{"unknown"}},
		"quarantined":             {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenQuarantined)}}, []desired.Token{a}, []string{"quarantined"}},
		"cut short":               {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenIntended)}}, []desired.Token{a}, []string{"quarantined"}},
		"changed in quarantine":   {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenQuarantined)}}, []desired.Token{b}, []string{"quarantined"}},
		"another's, same":         {diff.TokensLive{Elsewhere: "r2", Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{a}, nil},
		"another's, none":         {diff.TokensLive{Elsewhere: "r2"}, []desired.Token{a}, []string{"unknown"}},
		"another's, changed":      {diff.TokensLive{Elsewhere: "r2", Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed)}}, []desired.Token{b}, []string{"unknown"}},
		"another's, under way":    {diff.TokensLive{Elsewhere: "r2", Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenIntended)}}, []desired.Token{a}, []string{"unknown"}},
		"another's, quarantined":  {diff.TokensLive{Elsewhere: "r2", Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenQuarantined)}}, []desired.Token{a}, []string{"quarantined"}},
		"secret on its way":       {diff.TokensLive{Records: []diff.TokenRecord{undelivered}}, []desired.Token{a}, []string{"undelivered"}},
		"quarantined after good":  {diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, b, diff.TokenQuarantined)}}, []desired.Token{b}, []string{"quarantined"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := tokenPlan(c.live, c.declared...)
			var got []string
			for _, change := range plan.Changes {
				text := string(change.Action())
				if change.Action() == diff.ActionOrphan {
					text += fmt.Sprint(" ", change.Fields[0].Old)
				} else if request, _ := change.Request(); request.Method != "POST" || request.Path != "/user/tokens" {
					t.Errorf("sends %+v", request)
				}
				got = append(got, text)
			}
			for _, problem := range plan.Problems {
				got = append(got, string(problem.State))
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("plans %v, want %v", got, c.want)
			}
		})
	}
}

// What the platform fills in or reorders is no change: the oldest complaint
// about other tools.
func TestTokenPlanIsBlindToOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := difftest.Token("k", "000000000000000000000000000000aa")
		for i := range rapid.IntRange(0, 3).Draw(t, "more policies") {
			token.Policies = append(token.Policies, desired.Policy{
				Effect: rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect"),
				Resources: []desired.Resource{
					{Key: edge.ResourceAccount + fmt.Sprintf("%032x", i), AllZones: rapid.Bool().Draw(t, "all zones")},
				},
				PermissionGroups: []desired.PermissionGroup{{ID: "b"}, {ID: "a"}},
			})
		}
		record := difftest.RecordOf(1, token, diff.TokenConfirmed)
		shuffled := token
		shuffled.Policies = rapid.Permutation(token.Policies).Draw(t, "order")
		if plan := tokenPlan(diff.TokensLive{Records: []diff.TokenRecord{record}}, shuffled); !plan.IsEmpty() {
			t.Fatalf("plans %+v", plan.Changes)
		}
	})
}

func TestReplacementShowsRights(t *testing.T) {
	before, after := difftest.Token("ci-dns", "000000000000000000000000000000aa"), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	plan := guard.Check(tokenPlan(diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, before, diff.TokenConfirmed)}}, after), guard.Facts{})
	c := plan.Changes[0]
	if c.Direction != diff.Weakens || len(c.Rights) != 3 { // the third: the old token stays valid
		t.Fatalf("%s with rights %+v", c.Direction, c.Rights)
	}
	var text bytes.Buffer
	must.Do(t, render.Text(&text, plan, false))
	for _, want := range []string{
		"~ token ci-dns  replace  weakens  zones/shop.cue:30:2", "gains group " + difftest.Group, "loses group " + difftest.Group,
		"0 zones; 1 token, 1 to create", "1 to apply",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
}

// Who agrees to a token agrees to where its secret goes.
func TestApprovalOfATokenIsForItsSink(t *testing.T) {
	a := difftest.Token("ci-dns", "000000000000000000000000000000aa")
	one, other := tokenPlan(diff.TokensLive{}, a), tokenPlan(diff.TokensLive{}, difftest.Elsewhere(a))
	if one.Changes[0].ApprovalDigest() == other.Changes[0].ApprovalDigest() || one.ApprovalDigest() == other.ApprovalDigest() {
		t.Error("the same digest is for two sinks")
	}
	if again := tokenPlan(diff.TokensLive{}, a); again.ApprovalDigest() != one.ApprovalDigest() {
		t.Error("the same plan has two digests")
	}
}

// Another sink gives the rights of the token to whoever reads there, while the old secret works on.
func TestAnotherSinkWeakens(t *testing.T) {
	token := difftest.Token("ci-dns", "000000000000000000000000000000aa")
	records := []diff.TokenRecord{difftest.RecordOf(1, token, diff.TokenConfirmed)}
	plan := tokenPlan(diff.TokensLive{Records: records}, difftest.Elsewhere(token))
	c := plan.Changes[0]
	if f := c.Field("sink"); c.Action() != diff.ActionReplace || c.Direction != diff.Weakens || f == nil || f.Direction != diff.Weakens {
		t.Errorf("%s %s: %+v", c.Action(), c.Direction, c.Fields)
	}
	calm := guard.Facts{Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveWeakening}}}
	if refused := guard.Check(plan, calm).Changes[0].Refused; refused == nil || refused.Guard != diff.GuardApproval {
		t.Errorf("it is not refused: %+v", refused)
	}
}

// What another process is to do it does by itself, and what a person asks for it does not.
func TestHintWhereAnotherProcessHasTheTokens(t *testing.T) {
	token := difftest.Token("ci-dns", "000000000000000000000000000000aa")
	live := diff.TokensLive{Elsewhere: "r2", Hint: "a replica makes it"}
	for asked, hint := range map[edge.TokenID]string{"": "a replica makes it", "t1": "run it on the machine of r2"} {
		plan := planAsked(difftest.January, live, asked, token)
		if p := plan.Problems; len(p) != 1 || p[0].Hint != hint || !strings.Contains(p[0].Reason, "; r2 works on tokens") {
			t.Errorf("asked for the successor of %q: %+v", asked, p)
		}
	}
}
