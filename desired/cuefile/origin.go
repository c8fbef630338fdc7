package cuefile

import (
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// Origin is where the zone's member that a change is about is declared; zero where it is
// not.
func (c Change) Origin(z desired.Zone) desired.Origin {
	for _, d := range z.Deployments {
		if label := Label(d.Ruleset); !c.Other() && strings.HasPrefix(c.Path, label+".") {
			return origins(d)[inDeployment(strings.TrimPrefix(c.Path, label+"."))]
		}
	}
	for _, o := range z.Others {
		if path := pathOf(o) + "."; c.Other() && strings.HasPrefix(c.Path, path) {
			return o.Places[strings.TrimPrefix(c.Path, path)]
		}
	}
	return desired.Origin{}
}

// inDeployment is the path of what has an origin: of a member of an acceptance the acceptance.
func inDeployment(path string) string {
	if labels := splitPath(path); labels[0] == accepted {
		return strings.Join(labels[:2], ".")
	}
	return path
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
	for _, o := range z.Others {
		for _, origin := range o.Places {
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
		if a, is := m.Value.(desired.Accepted); is {
			m.Path = acceptedPath(a)
		}
		if _, known := all[m.Path]; !known {
			all[m.Path] = m.Origin
		}
	}
	return all
}
