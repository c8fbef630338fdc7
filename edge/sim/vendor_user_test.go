package sim_test

import (
	"encoding/json"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/sim"
)

// A token of a user knows the user, one of an account does not, and cannot be verified as one of
// a user.
func TestVendorUser(t *testing.T) {
	r := startVendor(t)
	got := result[struct {
		ID, Email        string
		Free, Enterprise bool
	}](t, as(t, r, r.TokensToken, "GET", "/user", ""))
	if got.ID != mem.VendorUser || got.Email == "" {
		t.Errorf("got %+v", got)
	}
	own := credential(t, r, mem.StagingToken)
	wantStatus(t, as(t, r, own, "GET", "/user", ""), 403)
	wantStatus(t, as(t, r, own, "GET", edge.TokensPath(), ""), 403)
	wantStatus(t, as(t, r, own, "GET", edge.TokensPath()+"/verify", ""), 401)
	wantStatus(t, as(t, r, own, "GET", edge.AccountTokensPath(mem.Staging)+"/verify", ""), 200)
	wantStatus(t, call(t, start(t, sim.Config{Profile: mem.Extended}), "GET", "/user", ""), 404)
}

// Zones tell their plan, and nothing of the user's address; groups in policies tell no scopes.
func TestVendorMembers(t *testing.T) {
	r := startVendor(t)
	zones := result[[]edge.Zone](t, as(t, r, r.RulesetsToken, "GET", "/zones", ""))
	for _, z := range zones {
		var owner map[string]any
		if err := json.Unmarshal(z.Extra["owner"], &owner); err != nil || len(owner) != 3 || owner["type"] != "user" {
			t.Errorf("%s: %v", z.Name, owner)
		}
		want := "enterprise"
		if z.Name == "free.example" {
			want = "free"
		}
		if z.Tier() != want || z.Plan.ID == "" || z.Plan.Name == "" {
			t.Errorf("%s has %+v", z.Name, z.Plan)
		}
	}
	made := result[edge.Token](t, as(t, r, r.TokensToken, "POST", edge.TokensPath(), token("", policy("allow", mem.RulesGroup, "com.acme.api.account.zone.*"))))
	for _, g := range made.Policies[0].PermissionGroups {
		if g.Name == "" || g.Scopes != nil {
			t.Errorf("got %+v", g)
		}
	}
	for _, g := range result[[]edge.PermissionGroup](t, as(t, r, r.TokensToken, "GET", edge.TokensPath()+"/permission_groups", "")) {
		if len(g.Scopes) == 0 {
			t.Errorf("got %+v", g)
		}
	}
}
