package planner

import (
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/edge"
)

// Declarer is [deployment.Declarer]: the inverse of a plan, for who writes declarations of what
// is live.
type Declarer = deployment.Declarer

// Deployed is [deployment.Deployed]: a live execute rule with all that may keep requests from it.
type Deployed = deployment.Deployed

// NewDeclarer is [deployment.NewDeclarer].
func NewDeclarer(managed edge.Ruleset, documented bool) *Declarer {
	return deployment.NewDeclarer(managed, documented)
}

// Declarers are the kinds beside deployments that declare what is live; see [diff.DeclarerAt].
func Declarers(deployed func(name string) diff.Deployed, now time.Time) (all []diff.Declarer) {
	for _, kind := range Kinds {
		if d, ok := kind.(diff.DeclarerAt); ok {
			all = append(all, d.At(deployed, now))
		} else if d, ok := kind.(diff.Declarer); ok {
			all = append(all, d)
		}
	}
	return all
}

// Publication is [deployment.Publication]: what a new version of a managed ruleset means for
// declared deployments.
type Publication = deployment.Publication

// NewPublication is [deployment.NewPublication].
func NewPublication(before, after edge.Ruleset) *Publication {
	return deployment.NewPublication(before, after)
}
