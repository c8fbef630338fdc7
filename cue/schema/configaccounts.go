package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"cuelang.org/go/cue"

	"github.com/seawall-dev/seawall/cue/schema/explain"
	"github.com/seawall-dev/seawall/desired"
)

// Accounts are the accounts that have settings of their own, by their keys in the
// repository; nil where none has.
type Accounts map[string]Account

// Account is what the configuration says of one account, with what it leaves out taken
// from the top level.
type Account struct {
	Origin desired.Origin // of its settings
	Skip   bool           `cue:"skip"` // leave it out
	// Rulesets is its credential, and OwnRulesets says that it is not that of the top
	// level. It is zero where there is none, which only a skipped account may have.
	Rulesets    SecretRef `cue:"credentials.rulesets"`
	OwnRulesets bool
	// Tokens is its credential for the tokens that it owns; nil where there is none.
	// TokensPath is where it is configured.
	Tokens     *SecretRef `cue:"credentials.tokens"`
	TokensPath string
	BaseURL    string `cue:"base_url"`
	Budget     Budget `cue:"budget"`
	Observing  bool   // nothing is written
}

// tokensPath is where a credential for tokens is configured.
const tokensPath = "credentials.tokens"

// TokensOf is the credential of the top level for the tokens of an account whose
// platform has this address; nil where there is none. A credential is sent to its own
// platform alone.
func (c Config) TokensOf(baseURL string) *SecretRef {
	if baseURL != c.Platform.BaseURL {
		return nil
	}
	return c.Credentials.Tokens
}

// pathOf is the path of the settings of an account.
func pathOf(account string) string {
	return cue.MakePath(cue.Str("accounts"), cue.Str(account)).String()
}

// accounts reads the accounts over what the top level says.
func (c *configReader) accounts(v cue.Value, top Config) Accounts {
	var all Accounts
	each(v, "accounts", func(key, path string) {
		settings := at(v, path)
		a := Account{
			Origin: explain.Origin(at(c.plain, path)), Rulesets: top.Credentials.Rulesets, BaseURL: top.Platform.BaseURL,
			Budget: top.Budget, Observing: top.Guards.Observing, OwnRulesets: at(settings, "credentials.rulesets").Exists(),
		}
		if a.Origin.File == inside {
			a.Origin.File = c.name
		}
		c.fill(reflect.ValueOf(&a).Elem(), settings)
		if a.Tokens != nil {
			a.TokensPath = "accounts." + key + "." + tokensPath
		} else if a.Tokens = top.TokensOf(a.BaseURL); a.Tokens != nil {
			a.TokensPath = tokensPath
		}
		if mode := text(settings, "mode"); mode != "" {
			a.Observing = mode == observeMode
		}
		if all == nil {
			all = Accounts{}
		}
		all[key] = a
	})
	return all
}

// checkAccounts: whether a credential is missing, or has two budgets, hangs on other
// settings.
func (c *configReader) checkAccounts(config *Config) {
	if len(config.Credentials.Accounts) == 0 && !at(c.plain, "credentials.rulesets").Exists() {
		c.problems = append(c.problems, desired.Problem{
			Origin: desired.Origin{File: inside, Line: 1, Column: 1}, Path: "credentials.rulesets", Message: "required field is missing",
			Hint: "name the file, environment variable or systemd credential that holds the token",
		})
	}
	type credential struct {
		ref  SecretRef
		base string
	}
	first := map[credential]string{}
	for _, key := range slices.Sorted(maps.Keys(config.Credentials.Accounts)) {
		a, path := config.Credentials.Accounts[key], pathOf(key)
		if a.Skip {
			c.checkSkipped(path)
			continue
		}
		c.checkAccount(path, a)
		if !a.OwnRulesets {
			continue
		}
		of := credential{a.Rulesets, a.BaseURL}
		other, shared := first[of]
		if !shared {
			first[of] = key
		} else if config.Credentials.Accounts[other].Budget != a.Budget {
			c.problem(path, fmt.Sprintf("has the same credential as account %s, but another budget", other), "a budget belongs to the credential: write the same in both, or give each account a credential of its own")
		}
		if of == (credential{config.Credentials.Rulesets, config.Platform.BaseURL}) && a.Budget != config.Budget {
			c.problem(path, "has the same credential as credentials.rulesets, but another budget", "a budget belongs to the credential: set it in budget at the top level")
		}
	}
}

// checkSkipped: what is set beside skip would have no effect.
func (c *configReader) checkSkipped(path string) {
	for _, name := range []string{"credentials", "base_url", "budget", "mode"} {
		if at(c.plain, path+"."+name).Exists() {
			c.problem(path+"."+name, "has no effect beside skip", "remove it, or skip")
		}
	}
}

func (c *configReader) checkAccount(path string, a Account) {
	if a.Rulesets.IsZero() {
		c.problem(path, "has no credential", "set credentials.rulesets here or at the top level, or skip: true to leave the account out")
	}
	for _, name := range []string{"base_url", "budget"} {
		if !a.OwnRulesets && at(c.plain, path+"."+name).Exists() {
			c.problem(path+"."+name, "needs credentials.rulesets of its own in "+path, "a credential has one platform and one budget")
		}
	}
	c.checkURL(path+".base_url", a.BaseURL, fmt.Sprintf("%q is not a URL", a.BaseURL))
}
