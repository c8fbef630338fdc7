package vendorsdk

import (
	"testing"
	"time"

	"github.com/cloudflare/cloudflare-go/v6/accounts"
	"github.com/cloudflare/cloudflare-go/v6/shared"
	"github.com/cloudflare/cloudflare-go/v6/user"
	"github.com/cloudflare/cloudflare-go/v6/zones"
)

func policy(group, resource string) []shared.TokenPolicyParam {
	var g shared.TokenPolicyPermissionGroupParam
	set(&g.ID, group)
	var p shared.TokenPolicyParam
	set(&p.Effect, shared.TokenPolicyEffectAllow)
	set(&p.PermissionGroups, []shared.TokenPolicyPermissionGroupParam{g})
	set(&p.Resources, shared.TokenPolicyResourcesIAMResourcesTypeObjectStringParam{resource: "*"})
	return []shared.TokenPolicyParam{p}
}

const (
	shopResource    = "com.cloudflare.api.account.zone." + shop
	stagingResource = "com.cloudflare.api.account." + staging
)

func TestUserTokens(t *testing.T) {
	s := start(t)
	sdk := user.NewTokenService(s.as("tokens")...)
	var params user.TokenNewParams
	set(&params.Name, "made by the SDK")
	set(&params.Policies, policy(wafWrite, shopResource))
	set(&params.ExpiresOn, time.Now().Add(time.Hour).UTC().Truncate(time.Second))
	made := must[*user.TokenNewResponse](t)(sdk.New(t.Context(), params))
	verified := must[*user.TokenVerifyResponse](t)(user.NewTokenService(s.with(string(made.Value))...).Verify(t.Context()))
	if verified.ID != made.ID || verified.Status != "active" {
		t.Errorf("verified %+v", verified)
	}
	found := 0
	for list := sdk.ListAutoPaging(t.Context(), user.TokenListParams{}); list.Next(); {
		if list.Current().ID == made.ID {
			found++
		}
	}
	one := must[*shared.Token](t)(sdk.Get(t.Context(), made.ID))
	if found != 1 || one.Name != "made by the SDK" || len(one.Policies) != 1 {
		t.Errorf("listed %d times, got %+v", found, one)
	}
	var next shared.TokenParam
	set(&next.Name, "renamed")
	set(&next.Policies, policy(wafWrite, shopResource))
	updated := must[*shared.Token](t)(sdk.Update(t.Context(), made.ID, user.TokenUpdateParams{Token: next}))
	if updated.Name != "renamed" {
		t.Errorf("updated %+v", updated)
	}
	rolled := must[*string](t)(sdk.Value.Update(t.Context(), made.ID, user.TokenValueUpdateParams{Body: map[string]any{}}))
	if *rolled == "" || *rolled == string(made.Value) {
		t.Error("the secret is the same")
	}
	must[*user.TokenDeleteResponse](t)(sdk.Delete(t.Context(), made.ID))
	_, err := sdk.Get(t.Context(), made.ID)
	refused(t, err, 404, "could not find token")

	set(&params.ExpiresOn, time.Now().Add(-time.Hour).UTC().Truncate(time.Second))
	_, err = sdk.New(t.Context(), params)
	refused(t, err, 400, "/expires_on")
	var mismatch user.TokenNewParams
	set(&mismatch.Name, "mismatch")
	set(&mismatch.Policies, policy(accountReads, shopResource))
	_, err = sdk.New(t.Context(), mismatch)
	refused(t, err, 400, "/policies/0/permission_groups/0")
}

func TestPermissionGroups(t *testing.T) {
	s := start(t)
	var params user.TokenPermissionGroupListParams
	set(&params.Name, "Logs Read")
	groups := must[[]string](t)(names(user.NewTokenService(s.as("tokens")...).PermissionGroups.ListAutoPaging(t.Context(), params)))
	set(&params.Scope, "com.cloudflare.api.account.zone")
	scoped := must[[]string](t)(names(user.NewTokenService(s.as("tokens")...).PermissionGroups.ListAutoPaging(t.Context(), params)))
	if len(groups) != 2 || len(scoped) != 1 {
		t.Errorf("got %v, of one scope %v", groups, scoped)
	}
}

type pager[T any] interface {
	Next() bool
	Current() T
	Err() error
}

func names(p pager[user.TokenPermissionGroupListResponse]) (list []string, err error) {
	for p.Next() {
		list = append(list, p.Current().Name)
	}
	return list, p.Err()
}

func TestAccountTokens(t *testing.T) {
	s := start(t)
	o := owner{account: staging}
	sdk := accounts.NewTokenService(s.as("tokens")...)
	params := in(o, accounts.TokenNewParams{})
	set(&params.Name, "made by the SDK")
	set(&params.Policies, policy(accountReads, stagingResource))
	made := must[*accounts.TokenNewResponse](t)(sdk.New(t.Context(), params))
	own := s.with(string(made.Value))
	verified := must[*accounts.TokenVerifyResponse](t)(accounts.NewTokenService(own...).Verify(t.Context(), in(o, accounts.TokenVerifyParams{})))
	if verified.ID != made.ID {
		t.Errorf("verified %+v", verified)
	}
	_, err := user.NewTokenService(own...).Verify(t.Context())
	refused(t, err, 401, "1000")
	found := 0
	for list := sdk.ListAutoPaging(t.Context(), in(o, accounts.TokenListParams{})); list.Next(); {
		found++
	}
	if found != 2 {
		t.Errorf("the account has %d tokens, want that of the seed and this one", found)
	}
	must[*shared.Token](t)(sdk.Get(t.Context(), made.ID, in(o, accounts.TokenGetParams{})))
	var next shared.TokenParam
	set(&next.Name, "renamed")
	set(&next.Policies, policy(accountReads, stagingResource))
	must[*shared.Token](t)(sdk.Update(t.Context(), made.ID, in(o, accounts.TokenUpdateParams{Token: next})))
	must[*string](t)(sdk.Value.Update(t.Context(), made.ID, in(o, accounts.TokenValueUpdateParams{Body: map[string]any{}})))
	must[*accounts.TokenDeleteResponse](t)(sdk.Delete(t.Context(), made.ID, in(o, accounts.TokenDeleteParams{})))
	_, err = sdk.Get(t.Context(), made.ID, in(o, accounts.TokenGetParams{}))
	refused(t, err, 404, "could not find token")
	set(&params.Policies, policy(accountReads, "com.cloudflare.api.account."+production))
	_, err = sdk.New(t.Context(), params)
	refused(t, err, 400, "this account")
}

func TestZonesAndAccounts(t *testing.T) {
	s := start(t)
	for name, want := range map[string]struct{ zones, accounts int }{"rulesets": {5, 2}, "staging": {2, 1}, "zone-only": {5, 0}, "tokens": {0, 0}} {
		n, m := 0, 0
		list := zones.NewZoneService(s.as(name)...).ListAutoPaging(t.Context(), zones.ZoneListParams{})
		for list.Next() {
			n++
		}
		accountList := accounts.NewAccountService(s.as(name)...).ListAutoPaging(t.Context(), accounts.AccountListParams{})
		for accountList.Next() {
			m++
		}
		if n != want.zones || m != want.accounts || list.Err() != nil || accountList.Err() != nil {
			t.Errorf("%s sees %d zones and %d accounts, want %+v: %v %v", name, n, m, want, list.Err(), accountList.Err())
		}
	}
	sdk := zones.NewZoneService(s.as("rulesets")...)
	var params zones.ZoneListParams
	set(&params.Name, "ends_with:op.example")
	var account zones.ZoneListParamsAccount
	set(&account.ID, production)
	set(&params.Account, account)
	page, err := sdk.List(t.Context(), params)
	if err != nil || len(page.Result) != 1 || page.Result[0].ID != shop {
		t.Fatalf("got %+v: %v", page, err)
	}
	var get zones.ZoneGetParams
	set(&get.ZoneID, shop)
	zone := must[*zones.Zone](t)(sdk.Get(t.Context(), get))
	if zone.Name != "shop.example" || zone.Account.Name != "Production" || zone.Status != "active" || zone.CreatedOn.IsZero() {
		t.Errorf("got %+v", zone)
	}
	one := must[*accounts.Account](t)(accounts.NewAccountService(s.as("rulesets")...).Get(t.Context(), in(owner{account: staging}, accounts.AccountGetParams{})))
	if one.Name != "Staging" {
		t.Errorf("got %+v", one)
	}
	var edit zones.ZoneEditParams
	set(&edit.ZoneID, shop)
	set(&edit.Paused, true)
	_, err = sdk.Edit(t.Context(), edit)
	refused(t, err, 501, "not implemented")
}
