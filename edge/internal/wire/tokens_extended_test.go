package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

var dialects = []Dialect{{}, {Vendor: "acme"}, {"cloudflare", ConditionNewer}}

// answerWith is a successful answer with this result, in a dialect's own words.
func answerWith(t *testing.T, d Dialect, result any, err error) Response {
	t.Helper()
	must.Do(t, err)
	env, err := EncodeResult(result, nil)
	must.Do(t, err)
	body, err := env.Bytes()
	must.Do(t, err)
	if d.Vendor != "" && strings.Contains(string(body), "com.vendor.") {
		t.Errorf("the nouns' spelling is on the wire: %s", body)
	}
	if d.ConditionKey == ConditionNewer && strings.Contains(string(body), ConditionReference) {
		t.Errorf("the other key is on the wire: %s", body)
	}
	return Response{Call: "GET /user/tokens", Status: 200, Body: body}
}

// What one side writes of tokens and groups the other reads, in every dialect.
func TestTokensAreReadBackWhole(t *testing.T) {
	token := aToken()
	token.Policies[0].PermissionGroups[0].Scopes = []string{"com.vendor.api.account.zone", "com.vendor.api.account", "other"}
	groups := []edge.PermissionGroup{{ID: "g", Name: "Zone Read", Scopes: []string{"com.vendor.api.account.zone"}}, {ID: "h", Name: "Zone Read"}}
	for _, d := range dialects {
		result, err := d.EncodeToken(token)
		got, err := d.DecodeToken(answerWith(t, d, result, err))
		if err != nil || !reflect.DeepEqual(got, token) {
			t.Errorf("%+v: %v\ngot  %+v\nwant %+v", d, err, got, token)
		}
		list, info, err := d.DecodeTokens(answerWith(t, d, json.RawMessage("["+string(result)+`,{"id":"b"}]`), nil))
		if err != nil || !reflect.DeepEqual(list, []edge.Token{token, {ID: "b"}}) || info != (Info{}) {
			t.Errorf("%+v: %v %+v %+v", d, err, list, info)
		}
		result, err = d.EncodeGroups(groups)
		back, _, err := d.DecodeGroups(answerWith(t, d, result, err))
		if err != nil || !reflect.DeepEqual(back, groups) {
			t.Errorf("%+v: %v %+v", d, err, back)
		}
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	groups, err := Dialect{}.EncodeGroups(nil)
	if err != nil || string(groups) != "[]" {
		t.Errorf("%s %v", groups, err)
	}
	list, _, err := Dialect{}.DecodeTokens(answerWith(t, Dialect{}, groups, nil))
	if err != nil || list == nil || len(list) != 0 {
		t.Errorf("%v %v", list, err)
	}
}

// Whatever is no list, no token or no secret is unreadable, and never empty.
func TestUnreadableIsNeverEmpty(t *testing.T) {
	d := Dialect{Vendor: "acme"}
	readers := map[string]func(Response) error{
		"tokens": func(r Response) error { _, _, err := d.DecodeTokens(r); return err },
		"groups": func(r Response) error { _, _, err := d.DecodeGroups(r); return err },
		"token":  func(r Response) error { _, err := d.DecodeToken(r); return err },
		"secret": func(r Response) error { _, err := DecodeSecret(r); return err },
	}
	for _, result := range []string{`null`, `{}`, `7`, `""`, `" "`, `[null]`, `[{}]`, `{"id":""}`, `{"id":7}`, `[{"name":"x"}]`, `[7]`, `[["a"]]`, `true`} {
		for what, read := range readers {
			body := `{"result":` + result + `,"success":true,"errors":[],"messages":[]}`
			if err := read(Response{Call: "GET /x", Status: 200, Body: []byte(body)}); !errors.Is(err, edge.ErrUnreadable) {
				t.Errorf("%s of %s: %v", what, result, err)
			}
		}
	}
	for what, read := range readers {
		if err := read(Response{Call: "GET /x", Status: 200, Body: []byte(`{"success":true}`)}); !errors.Is(err, edge.ErrUnreadable) {
			t.Errorf("%s of no result: %v", what, err)
		}
	}
}

// No error quotes an answer that may hold a secret.
func TestRolledSecretIsNotQuoted(t *testing.T) {
	result, err := EncodeSecret(edge.NewSecret(tokenSecret))
	whole := answerWith(t, Dialect{}, result, err)
	if got, err := DecodeSecret(whole); err != nil || got.Reveal() != tokenSecret {
		t.Fatalf("%v", err)
	}
	for status, body := range map[int]string{
		200: string(whole.Body[:len(whole.Body)-30]), 500: tokenSecret, 201: `{"success":true,"result":{"value":"` + tokenSecret + `"}}`, 302: tokenSecret, 404: tokenSecret,
	} {
		_, err := DecodeSecret(Response{Call: "PUT /x", Status: status, Body: []byte(body)})
		if err == nil || strings.Contains(fmt.Sprintf("%v %+v", err, err), tokenSecret[:12]) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestPagesHaveNumbers(t *testing.T) {
	env, err := EncodeResult([]int{}, &Info{Page: new(3), PerPage: new(50), Count: new(0), TotalCount: new(0), TotalPages: new(0)})
	must.Do(t, err)
	body, err := env.Bytes()
	want := `{"result":[],"success":true,"errors":[],"messages":[],"result_info":{"page":3,"per_page":50,"count":0,"total_count":0,"total_pages":0}}`
	if err != nil || string(body) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, body, want)
	}
	var list []int
	info, err := Response{Status: 200, Body: body}.DecodePage(&list)
	if err != nil || *info.Page != 3 || info.TotalCount == nil || info.Cursors != nil {
		t.Errorf("%v %+v", err, info)
	}
}

// Law: translating the scopes of groups twice changes nothing.
func TestLawGroupsTranslateBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Dialect{Vendor: rapid.SampledFrom([]string{"", "acme", "cloudflare"}).Draw(t, "vendor")}
		scope := rapid.SampledFrom([]string{"com.vendor.api.account", "com.acme.api.user", "com.cloudflare.api.account.zone", "com.vendor", ""})
		groups := rapid.SliceOf(rapid.Custom(func(t *rapid.T) edge.PermissionGroup {
			return edge.PermissionGroup{ID: "g", Name: "n", Scopes: rapid.SliceOfN(scope, 1, 3).Draw(t, "scopes")}
		})).Draw(t, "groups")
		data, err := d.EncodeGroups(groups)
		must.Do(t, err)
		back, _, err := d.DecodeGroups(Response{Status: 200, Body: []byte(`{"success":true,"result":` + string(data) + `}`)})
		if err != nil || len(back) != len(groups) || len(groups) > 0 && !reflect.DeepEqual(back, groups) {
			t.Fatalf("%v: got %+v, want %+v", err, back, groups)
		}
	})
}
