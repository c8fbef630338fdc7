package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

func TestPlansWhereTokensAreListed(t *testing.T) {
	a, b := difftest.Token("ci-dns", difftest.RotatedZone), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	prunable := a
	prunable.Prune = true
	one, two := difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, b, diff.TokenConfirmed)
	pruned, ended := one, one
	pruned.Prune = true
	sealed := difftest.RecordOf(2, a, diff.TokenConfirmed)
	sealed.Delivered = false
	ended.Spec.ExpiresOn = "2025-01-01T00:00:00Z"
	wider := difftest.LiveToken(one)
	wider.Policies = slices.Concat(wider.Policies, b.Spec().Policies)
	fraction := difftest.LiveToken(one)
	fraction.ExpiresOn = "2027-01-01T00:00:00.000000Z"
	until := a
	until.ExpiresOn = "2027-01-01T00:00:00Z"
	for name, c := range map[string]struct {
		live     diff.TokensLive
		declared []desired.Token
		want     string
	}{
		"as declared":              {difftest.ListedAs([]diff.TokenRecord{one}, difftest.LiveToken(one)), []desired.Token{a}, ""},
		"somebody widened it":      {difftest.ListedAs([]diff.TokenRecord{one}, wider), []desired.Token{a}, "update"},
		"declared otherwise":       {difftest.ListedAs([]diff.TokenRecord{one}, difftest.LiveToken(one)), []desired.Token{b}, "update"},
		"another sink":             {difftest.ListedAs([]diff.TokenRecord{one}, difftest.LiveToken(one)), []desired.Token{difftest.Elsewhere(a)}, "replace"},
		"revoked elsewhere":        {difftest.ListedAs([]diff.TokenRecord{one}), []desired.Token{a}, "replace"},
		"the same instant":         {difftest.ListedAs([]diff.TokenRecord{one}, fraction), []desired.Token{until}, ""},
		"superseded":               {difftest.ListedAs([]diff.TokenRecord{one, two}, difftest.LiveToken(one), difftest.LiveToken(two)), []desired.Token{b}, "orphan"},
		"superseded, prune":        {difftest.ListedAs([]diff.TokenRecord{one, difftest.RecordOf(2, a, diff.TokenConfirmed)}, difftest.LiveToken(one), difftest.LiveToken(difftest.RecordOf(2, a, diff.TokenConfirmed))), []desired.Token{prunable}, "delete"},
		"superseded and gone":      {difftest.ListedAs([]diff.TokenRecord{one, two}, difftest.LiveToken(two)), []desired.Token{b}, ""},
		"no longer declared":       {difftest.ListedAs([]diff.TokenRecord{one}, difftest.LiveToken(one)), nil, "orphan"},
		"prune was declared":       {difftest.ListedAs([]diff.TokenRecord{pruned}, difftest.LiveToken(one)), nil, "delete"},
		"undeclared and gone":      {difftest.ListedAs([]diff.TokenRecord{pruned}), nil, ""},
		"undeclared, ended":        {difftest.ListedAs([]diff.TokenRecord{ended}, difftest.LiveToken(ended)), nil, ""},
		"undeclared, end moved":    {difftest.ListedAs([]diff.TokenRecord{ended}, difftest.LiveToken(one)), nil, "orphan"},
		"not ours":                 {difftest.ListedAs(nil, difftest.LiveToken(one)), nil, ""},
		"of the same name":         {difftest.ListedAs(nil, difftest.LiveToken(one)), []desired.Token{a}, "create"},
		"prune, secret on its way": {difftest.ListedAs([]diff.TokenRecord{one, sealed}, difftest.LiveToken(one), difftest.LiveToken(sealed)), []desired.Token{prunable}, "undelivered"},
		"undeclared, in doubt":     {difftest.ListedAs([]diff.TokenRecord{difftest.RecordOf(1, a, diff.TokenQuarantined)}), nil, "quarantined"},
		"prune, nothing listed":    {diff.TokensLive{Records: []diff.TokenRecord{pruned}}, nil, "orphan"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(actions(planAt(difftest.January, c.live, c.declared...)), " "); got != c.want {
				t.Errorf("plans %q, want %q", got, c.want)
			}
		})
	}
}

// An update sends the whole object: what only the platform knows goes back as it
// is, and what it writes itself stays out.
func TestUpdateSendsTheWholeToken(t *testing.T) {
	a, b := difftest.Token("ci-dns", difftest.RotatedZone), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	record := difftest.RecordOf(1, a, diff.TokenConfirmed)
	live := difftest.LiveToken(record)
	live.Status = "disabled"
	live.Extra = map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}
	plan := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, live), b)
	c := plan.Changes[0]
	body := c.Operation.(diff.Amendment).Body
	request, _ := c.Request()
	if request.Method != "PUT" || request.Path != "/user/tokens/t1" || body.Status != "disabled" || string(body.Extra["x_future"]) != `{"a":1}` || body.ID != "" || body.IssuedOn != "" {
		t.Errorf("sends %s %s %+v", request.Method, request.Path, body)
	}
	if c.Direction != diff.Weakens || len(c.Rights) != 2 || plan.Requests.ToApply != 2 || plan.Summary.TokensToCreate != 0 {
		t.Errorf("%s, rights %v, requests %+v, summary %+v", c.Direction, c.Rights, plan.Requests, plan.Summary)
	}
}

// The oldest complaint about other tools: whatever order, ids and names a
// platform answers with, a token that may do the same shows no difference.
func TestListedTokenIsBlindToDress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := difftest.Token("k", difftest.RotatedZone)
		for i := range rapid.IntRange(0, 3).Draw(t, "more policies") {
			token.Policies = append(token.Policies, desired.Policy{
				Effect:           rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect"),
				Resources:        []desired.Resource{{Key: edge.ResourceAccount + fmt.Sprintf("%032x", i), AllZones: rapid.Bool().Draw(t, "all zones")}},
				PermissionGroups: []desired.PermissionGroup{{ID: "b"}, {ID: "a"}},
			})
		}
		suffix := rapid.SampledFrom([]diff.NameSuffix{"", " [{intent}]"}).Draw(t, "suffix")
		record := difftest.RecordOf(1, token, diff.TokenConfirmed)
		record.Spec = creationOf(token, token.Spec(), suffix).Body(record.Intent, difftest.January)
		live := difftest.LiveToken(record)
		live.Policies = rapid.Permutation(live.Policies).Draw(t, "order")
		for i := range live.Policies {
			p := &live.Policies[i]
			p.ID = fmt.Sprint("policy ", i)
			p.PermissionGroups = rapid.Permutation(p.PermissionGroups).Draw(t, "groups")
			for j := range p.PermissionGroups {
				p.PermissionGroups[j].Name = "DNS Write"
			}
		}
		in := diff.Input{State: desired.State{Tokens: []desired.Token{token}}, Live: diff.Live{Tokens: difftest.ListedAs([]diff.TokenRecord{record}, live)}, Now: difftest.January, NameSuffix: suffix}
		if plan := planOfTokens(in); !plan.IsEmpty() || len(plan.Settled) != 1 {
			t.Fatalf("plans %+v", plan.Changes)
		}
	})
}

// Whatever is declared and whatever is live: once the body was written, nothing
// is left to change.
func TestUpdateConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) desired.Token {
			token := difftest.Token("k", fmt.Sprintf("%032x", rapid.IntRange(0, 2).Draw(t, name+" zone")))
			token.ExpiresOn = rapid.SampledFrom([]string{"", "2027-01-01T00:00:00Z"}).Draw(t, name+" end")
			if rapid.Bool().Draw(t, name+" condition") {
				token.Condition = &desired.Condition{In: []string{"192.0.2.0/24"}}
			}
			return token
		}
		was, shall := draw("was"), draw("shall")
		if rapid.Bool().Draw(t, "rotates") {
			shall = difftest.Rotating(shall, 720*time.Hour, 48*time.Hour)
			shall.ExpiresOn = ""
		}
		record := difftest.RecordOf(1, was, diff.TokenConfirmed)
		record.At = difftest.January
		live := difftest.LiveToken(record)
		plan := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, live), shall)
		for _, c := range plan.Changes {
			amendment := c.Operation.(diff.Amendment)
			live.TokenSpec = amendment.Body.TokenSpec
			record.Spec, record.Hash = amendment.Spec, amendment.Hash
			if left := (Kind{}).Remaining(amendment, live); len(left) > 0 {
				t.Fatalf("left %+v", left)
			}
		}
		if again := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, live), shall); !again.IsEmpty() {
			t.Fatalf("then plans %+v", again.Changes)
		}
	})
}

// What a group is for, its name tells: where the platform says it, a group that is
// declared by its id is found out, and a reviewer reads the name.
func TestGroupsAreKnownByName(t *testing.T) {
	token := difftest.Token("ci", difftest.RotatedZone)
	token.Policies[0].PermissionGroups = append(token.Policies[0].PermissionGroups, desired.PermissionGroup{ID: "g1"})
	platform := &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: []edge.PermissionGroup{{ID: "g1", Name: "API Tokens Write"}}}}
	plan := planAt(difftest.January, diff.TokensLive{Owners: difftest.OfUser(platform)}, token)
	var rights []string
	for _, r := range plan.Changes[0].Rights {
		rights = append(rights, r.Text)
	}
	if want := `gains group "API Tokens Write" (g1) on com.vendor.api.account.zone.` + difftest.RotatedZone; !slices.Contains(rights, want) {
		t.Errorf("rights %q", rights)
	}
	if !slices.ContainsFunc(plan.Findings, func(f diff.Finding) bool { return f.Kind == diff.CreatesBeside }) {
		t.Errorf("findings %+v", plan.Findings)
	}
	if token.Policies[0].PermissionGroups[1].Name != "" {
		t.Error("the declaration was changed")
	}
}

// Somebody switched a token off, maybe for good reasons: it is told and left.
func TestDisabledTokenIsTold(t *testing.T) {
	record := difftest.RecordOf(1, difftest.Token("ci", difftest.RotatedZone), diff.TokenConfirmed)
	live := difftest.LiveToken(record)
	live.Status = "disabled"
	plan := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, live), difftest.Token("ci", difftest.RotatedZone))
	if len(plan.Changes) != 0 || !slices.ContainsFunc(plan.Findings, func(f diff.Finding) bool { return f.Kind == diff.Disabled && f.Token == "ci" }) {
		t.Errorf("changes %+v, findings %+v", plan.Changes, plan.Findings)
	}
}

func TestOwnCredentialExpires(t *testing.T) {
	live := difftest.ListedAs(nil)
	live.Owners[""].Listed.Credential = edge.Token{ID: "own", TokenSpec: edge.TokenSpec{ExpiresOn: "2026-01-03T00:00:00Z"}}
	plan := planAt(difftest.January, live)
	if soon := plan.Expiring(difftest.January, 72*time.Hour); len(soon) != 1 || soon[0].Token != "credentials.tokens" {
		t.Errorf("expiring %+v", soon)
	}
}

func TestUpdateThatIsNotKeptIsNotSentAgain(t *testing.T) {
	a, b := difftest.Token("ci-dns", difftest.RotatedZone), difftest.Token("ci-dns", "000000000000000000000000000000bb")
	record := difftest.RecordOf(1, a, diff.TokenConfirmed)
	plan := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, difftest.LiveToken(record)), b)
	facts := guard.Facts{NonConvergent: map[diff.ID]string{{Scope: edge.CredentialScope(""), Token: "t1"}: plan.Changes[0].Fingerprint()}}
	if r := guard.Check(plan, facts).Changes[0].Refused; r == nil || r.Guard != "non_convergent" {
		t.Errorf("refused %+v", r)
	}
	facts.NonConvergent[diff.ID{Scope: edge.CredentialScope(""), Token: "t1"}] = "another"
	if r := guard.Check(plan, facts).Changes[0].Refused; r != nil {
		t.Errorf("refused %+v", r)
	}
}

func TestPermissionGroupsByName(t *testing.T) {
	account, zone, user := string(access.TypeAccount), string(access.TypeZone), string(access.TypeUser)
	groups := []edge.PermissionGroup{
		{ID: "g1", Name: "DNS Write", Scopes: []string{zone}},
		{ID: "g2", Name: "DNS Write", Scopes: []string{account}},
		{ID: "g3", Name: "WAF Write", Scopes: []string{zone}},
		{ID: "g4", Name: "WAF Write", Scopes: []string{zone, account}},
		{ID: "g5", Name: "Details", Scopes: []string{user}},
		{ID: "g6", Name: "Old"},
	}
	for name, c := range map[string]struct {
		group  desired.PermissionGroup
		listed *diff.TokensListed
		id     string
		state  diff.ProblemState
		told   string
	}{
		"by name and scope":    {desired.PermissionGroup{Name: "DNS Write", Scope: "zone"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "g1", "", ""},
		"two of that name":     {desired.PermissionGroup{Name: "WAF Write", Scope: "zone"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "", diff.Blocked, "2 permission groups \"WAF Write\" (zone): g3 (" + zone + "); g4 (" + zone + ", " + account + ")"},
		"misspelt":             {desired.PermissionGroup{Name: "DNS Wrote", Scope: "zone"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "", diff.Blocked, "no permission group \"DNS Wrote\" (zone)"},
		"of another scope":     {desired.PermissionGroup{Name: "Details", Scope: "zone"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "", diff.Blocked, "no permission group"},
		"by id":                {desired.PermissionGroup{ID: "g1"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "g1", "", ""},
		"by id, wrong scope":   {desired.PermissionGroup{ID: "g5"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "", diff.Blocked, "is for " + user + ", but its policy has no such resource"},
		"by id, not listed":    {desired.PermissionGroup{ID: "g9"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "g9", "", ""},
		"by id, of no scope":   {desired.PermissionGroup{ID: "g6"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Value: groups}}, "g6", "", ""},
		"groups not read":      {desired.PermissionGroup{Name: "DNS Write", Scope: "zone"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Err: errors.New("503")}}, "", diff.Unknown, "could not be read: 503"},
		"not read, by id":      {desired.PermissionGroup{ID: "g1"}, &diff.TokensListed{Groups: diff.Observed[[]edge.PermissionGroup]{Err: errors.New("503")}}, "g1", "", ""},
		"not offered":          {desired.PermissionGroup{Name: "DNS Write", Scope: "zone"}, nil, "", diff.Blocked, "declared without its id"},
		"not offered, with id": {desired.PermissionGroup{ID: "g1", Scope: "zone"}, nil, "g1", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			token := difftest.Token("ci-dns", difftest.RotatedZone)
			c.group.Origin = difftest.At(33)
			token.Policies[0].PermissionGroups = []desired.PermissionGroup{c.group}
			plan := planAt(difftest.January, diff.TokensLive{Owners: difftest.OfUser(c.listed)}, token)
			if c.state == "" {
				if len(plan.Changes) != 1 || plan.Changes[0].Operation.(diff.Creation).Spec.Policies[0].PermissionGroups[0].ID != c.id {
					t.Errorf("changes %+v, problems %+v", plan.Changes, plan.Problems)
				}
				return
			}
			if len(plan.Problems) != 1 || plan.Problems[0].State != c.state || !strings.Contains(plan.Problems[0].Reason, c.told) || plan.Problems[0].Hint == "" && c.state == diff.Blocked || plan.Problems[0].Origin != difftest.At(33) {
				t.Errorf("problems %+v", plan.Problems)
			}
		})
	}
}

// An adopted token that rotates keeps the end that the platform says it has, until
// its successor is due.
func TestAdoptedTokenKeepsItsEnd(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	record := difftest.RecordOf(1, token, diff.TokenConfirmed)
	record.At, record.Lifetime, record.Every = difftest.January, token.Rotate.Lifetime(), token.Rotate.Every
	live := difftest.LiveToken(record)
	live.ExpiresOn = "2026-01-20T00:00:00Z"
	if plan := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, live), token); len(plan.Changes) != 0 || plan.Settled[0].Token.Spec.ExpiresOn != live.ExpiresOn {
		t.Errorf("changes %+v, settled %+v", plan.Changes, plan.Settled)
	}
	at := time.Date(2026, 1, 18, 0, 0, 0, 0, time.UTC)
	if got := actions(planAt(at, difftest.ListedAs([]diff.TokenRecord{record}, live), token)); !slices.Equal(got, []string{"rotate"}) {
		t.Errorf("48 hours before its end plans %v", got)
	}
}

// What rotation left behind ends by itself, unless somebody moved its end.
func TestMovedEndOfAPredecessor(t *testing.T) {
	token := difftest.Rotating(difftest.Token("ci", difftest.RotatedZone), 720*time.Hour, 48*time.Hour)
	first, second := difftest.Generation(1, token, difftest.January), difftest.Generation(2, token, difftest.January.Add(720*time.Hour))
	moved := difftest.LiveToken(first)
	moved.ExpiresOn = "2040-01-01T00:00:00Z"
	now := difftest.January.Add(770 * time.Hour)
	first.Spec.ExpiresOn = "2026-02-20T00:00:00Z" // its end is still to come
	if got := actions(planAt(now, difftest.ListedAs([]diff.TokenRecord{first, second}, difftest.LiveToken(first), difftest.LiveToken(second)), token)); len(got) != 0 {
		t.Errorf("plans %v", got)
	}
	if got := actions(planAt(now, difftest.ListedAs([]diff.TokenRecord{first, second}, moved, difftest.LiveToken(second)), token)); !slices.Equal(got, []string{"orphan"}) {
		t.Errorf("with its end moved plans %v", got)
	}
	token.Prune = true
	if got := actions(planAt(now, difftest.ListedAs([]diff.TokenRecord{first, second}, moved, difftest.LiveToken(second)), token)); !slices.Equal(got, []string{"delete"}) {
		t.Errorf("with its end moved, and prune, plans %v", got)
	}
}

func TestUpdatesAreGuarded(t *testing.T) {
	token := difftest.Token("ci", difftest.RotatedZone)
	record := difftest.RecordOf(1, token, diff.TokenConfirmed)
	for want, change := range map[diff.Guard]func(*desired.Token){
		diff.GuardName:    func(d *desired.Token) { d.Name = strings.Repeat("x", 121) },
		diff.GuardExpired: func(d *desired.Token) { d.ExpiresOn = "2025-12-31T00:00:00Z" },
	} {
		changed := token
		change(&changed)
		plan := guard.Check(planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{record}, difftest.LiveToken(record)), changed), guard.Facts{Now: difftest.January})
		if c := plan.Changes[0]; c.Action() != diff.ActionUpdate || c.Refused == nil || c.Refused.Guard != want || plan.Summary.TokensToUpdate != 0 {
			t.Errorf("%s: %s refused %+v", want, c.Action(), c.Refused)
		}
	}
}

func TestSummaryCountsTokens(t *testing.T) {
	a, b, c := difftest.Token("a", difftest.RotatedZone), difftest.Token("b", difftest.RotatedZone), difftest.Token("c", difftest.RotatedZone)
	ra, rb := difftest.RecordOf(1, a, diff.TokenConfirmed), difftest.RecordOf(2, b, diff.TokenConfirmed)
	rb.Prune = true
	changed := difftest.Token("a", "000000000000000000000000000000bb")
	plan := planAt(difftest.January, difftest.ListedAs([]diff.TokenRecord{ra, rb}, difftest.LiveToken(ra), difftest.LiveToken(rb)), changed, c)
	if got := plan.Summary.String(); got != "0 zones; 2 tokens, 1 to create, 1 to update, 1 to delete" {
		t.Errorf("got %q", got)
	}
}
