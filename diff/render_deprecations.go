package diff

import (
	"fmt"

	"github.com/seawall-dev/seawall/edge/deprecation"
)

// leanings tell of what goes away and who leans on it, a rule at a time. Calls
// that stay and may change are left to those who ask for them.
func (p Plan) leanings() []remark {
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
		remarks[i].about = append(remarks[i].about, remarked{leaning(n), "uses an API that " + n.Standing() + ": " + n.Detail, placeOf(n.Where)})
	}
	return remarks
}

// leaning says who leans on what goes away.
func leaning(n deprecation.Notice) string {
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
