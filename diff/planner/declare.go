package planner

import (
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/edge"
)

// Declarer is [deployment.Declarer]: the inverse of a plan, for who writes declarations of what
// is live.
type Declarer = deployment.Declarer

// NewDeclarer is [deployment.NewDeclarer].
func NewDeclarer(managed edge.Ruleset, documented bool) *Declarer {
	return deployment.NewDeclarer(managed, documented)
}

// Publication is [deployment.Publication]: what a new version of a managed ruleset means for
// declared deployments.
type Publication = deployment.Publication

// NewPublication is [deployment.NewPublication].
func NewPublication(before, after edge.Ruleset) *Publication {
	return deployment.NewPublication(before, after)
}
