package vendorsdk

import (
	"testing"

	"github.com/cloudflare/cloudflare-go/v6/rulesets"
	"github.com/cloudflare/cloudflare-go/v6/shared"
	"github.com/cloudflare/cloudflare-go/v6/user"
)

// An exception goes before the execute rule that it turns off, and is logged unless it says
// that it is not.
func TestSkipRules(t *testing.T) {
	s := start(t)
	o := owner{zone: shop}
	sdk := rulesets.NewRulesetService(s.as("administrator")...)
	entry := must[*rulesets.PhaseGetResponse](t)(sdk.Phases.Get(t.Context(), rulesets.PhaseHTTPRequestFirewallManaged, in(o, rulesets.PhaseGetParams{})))
	var rule rulesets.SkipRuleParam
	var parameters rulesets.SkipRuleActionParametersParam
	set(&parameters.Rules, map[string][]string{core: {"c04e0000000000000000000100000018"}})
	set(&rule.Action, rulesets.SkipRuleActionSkip)
	set(&rule.ActionParameters, parameters)
	set(&rule.Expression, `http.request.uri.path eq "/upload"`)
	body := rulesets.RuleNewParamsBodySkipRule{SkipRuleParam: rule}
	var before rulesets.RuleNewParamsBodySkipRulePositionBeforePosition
	set(&before.Before, entry.Rules[0].ID)
	set(&body.Position, before)
	added := must[*rulesets.RuleNewResponse](t)(sdk.Rules.New(t.Context(), entry.ID, in(o, rulesets.RuleNewParams{Body: body})))
	skips, ok := added.Rules[0].ActionParameters.(rulesets.SkipRuleActionParameters)
	if !ok || len(skips.Rules[core]) != 1 || added.Rules[0].Ref != added.Rules[0].ID || !added.Rules[0].Logging.Enabled || len(added.Rules) != 2 {
		t.Errorf("added %+v", added.Rules)
	}

	set(&parameters.Ruleset, rulesets.SkipRuleActionParametersRulesetCurrent)
	set(&rule.ActionParameters, parameters)
	body.SkipRuleParam = rule
	_, err := sdk.Rules.New(t.Context(), entry.ID, in(o, rulesets.RuleNewParams{Body: body}))
	refused(t, err, 400, "/action_parameters/rules")

	logged := block("true")
	var logging rulesets.LoggingParam
	set(&logging.Enabled, true)
	set(&logged.Logging, logging)
	_, err = sdk.New(t.Context(), run{t, sdk, o, rulesets.KindZone}.newParams(logged))
	refused(t, err, 400, "20018")
}

// A description alone keeps the rules of a ruleset, and all of them are answered.
func TestDescriptionAlone(t *testing.T) {
	s := start(t)
	o := owner{zone: shop}
	sdk := rulesets.NewRulesetService(s.as("administrator")...)
	made := must[*rulesets.RulesetNewResponse](t)(sdk.New(t.Context(), run{t, sdk, o, rulesets.KindZone}.newParams(block("false"), block("true"))))
	var params rulesets.RulesetUpdateParams
	set(&params.Description, "described")
	described := must[*rulesets.RulesetUpdateResponse](t)(sdk.Update(t.Context(), made.ID, in(o, params)))
	if described.Description != "described" || len(described.Rules) != 2 || described.Rules[1].ID != made.Rules[1].ID {
		t.Errorf("described %+v", described)
	}
}

// The addresses of a token come back under the key that they were sent with.
func TestAddressesOfTokens(t *testing.T) {
	s := start(t)
	sdk := user.NewTokenService(s.as("tokens")...)
	var addresses user.TokenNewParamsConditionRequestIP
	set(&addresses.In, []shared.TokenConditionCIDRListParam{"192.0.2.0/24"})
	var condition user.TokenNewParamsCondition
	set(&condition.RequestIP, addresses)
	var params user.TokenNewParams
	set(&params.Name, "made by the SDK")
	set(&params.Policies, policy(wafWrite, shopResource))
	set(&params.Condition, condition)
	made := must[*user.TokenNewResponse](t)(sdk.New(t.Context(), params))
	read := must[*shared.Token](t)(sdk.Get(t.Context(), made.ID))
	if len(made.Condition.RequestIP.In) != 1 || len(read.Condition.RequestIP.In) != 1 || read.Condition.RequestIP.In[0] != "192.0.2.0/24" {
		t.Errorf("made %+v, read %+v", made.Condition, read.Condition)
	}
}
