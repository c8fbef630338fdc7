package deployment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// executions are the execute rules of an entry point that run a managed ruleset: at
// account level, where several may, those with a ref.
func executions(entryPoint edge.Ruleset, id edge.RulesetID, ref string) (rules []edge.Rule) {
	for _, rule := range entryPoint.Rules {
		if rule.Executes(id) && (ref == "" || rule.Ref == ref) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// absentRef plans a deployment of an account that has no execute rule with its ref. A rule
// that has this ref and does something else is not its own, and the platform would refuse
// a second one.
func (p *planner) absentRef(at place, entryPoint edge.Ruleset, m *managed) {
	if i := slices.IndexFunc(entryPoint.Rules, func(r edge.Rule) bool { return r.Ref == at.d.Ref }); i >= 0 {
		p.problem(at, diff.Problem{
			State: diff.Blocked, Origin: at.d.Origin,
			Reason: fmt.Sprintf("the rule of the account with ref %q does not run managed ruleset %q", at.d.Ref, m.Name),
			Hint:   "declare another ref, or remove the rule on the platform",
		})
		return
	}
	reason := fmt.Sprintf("no execute rule of the account with ref %q runs managed ruleset %q", at.d.Ref, m.Name)
	if refs := p.undeclaredRefs(at, entryPoint, m.ID); len(refs) > 0 {
		reason += "; these refs do: " + strings.Join(refs, ", ")
	}
	p.absent(at, entryPoint, reason)
}

// undeclaredRefs are the refs of execute rules that run a managed ruleset and that the
// account does not declare: one of them may be meant.
func (p *planner) undeclaredRefs(at place, entryPoint edge.Ruleset, id edge.RulesetID) (refs []string) {
	for _, rule := range executions(entryPoint, id, "") {
		declared := false
		for _, d := range at.zone.Deployments {
			declared = declared || d.Ref == rule.Ref
		}
		if !declared {
			refs = append(refs, fmt.Sprintf("%q", rule.Ref))
		}
	}
	return refs
}
