package mem

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/seawall-dev/seawall/edge"
)

// Check reports everything that makes a seed not a platform: ids that are not
// 32 lower-case hexadecimal digits or given twice, zones of accounts that are
// not there, versions that are not numbers, tokens without an id.
func (s Seed) Check() error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	seen := map[string]bool{}
	once := func(what, id string) {
		if seen[what+id] {
			add("%s %s: it is there twice", what, id)
		}
		seen[what+id] = true
	}
	accounts := map[edge.AccountID]bool{}
	for _, a := range s.Accounts {
		accounts[a.ID] = true
		once("account", string(a.ID))
		if !edge.ValidID(string(a.ID)) {
			add("account %q: %w", a.ID, errID)
		}
		for _, r := range a.Rulesets {
			once("account "+string(a.ID)+" ruleset", string(r.ID))
			if err := checkRuleset(r); err != nil {
				add("account %s: %w", a.ID, err)
			}
		}
	}
	for _, z := range s.Zones {
		once("zone", string(z.ID))
		if err := z.check(accounts); err != nil {
			add("zone %q (%s): %w", z.ID, z.Name, err)
		}
	}
	return errors.Join(slices.Concat(problems, s.checkTokens())...)
}

func (s Seed) checkTokens() []error {
	var problems []error
	ids, values := map[string]bool{}, map[string]bool{"": false}
	for _, t := range s.Tokens {
		switch {
		case t.ID == "":
			problems = append(problems, fmt.Errorf("token %q: it needs an id", t.Name))
		case ids[t.ID]:
			problems = append(problems, fmt.Errorf("token %s: it is there twice", t.ID))
		case values[t.Value]:
			problems = append(problems, fmt.Errorf("token %s: another has the same value", t.ID))
		}
		if err := t.check(s.User); err != nil {
			problems = append(problems, fmt.Errorf("token %s: %w", t.ID, err))
		}
		ids[t.ID], values[t.Value] = true, t.Value != ""
	}
	return problems
}

// check holds what a token says of itself to what a creation would take, but
// for the ids that its policies have by now.
func (t SeedToken) check(user string) error {
	members := map[string]any{}
	for name, raw := range map[string]json.RawMessage{"policies": t.Policies, "condition": t.Condition} {
		if err := decodeMember(raw, members, name); err != nil {
			return err
		}
	}
	for name, said := range map[string]string{"not_before": t.NotBefore, "expires_on": t.ExpiresOn} {
		if said != "" {
			members[name] = said
		}
	}
	problems := slices.Concat(checkTypes("", members, tokenMembers), checkWindow(members), checkCondition(members["condition"]))
	if policies, _ := members["policies"].([]any); len(policies) > 0 {
		problems = append(problems, checkPolicies(policies, user)...)
	}
	for _, p := range problems {
		if p.Code != codePolicyID {
			return errors.New(p.String())
		}
	}
	return t.checkExtra()
}

// checkExtra sees that no member is told twice.
func (t SeedToken) checkExtra() error {
	data, err := json.Marshal(t.Extra)
	if err != nil {
		return fmt.Errorf("extra: %w", err)
	}
	var token edge.Token
	if err := json.Unmarshal(data, &token); err != nil || len(token.Extra) != len(t.Extra) {
		return errors.New("extra: it has a member that a token has a place for")
	}
	return nil
}

// decodeMember decodes a member that may be missing.
func decodeMember(raw json.RawMessage, into map[string]any, name string) error {
	if len(raw) == 0 {
		return nil
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	into[name] = value
	return nil
}

var errID = errors.New("the id is not 32 lower-case hexadecimal digits")

func (z SeedZone) check(accounts map[edge.AccountID]bool) error {
	if !edge.ValidID(string(z.ID)) {
		return errID
	}
	if !accounts[z.AccountID] {
		return fmt.Errorf("account_id %q is no account of the seed", z.AccountID)
	}
	for _, r := range z.Rulesets {
		if err := checkRuleset(r); err != nil {
			return err
		}
		if r.Phase == "" || r.Phase == edge.PhaseFirewallManaged {
			return fmt.Errorf("ruleset %s: the ruleset of the phase %s is the entrypoint", r.ID, edge.PhaseFirewallManaged)
		}
	}
	if z.EntryPoint == nil {
		return nil
	}
	return checkRuleset(*z.EntryPoint)
}

// checkRuleset checks ids and versions. An entry point without an id is an
// error too: two zones would share what is derived from it.
func checkRuleset(r edge.Ruleset) error {
	if !edge.ValidID(string(r.ID)) {
		return fmt.Errorf("ruleset %q: %w", r.ID, errID)
	}
	if err := checkVersion(r.Version); err != nil {
		return fmt.Errorf("ruleset %s: %w", r.ID, err)
	}
	seen := map[edge.RuleID]bool{}
	for i, rule := range r.Rules {
		if rule.ID != "" && !edge.ValidID(string(rule.ID)) {
			return fmt.Errorf("ruleset %s: rule %d %q: %w", r.ID, i, rule.ID, errID)
		}
		if rule.ID != "" && seen[rule.ID] {
			return fmt.Errorf("ruleset %s: rule %s: it is there twice", r.ID, rule.ID)
		}
		seen[rule.ID] = true
		if err := checkVersion(rule.Version); err != nil {
			return fmt.Errorf("ruleset %s: rule %s: %w", r.ID, rule.ID, err)
		}
	}
	return nil
}

func checkVersion(version string) error {
	if version == "" {
		return nil
	}
	if _, err := strconv.ParseUint(version, 10, 63); err != nil {
		return fmt.Errorf("version %q is not a whole number", version)
	}
	return nil
}
