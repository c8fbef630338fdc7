package sim_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
	"github.com/seawall-dev/seawall/integration/must"
)

const nowhere = "ffffffffffffffffffffffffffffffff"

// Failures are held to their bytes: other people's clients will be.
func TestFailuresByteForByte(t *testing.T) {
	r := start(t, sim.Config{})
	shop := r.Platform.State().Zones[0].EntryPoint
	update := func(zone edge.Scope, ruleset edge.RulesetID, rule edge.RuleID) string {
		return "PATCH " + edge.RulePath(zone, ruleset, rule)
	}
	one := func(object string) string {
		return `{"result":null,"success":false,"errors":[` + object + `],"messages":[]}`
	}
	for _, test := range []struct {
		call   string
		status int
		want   string
	}{
		{"GET " + edge.RulesetsPath(edge.AccountScope(nowhere)), 404, `{"code":10001,"message":"could not find account ` + nowhere + `"}`},
		{"GET " + edge.RulesetPath(edge.AccountScope(mem.Account), nowhere), 404, `{"code":10001,"message":"could not find ruleset ` + nowhere + `"}`},
		{"GET " + edge.EntryPointPath(edge.ZoneScope(nowhere), edge.PhaseFirewallManaged), 404, `{"code":10001,"message":"could not find zone ` + nowhere + `"}`},
		{"GET " + newPath, 404, `{"code":10003,"message":"could not find entrypoint ruleset in the \"http_request_firewall_managed\" phase"}`},
		{update(edge.ZoneScope(nowhere), shop.ID, shop.Rules[0].ID), 404, `{"code":10001,"message":"could not find zone ` + nowhere + `"}`},
		{update(mem.ShopZone, nowhere, shop.Rules[0].ID), 404, `{"code":10001,"message":"could not find ruleset ` + nowhere + `"}`},
		{update(mem.ShopZone, shop.ID, nowhere), 404, `{"code":10001,"message":"could not find rule ` + nowhere + `"}`},
		{"GET /zones", 404, `{"code":7003,"message":"could not route to this path"}`},
		{"GET " + edge.TokensPath(), 405, `{"code":7003,"message":"method not allowed"}`},
		{"DELETE " + shopPath, 405, `{"code":7003,"message":"method not allowed"}`},
		{"HEAD " + shopPath, 405, ``},
	} {
		method, path, _ := strings.Cut(test.call, " ")
		body := ""
		if method == "PATCH" {
			body = anUpdate
		}
		want := test.want
		if want != "" {
			want = one(want)
		}
		got := call(t, r, method, path, body)
		got.want(t, test.status, want)
		if got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: Content-Type %s", test.call, got.header.Get("Content-Type"))
		}
	}
	outside, err := send(t, "GET", strings.TrimSuffix(r.BaseURL, "/client/v4")+"/elsewhere", "", "Authorization: Bearer "+r.RulesetsToken.Reveal())
	must.Do(t, err)
	outside.want(t, 404, one(`{"code":7003,"message":"could not route to /elsewhere"}`))
}

func TestAuthentication(t *testing.T) {
	r := start(t, sim.Config{})
	const malformed = `{"result":null,"success":false,"errors":[{"code":6003,"message":"invalid request headers",` +
		`"error_chain":[{"code":6111,"message":"invalid format for Authorization header"}]}],"messages":[]}`
	const unknown = `{"result":null,"success":false,"errors":[{"code":1000,"message":"invalid API token"}],"messages":[]}`
	for header, want := range map[string]struct {
		status int
		body   string
	}{
		"X-None: 1":                                {400, malformed},
		"Authorization: Basic YTpi":                {400, malformed},
		"Authorization: Bearer":                    {400, malformed},
		"Authorization: Bearer two words":          {400, malformed},
		"Authorization: Bearer sim-something":      {401, unknown},
		"Authorization: bearer sim-rulesets-token": {400, malformed},
	} {
		got, err := send(t, "GET", r.BaseURL+shopPath, "", header)
		must.Do(t, err)
		got.want(t, want.status, want.body)
	}
	for _, token := range []edge.Secret{r.RulesetsToken, r.TokensToken} {
		got, err := send(t, "GET", r.BaseURL+shopPath, "", "Authorization: Bearer "+token.Reveal())
		if err != nil || got.status != 200 {
			t.Errorf("%d %v", got.status, err)
		}
	}
}

func TestReadsAreTheState(t *testing.T) {
	r := start(t, sim.Config{})
	state := r.Platform.State()
	if diff := cmp.Diff(*state.Zones[1].EntryPoint, result[edge.Ruleset](t, call(t, r, "GET", blogPath, ""))); diff != "" {
		t.Errorf("entry point:\n%s", diff)
	}
	if diff := cmp.Diff(state.Accounts[0].Rulesets[2], result[edge.Ruleset](t, call(t, r, "GET", corePath, ""))); diff != "" {
		t.Errorf("managed ruleset:\n%s", diff)
	}
	list := call(t, r, "GET", listPath, "")
	if got := result[[]edge.Ruleset](t, list); len(got) != 3 || strings.Contains(list.body, `"rules"`) || strings.Contains(list.body, "result_info") {
		t.Errorf("list of %d: %s", len(got), list.body)
	}
}

func TestUpdateRefused(t *testing.T) {
	r := start(t, sim.Config{})
	path := rulePath(t, r, mem.ShopZone)
	call(t, r, "PATCH", path, `{"action":"execute","expression":""}`).want(t, 400,
		`{"result":null,"success":false,"errors":[`+
			`{"code":20125,"message":"the expression must not be blank","source":{"pointer":"/expression"}},`+
			`{"code":20106,"message":"the action execute requires action parameters","source":{"pointer":"/action_parameters"}}],"messages":[]}`)
	// An empty list is not a missing one: it must arrive as it was sent.
	got := call(t, r, "PATCH", path, strings.Replace(anUpdate, `"rules":[`, `"categories":[],"rules":[`, 1))
	if got.status != 400 || !strings.Contains(got.body, `"pointer":"/action_parameters/overrides/categories"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		headers := []string{"Authorization: Bearer " + r.RulesetsToken.Reveal()}
		if contentType != "" {
			headers = append(headers, "Content-Type: "+contentType)
		}
		got, err := send(t, "PATCH", r.BaseURL+path, anUpdate, headers...)
		if err != nil || got.status != 400 || !strings.Contains(got.body, "Content-Type") {
			t.Errorf("%q: %d %s %v", contentType, got.status, got.body, err)
		}
	}
	if version := shopVersion(t, r); version != "1" {
		t.Errorf("version %s: a refused update was stored", version)
	}
	ok, err := send(t, "PATCH", r.BaseURL+path, anUpdate, "Authorization: Bearer "+r.RulesetsToken.Reveal(), "Content-Type: application/json; charset=utf-8")
	if err != nil || ok.status != 200 {
		t.Errorf("a charset: %d %s %v", ok.status, ok.body, err)
	}
}

func TestTooLargeABody(t *testing.T) {
	r := start(t, sim.Config{})
	got := call(t, r, "PATCH", rulePath(t, r, mem.ShopZone), `"`+strings.Repeat("x", 16<<20)+`"`)
	got.want(t, 413, `{"result":null,"success":false,"errors":[{"code":10020,"message":"the request body is too large"}],"messages":[]}`)
}

func TestPaging(t *testing.T) {
	r := start(t, sim.Config{PageSize: 2})
	type page struct {
		Result []edge.Ruleset `json:"result"`
		Info   struct {
			Count   int `json:"count"`
			PerPage int `json:"per_page"`
			Cursors struct {
				After string `json:"after"`
			} `json:"cursors"`
		} `json:"result_info"`
	}
	for perPage, sizes := range map[string][]int{"": {2, 1}, "1": {1, 1, 1}, "3": {3}} {
		var ids []edge.RulesetID
		cursor := ""
		for i, size := range sizes {
			var p page
			call(t, r, "GET", listPath+"?per_page="+perPage+"&cursor="+cursor, "").decode(t, &p)
			if len(p.Result) != size || (p.Info.Cursors.After == "") != (i == len(sizes)-1) {
				t.Fatalf("per_page=%s, page %d: %d rulesets, %+v", perPage, i, len(p.Result), p.Info)
			}
			for _, ruleset := range p.Result {
				ids = append(ids, ruleset.ID)
			}
			cursor = p.Info.Cursors.After
		}
		if diff := cmp.Diff([]edge.RulesetID{mem.CredentialsRuleset, mem.CustomRuleset, mem.CoreRuleset}, ids); diff != "" {
			t.Errorf("per_page=%s:\n%s", perPage, diff)
		}
	}
	for _, query := range []string{"per_page=0", "per_page=many", "per_page=1001", "cursor=3", "cursor=YWZ0ZXI6"} {
		if got := call(t, r, "GET", listPath+"?"+query, ""); got.status != 400 {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// A client that gives up does not take back what it has sent.
func TestRequestIsCarriedOutForAClientThatHasGone(t *testing.T) {
	r := start(t, sim.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req := httptest.NewRequestWithContext(ctx, "PATCH", "/client/v4"+rulePath(t, r, mem.ShopZone), strings.NewReader(anUpdate))
	req.Header.Set("Authorization", "Bearer "+r.RulesetsToken.Reveal())
	req.Header.Set("Content-Type", "application/json")
	r.Handler().ServeHTTP(httptest.NewRecorder(), req)
	if version := shopVersion(t, r); version != "2" {
		t.Errorf("version %s", version)
	}
}
