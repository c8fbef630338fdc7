package rule

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// Skips implements [diff.Skipper]: a custom rule may skip the phase of managed rulesets. One that
// is not live as declared is as any other skip rule.
func (k Kind) Skips(asked diff.SkipAsked) (none diff.DeclaredSkip) {
	o, is := k.declaredBy(asked)
	if !is || asked.Rule.Action != edge.ActionSkip {
		return none
	}
	values, err := treeOf([]byte(o.Value))
	phases, _ := values.at("skip.phases").([]any)
	managed := slices.Contains(phases, any(string(edge.PhaseFirewallManaged)))
	if err != nil || values["enabled"] == false || values["action"] != string(edge.ActionSkip) || values["expression"] != asked.Rule.Expression || !managed {
		return none
	}
	return diff.DeclaredSkip{Kind: k.name, Key: o.Key, Agrees: true, Origin: o.Origin}
}

// declaredBy is the declaration of a live rule in the place of the kind.
func (k Kind) declaredBy(asked diff.SkipAsked) (desired.Other, bool) {
	if asked.At != asked.Zone.Scope.At(k.phase) {
		return desired.Other{}, false
	}
	i := slices.IndexFunc(asked.Zone.Others, func(o desired.Other) bool { return k.is(o) && o.Key == asked.Rule.Ref })
	if i < 0 {
		return desired.Other{}, false
	}
	return asked.Zone.Others[i], true
}
