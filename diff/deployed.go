package diff

import (
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Deployed is a declared deployment, for kinds that are declared at one ([desired.Other.Of]): they
// stand by its execute rule, and name rules of its managed ruleset.
type Deployed struct {
	Scope      edge.Scope
	Deployment string
	// Execute is the execute rule. It is empty where there is none yet, and the plan adds it.
	Execute edge.RuleID
	Managed Managed
	// Problem is why nothing else is known; nil where it is.
	Problem *Problem
}

// Managed is the managed ruleset of a deployment, in the version that the deployment runs.
type Managed interface {
	ID() edge.RulesetID
	// Find returns the rule that a reference names, or why that is not one.
	Find(ref desired.RuleRef) (id edge.RuleID, why string)
	// Tagged are the rules with a tag.
	Tagged(tag string) []edge.RuleID
	// On are those of some rules that are on, or of all for nil: with the overrides that are
	// declared, or with those that are live.
	On(ids []edge.RuleID) []SkippedRule
}

// Skipper is a kind of rules of which some may be skip rules.
type Skipper interface {
	Kind
	// Skips compares a live skip rule with what a zone declares by its ref.
	Skips(asked SkipAsked) DeclaredSkip
}

// SkipAsked asks whether git declares a live skip rule.
type SkipAsked struct {
	Zone     desired.Zone
	At       edge.Place
	Rule     edge.Rule
	Now      time.Time
	Deployed func(name string) Deployed // a deployment of the zone
}

// DeclaredSkip is what git says of a live skip rule; the zero value for nothing.
type DeclaredSkip struct {
	Kind   desired.KindName // of the declaration; empty: nothing declares the rule
	Key    string
	Agrees bool // it is live as declared
	Over   bool // it is declared until a day that is over
	Owner  string
	Until  string // as in [Bypass]
	Origin desired.Origin
}
