// Package rulesets looks up the managed rulesets of an account that declarations name, and says
// which versions of them are to be read. It is no kind: any kind that lives in an entry point
// may run a managed ruleset. Everything in it is pure.
package rulesets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// Find finds the managed ruleset a reference names among those listed:
// by kind, phase and name or id, never by its place in the list.
func Find(ref desired.RulesetRef, listed []edge.Ruleset) (edge.Ruleset, error) {
	one, several := -1, false
	for i := range listed {
		if named(ref, &listed[i]) {
			one, several = i, one >= 0
		}
	}
	if one >= 0 && !several {
		return listed[one], nil
	}
	return edge.Ruleset{}, notOne(ref, listed)
}

// named reports whether a managed ruleset is the one that a reference names.
func named(ref desired.RulesetRef, r *edge.Ruleset) bool {
	return isManaged(r) && (ref.ID != "" && r.ID == ref.ID || ref.ID == "" && r.Name == ref.Name)
}

func isManaged(r *edge.Ruleset) bool {
	return r.Kind == edge.KindManaged && r.Phase == edge.PhaseFirewallManaged
}

// notOne says that not exactly one of those listed is the one that a reference names.
func notOne(ref desired.RulesetRef, listed []edge.Ruleset) error {
	var ids, names []string
	for i := range listed {
		if r := &listed[i]; isManaged(r) {
			names = append(names, r.Name)
			if named(ref, r) {
				ids = append(ids, string(r.ID))
			}
		}
	}
	what := fmt.Sprintf("named %q", ref.Name)
	if ref.ID != "" {
		what = "with id " + string(ref.ID)
	}
	if len(ids) == 0 {
		return &Error{fmt.Sprintf("the account has no managed ruleset %s", what), hintOf(ref, names)}
	}
	slices.Sort(ids)
	return &Error{
		fmt.Sprintf("the account has %d managed rulesets %s", len(ids), what),
		"declare it by id; candidates: " + strings.Join(ids, ", "),
	}
}

// hintOf says which managed rulesets there are instead.
func hintOf(ref desired.RulesetRef, names []string) string {
	if len(names) == 0 {
		return "the account has no visible managed ruleset of this phase"
	}
	slices.Sort(names)
	near := ""
	if ref.ID == "" {
		near = nearest.Hint(ref.Name, names, "")
	}
	return cmp.Or(near, "it has: "+strings.Join(names, ", "))
}

// Error says that a declared managed ruleset is not there, or not alone.
type Error struct{ Message, Hint string }

func (e *Error) Error() string { return e.Message }

// Latest is the version of an execute rule that is not pinned, and of one that says none.
const Latest = "latest"

// VersionOf is the version of its managed ruleset that an execute rule runs.
func VersionOf(rule edge.Rule) string {
	if rule.ActionParameters == nil || rule.ActionParameters.Version == "" {
		return Latest
	}
	return rule.ActionParameters.Version
}

// Versions are the versions of managed rulesets, other than the latest, that a plan of a
// zone needs: what it runs, and what it is declared to run.
func Versions(account desired.Account, zone desired.Zone, live diff.AccountLive, entryPoint edge.Ruleset) (needed []diff.RulesetVersion) {
	seen := map[diff.RulesetVersion]bool{}
	for _, ref := range account.Rulesets {
		listed, err := Find(ref, live.Listed.Value)
		if err != nil {
			continue
		}
		add := func(version string) {
			v := diff.RulesetVersion{Ruleset: listed.ID, Version: version}
			if version != Latest && version != live.Managed[listed.ID].Value.Version && !seen[v] {
				seen[v], needed = true, append(needed, v)
			}
		}
		for _, d := range zone.Deployments {
			if d.Ruleset != ref.Key {
				continue
			}
			if d.Version != nil {
				add(d.Version.Value)
			}
			for _, rule := range entryPoint.Rules {
				if rule.Executes(listed.ID) {
					add(VersionOf(rule))
				}
			}
		}
	}
	return needed
}
