package deployment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// lookup is what a declared managed ruleset turned out to be: it, or why there
// is none.
type lookup struct {
	ruleset string // its key
	managed *managed
	problem *diff.Problem
}

// findManaged returns the managed ruleset a deployment names, or reports why
// there is none.
func (p *planner) findManaged(at place) (*managed, bool) {
	found := p.lookUp(at.account, at.d.Ruleset)
	if found.problem != nil {
		problem := *found.problem
		if problem.Origin.IsZero() {
			problem.Origin = at.d.Origin
		}
		p.problem(at, problem)
		return nil, false
	}
	if twin, ok := p.twin(at, found.managed.ID); ok && at.zone.Scope.Level != edge.LevelAccount {
		p.problem(at, diff.Problem{
			State: diff.Blocked, Origin: at.d.Origin,
			Reason: fmt.Sprintf("deployments %q and %q of the zone both run managed ruleset %q", at.d.Ruleset, twin, found.managed.Name),
			Hint:   "declare the managed ruleset once per zone; two declarations of one execute rule would overwrite each other",
		})
		return nil, false
	}
	return found.managed, true
}

// twin returns another deployment of the zone that runs the same managed
// ruleset. Only the platform's list shows it: one may go by name, one by id.
func (p *planner) twin(at place, id edge.RulesetID) (string, bool) {
	for _, d := range at.zone.Deployments {
		if d.Ruleset == at.d.Ruleset {
			continue
		}
		if other := p.lookUp(at.account, d.Ruleset); other.managed != nil && other.managed.ID == id {
			return d.Ruleset, true
		}
	}
	return "", false
}

// lookUp finds each declared managed ruleset of an account once. Accounts are told apart even
// where the platform gives their managed rulesets the same id: each was read,
// or could not be, on its own.
func (p *planner) lookUp(account desired.Account, ruleset string) lookup {
	if p.account != account.Key {
		p.account, p.managed = account.Key, p.managed[:0]
	}
	for i := range p.managed {
		if p.managed[i].ruleset == ruleset {
			return p.managed[i]
		}
	}
	found := p.seek(account, ruleset)
	found.ruleset = ruleset
	p.managed = append(p.managed, found)
	return found
}

func (p *planner) seek(account desired.Account, ruleset string) lookup {
	unknown := func(err error) lookup {
		problem := unread(err, hintForbiddenAccount, account.Origin)
		if p.in.Live.Accounts[account.ID].Listed.Err == nil {
			problem = unreadListed(err, hintForbiddenAccount, account.Origin)
		}
		return lookup{problem: &problem}
	}
	i := slices.IndexFunc(account.Rulesets, func(r desired.RulesetRef) bool { return r.Key == ruleset })
	if i < 0 {
		return lookup{problem: &diff.Problem{State: diff.Blocked, Reason: fmt.Sprintf("account %q declares no ruleset %q", account.Key, ruleset)}}
	}
	ref := account.Rulesets[i]
	live, read := p.in.Live.Accounts[account.ID]
	if !read {
		return unknown(fmt.Errorf("the rulesets of account %q were not read", account.Key))
	}
	if live.Listed.Err != nil {
		return unknown(live.Listed.Err)
	}
	listed, err := rulesets.Find(ref, live.Listed.Value)
	if notThere := (*rulesets.Error)(nil); errors.As(err, &notThere) {
		return lookup{problem: &diff.Problem{State: diff.Blocked, Unfit: true, Reason: notThere.Message, Hint: notThere.Hint, Origin: ref.Origin}}
	}
	full, read := live.Managed[listed.ID]
	if !read {
		return unknown(fmt.Errorf("managed ruleset %q was not read", listed.Name))
	}
	if full.Err != nil {
		return unknown(full.Err)
	}
	return lookup{managed: managedOf(p.in.Indexes, full.Value)}
}

// executions are the execute rules of an entry point that run a managed ruleset: at
// account level, where several may, those with a ref.
func executions(entryPoint edge.Ruleset, id edge.RulesetID, ref string) (rules []edge.Rule) {
	for i, rule := range entryPoint.Rules {
		switch {
		case !rule.Executes(id) || ref != "" && rule.Ref != ref:
		case rules == nil: // mostly the only one, which is not copied
			rules = entryPoint.Rules[i : i+1 : i+1]
		default:
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
