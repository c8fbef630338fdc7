package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
)

// TestAccounts: what an account leaves out is as at the top level.
func TestAccounts(t *testing.T) {
	config := loaded(t, least+`
budget: requests: 600
mode: "observe"
accounts: {
	prod: {credentials: rulesets: env: "PROD", budget: concurrency: 4, mode: "apply"}
	"the lab": skip: true
	stage: {credentials: rulesets: file: "/run/stage", base_url: "https://stage.example/v4", budget: {requests: 100, per: "1m"}}
}
`)
	top, per := schema.SecretRef{File: "/run/rulesets"}, 5*time.Minute
	want := schema.Accounts{
		"prod": {
			Origin: desired.Origin{File: "c.cue", Line: 9, Column: 2}, Rulesets: schema.SecretRef{Env: "PROD"}, OwnRulesets: true,
			BaseURL: "https://api.example/client/v4", Budget: schema.Budget{Requests: 600, Per: per, Concurrency: 4},
		},
		"the lab": {
			Origin: desired.Origin{File: "c.cue", Line: 10, Column: 2}, Skip: true, Rulesets: top, BaseURL: "https://api.example/client/v4",
			Budget: schema.Budget{Requests: 600, Per: per, Concurrency: 16}, Observing: true,
		},
		"stage": {
			Origin: desired.Origin{File: "c.cue", Line: 11, Column: 2}, Rulesets: schema.SecretRef{File: "/run/stage"}, OwnRulesets: true,
			BaseURL: "https://stage.example/v4", Budget: schema.Budget{Requests: 100, Per: time.Minute, Concurrency: 16}, Observing: true,
		},
	}
	if diff := cmp.Diff(want, config.Credentials.Accounts); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
}

// TestAccountsWithoutTheTopLevel: a credential at the top level is not needed where each
// account has one.
func TestAccountsWithoutTheTopLevel(t *testing.T) {
	config := loaded(t, strings.Replace(least, "credentials: rulesets: file", "accounts: prod: credentials: rulesets: file", 1))
	if !config.Credentials.Rulesets.IsZero() || config.Credentials.Accounts["prod"].Rulesets.File != "/run/rulesets" {
		t.Errorf("%+v", config.Credentials.Accounts)
	}
}

func TestAccountMistakes(t *testing.T) {
	none := strings.Replace(least, `credentials: rulesets: file: "/run/rulesets"`, "", 1)
	for _, test := range []struct{ name, text, want string }{
		{"no credential at all", none, `c.cue:1:1: credentials.rulesets: required field is missing (name the file, environment variable or systemd credential that holds the token)`},
		{"account without", none + `accounts: prod: {}`, `c.cue:5:11: accounts.prod: has no credential (set credentials.rulesets here or at the top level, or skip: true to leave the account out)`},
		{"misspelt", least + `accounts: prod: skipp: true`, `c.cue:5:17: accounts.prod.skipp: unknown field (did you mean "skip"?)`},
		{"two sources", least + `accounts: prod: credentials: rulesets: {env: "A", file: "/b"}`, `c.cue:5:30: accounts.prod.credentials.rulesets: has 2 of file, env and systemd (keep one of them)`},
		{"address of its own", least + `accounts: prod: base_url: "https://other.example"`, `c.cue:5:17: accounts.prod.base_url: needs credentials.rulesets of its own in accounts.prod (a credential has one platform and one budget)`},
		{"budget of its own", least + `accounts: prod: budget: requests: 1`, `c.cue:5:17: accounts.prod.budget: needs credentials.rulesets of its own in accounts.prod (a credential has one platform and one budget)`},
		{"two budgets", least + `accounts: {a: {credentials: rulesets: env: "A", budget: requests: 5}, b: credentials: rulesets: env: "A"}`, `c.cue:5:71: accounts.b: has the same credential as account a, but another budget (a budget belongs to the credential: write the same in both, or give each account a credential of its own)`},
		{"budget beside the top level", least + `accounts: a: {credentials: rulesets: file: "/run/rulesets", budget: requests: 5}`, `c.cue:5:11: accounts.a: has the same credential as credentials.rulesets, but another budget (a budget belongs to the credential: set it in budget at the top level)`},
		{"skipped with a mode", least + `accounts: a: {skip: true, mode: "apply"}`, `c.cue:5:27: accounts.a.mode: has no effect beside skip (remove it, or skip)`},
		{"plain http", least + `accounts: a: {credentials: rulesets: env: "A", base_url: "http://api.example"}`, `c.cue:5:58: accounts.a.base_url: "http://api.example" must be an https address, or http to this machine`},
		{"no time", least + `accounts: a: {credentials: rulesets: env: "A", budget: per: "0s"}`, `c.cue:5:56: accounts.a.budget.per: "0s" is not a duration above zero`},
		{"the secret itself", least + `accounts: a: credentials: rulesets: "v1.0-abcdefghijklmnop"`, `c.cue:5:37: accounts.a.credentials.rulesets: the configuration must not contain a secret (give its source: {file: "/…"}, {env: "NAME"} or {systemd: "name"}; and revoke the secret that was written here)`},
	} {
		t.Run(test.name, func(t *testing.T) { wantMistakes(t, test.text, test.want) })
	}
}
