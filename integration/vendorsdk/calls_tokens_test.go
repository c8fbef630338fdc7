package vendorsdk

import (
	"errors"
	"time"

	"github.com/cloudflare/cloudflare-go/v6/accounts"
	"github.com/cloudflare/cloudflare-go/v6/rulesets"
	"github.com/cloudflare/cloudflare-go/v6/shared"
	"github.com/cloudflare/cloudflare-go/v6/user"
	"github.com/cloudflare/cloudflare-go/v6/zones"
)

const (
	token = "token"
	value = "value"
)

// newToken makes a token with a change to its parameters, and remembers it.
func newToken(change func(*user.TokenNewParams)) func(w *world) error {
	return func(w *world) error {
		var params user.TokenNewParams
		set(&params.Name, "made by the SDK")
		set(&params.Policies, policy(wafWrite, shopResource))
		change(&params)
		made, err := user.NewTokenService(w.as("tokens")...).New(w.Context(), params)
		if err != nil {
			return err
		}
		w.ids[token], w.ids[value] = made.ID, string(made.Value)
		return nil
	}
}

var tokenCalls = []attempt{
	{"a token", newToken(func(p *user.TokenNewParams) {
		var addresses user.TokenNewParamsConditionRequestIP
		set(&addresses.In, []shared.TokenConditionCIDRListParam{"127.0.0.0/8"})
		var condition user.TokenNewParamsCondition
		set(&condition.RequestIP, addresses)
		set(&p.Condition, condition)
	}), 0, ""},
	{"it is as it was made, and has no more members than the SDK knows", func(w *world) error {
		got, err := user.NewTokenService(w.as("tokens")...).Get(w.Context(), w.ids[token])
		if err != nil {
			return err
		}
		group := got.Policies[0].PermissionGroups[0]
		return holds(len(got.Condition.RequestIP.In) == 1 && group.Name == "Zone WAF Write" && len(group.JSON.ExtraFields) == 0, got)
	}, 0, ""},
	{"it is verified", func(w *world) error {
		got, err := user.NewTokenService(w.with(w.ids[value])...).Verify(w.Context())
		return errors.Join(err, holds(err == nil && got.ID == w.ids[token] && got.Status == "active", got))
	}, 0, ""},
	{"a name that is empty", newToken(func(p *user.TokenNewParams) { set(&p.Name, "") }), 400, "/name"},
	{"an end in the past", newToken(func(p *user.TokenNewParams) {
		set(&p.ExpiresOn, time.Now().Add(-time.Hour).UTC().Truncate(time.Second))
	}), 400, "/expires_on"},
	{"a group that does not fit", newToken(func(p *user.TokenNewParams) { set(&p.Policies, policy(accountReads, shopResource)) }), 400, "/policies/0/permission_groups/0"},
	{"a group that there is not", newToken(func(p *user.TokenNewParams) { set(&p.Policies, policy(core, shopResource)) }), 400, "/policies/0/permission_groups/0"},
	{"it is deleted", func(w *world) error {
		_, err := user.NewTokenService(w.as("tokens")...).Delete(w.Context(), w.ids[token])
		return err
	}, 0, ""},
	{"it works no more", func(w *world) error {
		_, err := user.NewTokenService(w.with(w.ids[value])...).Verify(w.Context())
		return err
	}, 401, "1000"},
	{"an account's own token is no user's", func(w *world) error {
		_, err := user.NewTokenService(w.as("staging")...).Verify(w.Context())
		return err
	}, 401, "1000"},
	{"it is its account's", func(w *world) error {
		got, err := accounts.NewTokenService(w.as("staging")...).Verify(w.Context(), in(owner{account: staging}, accounts.TokenVerifyParams{}))
		return errors.Join(err, holds(err == nil && got.Status == "active", got))
	}, 0, ""},
}

// zoneOf reads a zone.
func zoneOf(w *world, id string) (*zones.Zone, error) {
	var params zones.ZoneGetParams
	set(&params.ZoneID, id)
	return zones.NewZoneService(w.as("rulesets")...).Get(w.Context(), params)
}

var directoryCalls = []attempt{
	{"a zone, with its plan and no more members of its owner than the SDK knows", func(w *world) error {
		got, err := zoneOf(w, shop)
		if err != nil {
			return err
		}
		return holds(got.Plan.LegacyID == "enterprise" && got.Plan.ID != "" && len(got.Owner.JSON.ExtraFields) == 0, got)
	}, 0, ""},
	{"a zone of another plan", func(w *world) error {
		got, err := zoneOf(w, inFree.zone)
		return errors.Join(err, holds(err == nil && got.Plan.LegacyID == "free", got))
	}, 0, ""},
	{"the user", func(w *world) error {
		got, err := user.NewUserService(w.as("tokens")...).Get(w.Context())
		return errors.Join(err, holds(err == nil && got.ID != "" && got.HasEnterpriseZones && !got.Suspended, got))
	}, 0, ""},
	{"no user", func(w *world) error {
		_, err := user.NewUserService(w.as("staging")...).Get(w.Context())
		return err
	}, 403, "9109"},
	{"an account", func(w *world) error {
		got, err := accounts.NewAccountService(w.as("rulesets")...).Get(w.Context(), in(inProd, accounts.AccountGetParams{}))
		return errors.Join(err, holds(err == nil && got.Name == "Production", got))
	}, 0, ""},
	{"a token without the permission", func(w *world) error {
		_, err := rulesets.NewRulesetService(w.as("reader")...).New(w.Context(), entryPoint(w, inBare, custom))
		return err
	}, 403, "9109"},
}
