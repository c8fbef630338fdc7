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

const tokenSecret = "sim-token-0123456789abcdef"

func aToken() edge.Token {
	return edge.Token{
		ID: "70ce", Status: "active", IssuedOn: "2026-01-01T00:00:00Z", Extra: map[string]json.RawMessage{"x": json.RawMessage(`1.50`)},
		TokenSpec: edge.TokenSpec{
			Name: "ci", ExpiresOn: "2027-01-01T00:00:00Z",
			Condition: &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}}},
			Policies: []edge.Policy{{
				ID: "p", Effect: edge.Allow, PermissionGroups: []edge.PermissionGroup{{ID: "g", Name: "Group"}},
				Resources: map[string]edge.Breadth{edge.ResourceAccount + "a": {AllZones: true}, edge.ResourceAllZones: {}, edge.ResourceUser + "u": {}},
			}},
		},
	}
}

func TestSpecOnTheWire(t *testing.T) {
	spec := aToken().TokenSpec
	for dialect, want := range map[Dialect]string{
		{}: `{"name":"ci","policies":[{"id":"p","effect":"allow","resources":{"com.vendor.api.account.a":{"com.vendor.api.account.zone.*":"*"},` +
			`"com.vendor.api.account.zone.*":"*","com.vendor.api.user.u":"*"},"permission_groups":[{"id":"g","name":"Group"}]}],` +
			`"expires_on":"2027-01-01T00:00:00Z","condition":{"request.ip":{"in":["192.0.2.0/24"]}}}`,
		{"acme", ConditionNewer}: `{"condition":{"request_ip":{"in":["192.0.2.0/24"]}},"expires_on":"2027-01-01T00:00:00Z","name":"ci",` +
			`"policies":[{"effect":"allow","id":"p","permission_groups":[{"id":"g","name":"Group"}],` +
			`"resources":{"com.acme.api.account.a":{"com.acme.api.account.zone.*":"*"},"com.acme.api.account.zone.*":"*","com.acme.api.user.u":"*"}}]}`,
	} {
		got, err := dialect.EncodeSpec(spec)
		if err != nil || string(got) != want {
			t.Errorf("%+v: %v\ngot  %s\nwant %s", dialect, err, got, want)
		}
	}
}

// What one side writes of a new token the other reads, in every dialect.
func TestCreatedIsReadBackWhole(t *testing.T) {
	want := edge.CreatedToken{Token: aToken(), Value: edge.NewSecret(tokenSecret)}
	for _, dialect := range []Dialect{{}, {Vendor: "acme"}, {"acme-2", ConditionNewer}} {
		got, err := dialect.DecodeCreated(created(t, dialect, want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %v\ngot  %+v\nwant %+v", dialect, err, got, want)
		}
		if got.Value.Reveal() != tokenSecret {
			t.Errorf("%+v: the secret is %d bytes", dialect, len(got.Value.Reveal()))
		}
	}
}

func created(t *testing.T, d Dialect, token edge.CreatedToken) Response {
	t.Helper()
	result, err := d.EncodeCreated(token)
	must.Do(t, err)
	env, err := EncodeResult(result, nil)
	must.Do(t, err)
	body, err := env.Bytes()
	must.Do(t, err)
	if d.Vendor != "" && strings.Contains(string(body), "com.vendor.") {
		t.Errorf("the nouns' spelling is on the wire: %s", body)
	}
	return Response{Call: "POST /user/tokens", Status: 200, Body: body}
}

// A record that is not what we expect must not cost the secret.
func TestCreatedNeedsIDAndValueOnly(t *testing.T) {
	for result, ok := range map[string]bool{
		`{"id":"a","value":"` + tokenSecret + `"}`:                                   true,
		`{"id":"a","value":"` + tokenSecret + `","name":7,"policies":{"p":1}}`:       true,
		`{"id":"a","value":"` + tokenSecret + `","condition":"none","status":{}}`:    true,
		`{"id":"a","value":"` + tokenSecret + `","last_used_on":null,"policies":[]}`: true,
		`{"id":"","value":"` + tokenSecret + `"}`:                                    false,
		`{"value":"` + tokenSecret + `"}`:                                            false,
		`{"id":7,"value":"` + tokenSecret + `"}`:                                     false,
		`{"id":"a","name":"` + tokenSecret + `"}`:                                    false,
		`{"id":"a","value":""}`:                                                      false,
		`{"id":"a","value":{"secret":"` + tokenSecret + `"}}`:                        false,
		`"` + tokenSecret + `"`:                                                      false,
		`["` + tokenSecret + `"]`:                                                    false,
	} {
		got, err := Dialect{}.DecodeCreated(Response{Status: 200, Body: []byte(`{"success":true,"result":` + result + `}`)})
		if ok && (err != nil || got.ID != "a" || got.Value.Reveal() != tokenSecret) {
			t.Errorf("%s: %v", result, err)
		}
		if !ok && (!errors.Is(err, edge.ErrUnreadable) || !got.Value.IsZero()) {
			t.Errorf("%s: got %v", result, err)
		}
		wantHidden(t, fmt.Sprintf("%v %+v %#v", err, got, got))
	}
}

// Whatever becomes of an answer with a secret in it, errors do not quote it.
func TestErrorsOfACreationQuoteNothing(t *testing.T) {
	whole := `{"success":true,"errors":[],"result":{"id":"a","value":"` + tokenSecret + `"}}`
	for _, status := range []int{200, 201, 303, 400, 404, 500, 502} {
		for _, body := range []string{
			whole[:len(whole)-2], whole + "x", `<p>` + tokenSecret, tokenSecret, `{"value":"` + tokenSecret + `"}`,
			strings.Replace(whole, "true", "false", 1), `{"success":"` + tokenSecret + `"}`,
		} {
			got, err := Dialect{}.DecodeCreated(Response{Call: "POST /x", Status: status, Body: []byte(body)})
			if err == nil || !got.Value.IsZero() {
				t.Errorf("%d %s: was taken for a success", status, body)
			}
			wantHidden(t, fmt.Sprint(err))
		}
	}
}

func wantHidden(t *testing.T, said string) {
	t.Helper()
	if strings.Contains(said, tokenSecret) {
		t.Errorf("the secret is in %s", said)
	}
}

func TestDialectCheck(t *testing.T) {
	for dialect, ok := range map[Dialect]bool{
		{}: true, {"acme-2", ConditionNewer}: true, {"vendor", ConditionReference}: true,
		{Vendor: "a.b"}: false, {Vendor: "Acme"}: false, {Vendor: strings.Repeat("a", 65)}: false, {ConditionKey: "ip"}: false,
	} {
		if err := dialect.Check(); (err == nil) != ok {
			t.Errorf("%+v: %v", dialect, err)
		}
	}
}

var (
	aVendor = rapid.SampledFrom([]string{"", "vendor", "acme", "com", "api", "vendor-2", "a"})
	aKey    = rapid.Custom(func(t *rapid.T) string {
		vendor := rapid.SampledFrom([]string{"vendor", "acme", "com", "vendor-2", "vendo", ""}).Draw(t, "segment")
		return rapid.SampledFrom([]string{"com.", "com.com.", "org.", ""}).Draw(t, "begin") + vendor +
			rapid.SampledFrom([]string{"", ".", ".api.account.zone.*", ".com.vendor.x"}).Draw(t, "end")
	})
	aBreadth = rapid.OneOf(
		rapid.Just(any("*")), rapid.Just(any(nil)), rapid.Just(any(json.Number("1.50"))),
		rapid.Map(rapid.MapOf(aKey, rapid.Just("*")), func(m map[string]string) any { return m }),
	)
	aBody = rapid.Custom(func(t *rapid.T) map[string]any {
		var policies []any
		for range rapid.IntRange(0, 3).Draw(t, "policies") {
			policies = append(policies, map[string]any{"resources": rapid.MapOf(aKey, aBreadth).Draw(t, "resources"), "com.vendor.x": 1})
		}
		return map[string]any{"name": aKey.Draw(t, "name"), "policies": policies, "resources": map[string]any{"com.vendor.y": "*"}}
	})
)

// Law: a translation undoes itself, loses no key, and changes keys of resources
// only.
func TestLawTranslationIsItsOwnInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Dialect{Vendor: aVendor.Draw(t, "vendor")}
		before, err := json.Marshal(aBody.Draw(t, "body"))
		must.Do(t, err)
		there := d.Translate(before)
		if back := d.Translate(there); !sameJSON(t, before, back) {
			t.Fatalf("%s\nthere %s\nback  %s", before, there, back)
		}
		key := aKey.Draw(t, "key")
		if d.SwapKey(d.SwapKey(key)) != key {
			t.Fatalf("%q", key)
		}
		told := &edge.Error{Details: []edge.ErrorDetail{{Message: key + " " + key, Source: edge.ErrorSource{Pointer: "/" + key}, Chain: []edge.ErrorDetail{{Message: key}}}}}
		if got := d.TranslateError(d.TranslateError(told)); !reflect.DeepEqual(got, error(told)) {
			t.Fatalf("%v became %v", told, got)
		}
	})
}

func sameJSON(t *rapid.T, a, b []byte) bool {
	var x, y any
	must.Do(t, errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)))
	return reflect.DeepEqual(x, y)
}

// No text makes the translation panic or become something that is not JSON.
func FuzzTranslate(f *testing.F) {
	f.Add([]byte(`{"policies":[{"resources":{"com.vendor.a":{"com.acme.b":"*"}}},null,3]}`))
	f.Add([]byte(`{"policies":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := (Dialect{Vendor: "acme"}).Translate(data); json.Valid(got) != json.Valid(data) {
			t.Errorf("%q became %q", data, got)
		}
	})
}
