package diff

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// RuleOperation is done to one rule of an entry point, and to nothing else in it. Any kind
// that lives in an entry point uses it.
type RuleOperation struct {
	Plain

	// Do is [ActionUpdate]; [ActionDeploy], which adds the rule, and creates the entry point
	// with it where there is none; or [ActionRemove]. Anything else sends nothing.
	Do     Action
	Target Target
	Body   edge.Rule // the complete rule; of a removal the zero value
	// Position is where a rule is added to an entry point that there is, or moved to; nil is the
	// end, or where it stands.
	Position *edge.Position
}

// Target addresses a rule, as observed. One that is to be added has no rule yet, and no entry
// point where there is none.
type Target struct {
	Kind       desired.KindName // of a rule that is no deployment; see [ID]
	Ruleset    edge.RulesetID   // the managed ruleset that it executes
	Ref        string           // of the rule; of an execute rule in a zone it is empty
	Phase      edge.Phase       // of the entry point
	EntryPoint edge.RulesetID
	Version    string // of the entry point when it was read
	Rule       edge.RuleID
	Owned      []Member // what the declaration owns, to remember once applied
}

// Action implements [Operation].
func (o RuleOperation) Action() Action { return o.Do }

// Sends implements [Operation].
func (o RuleOperation) Sends() bool {
	return o.Do == ActionUpdate || o.Do == ActionDeploy || o.Do == ActionRemove
}

// Request implements [Operation].
func (o RuleOperation) Request(zone edge.Scope) Request {
	switch t := o.Target; {
	case o.Do == ActionUpdate:
		return Request{"PATCH", edge.RulePath(zone, t.EntryPoint, t.Rule), o.Body.At(o.Position)}
	case o.Do == ActionRemove:
		return Request{"DELETE", edge.RulePath(zone, t.EntryPoint, t.Rule), nil}
	case t.EntryPoint == "":
		return Request{"POST", edge.RulesetsPath(zone), edge.EntryPointBody(zone, t.Phase, []edge.Rule{o.Body})}
	default:
		return Request{"POST", edge.RulesPath(zone, t.EntryPoint), o.Body.At(o.Position)}
	}
}

// Agreed implements [Operation]. A rule that is added is the same one whether there is an
// entry point by now or not: another change of the same plan may have created it.
func (o RuleOperation) Agreed(zone edge.Scope) Agreement {
	if o.Do == ActionDeploy {
		return Agreement{Request: Request{"POST", edge.RulesetsPath(zone), o.Body.At(o.Position)}}
	}
	return Agreement{Request: o.Request(zone)}
}

// About implements [Operation].
func (o RuleOperation) About(zone edge.Scope) ID {
	return ID{Kind: o.Target.Kind, Scope: zone, Ruleset: o.Target.Ruleset, Ref: o.Target.Ref}
}

// Senseless implements [Operation].
func (RuleOperation) Senseless(Conditions) *Refusal { return nil }

// Timely implements [Operation].
func (RuleOperation) Timely() bool { return false }

// Seen implements [Operation].
func (o RuleOperation) Seen() string { return o.Target.Version }

// Owned implements [Operation].
func (o RuleOperation) Owned() []Member { return o.Target.Owned }

// Light is the operation without what is large.
func (o RuleOperation) Light() Operation {
	t := o.Target
	return RuleOperation{Do: o.Do, Target: Target{Kind: t.Kind, Phase: t.Phase, Ruleset: t.Ruleset, Ref: t.Ref}}
}

// Prunable is a rule that may be removed once nothing declares it: when it was proved last,
// its declaration allowed that.
type Prunable struct {
	Account    string      `json:"account"` // its key, as that of the zone and of the deployment
	Zone       string      `json:"zone"`
	Deployment string      `json:"deployment"`
	Rule       edge.RuleID `json:"rule"` // the execute rule; another one that runs the same ruleset is not meant
}

// Pruning has what may be removed.
type Pruning map[ID]Prunable

// Of reports whether something is of a kind, as in [ID].
func (p Pruning) Of(kind desired.KindName) bool {
	for id := range p {
		if id.Kind == kind {
			return true
		}
	}
	return false
}
