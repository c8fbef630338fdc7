package edge

import "net/http"

// Write is one change of an entry point, as a request makes it. Make one with
// [CreateEntryPoint], [AddRule], [UpdateRule] or [DeleteRule].
type Write struct {
	Call       Call
	Scope      Scope
	Phase      Phase     // of an entry point that is created
	EntryPoint RulesetID // that there is; empty for one that is created
	Rule       RuleID    // that there is; empty for one that is added
	Rules      []Rule    // what is sent: the rules of a creation, else one; none for a deletion
	Position   *Position // of a rule that is added or moved; nil is the end, or where it stands
}

// CreateEntryPoint creates the entry point of a phase with these rules.
//
// The platform answers [ErrEntryPointExists] where there is one, and changes nothing: read
// it, and add to it.
func CreateEntryPoint(scope Scope, phase Phase, rules ...Rule) Write {
	return Write{Call: CallCreateEntryPoint, Scope: scope, Phase: phase, Rules: rules}
}

// AddRule adds a rule at the end of an entry point, or where [Write.At] puts it. Two of them add
// two rules, where the platform permits that.
func AddRule(scope Scope, entryPoint RulesetID, body Rule) Write {
	return Write{Call: CallAddRule, Scope: scope, EntryPoint: entryPoint, Rules: []Rule{body}}
}

// UpdateRule replaces the definition of one rule of an entry point with body (reference,
// "Update a zone ruleset rule"). The platform may replace or merge; callers send the full
// truth and read back.
func UpdateRule(scope Scope, entryPoint RulesetID, rule RuleID, body Rule) Write {
	return Write{Call: CallUpdateRule, Scope: scope, EntryPoint: entryPoint, Rule: rule, Rules: []Rule{body}}
}

// DeleteRule deletes one rule of an entry point, which stays, also without any rule.
// [ErrNotFound] means that the rule does not exist any more.
func DeleteRule(scope Scope, entryPoint RulesetID, rule RuleID) Write {
	return Write{Call: CallDeleteRule, Scope: scope, EntryPoint: entryPoint, Rule: rule}
}

// At is the write with the place of a rule that is added or moved. A place that the
// entry point does not have is refused.
func (w Write) At(p *Position) Write {
	w.Position = p
	return w
}

// writes are the method and the path of each call that writes.
var writes = map[Call]struct {
	method string
	path   func(Write) string
}{
	CallCreateEntryPoint: {http.MethodPost, func(w Write) string { return RulesetsPath(w.Scope) }},
	CallAddRule:          {http.MethodPost, func(w Write) string { return RulesPath(w.Scope, w.EntryPoint) }},
	CallUpdateRule:       {http.MethodPatch, func(w Write) string { return RulePath(w.Scope, w.EntryPoint, w.Rule) }},
	CallDeleteRule:       {http.MethodDelete, func(w Write) string { return RulePath(w.Scope, w.EntryPoint, w.Rule) }},
}

// Request is the method and the path of the write.
func (w Write) Request() (method, path string) {
	row := writes[w.Call]
	return row.method, row.path(w)
}

// String is method and path, as errors and recorders show a call.
func (w Write) String() string {
	method, path := w.Request()
	return method + " " + path
}

// Body is what the request carries, without what only the platform writes; nil for nothing.
func (w Write) Body() any {
	switch w.Call {
	case CallCreateEntryPoint:
		return EntryPointBody(w.Scope, w.Phase, w.Rules)
	case CallAddRule, CallUpdateRule:
		return w.Rules[0].Update().At(w.Position)
	default:
		return nil
	}
}
