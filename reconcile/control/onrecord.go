package control

import (
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
)

// OnRecord is what guards say of a zone in which the commit in force is not proved, as far as the records
// tell: they have which zones the commit changes and weakens, and not the changes themselves.
type OnRecord struct {
	Refusal *diff.Refusal // without a digest: it stands for changes that are not known here
	// Counting says that how much the commit changes is not on record yet, and Approval names the rule by
	// which somebody must agree to a change, who may have; empty for none.
	Counting bool
	Approval string
}

// OnRecord judges a zone by the records alone. It is for a process that reads no zones.
func (c *Control) OnRecord(id edge.Scope) (o OnRecord) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, l := c.Current(), &c.state.limits
	if g == nil || !c.state.zones.unproved(g, id) {
		return o
	}
	t := c.state.zones.task(g, id)
	change := diff.Change{
		Zone: t.Zone().Key, Account: t.Account().Key, Scope: id, Direction: diff.Neutral, Operation: diff.RuleOperation{Do: diff.ActionUpdate},
	}
	facts := c.state.zoneFacts(g, id)
	facts.NonConvergent, facts.Approved = nil, nil
	weakens, changed := false, false
	if o.Counting = l.on && l.whole == nil; l.whole != nil {
		weakens, changed = l.whole.All[id]
	}
	if weakens {
		change.Direction = diff.Weakens
	}
	if changed {
		o.Approval = approvalFor(facts, change)
	}
	facts.Rules = limitsAlone(facts.Rules, changed)
	o.Refusal = guard.Check(diff.Plan{Changes: []diff.Change{change}}, facts).Changes[0].Refused
	if o.Refusal != nil && o.Refusal.Digest != "" {
		refusal := *o.Refusal
		refusal.Digest, refusal.Release = "", "a smaller commit, or an approval: seawall plan shows all changes and the digest for --approve"
		o.Refusal = &refusal
	}
	return o
}

// approvalFor is the rule that asks for an approval of a change; empty for none.
func approvalFor(facts guard.Facts, change diff.Change) string {
	for _, rule := range facts.Rules {
		rule.Changes, rule.Weakening = nil, nil
		if (guard.Facts{Rules: []guard.Rule{rule}, Zones: facts.Zones, LabelsBefore: facts.LabelsBefore}).Minded(change) {
			return rule.Name
		}
	}
	return ""
}

// limitsAlone are rules without what they say of approvals; none where a zone counts for no limit.
func limitsAlone(rules []guard.Rule, counts bool) []guard.Rule {
	if !counts {
		return nil
	}
	rules = slices.Clone(rules)
	for i := range rules {
		rules[i].Approve = ""
	}
	return rules
}
