package planner

import (
	"cmp"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/deployment"
	"github.com/seawall-dev/seawall/diff/token"
)

// Kinds is the table of all that Seawall keeps as git says, in the order in which it is planned.
// To add one is to write a package that implements [diff.Kind], and to list it here.
var Kinds = []diff.Kind{deployment.Kind{}, token.Kind{}}

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
