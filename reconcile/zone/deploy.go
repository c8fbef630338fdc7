package zone

import (
	"errors"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// ruleOf is what a change does to a rule; nothing where it is about anything else.
func ruleOf(c diff.Change) diff.RuleOperation {
	o, _ := c.Operation.(diff.RuleOperation)
	return o
}

// writeOf is the write that makes a change; false where it sends nothing.
func writeOf(c diff.Change) (edge.Write, bool) {
	o := ruleOf(c)
	target := o.Target
	switch {
	case o.Do == diff.ActionUpdate:
		return edge.UpdateRule(c.Scope, target.EntryPoint, target.Rule, o.Body).At(o.Position), true
	case o.Do == diff.ActionDeploy && target.EntryPoint == "":
		return edge.CreateEntryPoint(c.Scope, target.Phase, o.Body), true
	case o.Do == diff.ActionDeploy:
		return edge.AddRule(c.Scope, target.EntryPoint, o.Body).At(o.Position), true
	case o.Do == diff.ActionRemove:
		return edge.DeleteRule(c.Scope, target.EntryPoint, target.Rule), true
	}
	return edge.Write{}, false
}

// readTells reports whether only a read tells what a call came to: it was made, or its
// outcome is unknown, or it was refused because what it would do may be done already (the
// zone has an entry point by now, or the rule is gone).
func readTells(c diff.Change, err error) bool {
	if err == nil || errors.Is(err, edge.ErrOutcomeUnknown) {
		return true
	}
	switch c.Action() {
	case diff.ActionDeploy:
		return errors.Is(err, edge.ErrEntryPointExists)
	case diff.ActionRemove:
		return errors.Is(err, edge.ErrNotFound)
	default:
		return false
	}
}

// goesOn reports whether another call follows the first at once, when a read after it
// shows what is left to change.
func goesOn(c, left diff.Change, unknown bool) bool {
	return unknown && repeatable(c) || leadsTo(c, left)
}

// repeatable reports whether a call of unknown outcome may be sent once more when a read
// shows no effect of it. A rule that is added may still come to be after the read, and a
// second one would then run the managed ruleset twice: the next look decides.
func repeatable(c diff.Change) bool {
	return c.Action() != diff.ActionDeploy || ruleOf(c).Target.EntryPoint == ""
}

// leadsTo reports whether a call that took effect, or was refused because another client
// was faster, leaves another kind of call to make: a rule to be added to the entry point
// that there is by now, or a deployment to be updated.
func leadsTo(c, left diff.Change) bool {
	return c.Action() == diff.ActionDeploy && (left.Action() != c.Action() || ruleOf(left).Target.EntryPoint != ruleOf(c).Target.EntryPoint)
}
