package render

import (
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// deprecated lists who still uses deprecated API features, a rule at a time. Calls
// that stay and may change are left to seawall deprecations.
func deprecated(p diff.Plan) []remark {
	var remarks []remark
	at := map[string]int{}
	for _, n := range p.Deprecations {
		if n.Info {
			continue
		}
		i, known := at[n.Rule]
		if !known {
			i = len(remarks)
			at[n.Rule] = i
			remarks = append(remarks, remark{hint: replacement(n), one: "call", many: "calls"})
		}
		remarks[i].about = append(remarks[i].about, remarked{userOf(n), "uses an API that " + n.Standing() + ": " + n.Detail, placeOf(n.Where)})
	}
	return remarks
}

// userOf says who uses a deprecated feature.
func userOf(n deprecation.Notice) string {
	if n.Where.Integration == "" {
		return "seawall"
	}
	return "integration " + n.Where.Integration
}

func replacement(n deprecation.Notice) string { return n.Title + ": " + n.Instead() }

func placeOf(w deprecation.Where) string {
	if w.File == "" || w.Line == 0 {
		return w.File
	}
	return fmt.Sprintf("%s:%d", w.File, w.Line)
}
