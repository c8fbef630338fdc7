package show

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
)

// NotAccepted is the state of a skip rule that the declaration does not name. Whether it was
// there when the deployment was proved, only the daemon and a plan know.
const NotAccepted diff.BypassState = "not_accepted"

// bypasses are skip rules by what the declaration says of them.
func bypasses(acting []diff.Bypass) []diff.Bypass {
	all := slices.Clone(acting)
	for i := range all {
		if all[i].State == diff.BypassFound {
			all[i].State = NotAccepted
		}
		all[i].Origin = bare(all[i].Origin)
	}
	return all
}

// WithUnlooked returns a shown zone with places in which nobody could look for skip rules.
func (s Shown) WithUnlooked(places []diff.NotLookedAt) Shown {
	s.NotLookedAt = places
	return s
}
