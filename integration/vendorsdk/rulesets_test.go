package vendorsdk

import (
	"testing"

	"github.com/cloudflare/cloudflare-go/v6/option"
	"github.com/cloudflare/cloudflare-go/v6/rulesets"
)

func block(expression string) (rule rulesets.BlockRuleParam) {
	set(&rule.Action, rulesets.BlockRuleActionBlock)
	set(&rule.Expression, expression)
	return rule
}

func execute(id, expression string) (rule rulesets.ExecuteRuleParam) {
	var parameters rulesets.ExecuteRuleActionParametersParam
	set(&parameters.ID, id)
	set(&rule.Action, rulesets.ExecuteRuleActionExecute)
	set(&rule.ActionParameters, parameters)
	set(&rule.Expression, expression)
	return rule
}

// Every call of the SDK on rulesets, in a zone and in an account.
func TestRulesets(t *testing.T) {
	s := start(t)
	for name, o := range map[string]owner{"zone": {zone: shop}, "account": {account: production}} {
		t.Run(name, func(t *testing.T) {
			kind := rulesets.KindZone
			if o.account != "" {
				kind = rulesets.KindRoot
			}
			r := run{t, rulesets.NewRulesetService(s.as("administrator")...), o, kind}
			id := r.create()
			r.rules(id)
			r.replace(id)
			r.versions(id)
			r.delete(id)
		})
	}
}

// run is a walk through the life of one ruleset.
type run struct {
	*testing.T
	sdk  *rulesets.RulesetService
	o    owner
	kind rulesets.Kind
}

const phase = rulesets.PhaseHTTPRequestFirewallCustom

func (r run) newParams(rules ...rulesets.RulesetNewParamsRuleUnion) rulesets.RulesetNewParams {
	params := in(r.o, rulesets.RulesetNewParams{})
	set(&params.Kind, r.kind)
	set(&params.Name, "made by the SDK")
	set(&params.Phase, rulesets.Phase(phase))
	if len(rules) > 0 {
		set(&params.Rules, rules)
	}
	return params
}

func (r run) get(id string) *rulesets.RulesetGetResponse {
	r.Helper()
	return must[*rulesets.RulesetGetResponse](r.T)(r.sdk.Get(r.Context(), id, in(r.o, rulesets.RulesetGetParams{})))
}

func (r run) create() string {
	if _, err := r.sdk.Phases.Get(r.Context(), phase, in(r.o, rulesets.PhaseGetParams{})); err == nil {
		r.Error("there is an entry point already")
	} else {
		refused(r.T, err, 404, "10003")
	}
	if _, err := r.sdk.New(r.Context(), r.newParams(block("true")), option.WithQuery("dry_run", "true")); err != nil {
		r.Error(err)
	}
	_, err := r.sdk.New(r.Context(), r.newParams(block("(true")), option.WithQuery("dry_run", "true"))
	refused(r.T, err, 400, "/rules/0/expression")
	made := must[*rulesets.RulesetNewResponse](r.T)(r.sdk.New(r.Context(), r.newParams(block(`http.host eq "a.example"`))))
	if made.Kind != r.kind || made.Version != "1" || len(made.Rules) != 1 {
		r.Errorf("made %+v", made)
	}
	_, err = r.sdk.New(r.Context(), r.newParams())
	refused(r.T, err, 400, "20217")
	found := map[string]int{}
	var params rulesets.RulesetListParams
	set(&params.PerPage, int64(2))
	pages := r.sdk.ListAutoPaging(r.Context(), in(r.o, params))
	for pages.Next() {
		found[pages.Current().ID]++
	}
	if err := pages.Err(); err != nil || found[made.ID] != 1 || found[core] != 1 {
		r.Errorf("the list has %v: %v", found, err)
	}
	entry := must[*rulesets.PhaseGetResponse](r.T)(r.sdk.Phases.Get(r.Context(), phase, in(r.o, rulesets.PhaseGetParams{})))
	if entry.ID != made.ID {
		r.Errorf("the entry point is %s, made was %s", entry.ID, made.ID)
	}
	return made.ID
}

func (r run) rules(id string) {
	first := r.get(id).Rules[0].ID
	added := must[*rulesets.RuleNewResponse](r.T)(r.sdk.Rules.New(r.Context(), id, in(r.o, rulesets.RuleNewParams{
		Body: rulesets.RuleNewParamsBodyBlockRule{BlockRuleParam: block(`http.host eq "b.example"`)},
	})))
	second := added.Rules[1].ID
	body := rulesets.RuleEditParamsBodyBlockRule{BlockRuleParam: block(`http.host eq "c.example"`)}
	edited := must[*rulesets.RuleEditResponse](r.T)(r.sdk.Rules.Edit(r.Context(), id, second, in(r.o, rulesets.RuleEditParams{Body: body})))
	if edited.Rules[1].Expression != `http.host eq "c.example"` || edited.Version != "3" {
		r.Errorf("edited %+v", edited)
	}
	var before rulesets.RuleEditParamsBodyBlockRulePositionBeforePosition
	set(&before.Before, first)
	var move rulesets.RuleEditParamsBodyBlockRule
	set(&move.Position, before)
	moved := must[*rulesets.RuleEditResponse](r.T)(r.sdk.Rules.Edit(r.Context(), id, second, in(r.o, rulesets.RuleEditParams{Body: move})))
	if moved.Rules[0].ID != second || moved.Rules[0].Expression != `http.host eq "c.example"` {
		r.Errorf("moved %+v", moved.Rules)
	}
	left := must[*rulesets.RuleDeleteResponse](r.T)(r.sdk.Rules.Delete(r.Context(), id, first, in(r.o, rulesets.RuleDeleteParams{})))
	if len(left.Rules) != 1 || left.Rules[0].ID != second {
		r.Errorf("left %+v", left.Rules)
	}
	_, err := r.sdk.Rules.Delete(r.Context(), id, first, in(r.o, rulesets.RuleDeleteParams{}))
	refused(r.T, err, 404, "could not find rule")
	_, err = r.sdk.Rules.New(r.Context(), id, in(r.o, rulesets.RuleNewParams{
		Body: rulesets.RuleNewParamsBodyExecuteRule{ExecuteRuleParam: execute("deadbeefdeadbeefdeadbeefdeadbeef", "true")},
	}))
	refused(r.T, err, 400, "/action_parameters/id")
}

func (r run) replace(id string) {
	var params rulesets.RulesetUpdateParams
	set(&params.Description, "replaced")
	set(&params.Rules, []rulesets.RulesetUpdateParamsRuleUnion{block("false"), block("true")})
	replaced := must[*rulesets.RulesetUpdateResponse](r.T)(r.sdk.Update(r.Context(), id, in(r.o, params)))
	if replaced.Description != "replaced" || len(replaced.Rules) != 2 {
		r.Errorf("replaced %+v", replaced)
	}
	var entry rulesets.PhaseUpdateParams
	set(&entry.Rules, []rulesets.PhaseUpdateParamsRuleUnion{block("true")})
	again := must[*rulesets.PhaseUpdateResponse](r.T)(r.sdk.Phases.Update(r.Context(), phase, in(r.o, entry)))
	if again.ID != id || len(again.Rules) != 1 {
		r.Errorf("replaced the entry point: %+v", again)
	}
}

func (r run) versions(id string) {
	latest := r.get(id).Version
	list := must[[]string](r.T)(r.listVersions(id))
	if len(list) < 5 || list[len(list)-1] != latest {
		r.Fatalf("the versions are %v, the latest is %s", list, latest)
	}
	old := must[*rulesets.VersionGetResponse](r.T)(r.sdk.Versions.Get(r.Context(), id, "1", in(r.o, rulesets.VersionGetParams{})))
	if old.Version != "1" || len(old.Rules) != 1 {
		r.Errorf("version 1 is %+v", old)
	}
	if err := r.sdk.Versions.Delete(r.Context(), id, "1", in(r.o, rulesets.VersionDeleteParams{})); err != nil {
		r.Error(err)
	}
	_, err := r.sdk.Versions.Get(r.Context(), id, "1", in(r.o, rulesets.VersionGetParams{}))
	refused(r.T, err, 404, "version")
	err = r.sdk.Versions.Delete(r.Context(), id, latest, in(r.o, rulesets.VersionDeleteParams{}))
	refused(r.T, err, 400, "latest")
	entries := r.sdk.Phases.Versions.ListAutoPaging(r.Context(), phase, in(r.o, rulesets.PhaseVersionListParams{}))
	n := 0
	for entries.Next() {
		n++
	}
	if err := entries.Err(); err != nil || n != len(list)-1 {
		r.Errorf("%d versions of the entry point, want %d: %v", n, len(list)-1, err)
	}
	same := must[*rulesets.PhaseVersionGetResponse](r.T)(r.sdk.Phases.Versions.Get(r.Context(), phase, latest, in(r.o, rulesets.PhaseVersionGetParams{})))
	if same.ID != id {
		r.Errorf("got %+v", same)
	}
}

func (r run) listVersions(id string) (list []string, err error) {
	pages := r.sdk.Versions.ListAutoPaging(r.Context(), id, in(r.o, rulesets.VersionListParams{}))
	for pages.Next() {
		list = append(list, pages.Current().Version)
	}
	return list, pages.Err()
}

func (r run) delete(id string) {
	if err := r.sdk.Delete(r.Context(), id, in(r.o, rulesets.RulesetDeleteParams{})); err != nil {
		r.Fatal(err)
	}
	_, err := r.sdk.Get(r.Context(), id, in(r.o, rulesets.RulesetGetParams{}))
	refused(r.T, err, 404, "10001")
}

// A managed ruleset is deployed in a zone that has none, and tuned; a second
// deployment of it is refused.
func TestDeploy(t *testing.T) {
	s := start(t)
	o := owner{zone: bare}
	r := run{t, rulesets.NewRulesetService(s.as("administrator")...), o, rulesets.KindZone}
	params := r.newParams(execute(core, "true"))
	set(&params.Phase, rulesets.PhaseHTTPRequestFirewallManaged)
	made := must[*rulesets.RulesetNewResponse](t)(r.sdk.New(t.Context(), params))
	tuned := execute(core, "true")
	var level rulesets.ExecuteRuleActionParametersOverridesCategoryParam
	set(&level.Category, "paranoia-level-4")
	set(&level.Enabled, false)
	var overrides rulesets.ExecuteRuleActionParametersOverridesParam
	set(&overrides.Categories, []rulesets.ExecuteRuleActionParametersOverridesCategoryParam{level})
	set(&tuned.ActionParameters.Value.Overrides, overrides)
	edited := must[*rulesets.RuleEditResponse](t)(r.sdk.Rules.Edit(t.Context(), made.ID, made.Rules[0].ID, in(o, rulesets.RuleEditParams{
		Body: rulesets.RuleEditParamsBodyExecuteRule{ExecuteRuleParam: tuned},
	})))
	parameters, ok := edited.Rules[0].ActionParameters.(rulesets.ExecuteRuleActionParameters)
	if !ok || parameters.ID != core || len(parameters.Overrides.Categories) != 1 || parameters.Overrides.Categories[0].Enabled {
		t.Errorf("got %+v", edited.Rules[0])
	}
	for id, want := range map[string]int{core: 400, credentials: 200} {
		_, err := r.sdk.Rules.New(t.Context(), made.ID, in(o, rulesets.RuleNewParams{
			Body: rulesets.RuleNewParamsBodyExecuteRule{ExecuteRuleParam: execute(id, "true")},
		}))
		if want == 200 && err != nil {
			t.Error(err)
		} else if want != 200 {
			refused(t, err, want, "executed by another rule")
		}
	}
}

// Credentials have permissions of their own.
func TestCredentials(t *testing.T) {
	s := start(t)
	for name, want := range map[string]struct{ account, zone, write int }{
		"rulesets": {200, 200, 200}, "tokens": {403, 403, 403}, "zone-only": {403, 200, 200}, "reader": {200, 200, 403}, "staging": {403, 403, 403},
	} {
		sdk := rulesets.NewRulesetService(s.as(name)...)
		_, account := sdk.Get(t.Context(), core, in(owner{account: production}, rulesets.RulesetGetParams{}))
		entry, zone := sdk.Phases.Get(t.Context(), rulesets.PhaseHTTPRequestFirewallManaged, in(owner{zone: shop}, rulesets.PhaseGetParams{}))
		id, rule := core, core
		if zone == nil {
			id, rule = entry.ID, entry.Rules[0].ID
		}
		_, write := sdk.Rules.Edit(t.Context(), id, rule, in(owner{zone: shop}, rulesets.RuleEditParams{
			Body: rulesets.RuleEditParamsBodyExecuteRule{ExecuteRuleParam: execute(core, "true")},
		}))
		for i, err := range []error{account, zone, write} {
			status := []int{want.account, want.zone, want.write}[i]
			if status == 200 && err != nil {
				t.Errorf("%s, call %d: %v", name, i, err)
			} else if status != 200 {
				refused(t, err, status, "9109")
			}
		}
	}
}
