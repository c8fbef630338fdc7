package diff

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

const testGroup = "4755a26eedb94da69e1066d98aa820be"

func testToken(key, zone string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Origin: at(30), Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect: "allow", Resources: []desired.Resource{{Key: edge.ResourceZone + zone}},
			PermissionGroups: []desired.PermissionGroup{{ID: testGroup}},
		}},
	}
}

func elsewhere(t desired.Token) desired.Token {
	t.Sink = &desired.Sink{Name: "ci", Key: "elsewhere"}
	return t
}

func nowhere(t desired.Token) desired.Token {
	t.Sink = nil
	return t
}

func recordOf(n int, t desired.Token, state TokenState) TokenRecord {
	spec := t.Spec()
	return TokenRecord{
		Intent: fmt.Sprintf("%016x", n), Key: t.Key, State: state, ID: edge.TokenID(fmt.Sprintf("t%d", n)),
		Spec: spec, Hash: access.Hash(spec), Sink: t.Sink, Delivered: true,
	}
}

func tokenPlan(live TokensLive, tokens ...desired.Token) Plan {
	return Make(Input{State: desired.State{Tokens: tokens}, Live: Live{Tokens: live}})
}

func TestTokenPlans(t *testing.T) {
	a, b := testToken("ci-dns", "000000000000000000000000000000aa"), testToken("ci-dns", "000000000000000000000000000000bb")
	undelivered := recordOf(1, a, TokenConfirmed)
	undelivered.Delivered = false
	for name, c := range map[string]struct {
		live     TokensLive
		declared []desired.Token
		want     []string // action or state, in order: changes, then problems
	}{
		"none":             {TokensLive{}, []desired.Token{a}, []string{"create"}},
		"same":             {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed)}}, []desired.Token{a}, nil},
		"changed":          {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed)}}, []desired.Token{b}, []string{"replace"}},
		"back to what was": {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed), recordOf(2, elsewhere(b), TokenConfirmed)}}, []desired.Token{a}, []string{"orphan t2"}},
		// The sink holds the later one's secret: reusing the first would leave it there, to be revoked.
		"back, secret replaced":   {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed), recordOf(2, b, TokenConfirmed)}}, []desired.Token{a}, []string{"replace"}},
		"another sink":            {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed)}}, []desired.Token{elsewhere(a)}, []string{"replace"}},
		"no sink any more":        {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed)}}, []desired.Token{nowhere(a)}, nil},
		"superseded":              {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed), recordOf(2, b, TokenConfirmed)}}, []desired.Token{b}, []string{"orphan t1"}},
		"gone from git":           {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed)}}, nil, []string{"orphan t1"}},
		"gone from git, in doubt": {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenQuarantined)}}, nil, []string{"quarantined"}},
		"unknown":                 {TokensLive{Unknown: "the ledger is new"}, []desired.Token{a}, []string{"unknown"}},
		"quarantined":             {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenQuarantined)}}, []desired.Token{a}, []string{"quarantined"}},
		"cut short":               {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenIntended)}}, []desired.Token{a}, []string{"quarantined"}},
		"changed in quarantine":   {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenQuarantined)}}, []desired.Token{b}, []string{"quarantined"}},
		"secret on its way":       {TokensLive{Records: []TokenRecord{undelivered}}, []desired.Token{a}, []string{"undelivered"}},
		"quarantined after good":  {TokensLive{Records: []TokenRecord{recordOf(1, a, TokenConfirmed), recordOf(2, b, TokenQuarantined)}}, []desired.Token{b}, []string{"quarantined"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := tokenPlan(c.live, c.declared...)
			var got []string
			for _, change := range plan.Changes {
				text := string(change.Action)
				if change.Action == ActionOrphan {
					text += fmt.Sprint(" ", change.Fields[0].Old)
				} else if change.Request.Method != "POST" || change.Request.Path != "/user/tokens" {
					t.Errorf("sends %+v", change.Request)
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
		token := testToken("k", "000000000000000000000000000000aa")
		for i := range rapid.IntRange(0, 3).Draw(t, "more policies") {
			token.Policies = append(token.Policies, desired.Policy{
				Effect: rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect"),
				Resources: []desired.Resource{
					{Key: edge.ResourceAccount + fmt.Sprintf("%032x", i), AllZones: rapid.Bool().Draw(t, "all zones")},
				},
				PermissionGroups: []desired.PermissionGroup{{ID: "b"}, {ID: "a"}},
			})
		}
		record := recordOf(1, token, TokenConfirmed)
		shuffled := token
		shuffled.Policies = rapid.Permutation(token.Policies).Draw(t, "order")
		if plan := tokenPlan(TokensLive{Records: []TokenRecord{record}}, shuffled); !plan.IsEmpty() {
			t.Fatalf("plans %+v", plan.Changes)
		}
	})
}

func TestReplacementShowsRights(t *testing.T) {
	before, after := testToken("ci-dns", "000000000000000000000000000000aa"), testToken("ci-dns", "000000000000000000000000000000bb")
	plan := Guard(tokenPlan(TokensLive{Records: []TokenRecord{recordOf(1, before, TokenConfirmed)}}, after), Facts{})
	c := plan.Changes[0]
	if c.Direction != Weakens || len(c.Rights) != 2 {
		t.Fatalf("%s with rights %+v", c.Direction, c.Rights)
	}
	var text bytes.Buffer
	if err := plan.Text(&text, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"~ token ci-dns  replace  weakens  zones/shop.cue:30:2", "gains group " + testGroup, "loses group " + testGroup,
		"0 zones; 1 token, 1 to create", "1 to apply",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
}

// Who agrees to a token agrees to where its secret goes.
func TestApprovalOfATokenIsForItsSink(t *testing.T) {
	a := testToken("ci-dns", "000000000000000000000000000000aa")
	one, other := tokenPlan(TokensLive{}, a), tokenPlan(TokensLive{}, elsewhere(a))
	if one.Changes[0].ApprovalDigest() == other.Changes[0].ApprovalDigest() || one.ApprovalDigest() == other.ApprovalDigest() {
		t.Error("the same digest is for two sinks")
	}
	if again := tokenPlan(TokensLive{}, a); again.ApprovalDigest() != one.ApprovalDigest() {
		t.Error("the same plan has two digests")
	}
}
