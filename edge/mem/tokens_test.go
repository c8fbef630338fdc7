package mem_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

const (
	anAccountKey = `com.vendor.api.account.0123456789abcdef0123456789abcdef`
	aZoneKey     = `com.vendor.api.account.zone.00000000000000000000000000000a01`
	aPolicy      = `{"effect":"allow","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"g"}]}`
	aDeny        = `{"effect":"deny","resources":{"com.vendor.api.account.zone.*":"*"},"permission_groups":[{"id":"g"}]}`
)

func tokenBody(more string) string { return `{"name":"ci","policies":[` + aPolicy + `]` + more + `}` }

func policyBody(members string) string { return `{"name":"ci","policies":[{` + members + `}]}` }

func resourcesBody(resources string) string {
	return policyBody(`"effect":"allow","resources":` + resources + `,"permission_groups":[{"id":"g"}]`)
}

func groupsBody(groups string) string {
	return policyBody(`"effect":"allow","resources":{"com.vendor.api.account.*":"*"},"permission_groups":` + groups)
}

func withUser(t testing.TB, quirks ...string) *mem.Platform { return profiled(t, "", quirks) }

// extended is withUser with all calls.
func extended(t testing.TB, quirks ...string) *mem.Platform {
	return profiled(t, mem.Extended, quirks)
}

func profiled(t testing.TB, profile string, quirks []string) *mem.Platform {
	t.Helper()
	seed := mem.DefaultSeed()
	seed.User = "me"
	p := start(t, mem.Config{Seed: seed, Quirks: quirks, Profile: profile, Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 7, time.FixedZone("", 3600)) }})
	return p
}

func create(t testing.TB, p *mem.Platform, body string) edge.CreatedToken {
	t.Helper()
	created, err := p.CreateTokenJSON(t.Context(), []byte(body))
	must.Do(t, err)
	return created
}

func TestCreateTokenIsRefused(t *testing.T) {
	const account = "/policies/0/resources/" + anAccountKey
	for name, test := range map[string]struct {
		body, pointer string
		code          int
	}{
		"not JSON":                  {`{"name":`, "", 0},
		"null":                      {`null`, "", 0},
		"no name":                   {`{"policies":[` + aPolicy + `]}`, "/name", 0},
		"empty name":                {`{"name":"","policies":[` + aPolicy + `]}`, "/name", 0},
		"blank name":                {`{"name":" ","policies":[` + aPolicy + `]}`, "/name", 0},
		"name of no string":         {`{"name":7,"policies":[` + aPolicy + `]}`, "/name", 0},
		"long name":                 {`{"name":"` + strings.Repeat("ü", 121) + `","policies":[` + aPolicy + `]}`, "/name", 0},
		"no policies":               {`{"name":"ci"}`, "/policies", 0},
		"null policies":             {`{"name":"ci","policies":null}`, "/policies", 0},
		"empty policies":            {`{"name":"ci","policies":[]}`, "/policies", 0},
		"policies of no list":       {`{"name":"ci","policies":{}}`, "/policies", 0},
		"policy of no object":       {`{"name":"ci","policies":["all"]}`, "/policies/0", 0},
		"policy with id":            {policyBody(`"id":"p","effect":"allow","resources":{"com.vendor.api.account.*":"*"},"permission_groups":[{"id":"g"}]`), "/policies/0/id", 1001},
		"second policy with id":     {`{"name":"ci","policies":[` + aPolicy + `,` + strings.Replace(aDeny, "{", `{"id":"p",`, 1) + `]}`, "/policies/1/id", 1001},
		"no effect":                 {policyBody(`"resources":{"com.vendor.api.account.*":"*"},"permission_groups":[{"id":"g"}]`), "/policies/0/effect", 0},
		"other effect":              {strings.Replace(tokenBody(""), "allow", "permit", 1), "/policies/0/effect", 0},
		"a single deny":             {`{"name":"ci","policies":[` + aDeny + `]}`, "/policies/0/effect", 0},
		"no resources":              {policyBody(`"effect":"allow","permission_groups":[{"id":"g"}]`), "/policies/0/resources", 0},
		"empty resources":           {resourcesBody(`{}`), "/policies/0/resources", 0},
		"resources in a list":       {resourcesBody(`["com.vendor.api.account.*"]`), "/policies/0/resources", 0},
		"unknown key":               {resourcesBody(`{"com.vendor.api/x":"*"}`), "/policies/0/resources/com.vendor.api~1x", 0},
		"vendor of another":         {resourcesBody(`{"com.acme.api.account.*":"*"}`), "/policies/0/resources/com.acme.api.account.*", 0},
		"short account":             {resourcesBody(`{"com.vendor.api.account.0123":"*"}`), "/policies/0/resources/com.vendor.api.account.0123", 0},
		"breadth of an account":     {resourcesBody(`{"` + anAccountKey + `":"all"}`), account, 0},
		"nested and more":           {resourcesBody(`{"` + anAccountKey + `":{"com.vendor.api.account.zone.*":"*","` + aZoneKey + `":"*"}}`), account, 0},
		"nested zone":               {resourcesBody(`{"` + anAccountKey + `":{"` + aZoneKey + `":"*"}}`), account, 0},
		"nested under all accounts": {resourcesBody(`{"com.vendor.api.account.*":{"com.vendor.api.account.zone.*":"*"}}`), "/policies/0/resources/com.vendor.api.account.*", 0},
		"another user":              {resourcesBody(`{"com.vendor.api.user.you":"*"}`), "/policies/0/resources/com.vendor.api.user.you", 0},
		"all users":                 {resourcesBody(`{"com.vendor.api.user.*":"*"}`), "/policies/0/resources/com.vendor.api.user.*", 0},
		"no groups":                 {policyBody(`"effect":"allow","resources":{"com.vendor.api.account.*":"*"}`), "/policies/0/permission_groups", 0},
		"empty groups":              {groupsBody(`[]`), "/policies/0/permission_groups", 0},
		"groups of no list":         {groupsBody(`"g"`), "/policies/0/permission_groups", 0},
		"group of no object":        {groupsBody(`["g"]`), "/policies/0/permission_groups/0", 0},
		"group without id":          {groupsBody(`[{"id":"g"},{"name":"DNS Write"}]`), "/policies/0/permission_groups/1/id", 0},
		"group with a long id":      {groupsBody(`[{"id":"` + strings.Repeat("g", 33) + `"}]`), "/policies/0/permission_groups/0/id", 0},
		"time with an offset":       {tokenBody(`,"not_before":"2026-01-01T00:00:00+01:00"`), "/not_before", 0},
		"time with a fraction":      {tokenBody(`,"not_before":"2026-01-01T00:00:00.5Z"`), "/not_before", 0},
		"no such day":               {tokenBody(`,"expires_on":"2026-02-30T00:00:00Z"`), "/expires_on", 0},
		"empty time":                {tokenBody(`,"expires_on":""`), "/expires_on", 0},
		"time as a number":          {tokenBody(`,"expires_on":1767225600`), "/expires_on", 0},
		"ends when it begins":       {tokenBody(`,"not_before":"2026-01-01T00:00:00Z","expires_on":"2026-01-01T00:00:00Z"`), "/expires_on", 0},
		"unknown condition":         {tokenBody(`,"condition":{"request.country":{"in":["DE"]}}`), "/condition/request.country", 0},
		"condition in words":        {tokenBody(`,"condition":"none"`), "/condition", 0},
		"another filter":            {tokenBody(`,"condition":{"request.ip":{"in":["192.0.2.0/24"],"countries":["DE"]}}`), "/condition/request.ip/countries", 0},
		"filter in a list":          {tokenBody(`,"condition":{"request.ip":["192.0.2.0/24"]}`), "/condition/request.ip", 0},
		"a lone address":            {tokenBody(`,"condition":{"request.ip":{"in":["192.0.2.0/24","192.0.2.1"]}}`), "/condition/request.ip/in/1", 0},
		"no address":                {tokenBody(`,"condition":{"request_ip":{"not_in":["home"]}}`), "/condition/request_ip/not_in/0", 0},
		"range as a number":         {tokenBody(`,"condition":{"request.ip":{"in":[24]}}`), "/condition/request.ip/in/0", 0},
	} {
		p := withUser(t)
		before := p.State()
		_, err := p.CreateTokenJSON(t.Context(), []byte(test.body))
		var e *edge.Error
		if !errors.As(err, &e) || !errors.Is(err, edge.ErrInvalid) || e.Status != 400 {
			t.Errorf("%s: %v is no refusal", name, err)
			continue
		}
		if len(e.Details) != 1 || e.Code() != test.code || e.Details[0].Source.Pointer != test.pointer || e.Details[0].Message == "" {
			t.Errorf("%s: %v", name, e)
		}
		if diff := cmp.Diff(before, p.State()); diff != "" {
			t.Errorf("%s: the state changed all the same:\n%s", name, diff)
		}
	}
}

func TestRefusedTokenTellsEveryProblem(t *testing.T) {
	_, err := withUser(t).CreateTokenJSON(t.Context(), []byte(
		`{"policies":[{"id":"p","effect":"deny","resources":{},"permission_groups":[{}]}],"expires_on":"soon","condition":{"request.ip":{"in":["x"]}}}`))
	want := []string{
		"/name", "/policies/0/id", "/policies/0/resources", "/policies/0/permission_groups/0/id", "/policies/0/effect",
		"/expires_on", "/condition/request.ip/in/0",
	}
	if diff := cmp.Diff(want, pointers(t, err)); diff != "" {
		t.Error(diff)
	}
}

func TestCreateTokenFillsInWhatThePlatformWrites(t *testing.T) {
	p := withUser(t)
	created := create(t, p, `{"name":"ci","not_before":"2026-01-01T00:00:00Z","expires_on":"2027-01-01T00:00:00Z","unknown":1,`+
		`"condition":{"request_ip":{"in":["192.0.2.7/24","2001:db8::/32"]}},"policies":[`+
		`{"effect":"allow","resources":{"com.vendor.api.user.me":"*"},"permission_groups":[{"id":"z"},{"id":"`+mem.TokensGroup+`","name":"mine"},{"id":"a"}]},`+aDeny+`]}`)
	if !edge.ValidID(string(created.ID)) || !strings.HasPrefix(created.Value.Reveal(), mem.SecretPrefix) || len(created.Value.Reveal()) < 40 {
		t.Errorf("id %q, a value of %d bytes", created.ID, len(created.Value.Reveal()))
	}
	if created.Status != "active" || created.IssuedOn != "2026-05-01T11:00:00Z" || created.ModifiedOn != created.IssuedOn || created.LastUsedOn != "" {
		t.Errorf("%+v", created.Token)
	}
	if diff := cmp.Diff([]string{"192.0.2.7/24", "2001:db8::/32"}, created.Condition.RequestIP.In); diff != "" {
		t.Error(diff)
	}
	i := slices.IndexFunc(created.Policies, func(p edge.Policy) bool { return p.Effect == edge.Allow })
	want := []edge.PermissionGroup{
		{ID: mem.TokensGroup, Name: "API Tokens Write", Scopes: []string{"com.vendor.api.user"}, Meta: json.RawMessage(`{"key":"tokens","value":"write"}`)}, {ID: "a"}, {ID: "z"},
	}
	if diff := cmp.Diff(want, created.Policies[i].PermissionGroups); diff != "" {
		t.Error(diff)
	}
	if ids := []string{created.Policies[0].ID, created.Policies[1].ID}; !edge.ValidID(ids[0]) || !edge.ValidID(ids[1]) || ids[0] >= ids[1] {
		t.Errorf("ids of policies %v", ids)
	}
	tokens := p.Tokens()
	if stored := tokens[len(tokens)-1]; len(tokens) != 3 || stored.ID != string(created.ID) || stored.Value != created.Value.Reveal() {
		t.Errorf("stored %+v", stored)
	}
}

// An empty list is not a missing one: it keeps everybody out and must not get
// lost on the way into the state.
func TestEmptyListOfAddressesIsKept(t *testing.T) {
	p := withUser(t)
	created := create(t, p, tokenBody(`,"condition":{"request.ip":{"in":[]}}`))
	_, spec, ok := p.TokenByValue(created.Value)
	if !ok || spec.Condition == nil || spec.Condition.RequestIP == nil || spec.Condition.RequestIP.In == nil {
		t.Errorf("%v %+v", ok, spec)
	}
	if spec := create(t, p, tokenBody(`,"condition":{},"not_before":null`)).TokenSpec; spec.Condition != nil || spec.NotBefore != "" {
		t.Errorf("%+v", spec)
	}
}

func TestTokensHaveAQuota(t *testing.T) {
	p := newPlatform(t)
	for range mem.MaxTokens - len(mem.DefaultTokens()) {
		create(t, p, tokenBody(""))
	}
	before := p.Tokens()
	if _, err := p.CreateTokenJSON(t.Context(), []byte(tokenBody(""))); !errors.Is(err, edge.ErrInvalid) {
		t.Errorf("one too many: %v", err)
	}
	if diff := cmp.Diff(before, p.Tokens()); diff != "" || len(before) != mem.MaxTokens {
		t.Errorf("%d tokens\n%s", len(before), diff)
	}
}

func TestTokenByValue(t *testing.T) {
	p := newPlatform(t)
	created := create(t, p, groupsBody(`[{"id":"`+mem.RulesGroup+`"}]`))
	token, spec, ok := p.TokenByValue(created.Value)
	if !ok || token.ID != string(created.ID) || len(spec.Policies[0].PermissionGroups[0].Scopes) != 1 {
		t.Errorf("%v %+v %+v", ok, token, spec)
	}
	for _, value := range []string{"", "sim-token-", created.Value.Reveal() + "x"} {
		if _, _, ok := p.TokenByValue(edge.NewSecret(value)); ok {
			t.Errorf("%q signs in", value)
		}
	}
}

func TestSeededTokensAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`"policies":[{"id":"p","effect":"allow"}]`: "/policies/0/resources",
		`"policies":{}`: "policies must be an array",
		`"condition":{"request.ip":{"in":["x"]}}`: "not a range",
		`"expires_on":"soon"`:                     "not a time in UTC",
	} {
		_, err := mem.ReadSeed(strings.NewReader(`{"tokens":[{"id":"a",` + text + `}]}`))
		if err == nil || !strings.Contains(err.Error(), "token a: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Law: whatever is created, ids and secrets are all different, the state is a
// seed of an equal platform, and that goes on without repeating one.
func TestLawCreatedTokensAreNeverTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := start(t, mem.Config{})
		seen := map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "creations") {
			if rapid.Bool().Draw(t, "restart") {
				p = start(t, mem.Config{Seed: p.State()})
			}
			body := fmt.Sprintf(`{"name":%q,"policies":[%s]}`, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), aPolicy)
			created, err := p.CreateTokenJSON(t.Context(), []byte(body))
			must.Do(t, err)
			for _, text := range []string{string(created.ID), created.Value.Reveal(), created.Policies[0].ID} {
				if seen[text] {
					t.Fatalf("%s is there twice", created.ID)
				}
				seen[text] = true
			}
		}
		q := start(t, mem.Config{Seed: p.State()})
		if diff := cmp.Diff(p.State(), q.State()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// How the parameters of an endpoint are called does not matter, and what is no parameter does.
func TestPermission(t *testing.T) {
	seed := mem.DefaultSeed()
	seed.EndpointPermissions = map[string]string{"GET /zones/{zone_id}": "read", "GET /zones/{z}": "second", "GET /a/{b": "open", "GET /{a}/b/{c}": "two"}
	p, err := mem.New(mem.Config{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	for endpoint, want := range map[string]string{
		"GET /zones/{id}": "read", "GET /zones/{}": "read", "GET /zones/id": "", "PUT /zones/{id}": "", "GET /zones/{id}/": "",
		"GET /a/{b": "open", "GET /a/{c": "", "GET /{x}/b/{y}": "two", "GET /{x}/b/y": "", "": "",
	} {
		if got := p.Permission(endpoint); got != want {
			t.Errorf("%q needs %q, want %q", endpoint, got, want)
		}
	}
}
