package token

import (
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// A token whose policies all deny allows nothing; one policy that allows is enough.
func TestOnlyDenies(t *testing.T) {
	deny, allow := desired.Policy{Effect: "deny"}, desired.Policy{Effect: "allow"}
	for name, c := range map[string]struct {
		policies []desired.Policy
		want     bool
	}{
		"two that deny": {[]desired.Policy{deny, deny}, true},
		"one allows":    {[]desired.Policy{deny, allow}, false},
		"none":          {nil, false},
	} {
		found := false
		for _, f := range Findings([]desired.Token{{Key: "ci", ExpiresOn: "2027-01-01T00:00:00Z", Policies: c.policies}}, nil) {
			found = found || f.Kind == diff.OnlyDenies
		}
		if found != c.want {
			t.Errorf("%s: found %v", name, found)
		}
	}
}
