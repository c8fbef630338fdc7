// Package bypass finds the skip rules that keep requests from a managed ruleset.
package bypass

import (
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Of is the deployment of which the skip rules are asked for.
type Of struct {
	Scope   edge.Scope             // of the entry point that executes the managed ruleset
	Account edge.AccountID         // the account of the zone, or the account itself
	Zone    string                 // the name of the zone; empty for a deployment of an account
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
	// Unclear is why it cannot be told what is skipped: it counts as all then.
	Unclear error
}

// Find returns the skip rules that act on a deployment.
func Find(of Of, entryPoint edge.Ruleset, ahead map[edge.Place]diff.Ahead) []Acting { return nil }
