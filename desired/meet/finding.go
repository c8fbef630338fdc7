package meet

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
	"github.com/seawall-dev/seawall/edge/expression/judge"
)

// Finding is what a rule says that the platform takes, and that may not be meant.
type Finding struct {
	*Rule
	Message, Hint string
}

// Finder finds what rules say that may not be meant: one that nothing reaches, one that is there
// twice, one that blocks all requests or matches none. It says only what can be proved. The zero
// value is ready; it remembers what it has proved of expressions, which many zones share.
type Finder struct {
	often   map[string]judge.Verdict
	implied map[[2]string]bool
}

// Find returns the findings of the rules of a zone, in their order.
func (f *Finder) Find(zone desired.Zone) (found []Finding) {
	for _, phase := range phases {
		rules := slices.DeleteFunc(Rules(zone, phase), func(r *Rule) bool { return !r.Enabled || r.expr.Root == nil })
		o := orderOf(rules)
		for i, r := range rules {
			if said := f.alone(r); said != nil {
				found = append(found, *said)
			} else if said := f.beside(o, r, rules[:i]); said != nil {
				found = append(found, *said)
			}
		}
	}
	return found
}

// alone is what can be said of a rule without the others.
func (f *Finder) alone(r *Rule) *Finding {
	if f.often == nil {
		f.often = map[string]judge.Verdict{}
	}
	verdict, known := f.often[r.Expression]
	if !known {
		verdict = judge.Expression(r.Expression, judge.Facts{})
		f.often[r.Expression] = verdict
	}
	switch {
	case verdict == judge.Never:
		return &Finding{r, "no request matches the expression", "enabled: false switches a rule off"}
	case verdict == judge.Always && r.terminates():
		return &Finding{r, fmt.Sprintf("every request matches the expression, so that %s acts on all of them", r.Action), ""}
	}
	return nil
}

// beside is what can be said of a rule beside those that may stand in front of it.
func (f *Finder) beside(o order, r *Rule, earlier []*Rule) *Finding {
	for _, e := range earlier {
		switch {
		case e.Ends() && o.front(e, r) && f.implies(r, e):
			return &Finding{r, fmt.Sprintf("never acts: %q stands in front of it, and ends each request that it matches", e.Key), "remove it, or move it to the front with order"}
		case r.twin(e):
			return &Finding{r, fmt.Sprintf("does the same as %q, for the same requests", e.Key), "remove one of them"}
		}
	}
	return nil
}

// twin reports whether two rules do the same, wherever they stand.
func (r *Rule) twin(e *Rule) bool {
	if r.Phase != edge.PhaseFirewallCustom || r.Action != e.Action || r.printed() != e.printed() {
		return false // two rate limits of one expression count in different periods
	}
	return r.Skips.Ruleset == e.Skips.Ruleset && slices.Equal(r.Skips.Phases, e.Skips.Phases) && slices.Equal(r.Skips.Products, e.Skips.Products)
}

// implies reports whether each request that a rule matches is one that another matches, too. Only
// another that asks for no other field can be implied, unless it says nothing at all.
func (f *Finder) implies(r, by *Rule) bool {
	if f.implied == nil {
		f.implied = map[[2]string]bool{}
	}
	pair := [2]string{r.Expression, by.Expression}
	is, known := f.implied[pair]
	if !known {
		used := expression.Used(r.expr)
		is = r.printed() == by.printed() || !slices.ContainsFunc(expression.Used(by.expr), func(name string) bool {
			return name != "true" && name != "false" && !slices.Contains(used, name)
		}) && judge.Implies(r.Expression, by.Expression)
		f.implied[pair] = is
	}
	return is
}
