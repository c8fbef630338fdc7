package diff

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
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/access"
)

// listedAs is what a platform that lists its tokens says.
func listedAs(records []TokenRecord, tokens ...edge.Token) TokensLive {
	platform := &TokensListed{Tokens: map[edge.TokenID]edge.Token{}}
	for _, token := range tokens {
		platform.Tokens[token.ID] = token
	}
	return TokensLive{Records: records, Platform: platform}
}

func liveToken(r TokenRecord) edge.Token {
	return edge.Token{ID: r.ID, TokenSpec: r.Spec, Status: "active", IssuedOn: "2026-01-01T00:00:00.123Z"}
}

func TestPlansWhereTokensAreListed(t *testing.T) {
	a, b := testToken("ci-dns", rotatedZone), testToken("ci-dns", "000000000000000000000000000000bb")
	prunable := a
	prunable.Prune = true
	one, two := recordOf(1, a, TokenConfirmed), recordOf(2, b, TokenConfirmed)
	pruned, ended := one, one
	pruned.Prune = true
	sealed := recordOf(2, a, TokenConfirmed)
	sealed.Delivered = false
	ended.Spec.ExpiresOn = "2025-01-01T00:00:00Z"
	wider := liveToken(one)
	wider.Policies = slices.Concat(wider.Policies, b.Spec().Policies)
	fraction := liveToken(one)
	fraction.ExpiresOn = "2027-01-01T00:00:00.000000Z"
	until := a
	until.ExpiresOn = "2027-01-01T00:00:00Z"
	for name, c := range map[string]struct {
		live     TokensLive
		declared []desired.Token
		want     string
	}{
		"as declared":              {listedAs([]TokenRecord{one}, liveToken(one)), []desired.Token{a}, ""},
		"somebody widened it":      {listedAs([]TokenRecord{one}, wider), []desired.Token{a}, "update"},
		"declared otherwise":       {listedAs([]TokenRecord{one}, liveToken(one)), []desired.Token{b}, "update"},
		"another sink":             {listedAs([]TokenRecord{one}, liveToken(one)), []desired.Token{elsewhere(a)}, "replace"},
		"revoked elsewhere":        {listedAs([]TokenRecord{one}), []desired.Token{a}, "replace"},
		"the same instant":         {listedAs([]TokenRecord{one}, fraction), []desired.Token{until}, ""},
		"superseded":               {listedAs([]TokenRecord{one, two}, liveToken(one), liveToken(two)), []desired.Token{b}, "orphan"},
		"superseded, prune":        {listedAs([]TokenRecord{one, recordOf(2, a, TokenConfirmed)}, liveToken(one), liveToken(recordOf(2, a, TokenConfirmed))), []desired.Token{prunable}, "delete"},
		"superseded and gone":      {listedAs([]TokenRecord{one, two}, liveToken(two)), []desired.Token{b}, ""},
		"no longer declared":       {listedAs([]TokenRecord{one}, liveToken(one)), nil, "orphan"},
		"prune was declared":       {listedAs([]TokenRecord{pruned}, liveToken(one)), nil, "delete"},
		"undeclared and gone":      {listedAs([]TokenRecord{pruned}), nil, ""},
		"undeclared, ended":        {listedAs([]TokenRecord{ended}, liveToken(ended)), nil, ""},
		"undeclared, end moved":    {listedAs([]TokenRecord{ended}, liveToken(one)), nil, "orphan"},
		"not ours":                 {listedAs(nil, liveToken(one)), nil, ""},
		"of the same name":         {listedAs(nil, liveToken(one)), []desired.Token{a}, "create"},
		"prune, secret on its way": {listedAs([]TokenRecord{one, sealed}, liveToken(one), liveToken(sealed)), []desired.Token{prunable}, "undelivered"},
		"undeclared, in doubt":     {listedAs([]TokenRecord{recordOf(1, a, TokenQuarantined)}), nil, "quarantined"},
		"prune, nothing listed":    {TokensLive{Records: []TokenRecord{pruned}}, nil, "orphan"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(actions(planAt(january, c.live, c.declared...)), " "); got != c.want {
				t.Errorf("plans %q, want %q", got, c.want)
			}
		})
	}
}

// Every action on a token has the published shape.
func TestTokenActionsFitTheSchema(t *testing.T) {
	schema := compileSchema(t)
	a, b := testToken("ci-dns", rotatedZone), testToken("ci-dns", "000000000000000000000000000000bb")
	old := recordOf(1, a, TokenConfirmed)
	old.Prune, old.At = true, january
	for action, c := range map[Action]struct {
		live  TokensLive
		token []desired.Token
	}{
		ActionCreate:  {TokensLive{}, []desired.Token{a}},
		ActionReplace: {TokensLive{Records: []TokenRecord{old}}, []desired.Token{b}},
		ActionRotate:  {TokensLive{Records: []TokenRecord{old}}, []desired.Token{rotating(a, time.Hour, time.Minute)}},
		ActionUpdate:  {listedAs([]TokenRecord{old}, liveToken(old)), []desired.Token{b}},
		ActionDelete:  {listedAs([]TokenRecord{old}, liveToken(old)), nil},
		ActionOrphan:  {TokensLive{Records: []TokenRecord{old}}, nil},
	} {
		plan := Guard(planAt(january.Add(2*time.Hour), c.live, c.token...), Facts{})
		if len(plan.Changes) != 1 || plan.Changes[0].Action != action {
			t.Errorf("plans %v, want %s", actions(plan), action)
		}
		if err := validate(schema, plan); err != nil {
			t.Errorf("%s: %v", action, err)
		}
	}
}

// An update sends the whole object: what only the platform knows goes back as it
// is, and what it writes itself stays out.
func TestUpdateSendsTheWholeToken(t *testing.T) {
	a, b := testToken("ci-dns", rotatedZone), testToken("ci-dns", "000000000000000000000000000000bb")
	record := recordOf(1, a, TokenConfirmed)
	live := liveToken(record)
	live.Status = "disabled"
	live.Extra = map[string]json.RawMessage{"x_future": json.RawMessage(`{"a":1}`)}
	plan := planAt(january, listedAs([]TokenRecord{record}, live), b)
	c := plan.Changes[0]
	body := c.Amendment.Body
	if c.Request.Method != "PUT" || c.Request.Path != "/user/tokens/t1" || body.Status != "disabled" || string(body.Extra["x_future"]) != `{"a":1}` || body.ID != "" || body.IssuedOn != "" {
		t.Errorf("sends %s %s %+v", c.Request.Method, c.Request.Path, body)
	}
	if c.Direction != Weakens || len(c.Rights) != 2 || plan.Requests.ToApply != 2 || plan.Summary.TokensToCreate != 0 {
		t.Errorf("%s, rights %v, requests %+v, summary %+v", c.Direction, c.Rights, plan.Requests, plan.Summary)
	}
}

// The oldest complaint about other tools: whatever order, ids and names a
// platform answers with, a token that may do the same shows no difference.
func TestListedTokenIsBlindToDress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := testToken("k", rotatedZone)
		for i := range rapid.IntRange(0, 3).Draw(t, "more policies") {
			token.Policies = append(token.Policies, desired.Policy{
				Effect:           rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "effect"),
				Resources:        []desired.Resource{{Key: edge.ResourceAccount + fmt.Sprintf("%032x", i), AllZones: rapid.Bool().Draw(t, "all zones")}},
				PermissionGroups: []desired.PermissionGroup{{ID: "b"}, {ID: "a"}},
			})
		}
		suffix := rapid.SampledFrom([]NameSuffix{"", " [{intent}]"}).Draw(t, "suffix")
		record := recordOf(1, token, TokenConfirmed)
		record.Spec = creationOf(token, token.Spec(), suffix).Body(record.Intent, january)
		live := liveToken(record)
		live.Policies = rapid.Permutation(live.Policies).Draw(t, "order")
		for i := range live.Policies {
			p := &live.Policies[i]
			p.ID = fmt.Sprint("policy ", i)
			p.PermissionGroups = rapid.Permutation(p.PermissionGroups).Draw(t, "groups")
			for j := range p.PermissionGroups {
				p.PermissionGroups[j].Name = "DNS Write"
			}
		}
		in := Input{State: desired.State{Tokens: []desired.Token{token}}, Live: Live{Tokens: listedAs([]TokenRecord{record}, live)}, Now: january, NameSuffix: suffix}
		if plan := Make(in); !plan.IsEmpty() || len(plan.SettledTokens) != 1 {
			t.Fatalf("plans %+v", plan.Changes)
		}
	})
}

// Whatever is declared and whatever is live: once the body was written, nothing
// is left to change.
func TestUpdateConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) desired.Token {
			token := testToken("k", fmt.Sprintf("%032x", rapid.IntRange(0, 2).Draw(t, name+" zone")))
			token.ExpiresOn = rapid.SampledFrom([]string{"", "2027-01-01T00:00:00Z"}).Draw(t, name+" end")
			if rapid.Bool().Draw(t, name+" condition") {
				token.Condition = &desired.Condition{In: []string{"192.0.2.0/24"}}
			}
			return token
		}
		was, shall := draw("was"), draw("shall")
		if rapid.Bool().Draw(t, "rotates") {
			shall = rotating(shall, 720*time.Hour, 48*time.Hour)
			shall.ExpiresOn = ""
		}
		record := recordOf(1, was, TokenConfirmed)
		record.At = january
		live := liveToken(record)
		plan := planAt(january, listedAs([]TokenRecord{record}, live), shall)
		for _, c := range plan.Changes {
			live.TokenSpec = c.Amendment.Body.TokenSpec
			record.Spec, record.Hash = c.Amendment.Spec, c.Amendment.Hash
			if left := c.Amendment.Remaining(live); len(left) > 0 {
				t.Fatalf("left %+v", left)
			}
		}
		if again := planAt(january, listedAs([]TokenRecord{record}, live), shall); !again.IsEmpty() {
			t.Fatalf("then plans %+v", again.Changes)
		}
	})
}

// What a group is for, its name tells: where the platform says it, a group that is
// declared by its id is found out, and a reviewer reads the name.
func TestGroupsAreKnownByName(t *testing.T) {
	token := testToken("ci", rotatedZone)
	token.Policies[0].PermissionGroups = append(token.Policies[0].PermissionGroups, desired.PermissionGroup{ID: "g1"})
	platform := &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: []edge.PermissionGroup{{ID: "g1", Name: "API Tokens Write"}}}}
	plan := planAt(january, TokensLive{Platform: platform}, token)
	var rights []string
	for _, r := range plan.Changes[0].Rights {
		rights = append(rights, r.Text)
	}
	if want := `gains group "API Tokens Write" (g1) on com.vendor.api.account.zone.` + rotatedZone; !slices.Contains(rights, want) {
		t.Errorf("rights %q", rights)
	}
	if !slices.ContainsFunc(plan.Findings, func(f Finding) bool { return f.Kind == CreatesBeside }) {
		t.Errorf("findings %+v", plan.Findings)
	}
	if token.Policies[0].PermissionGroups[1].Name != "" {
		t.Error("the declaration was changed")
	}
}

// Somebody switched a token off, maybe for good reasons: it is told and left.
func TestDisabledTokenIsTold(t *testing.T) {
	record := recordOf(1, testToken("ci", rotatedZone), TokenConfirmed)
	live := liveToken(record)
	live.Status = "disabled"
	plan := planAt(january, listedAs([]TokenRecord{record}, live), testToken("ci", rotatedZone))
	if len(plan.Changes) != 0 || !slices.ContainsFunc(plan.Findings, func(f Finding) bool { return f.Kind == Disabled && f.Token == "ci" }) {
		t.Errorf("changes %+v, findings %+v", plan.Changes, plan.Findings)
	}
}

func TestOwnCredentialExpires(t *testing.T) {
	live := listedAs(nil)
	live.Platform.Credential = edge.Token{ID: "own", TokenSpec: edge.TokenSpec{ExpiresOn: "2026-01-03T00:00:00Z"}}
	plan := planAt(january, live)
	if soon := plan.Expiring(january, 72*time.Hour); len(soon) != 1 || soon[0].Token != "credentials.tokens" {
		t.Errorf("expiring %+v", soon)
	}
}

func TestUpdateThatIsNotKeptIsNotSentAgain(t *testing.T) {
	a, b := testToken("ci-dns", rotatedZone), testToken("ci-dns", "000000000000000000000000000000bb")
	record := recordOf(1, a, TokenConfirmed)
	plan := planAt(january, listedAs([]TokenRecord{record}, liveToken(record)), b)
	facts := Facts{NonConvergentTokens: map[edge.TokenID]string{"t1": plan.Changes[0].Fingerprint()}}
	if r := Guard(plan, facts).Changes[0].Refused; r == nil || r.Guard != "non_convergent" {
		t.Errorf("refused %+v", r)
	}
	facts.NonConvergentTokens["t1"] = "another"
	if r := Guard(plan, facts).Changes[0].Refused; r != nil {
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
		listed *TokensListed
		id     string
		state  ProblemState
		told   string
	}{
		"by name and scope":    {desired.PermissionGroup{Name: "DNS Write", Scope: "zone"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "g1", "", ""},
		"two of that name":     {desired.PermissionGroup{Name: "WAF Write", Scope: "zone"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "", Blocked, "2 permission groups \"WAF Write\" (zone): g3 (" + zone + "); g4 (" + zone + ", " + account + ")"},
		"misspelt":             {desired.PermissionGroup{Name: "DNS Wrote", Scope: "zone"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "", Blocked, "no permission group \"DNS Wrote\" (zone)"},
		"of another scope":     {desired.PermissionGroup{Name: "Details", Scope: "zone"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "", Blocked, "no permission group"},
		"by id":                {desired.PermissionGroup{ID: "g1"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "g1", "", ""},
		"by id, wrong scope":   {desired.PermissionGroup{ID: "g5"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "", Blocked, "is for " + user + ", but its policy has no such resource"},
		"by id, not listed":    {desired.PermissionGroup{ID: "g9"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "g9", "", ""},
		"by id, of no scope":   {desired.PermissionGroup{ID: "g6"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Value: groups}}, "g6", "", ""},
		"groups not read":      {desired.PermissionGroup{Name: "DNS Write", Scope: "zone"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Err: errors.New("503")}}, "", Unknown, "could not be read: 503"},
		"not read, by id":      {desired.PermissionGroup{ID: "g1"}, &TokensListed{Groups: Observed[[]edge.PermissionGroup]{Err: errors.New("503")}}, "g1", "", ""},
		"not offered":          {desired.PermissionGroup{Name: "DNS Write", Scope: "zone"}, nil, "", Blocked, "declared without its id"},
		"not offered, with id": {desired.PermissionGroup{ID: "g1", Scope: "zone"}, nil, "g1", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			token := testToken("ci-dns", rotatedZone)
			c.group.Origin = at(33)
			token.Policies[0].PermissionGroups = []desired.PermissionGroup{c.group}
			plan := planAt(january, TokensLive{Platform: c.listed}, token)
			if c.state == "" {
				if len(plan.Changes) != 1 || plan.Changes[0].Creation.Spec.Policies[0].PermissionGroups[0].ID != c.id {
					t.Errorf("changes %+v, problems %+v", plan.Changes, plan.Problems)
				}
				return
			}
			if len(plan.Problems) != 1 || plan.Problems[0].State != c.state || !strings.Contains(plan.Problems[0].Reason, c.told) || plan.Problems[0].Hint == "" && c.state == Blocked || plan.Problems[0].Origin != at(33) {
				t.Errorf("problems %+v", plan.Problems)
			}
		})
	}
}

// An adopted token that rotates keeps the end that the platform says it has, until
// its successor is due.
func TestAdoptedTokenKeepsItsEnd(t *testing.T) {
	token := rotating(testToken("ci", rotatedZone), 720*time.Hour, 48*time.Hour)
	record := recordOf(1, token, TokenConfirmed)
	record.At = january
	live := liveToken(record)
	live.ExpiresOn = "2026-01-20T00:00:00Z"
	if plan := planAt(january, listedAs([]TokenRecord{record}, live), token); len(plan.Changes) != 0 || plan.SettledTokens[0].Spec.ExpiresOn != live.ExpiresOn {
		t.Errorf("changes %+v, settled %+v", plan.Changes, plan.SettledTokens)
	}
	at := time.Date(2026, 1, 18, 0, 0, 0, 0, time.UTC)
	if got := actions(planAt(at, listedAs([]TokenRecord{record}, live), token)); !slices.Equal(got, []string{"rotate"}) {
		t.Errorf("48 hours before its end plans %v", got)
	}
}

// What rotation left behind ends by itself, unless somebody moved its end.
func TestMovedEndOfAPredecessor(t *testing.T) {
	token := rotating(testToken("ci", rotatedZone), 720*time.Hour, 48*time.Hour)
	first, second := generation(1, token, january), generation(2, token, january.Add(720*time.Hour))
	moved := liveToken(first)
	moved.ExpiresOn = "2040-01-01T00:00:00Z"
	now := january.Add(770 * time.Hour)
	first.Spec.ExpiresOn = "2026-02-20T00:00:00Z" // its end is still to come
	if got := actions(planAt(now, listedAs([]TokenRecord{first, second}, liveToken(first), liveToken(second)), token)); len(got) != 0 {
		t.Errorf("plans %v", got)
	}
	if got := actions(planAt(now, listedAs([]TokenRecord{first, second}, moved, liveToken(second)), token)); !slices.Equal(got, []string{"orphan"}) {
		t.Errorf("with its end moved plans %v", got)
	}
	token.Prune = true
	if got := actions(planAt(now, listedAs([]TokenRecord{first, second}, moved, liveToken(second)), token)); !slices.Equal(got, []string{"delete"}) {
		t.Errorf("with its end moved, and prune, plans %v", got)
	}
}

func TestUpdatesAreGuarded(t *testing.T) {
	token := testToken("ci", rotatedZone)
	record := recordOf(1, token, TokenConfirmed)
	for guard, change := range map[string]func(*desired.Token){
		"name":    func(d *desired.Token) { d.Name = strings.Repeat("x", 121) },
		"expired": func(d *desired.Token) { d.ExpiresOn = "2025-12-31T00:00:00Z" },
	} {
		changed := token
		change(&changed)
		plan := Guard(planAt(january, listedAs([]TokenRecord{record}, liveToken(record)), changed), Facts{Now: january})
		if c := plan.Changes[0]; c.Action != ActionUpdate || c.Refused == nil || c.Refused.Guard != guard || plan.Summary.TokensToUpdate != 0 {
			t.Errorf("%s: %s refused %+v", guard, c.Action, c.Refused)
		}
	}
}

func TestSummaryCountsTokens(t *testing.T) {
	a, b, c := testToken("a", rotatedZone), testToken("b", rotatedZone), testToken("c", rotatedZone)
	ra, rb := recordOf(1, a, TokenConfirmed), recordOf(2, b, TokenConfirmed)
	rb.Prune = true
	changed := testToken("a", "000000000000000000000000000000bb")
	plan := planAt(january, listedAs([]TokenRecord{ra, rb}, liveToken(ra), liveToken(rb)), changed, c)
	if got := plan.Summary.String(); got != "0 zones; 2 tokens, 1 to create, 1 to update, 1 to delete" {
		t.Errorf("got %q", got)
	}
}
