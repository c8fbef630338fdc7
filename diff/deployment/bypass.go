package deployment

import (
	"slices"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/bypass"
	"github.com/seawall-dev/seawall/edge"
)

// A skip rule keeps requests from a deployment that is as declared in each member. What acts on
// one is judged beside the comparison, in each plan anew and without the memory: it changes with
// other phases, with the account and with time.

// bypassed is a skip rule that acts on a deployment, with what is known of it.
type bypassed struct {
	diff.Bypass
	at      place
	where   edge.Place
	rule    edge.Rule
	managed edge.RulesetID
	unclear error  // why it cannot be told what it skips
	key     string // by which a declaration accepts it
	differs string // what that acceptance says otherwise
	git     diff.DeclaredSkip
	leaves  diff.ID // by which it was declared, and is removed by now; zero: it was not
	idle    bool    // it had no effect on the deployment at the last proof
}

// own reports whether it is in the entry point of the deployment.
func (b *bypassed) own() bool { return b.where == b.Scope.At(edge.PhaseFirewallManaged) }

// bypasses finds and judges the skip rules that act on a deployment. before is what was
// remembered of it.
func (p *planner) bypasses(at place, entryPoint edge.Ruleset, execute edge.Rule, m *managed, before []diff.Member) (all []bypassed) {
	if !p.skipping {
		return nil
	}
	var effects []effect // most skip rules name no rule
	of := bypass.Of{
		Scope: at.zone.Scope, Account: at.account.ID, Zone: at.zone.Name, Proved: at.zone.ByName, Managed: m.Ruleset, Execute: execute.ID,
		On: func(id edge.RuleID) bool {
			if effects == nil {
				effects = m.effects(overridesOf(execute))
			}
			i, there := m.byID[id]
			return there && effects[i].enabled
		},
	}
	for _, a := range bypass.Find(of, entryPoint, p.in.Live.Ahead) {
		b := bypassed{at: at, where: a.At, rule: a.Rule, managed: m.ID, unclear: a.Unclear}
		b.Bypass = diff.Bypass{
			Account: at.account.Key, Zone: at.zone.Key, Scope: at.zone.Scope, Deployment: at.d.Name(),
			Level: a.At.Scope.Level, Phase: a.At.Phase, Rule: a.Rule.ID, Ref: a.Rule.Ref, Description: descriptionOf(a.Rule),
			Expression: a.Rule.Expression, Always: a.Always, All: a.All,
		}
		for _, id := range a.Rules {
			b.Rules = append(b.Rules, m.skipped(id))
		}
		// In the rulesets of a zone nobody writes rules for others: its declared name is wrong then.
		b.accept(at.d, p.in.Now)
		b.declare(p.asked(at, entryPoint, a.At, a.Rule))
		if b.State == "" && a.Elsewhere && b.Level == edge.LevelAccount {
			b.State = diff.BypassElsewhere
		} else if b.State == "" {
			l := p.lookedAt(a.At)
			b.State, b.idle = l.stateOf(a.Rule, before), slices.Contains(before, l.remembering(string(a.Rule.ID), idleRule))
			b.leaves = p.leaving(a.At, a.Rule)
		}
		all = append(all, b)
	}
	return all
}

func (m *managed) skipped(id edge.RuleID) diff.SkippedRule {
	i, there := m.byID[id]
	if !there {
		return diff.SkippedRule{ID: id}
	}
	return diff.SkippedRule{ID: id, Description: descriptionOf(m.Rules[i])}
}

// accept looks for what a declaration says of the skip rule; the state stays empty where that
// is nothing. Of two that name it, by its id and by its ref, the one that accepts it counts.
func (b *bypassed) accept(d desired.Deployment, now time.Time) {
	for _, a := range d.Accepted {
		if !names(a, b.rule) || b.State == diff.BypassAccepted {
			continue
		}
		b.differs = b.otherwise(a)
		b.key, b.Owner, b.Until, b.Origin = a.Rule, a.Owner, a.Until, a.Origin
		switch {
		case over(a, now):
			b.State = diff.BypassExpired
		case b.differs != "":
			b.State = diff.BypassDiffers
		default:
			b.State = diff.BypassAccepted
		}
	}
}

// declare asks whether git declares the rule. One that is live as git says needs nobody else to
// accept it, and one that is not becomes so again.
func (b *bypassed) declare(d diff.DeclaredSkip) {
	if b.State != "" || d.Kind == "" {
		return
	}
	b.git = d
	b.Owner, b.Until, b.Origin = d.Owner, d.Until, d.Origin
	switch {
	case d.Over:
		b.State = diff.BypassExpired
	case d.Agrees:
		b.State = diff.BypassAccepted
	default:
		b.State = diff.BypassDiffers
	}
}

// asked asks whether git declares a live skip rule.
func (p *planner) asked(at place, entryPoint edge.Ruleset, where edge.Place, rule edge.Rule) diff.DeclaredSkip {
	if p.in.Skips == nil || len(at.zone.Others) == 0 || rule.Ref == "" {
		return diff.DeclaredSkip{}
	}
	return p.in.Skips(diff.SkipAsked{Zone: at.zone, At: where, Rule: rule, Now: p.in.Now, Deployed: func(name string) diff.Deployed {
		if p.known != nil {
			return p.known(name)
		}
		return p.deployed(at.account, at.zone, entryPoint, name)
	}})
}

// leaving is by what a live rule was declared that its kind removes, as nothing declares it any more.
func (p *planner) leaving(where edge.Place, rule edge.Rule) diff.ID {
	if rule.Ref == "" {
		return diff.ID{}
	}
	for _, d := range desired.Declarations {
		id := diff.ID{Kind: d.Kind, Scope: where.Scope, Ref: rule.Ref}
		if was, removable := p.in.Prunable[id]; removable && d.Phase == where.Phase && was.Rule == rule.ID {
			return id
		}
	}
	return diff.ID{}
}

// names reports whether an acceptance is about a rule.
func names(a desired.Accepted, rule edge.Rule) bool {
	return a.Rule == string(rule.ID) || rule.Ref != "" && a.Rule == rule.Ref
}

// over reports whether the last day of an acceptance is over; at the zero time none is.
func over(a desired.Accepted, now time.Time) bool {
	if a.Until == "" || now.IsZero() {
		return false
	}
	last, err := time.Parse(time.DateOnly, a.Until)
	return err != nil || !now.Before(last.AddDate(0, 0, 1))
}

// otherwise says what is not as it was accepted; empty for nothing. That less is skipped than
// was accepted is no difference: managed rules come, go and are switched off.
func (b *bypassed) otherwise(a desired.Accepted) string {
	if a.Expression != b.Expression {
		return "with the expression " + shortened(a.Expression)
	}
	if a.All {
		return ""
	}
	if b.unclear != nil || b.All && !b.listed(a.Rules) {
		return "for " + rulesText(len(a.Rules)) + " only"
	}
	for _, r := range b.Rules {
		if !slices.Contains(a.Rules, r.ID) {
			return "without rule " + string(r.ID)
		}
	}
	return ""
}

// listed reports whether a rule skips by a list of managed rules alone, all of which are among
// those accepted: they may be all that are on by now.
func (b *bypassed) listed(accepted []edge.RuleID) bool {
	skip, _, err := b.rule.Skip()
	if err != nil || skip.Current || len(skip.Rulesets) > 0 || len(skip.Phases) > 0 {
		return false
	}
	for _, id := range skip.Rules[b.managed] {
		if !slices.Contains(accepted, id) {
			return false
		}
	}
	return true
}

// tellBypasses notes the skip rules that act on the deployments of a zone, and what of them
// needs a person. A rule of the entry point goes where a deployment says so to which it is new,
// unless another one accepts it.
func (p *planner) tellBypasses(account desired.Account, zone desired.Zone) {
	documented := p.in.Live.Accounts[account.ID].Documented
	goes := map[edge.RuleID]bool{}
	for _, b := range p.bypassing {
		if !documented && b.goes() && p.acceptedBy(zone, b.rule) == "" {
			goes[b.Rule] = true
		}
	}
	for _, b := range p.bypassing {
		if b.NeedsPerson() {
			otherwise := located(b.at, b.problem(documented, ""))
			if b.ends(goes[b.Rule], documented) {
				b.Otherwise = &otherwise
			} else {
				p.problem(b.at, b.problem(documented, p.acceptedBy(zone, b.rule)))
			}
		}
		p.out.Bypasses = append(p.out.Bypasses, b.Bypass)
	}
	p.bypassing = p.bypassing[:0]
}

// goes reports whether its deployment has it removed, where no other one accepts it.
func (b *bypassed) goes() bool {
	return b.own() && b.State == diff.BypassNew && removesBypasses(b.at.d) && b.git.Kind == "" && b.leaves.Kind == ""
}

// ends reports whether the plan ends it: it is removed, or a kind makes it what git says. Then it is
// a problem only where that is refused.
func (b *bypassed) ends(removed, documented bool) bool {
	switch {
	case b.own() && removed:
		b.Remove = true
	case b.git.Kind != "" && !b.git.Agrees:
		b.Heals = diff.ID{Kind: b.git.Kind, Scope: b.Scope, Ref: b.git.Key}
	case b.leaves.Kind != "" && !documented:
		b.Heals = b.leaves
	default:
		return false
	}
	return true
}

// acceptedBy is a deployment of a zone that accepts a skip rule, if only as something else;
// empty for none.
func (p *planner) acceptedBy(zone desired.Zone, rule edge.Rule) string {
	for _, d := range zone.Deployments {
		for _, a := range d.Accepted {
			if names(a, rule) && !over(a, p.in.Now) {
				return d.Name()
			}
		}
	}
	return ""
}

func removesBypasses(d desired.Deployment) bool {
	return d.Bypass != nil && d.Bypass.Value == desired.RemoveBypass
}
