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

// conflict is a part of a declaration that has no effect.
type conflict struct {
	origin desired.Origin
	what   string
	by     []diff.Leftover // live members that are not declared and are the reason; empty for none
	hint   string          // where there are none
}

type conflicts []conflict

// conflicts are what of a declaration has no effect. Claims alone are what the rules
// would do without all that is live and not declared; kept is what stays of it.
func (m *managed) conflicts(d desired.Deployment, c claims, want *edge.Overrides, kept []diff.Leftover) (found conflicts) {
	if d.Paranoia == nil && d.Threshold == nil {
		return nil
	}
	after := effectsOf{managed: m, under: want}
	if d.Paranoia != nil {
		stops := func(under effectsOf) bool {
			for level := 1; level <= d.Paranoia.Value; level++ {
				if under.anyStops(m.byTag[edge.ParanoiaTag(level)]) {
					return true
				}
			}
			return false
		}
		if !stops(after) && stops(effectsOf{managed: m, under: (&merger{managed: m}).merge(nil, c)}) {
			var rules []int
			for level := 1; level <= d.Paranoia.Value; level++ {
				rules = append(rules, m.byTag[edge.ParanoiaTag(level)]...)
			}
			what := fmt.Sprintf("paranoia: %d has no effect: no rule up to that level stops a request", d.Paranoia.Value)
			found = append(found, conflict{d.Paranoia.Origin, what, m.culprits(kept, rules), ""})
		}
	}
	if last := len(m.Rules) - 1; d.Threshold != nil && !after.of(last).enabled {
		found = append(found, conflict{
			d.Threshold.Score.Origin, "threshold has no effect: the rule that evaluates the score is disabled",
			m.culprits(kept, []int{last}), fmt.Sprintf("enable the rule: rules: [{id: %q, enabled: true}]", m.last),
		})
	}
	return found
}

// anyStops reports whether a rule is on and does more than to log.
func (e *effectsOf) anyStops(rules []int) bool {
	return slices.ContainsFunc(rules, func(i int) bool { does := e.of(i); return does.enabled && does.action != edge.ActionLog })
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

// because splits off those for which some of these members are the reason.
func (cs conflicts) because(of []diff.Leftover) (these, others conflicts) {
	for _, c := range cs {
		if slices.ContainsFunc(c.by, func(l diff.Leftover) bool {
			return slices.ContainsFunc(of, func(o diff.Leftover) bool { return o.Path == l.Path })
		}) {
			these = append(these, c)
		} else {
			others = append(others, c)
		}
	}
	return these, others
}

// problems are those of the conflicts: one for each reason.
func (cs conflicts) problems() (all []diff.Problem) {
	for i, c := range cs {
		p := diff.Problem{State: diff.Blocked, Reason: c.what, Origin: c.origin, Hint: c.hint}
		if i+1 < len(cs) && len(c.by) > 0 && c.reason() == cs[i+1].reason() {
			cs[i+1].what, cs[i+1].origin = c.what+"; "+cs[i+1].what, c.origin
			continue
		}
		if len(c.by) > 0 {
			p.Reason += "; live and not declared: " + c.reason()
			p.Hint = `declare what it should be, or set unmanaged: "remove"`
		}
		all = append(all, p)
	}
	return all
}

// reason names what defeats the declaration.
func (c conflict) reason() string {
	names := make([]string, len(c.by))
	for i, l := range c.by {
		names[i] = fmt.Sprintf("%s = %s", l.Path.Subject(), jsonText(l.Value))
	}
	return strings.Join(names, ", ")
}

func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
