package token

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

const (
	testAccounts = edge.ResourceAccount + "000000000000000000000000000000ac"
)

func deny(line int, resource string, groups ...string) desired.Policy {
	p := difftest.Allow(line, resource, groups...)
	p.Effect = "deny"
	return p
}

// kindsOf names the findings by kind and line.
func kindsOf(findings []diff.Finding) (got []string) {
	for _, f := range findings {
		got = append(got, fmt.Sprint(f.Kind, " ", f.Origin.Line))
	}
	return got
}

func TestFindings(t *testing.T) {
	const me = edge.ResourceUser + "me"
	ends := func(p ...desired.Policy) desired.Token {
		return desired.Token{Key: "k", Origin: difftest.At(1), Policies: p, ExpiresOn: "2027-01-01T00:00:00Z"}
	}
	endless := func(c *desired.Condition, p ...desired.Policy) desired.Token {
		return desired.Token{Key: "k", Origin: difftest.At(1), Policies: p, Condition: c}
	}
	rotating := endless(nil, difftest.Allow(2, me, difftest.CreatingGroup))
	rotating.Rotate = &desired.Rotate{Every: 720 * time.Hour, Overlap: 48 * time.Hour}
	begins := endless(nil, difftest.Allow(2, me, difftest.CreatingGroup))
	begins.NotBefore = "2026-01-01T00:00:00Z"
	accounts := desired.Policy{
		Effect: "allow", Origin: difftest.At(2), PermissionGroups: []desired.PermissionGroup{{ID: "g"}},
		Resources: []desired.Resource{{Key: testAccounts, AllZones: true}},
	}
	for name, c := range map[string]struct {
		token desired.Token
		want  []string
	}{
		"bounded, narrow":                     {ends(difftest.Allow(2, testAccounts, "DNS Write")), nil},
		"no policy":                           {ends(), nil},
		"all zones of one account":            {ends(accounts), nil},
		"never expires":                       {endless(nil, difftest.Allow(2, testAccounts, "DNS Write")), []string{"no_expiry 1"}},
		"a beginning is no end":               {begins, []string{"no_expiry 1", "creates_unrestricted 2"}},
		"rotates":                             {rotating, nil},
		"all accounts":                        {ends(difftest.Allow(2, edge.ResourceAllAccounts, "g")), []string{"all_accounts 2"}},
		"all zones":                           {ends(difftest.Allow(2, testAccounts, "g"), difftest.Allow(3, edge.ResourceAllZones, "g")), []string{"all_accounts 3"}},
		"denied on all accounts":              {ends(difftest.Allow(2, testAccounts, "g"), deny(3, edge.ResourceAllAccounts, "g")), nil},
		"creates, with an end":                {ends(difftest.Allow(2, me, difftest.CreatingGroup)), nil},
		"creates, from an address":            {endless(&desired.Condition{In: []string{"192.0.2.0/24"}}, difftest.Allow(2, me, difftest.CreatingGroup)), []string{"no_expiry 1"}},
		"creates, not from an address":        {endless(&desired.Condition{NotIn: []string{"192.0.2.0/24"}}, difftest.Allow(2, me, difftest.CreatingGroup)), []string{"no_expiry 1"}},
		"creates, from all addresses":         {endless(&desired.Condition{In: []string{"192.0.2.0/24", "0.0.0.0/0"}}, difftest.Allow(2, me, difftest.CreatingGroup)), []string{"no_expiry 1", "creates_unrestricted 2"}},
		"creates, from all addresses of IPv6": {endless(&desired.Condition{In: []string{"::/0"}}, difftest.Allow(2, me, difftest.CreatingGroup)), []string{"no_expiry 1", "creates_unrestricted 2"}},
		"creates, from all addresses but one": {
			endless(&desired.Condition{In: []string{"0.0.0.0/0"}, NotIn: []string{"192.0.2.1/32"}}, difftest.Allow(2, me, difftest.CreatingGroup)),
			[]string{"no_expiry 1"},
		},
		"creates, without bounds":            {endless(nil, difftest.Allow(2, me, difftest.CreatingGroup)), []string{"no_expiry 1", "creates_unrestricted 2"}},
		"creates, beside in one policy":      {ends(difftest.Allow(2, me, "DNS Write", difftest.CreatingGroup)), []string{"creates_beside 2"}},
		"creates, beside in another policy":  {ends(difftest.Allow(2, testAccounts, "DNS Write"), difftest.Allow(3, me, difftest.CreatingGroup)), []string{"creates_beside 3"}},
		"creates by two names":               {ends(difftest.Allow(2, me, "User API Tokens Write", difftest.CreatingGroup)), nil},
		"creates, and another is denied":     {ends(difftest.Allow(2, me, difftest.CreatingGroup), deny(3, testAccounts, "DNS Write")), nil},
		"creating is denied":                 {ends(difftest.Allow(2, testAccounts, "DNS Write"), deny(3, me, difftest.CreatingGroup)), nil},
		"creates by two policies, the first": {ends(difftest.Allow(9, me, difftest.CreatingGroup), difftest.Allow(4, me, difftest.CreatingGroup, "g")), []string{"creates_beside 4"}},
		"all of them": {
			endless(nil, difftest.Allow(2, edge.ResourceAllZones, "g"), difftest.Allow(3, me, difftest.CreatingGroup)),
			[]string{"no_expiry 1", "creates_beside 3", "creates_unrestricted 3", "all_accounts 2"},
		},
	} {
		if got := kindsOf(Findings([]desired.Token{c.token}, nil)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestFindingsNameTheTokenWhereNoPolicyHasAPlace(t *testing.T) {
	p := difftest.Allow(0, edge.ResourceAllZones, "g")
	p.Origin = desired.Origin{}
	got := Findings([]desired.Token{{Key: "k", Origin: difftest.At(7), ExpiresOn: "2027-01-01T00:00:00Z", Policies: []desired.Policy{p}}}, nil)
	if len(got) != 1 || got[0].Origin != difftest.At(7) || got[0].Token != "k" || got[0].Text == "" || got[0].Hint == "" {
		t.Errorf("got %+v", got)
	}
}

func TestFindingsComeByToken(t *testing.T) {
	everywhere := []desired.Policy{difftest.Allow(2, edge.ResourceAllZones, "g")}
	got := Findings([]desired.Token{{Key: "b", Policies: everywhere}, {Key: "a", Policies: everywhere}}, nil)
	var order []string
	for _, f := range got {
		order = append(order, f.Token+" "+string(f.Kind))
	}
	if want := []string{"a no_expiry", "a all_accounts", "b no_expiry", "b all_accounts"}; !slices.Equal(order, want) {
		t.Errorf("got %v, want %v", order, want)
	}
}

func TestCreatesTokens(t *testing.T) {
	creates := createsTokens([]string{"known"})
	for _, g := range []desired.PermissionGroup{
		{Name: "API Tokens Write"},
		{Name: "api tokens  EDIT"},
		{Name: "User API Tokens Write"},
		{Name: "User API Tokens:Edit"},
		{Name: "Account API Tokens Write"},
		{ID: "known"},
		{ID: "known", Name: "DNS Write"},
	} {
		if !creates(g) {
			t.Errorf("%+v is not taken to create tokens", g)
		}
	}
	for _, g := range []desired.PermissionGroup{
		{}, {ID: "other"}, {Name: "API Tokens Read"}, {Name: "known"}, {Name: "API Tokens"}, {Name: "DNS Write"}, {Name: "APITokens Write"},
	} {
		if creates(g) {
			t.Errorf("%+v is taken to create tokens", g)
		}
	}
}

func TestPlansTellFindings(t *testing.T) {
	token := difftest.Token("k", "000000000000000000000000000000aa")
	in := diff.Input{State: desired.State{Tokens: []desired.Token{token}}, Live: diff.Live{Tokens: diff.TokensLive{Unknown: "no ledger"}}}
	if got := kindsOf(planOfTokens(in).Findings); !slices.Equal(got, []string{"no_expiry 30"}) {
		t.Errorf("by default: %v", got)
	}
	in.CreatingGroups = []string{string(difftest.Group)}
	plan := guard.Check(planOfTokens(in), guard.Facts{})
	if got := kindsOf(plan.Findings); !slices.Equal(got, []string{"no_expiry 30", "creates_unrestricted 30"}) {
		t.Errorf("with a group of the configuration: %v", got)
	}
	if without := tokenPlan(diff.TokensLive{}); without.Findings != nil || without.Expiries != nil {
		t.Errorf("without tokens: %+v %+v", without.Findings, without.Expiries)
	}
	in.State.Tokens[0].ExpiresOn = "2027-01-01T00:00:00Z"
	if bounded := guard.Check(planOfTokens(in), guard.Facts{}); bounded.Digest == plan.Digest {
		t.Error("findings are not in the digest")
	}
}

// A finding stops nothing.
func TestFindingsNeedNobody(t *testing.T) {
	token := difftest.Token("k", "000000000000000000000000000000aa")
	plan := tokenPlan(diff.TokensLive{Records: []diff.TokenRecord{difftest.RecordOf(1, token, diff.TokenConfirmed)}}, token)
	if len(plan.Findings) == 0 || plan.Attention() || !plan.IsEmpty() {
		t.Errorf("got %+v", plan)
	}
}

func genFoundToken(t *rapid.T) desired.Token {
	resource := rapid.SampledFrom([]string{
		edge.ResourceAllAccounts, edge.ResourceAllZones, testAccounts, edge.ResourceUser + "me", edge.ResourceZone + "a",
	})
	group := rapid.SampledFrom([]string{difftest.CreatingGroup, "User API Tokens Edit", "DNS Write", "WAF Write"})
	token := desired.Token{Key: "k", Origin: difftest.At(1)}
	for i := range rapid.IntRange(0, 4).Draw(t, "policies") {
		p := difftest.Allow(2+i, resource.Draw(t, "resource"), rapid.SliceOfN(group, 1, 3).Draw(t, "groups")...)
		p.Effect = rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect")
		token.Policies = append(token.Policies, p)
	}
	token.ExpiresOn = rapid.SampledFrom([]string{"", "2027-01-01T00:00:00Z"}).Draw(t, "expires_on")
	token.Condition = rapid.SampledFrom([]*desired.Condition{nil, {In: []string{"192.0.2.0/24"}}, {In: []string{"::/0"}}}).Draw(t, "condition")
	return token
}

// The order in which anything is written says nothing.
func TestFindingsAreBlindToOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := genFoundToken(t)
		shuffled := token
		shuffled.Policies = rapid.Permutation(token.Policies).Draw(t, "policies")
		for i, p := range shuffled.Policies {
			shuffled.Policies[i].PermissionGroups = rapid.Permutation(p.PermissionGroups).Draw(t, "groups")
		}
		if a, b := Findings([]desired.Token{token}, nil), Findings([]desired.Token{shuffled}, nil); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\nshuffled %+v", a, b)
		}
	})
}

// A token that only denies has no rights to find anything about but that, and a denial
// beside what is allowed adds none.
func TestDenialsAreNoFinding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := genFoundToken(t)
		before := Findings([]desired.Token{token}, nil)
		more := genFoundToken(t).Policies
		for i := range more {
			more[i].Effect = "deny"
		}
		token.Policies = slices.Concat(more, token.Policies)
		for _, f := range Findings([]desired.Token{token}, nil) {
			if !slices.Contains(before, f) && f.Kind != diff.OnlyDenies {
				t.Fatalf("%+v comes of denials %+v", f, more)
			}
		}
		for i := range token.Policies {
			token.Policies[i].Effect = "deny"
		}
		for _, f := range Findings([]desired.Token{token}, nil) {
			if f.Kind != diff.NoExpiry && f.Kind != diff.OnlyDenies {
				t.Fatalf("%+v of a token that may do nothing", f)
			}
		}
	})
}
