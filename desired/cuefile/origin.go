package cuefile

import (
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// Origin is where the zone's member that a change is about is declared; zero where it is
// not.
func (c Change) Origin(z desired.Zone) desired.Origin {
	for _, d := range z.Deployments {
		if label := Label(d.Ruleset); strings.HasPrefix(c.Path, label+".") {
			return origins(d)[strings.TrimPrefix(c.Path, label+".")]
		}
	}
	return desired.Origin{}
}

// Has reports whether a zone has a value from a place.
func Has(z desired.Zone, from desired.Origin) bool {
	for _, d := range z.Deployments {
		for _, origin := range origins(d) {
			if origin == from {
				return true
			}
		}
	}
	return false
}

// origins are the places of a deployment's members; of a list that of its first element.
func origins(d desired.Deployment) map[string]desired.Origin {
	all := map[string]desired.Origin{"enabled": d.Enabled.Origin}
	if d.Version != nil {
		all["version"] = d.Version.Origin
	}
	if d.Expression != nil {
		all["expression"] = d.Expression.Origin
	}
	if d.ExpressionDrift != nil {
		all["expression_drift"] = d.ExpressionDrift.Origin
	}
	if d.Paranoia != nil {
		all["paranoia"] = d.Paranoia.Origin
	}
	if d.Threshold != nil {
		all["threshold.score"], all["threshold.action"] = d.Threshold.Score.Origin, d.Threshold.Action.Origin
	}
	if d.Unmanaged != nil {
		all["unmanaged"] = d.Unmanaged.Origin
	}
	for member, origin := range d.All.Members() {
		all["all."+member] = origin
	}
	if len(d.Disable.Rules) > 0 {
		all["disable.rules"] = d.Disable.Rules[0].Origin
	}
	if len(d.Disable.Tags) > 0 {
		all["disable.tags"] = d.Disable.Tags[0].Origin
	}
	if len(d.Tags) > 0 {
		all["tags"] = d.Tags[0].Origin
	}
	if len(d.Rules) > 0 {
		all["rules"] = d.Rules[0].Origin
	}
	for _, one := range d.Decisions {
		if _, known := all[string(one.Unmanaged)]; !known {
			all[string(one.Unmanaged)] = one.Origin
		}
	}
	return all
}
