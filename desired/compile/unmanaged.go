package compile

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
)

// decidedOnce refuses two decisions on one override.
func (r *reader) decidedOnce(path string, d desired.Deployment) {
	seen, places := map[desired.Decision]desired.Origin{}, map[desired.Unmanaged]int{}
	for _, one := range d.Decisions {
		about := one.Bare()
		about.Unmanaged = ""
		if first, twice := seen[about]; twice {
			r.unit.Problems = append(r.unit.Problems, twoPlaces(element(path, string(one.Unmanaged), places[one.Unmanaged]), one.Origin,
				fmt.Sprintf("%s is decided twice", one.About()), first))
		}
		seen[about] = one.Origin
		places[one.Unmanaged]++
	}
}
