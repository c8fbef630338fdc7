package mem_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

func vendor(t *testing.T) *mem.Platform { return start(t, mem.Config{Profile: mem.Vendor}) }

// pointers are where an error points to.
func pointers(t *testing.T, err error) []string {
	t.Helper()
	var e *edge.Error
	if !errors.As(err, &e) || e.Status != 400 {
		t.Errorf("got %v", err)
		return nil
	}
	var at []string
	for _, d := range e.Details {
		at = append(at, d.Source.Pointer)
	}
	return at
}

const executeCore = `"action":"execute","expression":"true","action_parameters":{"id":"` + string(mem.CoreRuleset) + `"`

func TestVendorRefusesRules(t *testing.T) {
	last := "c04e0000000000000000000100000018" // of the core ruleset, with a score
	for body, want := range map[string][]string{
		`{` + executeCore + `},"enabled":true}`:                                                                         nil,
		`{` + executeCore + `},"expression":"(true"}`:                                                                   {"/expression"},
		`{"action":"exekute","expression":"true"}`:                                                                      {"/action"},
		`{` + executeCore + `},"enabeld":true}`:                                                                         {"/enabeld"},
		`{` + executeCore + `,"response":{}}}`:                                                                          {"/action_parameters/response"},
		`{"action":"log","expression":"true","action_parameters":{"id":"x"}}`:                                           {"/action", "/action_parameters"},
		`{"action":"execute","expression":"true","action_parameters":{"id":"deadbeefdeadbeefdeadbeefdeadbeef"}}`:        {"/action_parameters/id"},
		`{` + executeCore + `,"version":"1"}}`:                                                                          nil,
		`{` + executeCore + `,"version":"7"}}`:                                                                          {"/action_parameters/version"},
		`{` + executeCore + `,"overrides":{"rules":[{"id":"` + last + `","score_threshold":60}]}}}`:                     nil,
		`{` + executeCore + `,"overrides":{"rules":[{"id":"` + last + `","score_threshold":-1}]}}}`:                     {"/action_parameters/overrides/rules/0/score_threshold"},
		`{` + executeCore + `,"overrides":{"rules":[{"id":"c04e0000000000000000000100000001","score_threshold":60}]}}}`: {"/action_parameters/overrides/rules/0/score_threshold"},
		`{` + executeCore + `,"overrides":{"categories":[{"category":"xss","enabled":false,"x":1}]}}}`:                  {"/action_parameters/overrides/categories/0/x"},
		`{` + executeCore + `,"overrides":{"action":"drop"}}}`:                                                          {"/action_parameters/overrides/action"},
	} {
		p := vendor(t)
		shop := entryPoint(t, p, mem.ShopZone)
		answer, err := p.In(mem.ShopZone, false).UpdateRule(t.Context(), shop.ID, shop.Rules[0].ID, []byte(body))
		if want == nil {
			if err != nil || answer == nil {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		if diff := cmp.Diff(want, pointers(t, err)); diff != "" {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
}

func TestVendorRefusesRulesets(t *testing.T) {
	p := vendor(t)
	zone := p.In(mem.NewZone, false)
	for body, want := range map[string][]string{
		`{"name":"x","kind":"zone","phase":"http_request_firewal_managed"}`:           {"/phase"},
		`{"name":"x","kind":"root","phase":"http_request_firewall_managed"}`:          {"/kind"},
		`{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rule":[]}`: {"/rule"},
		`{"kind":"zone"}`: {"/name", "/phase"},
		`{"name":"x","kind":"zone","phase":"http_request_firewall_managed","rules":[{` + executeCore + `}},{` + executeCore + `}}]}`: {"/rules/1/action_parameters/id"},
	} {
		_, err := zone.Create(t.Context(), []byte(body))
		if diff := cmp.Diff(want, pointers(t, err)); diff != "" {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
	shop := entryPoint(t, p, mem.ShopZone)
	_, err := p.Send(t.Context(), edge.AddRule(mem.ShopZone, shop.ID, edge.Rule{
		Action: edge.ActionExecute, Expression: "true", ActionParameters: &edge.ActionParameters{ID: mem.CoreRuleset},
	}))
	if at := pointers(t, err); !slices.Equal(at, []string{"/rules/1/action_parameters/id"}) {
		t.Errorf("a second deployment: %v", err)
	}
	_, err = p.Send(t.Context(), edge.CreateEntryPoint(mem.FreeZone, edge.PhaseFirewallManaged, edge.Rule{
		Action: edge.ActionExecute, Expression: "true", ActionParameters: &edge.ActionParameters{ID: mem.CoreRuleset},
	}))
	if !errors.Is(err, edge.ErrNotEntitled) || !errors.Is(err, edge.ErrInvalid) {
		t.Errorf("a zone without the plan: %v", err)
	}
}

// An account deploys a ruleset as often as it likes, in Enterprise zones alone.
func TestVendorAccountDeploysTwice(t *testing.T) {
	account := vendor(t).In(edge.AccountScope(mem.Account), false)
	body := `{"name":"x","kind":"root","phase":"http_request_firewall_managed","rules":[{` + executeCore + `}},{` + executeCore + `}}]}`
	_, err := account.Create(t.Context(), []byte(body))
	if at := pointers(t, err); !slices.Equal(at, []string{"/rules/0/expression", "/rules/1/expression"}) {
		t.Errorf("in all zones: %v", err)
	}
	made, err := account.Create(t.Context(), []byte(strings.ReplaceAll(body, `"true"`, `"cf.zone.plan eq \"ENT\""`)))
	if err != nil || len(made.Rules) != 2 || made.Kind != edge.KindRoot {
		t.Errorf("%+v, %v", made, err)
	}
}

func TestVendorRefusesTokens(t *testing.T) {
	p := vendor(t)
	token := func(groups, resources string) string {
		return `{"name":"x","policies":[{"effect":"allow","resources":{` + resources + `},"permission_groups":[` + groups + `]}]}`
	}
	const zones, accounts = `"com.vendor.api.account.zone.*":"*"`, `"com.vendor.api.account.*":"*"`
	const rules, logs = `{"id":"` + mem.RulesGroup + `"}`, `{"id":"` + mem.AccountLogsGroup + `"}`
	for body, want := range map[string][]string{
		token(rules, zones):                       nil,
		token(rules+","+logs, zones+","+accounts): nil,
		token(rules, `"com.vendor.api.account.`+string(mem.Account)+`":{"com.vendor.api.account.zone.*":"*"}`): nil,
		token(rules, accounts):           {"/policies/0/permission_groups/0"},
		token(rules, zones+","+accounts): {"/policies/0/resources/com.vendor.api.account.*"},
		token(`{"id":"f00d"}`, zones):    {"/policies/0/permission_groups/0/id"},
		strings.Replace(token(rules, zones), `"name"`, `"expires_on":"2024-01-01T00:00:00Z","name"`, 1): {"/expires_on"},
	} {
		_, err := p.CreateTokenJSON(t.Context(), []byte(body))
		if want == nil {
			if err != nil {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		if diff := cmp.Diff(want, pointers(t, err)); diff != "" {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
	own := p.AccountTokens(mem.Staging)
	for resource, ok := range map[string]bool{
		`"com.vendor.api.account.zone.` + mem.StagingZone.String() + `":"*"`: true, zones: false,
		`"com.vendor.api.account.zone.` + mem.ShopZone.String() + `":"*"`: false,
	} {
		if _, err := own.CreateTokenJSON(t.Context(), []byte(token(rules, resource))); (err == nil) != ok {
			t.Errorf("a token of an account with %s: %v", resource, err)
		}
	}
	before := len(p.Tokens())
	list, err := own.UserTokens(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != mem.StagingToken {
		t.Errorf("the account has %v, %v", list, err)
	}
	if _, err := p.UserToken(t.Context(), list[1].ID); !errors.Is(err, edge.ErrNotFound) {
		t.Errorf("the user has a token of the account: %v", err)
	}
	if err := own.DeleteToken(t.Context(), list[1].ID); err != nil || len(p.Tokens()) != before-1 {
		t.Error(err)
	}
}

// In the profile documented overrides have the five actions of the reference.
func TestDocumentedActions(t *testing.T) {
	p := start(t, mem.Config{})
	shop := entryPoint(t, p, mem.ShopZone)
	for _, overrides := range []string{`"action":"skip"`, `"categories":[{"category":"xss","action":"allow"}]`, `"rules":[{"id":"x","action":"log"},{"id":"y","action":"simulate"}]`} {
		_, err := p.In(mem.ShopZone, false).UpdateRule(t.Context(), shop.ID, shop.Rules[0].ID, []byte(`{`+executeCore+`,"overrides":{`+overrides+`}}}`))
		if at := pointers(t, err); len(at) != 1 || !strings.HasSuffix(at[0], "/action") {
			t.Errorf("%s: %v", overrides, err)
		}
	}
}

// Rules that are replaced keep their ids and versions where they are the same.
func TestReplacedRulesKeepTheirIDs(t *testing.T) {
	zone := vendor(t).In(mem.ShopZone, false)
	made, err := zone.Create(t.Context(), []byte(`{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[
		{"action":"log","expression":"true","ref":"a"},{"action":"log","expression":"false","ref":"b"}]}`))
	must.Do(t, err)
	a, b := made.Rules[0], made.Rules[1]
	body, err := json.Marshal(map[string]any{"rules": []any{
		map[string]any{"action": "log", "expression": "false", "ref": "b"},
		map[string]any{"action": "block", "expression": "true", "id": a.ID},
		map[string]any{"action": "block", "expression": "true"},
	}})
	must.Do(t, err)
	next, err := zone.Replace(t.Context(), made.ID, body)
	if err != nil || len(next.Rules) != 3 {
		t.Fatalf("%+v, %v", next, err)
	}
	if next.Rules[0].ID != b.ID || next.Rules[0].Version != "1" || next.Rules[1].ID != a.ID || next.Rules[1].Version != "2" || next.Rules[1].Ref != "a" {
		t.Errorf("got %+v", next.Rules)
	}
	_, err = zone.Replace(t.Context(), made.ID, []byte(`{"rules":[{"action":"log","expression":"true","id":"deadbeefdeadbeefdeadbeefdeadbeef"}]}`))
	if at := pointers(t, err); !slices.Equal(at, []string{"/rules/0/id"}) {
		t.Error(err)
	}
}

func TestPositions(t *testing.T) {
	zone := vendor(t).In(mem.ShopZone, false)
	made, err := zone.Create(t.Context(), []byte(`{"name":"x","kind":"zone","phase":"http_request_firewall_custom","rules":[
		{"action":"log","expression":"true","ref":"a"},{"action":"log","expression":"true","ref":"b"},{"action":"log","expression":"true","ref":"c"}]}`))
	must.Do(t, err)
	a, c := made.Rules[0].ID, made.Rules[2].ID
	for _, step := range []struct {
		rule           edge.RuleID
		position, want string
	}{
		{a, `{"after":"` + string(c) + `"}`, "bca"},
		{a, `{"before":""}`, "abc"},
		{a, `{"after":""}`, "bca"},
		{c, `{"index":1}`, "cba"},
		{c, `{"before":"` + string(a) + `"}`, "bca"},
		{c, `{"index":4}`, ""},
		{c, `{"index":0}`, ""},
		{c, `{"before":"x","after":"y"}`, ""},
		{c, `{"above":"x"}`, ""},
		{c, `{"before":"` + string(c) + `"}`, ""},
	} {
		got, err := zone.UpdateRule(t.Context(), made.ID, step.rule, []byte(`{"position":`+step.position+`}`))
		if step.want == "" {
			if at := pointers(t, err); !slices.Equal(at, []string{"/position"}) {
				t.Errorf("%s: %v", step.position, err)
			}
			continue
		}
		must.Do(t, err)
		order := ""
		for _, r := range got.Rules {
			order += r.Ref
		}
		if order != step.want {
			t.Errorf("%s gives %s, want %s", step.position, order, step.want)
		}
	}
}

// Versions of the past are bounded, and part of the state.
func TestVersionsAreBounded(t *testing.T) {
	p := vendor(t)
	shop, err := p.EntryPoint(t.Context(), mem.ShopZone, edge.PhaseFirewallManaged)
	for range 40 {
		if err == nil {
			_, err = p.Send(t.Context(), edge.UpdateRule(mem.ShopZone, shop.ID, shop.Rules[0].ID, shop.Rules[0].Update()))
		}
	}
	must.Do(t, err)
	copied := start(t, mem.Config{Seed: p.State(), Profile: mem.Vendor})
	for _, platform := range []*mem.Platform{p, copied} {
		all, err := platform.In(mem.ShopZone, false).Versions(t.Context(), shop.ID)
		if err != nil || len(all) != 21 || all[0].Version != "21" || all[20].Version != "41" {
			t.Errorf("%d versions, %v", len(all), err)
		}
	}
}
