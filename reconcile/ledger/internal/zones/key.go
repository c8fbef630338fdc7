package zones

import (
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// The column ruleset_id names a deployment within its zone: by the id of the managed
// ruleset and, at account level, a slash and the ref of the execute rule. An id has no
// slash. Any other rule is named by its kind, a colon, and its ref behind a slash. The column zone_id is "account:" and the account's id there, which no zone has.

func rulesetText(id diff.ID) string {
	text := string(id.Ruleset)
	if id.Kind != "" {
		text = string(id.Kind) + ":" + text
	}
	if id.Ref == "" {
		return text
	}
	return text + "/" + id.Ref
}

func deploymentOf(zone edge.Scope, ruleset string) diff.ID {
	name, ref, _ := strings.Cut(ruleset, "/")
	kind, id, other := strings.Cut(name, ":")
	if !other {
		kind, id = "", name
	}
	return diff.ID{Kind: desired.KindName(kind), Scope: zone, Ruleset: edge.RulesetID(id), Ref: ref}
}
