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
	all := map[string]desired.Origin{}
	for m := range d.Members() {
		if _, known := all[m.Path]; !known {
			all[m.Path] = m.Origin
		}
	}
	return all
}
