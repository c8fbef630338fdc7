package desired_test

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/integration/must"
)

// A declaration becomes the documented body, and nothing of what only Seawall
// knows of it is sent.
func TestTokenSpecIsTheDocumentedBody(t *testing.T) {
	const account, zone = "com.vendor.api.account.0123456789abcdef0123456789abcdef", "com.vendor.api.account.zone.*"
	token := desired.Token{
		Key: "ci", Name: "ci-dns", NotBefore: "2026-01-01T00:00:00Z", ExpiresOn: "2027-01-01T00:00:00Z",
		Policies: []desired.Policy{
			{Effect: "allow", Resources: []desired.Resource{{Key: account, AllZones: true}, {Key: zone}}, PermissionGroups: []desired.PermissionGroup{{ID: "2"}, {ID: "1", Name: "DNS Write"}}},
			{Effect: "deny", Resources: []desired.Resource{{Key: account}}, PermissionGroups: []desired.PermissionGroup{{ID: "1"}}},
		},
		Condition: &desired.Condition{In: []string{"192.0.2.0/24"}, NotIn: []string{"192.0.2.7/32"}},
		Sink:      &desired.Sink{Name: "ci", Key: "dns"}, Prune: true,
	}
	got, err := json.Marshal(token.Spec())
	must.Do(t, err)
	const want = `{"name":"ci-dns","policies":[` +
		`{"effect":"allow","resources":{"` + account + `":{"` + zone + `":"*"},"` + zone + `":"*"},"permission_groups":[{"id":"2"},{"id":"1","name":"DNS Write"}]},` +
		`{"effect":"deny","resources":{"` + account + `":"*"},"permission_groups":[{"id":"1"}]}],` +
		`"not_before":"2026-01-01T00:00:00Z","expires_on":"2027-01-01T00:00:00Z",` +
		`"condition":{"request.ip":{"in":["192.0.2.0/24"],"not_in":["192.0.2.7/32"]}}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTokenSpecWithoutConditionHasNone(t *testing.T) {
	if spec := (desired.Token{Name: "ci"}).Spec(); spec.Condition != nil {
		t.Errorf("a token without a condition got %+v", spec.Condition)
	}
}

// Where the members of a token are declared does not count.
func TestSameTokensElsewhere(t *testing.T) {
	t.Parallel()
	here := desired.Token{Key: "ci", ExpiresOn: "2030-01-01T00:00:00Z", Places: map[string]desired.Origin{"expires_on": {File: "a.cue", Line: 1}}}
	there := here
	there.Places = map[string]desired.Origin{"expires_on": {File: "b.cue", Line: 2}}
	if !desired.SameTokens([]desired.Token{here}, []desired.Token{there}) {
		t.Error("another place is another token")
	}
}
