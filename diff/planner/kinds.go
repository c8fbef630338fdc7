package planner

import (
	"cmp"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/diff/rule"
	"github.com/seawall-dev/seawall/diff/token"
	"github.com/seawall-dev/seawall/edge"
)

// Kinds is the table of all that Seawall keeps as git says, in the order in which it is planned.
// To add one is to write a package that implements [diff.Kind], and to list it here.
var Kinds = []diff.Kind{deployment.Kind{}, rule.Exception, rule.Custom, rule.RateLimit, Secrets}

// Secrets is the kind of the driver of secrets.
var Secrets diff.Secrets = token.Kind{}

// Phases are those of the entry points that a plan of a zone needs: in which a kind declares
// something, or has something to remove. Where that is nowhere it is the one of deployments: a
// zone that declares nothing must exist, too.
func Phases(zone desired.Zone, removable diff.Pruning) (phases []edge.Phase) {
	for _, kind := range Kinds {
		for _, phase := range kind.Phases(zone, removable) {
			if !slices.Contains(phases, phase) {
				phases = append(phases, phase)
			}
		}
	}
	if len(phases) == 0 {
		return []edge.Phase{edge.PhaseFirewallManaged}
	}
	return phases
}

// kindOf is the kind of what has an id; nil for one that is not in the table.
func kindOf(id diff.ID) diff.Kind {
	name := cmp.Or(id.Kind, deployment.Name) // as everything on record names deployments
	for _, kind := range Kinds {
		if kind.Name() == name {
			return kind
		}
	}
	return nil
}

// PutsBack reports whether what was removed of the kind of an id can be put back.
func PutsBack(id diff.ID) bool {
	_, is := kindOf(id).(diff.Returner)
	return is
}

// Skips asks all kinds whether one of them declares a live skip rule.
func Skips(asked diff.SkipAsked) diff.DeclaredSkip {
	for _, kind := range Kinds {
		if k, is := kind.(diff.Skipper); is {
			if declared := k.Skips(asked); declared.Kind != "" {
				return declared
			}
		}
	}
	return diff.DeclaredSkip{}
}
