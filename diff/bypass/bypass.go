// Package bypass finds the skip rules that keep requests from a managed ruleset, and tells how
// often each of them matches.
//
// A deployment is an execute rule of an entry point. A rule of the action skip that stands before
// it, or in a phase that runs earlier, takes requests away from it. The execute rule itself is as
// declared then: only who reads the other rules sees that it does nothing. [Find] does that.
//
//	for _, acting := range bypass.Find(of, entryPoint, live.Ahead) {
//		fmt.Println(acting.Rule.ID, acting.All, acting.Always)
//	}
//
// What a rule skips is in its parameters (see [edge.Skip]); for which requests, in its expression,
// of which package edge/expression/judge tells how often it is true.
//
// The package is pure and knows nothing of plans: what has been accepted, what is new and what a
// person has to see is decided elsewhere.
package bypass

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression/judge"
)

// Of is the deployment of which the skip rules are asked for.
type Of struct {
	Scope   edge.Scope             // of the entry point that executes the managed ruleset
	Account edge.AccountID         // the account of the zone, or the account itself
	Zone    string                 // the name of the zone; empty for a deployment of an account
	Proved  bool                   // as of [judge.Facts]
	Managed edge.Ruleset           // the managed ruleset, with its rules
	Execute edge.RuleID            // the execute rule; where there is none yet, each skip rule stands before it
	On      func(edge.RuleID) bool // whether a rule of the managed ruleset is on, with the overrides; nil: all are
}

// Acting is a skip rule that acts on a deployment.
type Acting struct {
	At     edge.Place
	Rule   edge.Rule     // with the joined expression, where it is in a ruleset that is executed there
	All    bool          // all of the deployment is skipped
	Rules  []edge.RuleID // else these rules, which are on; sorted
	Always bool          // each request matches
	// Elsewhere says that none matches if the zone has the name that is declared, which the
	// platform has not told.
	Elsewhere bool
	// Unclear is why it cannot be told what is skipped: it counts as all then.
	Unclear error
}

// earlier are the phases before that of managed rulesets in which a rule may skip it.
var earlier = [...]edge.Phase{edge.PhaseFirewallCustom, edge.PhaseRateLimit}

// Find returns the skip rules that act on a deployment: first those of its own entry point, in
// their order, then those of earlier phases of the zone and of the account. Places that are not
// in ahead, or could not be read, add none: who calls says that they were not looked at.
//
// It is called for each deployment in each sweep. Where there is no skip rule, which is usual, it
// allocates nothing.
func Find(of Of, entryPoint edge.Ruleset, ahead map[edge.Place]diff.Ahead) []Acting {
	var found []Acting
	own := of.Scope.At(edge.PhaseFirewallManaged)
	for i := range entryPoint.Rules {
		rule := &entryPoint.Rules[i]
		if rule.ID == of.Execute && rule.Action == edge.ActionExecute {
			break // what stands behind it has no effect on it
		}
		if rule.Action == edge.ActionSkip && rule.IsEnabled() {
			found = of.add(found, own, *rule)
		}
	}
	if len(ahead) == 0 {
		return found
	}
	for _, phase := range earlier {
		found = of.ahead(found, ahead, of.Scope.At(phase))
	}
	if account := edge.AccountScope(of.Account); of.Account != "" && account != of.Scope {
		for _, phase := range earlier {
			found = of.ahead(found, ahead, account.At(phase))
		}
	}
	return found
}

// add adds a skip rule, which is enabled, if it acts.
func (of *Of) add(found []Acting, at edge.Place, rule edge.Rule) []Acting {
	s := of.skipped(at, rule)
	if !s.all && len(s.rules) == 0 {
		return found
	}
	facts := judge.Facts{Zone: of.Zone, Proved: of.Proved, Level: at.Scope.Level}
	verdict := judge.Expression(rule.Expression, facts)
	if verdict == judge.Never {
		return found
	}
	elsewhere := false
	if !facts.Proved && facts.Zone != "" && verdict == judge.Sometimes {
		facts.Proved = true
		elsewhere = judge.Expression(rule.Expression, facts) == judge.Never
	}
	return append(found, Acting{
		At: at, Rule: rule, All: s.all, Rules: s.rules, Always: verdict == judge.Always, Elsewhere: elsewhere, Unclear: s.unclear,
	})
}
