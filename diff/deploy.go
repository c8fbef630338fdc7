package diff

import "github.com/seawall-dev/seawall/edge"

// DeploymentCreation deploys a managed ruleset in a zone that does not run it: it
// creates the zone's entry point with one rule, or adds the rule to the one that there
// is. Neither call replaces anything.
type DeploymentCreation struct {
	// Target has no rule yet, and no entry point where the zone has none.
	Target Target
	Body   edge.Rule // the execute rule
}

func (DeploymentCreation) kind() Kind     { return KindDeployment }
func (DeploymentCreation) action() Action { return ActionDeploy }

func (c DeploymentCreation) request(zone edge.Scope) Request {
	if c.Target.EntryPoint == "" {
		return Request{"POST", edge.RulesetsPath(zone), edge.EntryPointBody(zone, edge.PhaseFirewallManaged, []edge.Rule{c.Body})}
	}
	return Request{"POST", edge.RulesPath(zone, c.Target.EntryPoint), c.Body}
}

// agreed is what of a request people agree to. A creation is the same one whether the
// zone has an entry point by now or not: another deployment of the same plan may have
// created it.
func agreed(o sender, zone edge.Scope) Request {
	if c, creates := o.(DeploymentCreation); creates {
		return Request{"POST", edge.RulesetsPath(zone), c.Body}
	}
	return o.request(zone)
}

// DeploymentRemoval deletes the execute rule of a deployment that is no longer declared.
// All else of the entry point stays.
type DeploymentRemoval struct{ Target Target }

func (DeploymentRemoval) kind() Kind     { return KindDeployment }
func (DeploymentRemoval) action() Action { return ActionRemove }

func (r DeploymentRemoval) request(zone edge.Scope) Request {
	return Request{"DELETE", edge.RulePath(zone, r.Target.EntryPoint, r.Target.Rule), nil}
}

// Prunable is a deployment that may be removed once nothing declares it: when it was
// proved last, its declaration allowed that.
type Prunable struct {
	Account    string      `json:"account"` // its key, as that of the zone and of the deployment
	Zone       string      `json:"zone"`
	Deployment string      `json:"deployment"`
	Rule       edge.RuleID `json:"rule"` // the execute rule; another one that runs the same ruleset is not meant
}

// Pruning has the deployments that may be removed.
type Pruning map[DeploymentID]Prunable
