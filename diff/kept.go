package diff

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// Kept are the members of a deployment that are live, that nothing declares, and that the
// declaration keeps; or the rules of others in a phase, of which Deployment is empty. They have
// an effect: they are named in each plan, and are no problem.
type Kept struct {
	Account    string           `json:"account"`
	Zone       string           `json:"zone"`
	Scope      edge.Scope       `json:"zone_id"`
	Kind       desired.KindName `json:"kind,omitempty"` // as in [ID]
	Deployment string           `json:"deployment"`
	Members    []Leftover       `json:"members"`
}

// About names the deployment, or the rules of a kind in the zone.
func (k Kept) About() string {
	if k.Deployment == "" && k.Kind != "" {
		return NameOf(k.Account, k.Zone, k.Kind.Word()+"s", "")
	}
	return NameOf(k.Account, k.Zone, Called(k.Kind, k.Deployment), "")
}
