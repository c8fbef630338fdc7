package deployment

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// A declaration may be written to the letter and have no effect: a paranoia level
// whose rules are all disabled by an override that is kept, or the threshold of a rule
// that is off. That is a conflict, and never in sync. It is judged over what rules do
// in effect, once everything is written.

// conflicts are what of a declaration has no effect. Claims alone are what the rules
// would do without all that is live and not declared; kept is what stays of it.
func (m *managed) conflicts(d desired.Deployment, c claims, want *edge.Overrides, kept []diff.Leftover) (problems []diff.Problem) {
	if d.Paranoia == nil && d.Threshold == nil {
		return nil
	}
	after := m.effects(want)
	if d.Paranoia != nil {
		var rules []int
		for level := 1; level <= d.Paranoia.Value; level++ {
			rules = append(rules, m.byTag[edge.ParanoiaTag(level)]...)
		}
		if !anyStops(after, rules) && anyStops(m.effects((&merger{managed: m}).merge(nil, c)), rules) {
			problems = append(problems, conflict(d.Paranoia.Origin,
				fmt.Sprintf("paranoia: %d has no effect: no rule up to that level stops a request", d.Paranoia.Value), m.culprits(kept, rules)))
		}
	}
	if last := len(m.Rules) - 1; d.Threshold != nil && !after[last].enabled {
		problems = append(problems, conflict(d.Threshold.Score.Origin,
			"threshold has no effect: the rule that evaluates the score is disabled", m.culprits(kept, []int{last})))
		if p := &problems[len(problems)-1]; p.Hint == "" {
			p.Hint = fmt.Sprintf("enable the rule: rules: [{id: %q, enabled: true}]", m.last)
		}
	}
	return problems
}

// anyStops reports whether a rule is on and does more than to log.
func anyStops(effects []effect, rules []int) bool {
	return slices.ContainsFunc(rules, func(i int) bool { return effects[i].enabled && effects[i].action != edge.ActionLog })
}

// culprits are the kept members that disable one of these rules, or have it only log.
func (m *managed) culprits(kept []diff.Leftover, rules []int) (found []diff.Leftover) {
	for _, l := range kept {
		if l.Value != any(false) && l.Value != any(edge.ActionLog) {
			continue
		}
		if slices.ContainsFunc(m.reached(l.Path), func(i int) bool { return slices.Contains(rules, i) }) {
			found = append(found, l)
		}
	}
	return found
}

// conflict is a part of a declaration that has no effect. Hint is empty where nothing
// that is kept is the reason.
func conflict(origin desired.Origin, what string, by []diff.Leftover) diff.Problem {
	p := diff.Problem{State: diff.Blocked, Reason: what, Origin: origin}
	if len(by) == 0 {
		return p
	}
	names := make([]string, len(by))
	for i, l := range by {
		names[i] = fmt.Sprintf("%s = %s", l.Path.Subject(), jsonText(l.Value))
	}
	p.Reason += "; live and not declared: " + strings.Join(names, ", ")
	p.Hint = `declare what it should be, or set unmanaged: "remove"`
	return p
}

func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
