package zones

import (
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// The column ruleset_id names a deployment within its zone: by the id of the managed
// ruleset and, at account level, a slash and the ref of the execute rule. An id has no
// slash. The column zone_id is "account:" and the account's id there, which no zone has.

func rulesetText(id diff.DeploymentID) string {
	if id.Ref == "" {
		return string(id.Ruleset)
	}
	return string(id.Ruleset) + "/" + id.Ref
}

func deploymentOf(zone edge.Scope, ruleset string) diff.DeploymentID {
	id, ref, _ := strings.Cut(ruleset, "/")
	return diff.DeploymentID{Scope: zone, Ruleset: edge.RulesetID(id), Ref: ref}
}
