package compile

import (
	"fmt"

	"github.com/seawall-dev/seawall/desired"
)

// decisions reads what becomes of single overrides that are live and not declared.
func (r *reader) decisions(path string, m member) (all []desired.Decision) {
	seen := map[desired.Decision]desired.Origin{}
	for _, as := range []desired.Unmanaged{desired.Keep, desired.Remove} {
		for i, e := range m.field(string(as)).elements() {
			found := desired.Decision{
				Unmanaged: as, Origin: e.origin(), All: e.field("all").truth(), Version: e.field("version").truth(), Tag: e.field("tag").text(),
				Rule: ruleRef(e),
			}
			about := found.Bare()
			about.Unmanaged = ""
			if first, twice := seen[about]; twice {
				r.unit.Problems = append(r.unit.Problems, twoPlaces(element(path, string(as), i), found.Origin,
					fmt.Sprintf("%s is decided twice", found.About()), first))
			}
			seen[about] = found.Origin
			all = append(all, found)
		}
	}
	return all
}
