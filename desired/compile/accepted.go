package compile

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// accepted reads the acceptance of one skip rule.
func (r *reader) accepted(path string, m member) desired.Accepted {
	skips := m.field("skips")
	a := desired.Accepted{
		Rule: m.key, Origin: m.origin(), Owner: m.field("owner").text(), Until: m.field("until").text(),
		Expression: m.field("expression").text(), All: skips.text() == desired.SkipsAll,
	}
	for i, e := range skips.elements() {
		id := edge.RuleID(e.text())
		if slices.Contains(a.Rules, id) { // CUE would say of the list that its elements are not unique, and not which
			r.problem(e.origin(), element(path, "skips", i), fmt.Sprintf("the rule %s is in the list twice", id), "remove one of them")
		}
		a.Rules = append(a.Rules, id)
	}
	slices.Sort(a.Rules)
	r.acceptedExpression(path, m.field("expression"), a.Expression)
	if !a.Owned() {
		r.unowned = append(r.unowned, unowned{m.field("owner").origin(), at(path, "owner"), a.Owner})
	}
	return a
}

// unowned is an acceptance whose owner nobody has named yet.
type unowned struct {
	origin desired.Origin
	path   string
	says   string
}

// warnUnowned warns of all of them at once: an import writes one for each skip rule.
func (r *reader) warnUnowned() {
	if len(r.unowned) == 0 {
		return
	}
	first, more := r.unowned[0], ""
	if n := len(r.unowned) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more in this folder)", n)
	}
	r.warn(first.origin, first.path, fmt.Sprintf("%q is not the name of an owner%s", first.says, more),
		"write the person or the team who accepts the skip rule, or remove the rule on the platform")
}
