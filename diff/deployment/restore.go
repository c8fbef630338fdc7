package deployment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/redact"
)

// Restore implements [diff.Kind]. What is otherwise by now than it was written becomes a
// problem, [diff.ChangedSince].
func (Kind) Restore(r diff.Restoration, in diff.Input) (*diff.Change, *diff.Problem) {
	entryPoint, read := in.Live.EntryPoints[r.ID.Scope.At(edge.PhaseFirewallManaged)]
	if !read {
		entryPoint.Err = errors.New("the zone was not read")
	}
	if entryPoint.Err != nil {
		return nil, &diff.Problem{State: diff.Unknown, Reason: entryPoint.Err.Error(), Err: entryPoint.Err}
	}
	full, read := in.Live.Accounts[r.AccountID].Managed[r.ID.Ruleset]
	if !read {
		full.Err = fmt.Errorf("managed ruleset %s is not one that the account's declared zones deploy", r.ID.Ruleset)
	}
	if full.Err != nil {
		return nil, &diff.Problem{State: diff.Unknown, Reason: full.Err.Error(), Err: full.Err}
	}
	rules := executions(entryPoint.Value, r.ID.Ruleset, r.ID.Ref)
	if len(rules) != 1 {
		return nil, &diff.Problem{State: diff.ChangedSince, Reason: fmt.Sprintf("%d execute rules of the zone run the managed ruleset, but there was one", len(rules))}
	}
	m, rule := managedOf(in.Indexes, full.Value), rules[0]
	want, owned, err := restored(rule, r.Members, m)
	if err != nil {
		return nil, &diff.Problem{State: diff.Blocked, Reason: err.Error()}
	}
	fields := append(calledFields(rule, want), compare(rule, want, m)...)
	if len(fields) == 0 {
		return nil, nil
	}
	if others := otherThanWritten(rule, r.Members); len(others) > 0 {
		return nil, &diff.Problem{State: diff.ChangedSince, Reason: "it was changed since: " + strings.Join(others, "; "), Hint: "the live state is left as it is"}
	}
	direct(fields, rule, want, restoredPin(rule, want, m))
	for i := range fields {
		m.describe(&fields[i])
	}
	target := diff.Target{Phase: edge.PhaseFirewallManaged, Ruleset: m.ID, Ref: r.ID.Ref, EntryPoint: entryPoint.Value.ID, Version: entryPoint.Value.Version, Rule: rule.ID, Owned: owned}
	return &diff.Change{
		Direction: directionOf(fields), Fields: fields, Operation: diff.RuleOperation{Do: diff.ActionUpdate, Target: target, Body: want},
	}, nil
}

// restoredPin is the version that an execute rule runs and the one that it ran. Only the
// latest is at hand.
func restoredPin(rule, want edge.Rule, m *managed) pin {
	s := pin{want: rulesets.VersionOf(want)}.unknown(m)
	if m.runs(rulesets.VersionOf(rule)) {
		s.before = m
	}
	return s
}

// otherThanWritten tells which members are not as they were written.
func otherThanWritten(rule edge.Rule, members []diff.Restored) (others []string) {
	for _, member := range members {
		if now := jsonOf(valueAt(rule, member.Path)); !bytes.Equal(now, member.Written) {
			others = append(others, fmt.Sprintf("%s was written as %s and is %s", member.Path, textOf(member.Written), textOf(now)))
		}
	}
	return others
}

func textOf(value json.RawMessage) string {
	if value == nil {
		return "unset"
	}
	return string(value)
}

// jsonOf is a value as JSON, nil for none.
func jsonOf(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil // no value of a rule is like that
	}
	return data
}

// restored returns a rule with members as they were before, and the members that Seawall
// owns with that: those that it had put there, and entries that stand in for a list that
// would become empty.
func restored(live edge.Rule, members []diff.Restored, m *managed) (want edge.Rule, owned []diff.Member, err error) {
	want = live.Update()
	parameters := *live.ActionParameters
	want.ActionParameters = &parameters
	o := parameters.Overrides
	if o == nil {
		o = &edge.Overrides{}
	}
	e := editor{
		wide:       wideOf(o),
		categories: categorySlots(o), rules: ruleSlots(o),
	}
	for _, member := range members {
		if bytes.Contains(member.Before, []byte(redact.Mark)) {
			return want, nil, fmt.Errorf("%s: the history does not have the earlier value, because a secret was in it; write the value by hand", member.Path)
		}
		if err := e.set(&want, member.Path, member.Before); err != nil {
			return want, nil, fmt.Errorf("%s: %w", member.Path, err)
		}
		if member.Owned && member.Before != nil {
			owned = append(owned, member.Path)
		}
	}
	if o.Enabled != nil && e.wide.Enabled == nil && m.allOn {
		e.wide.Enabled = &on
	}
	overrides := edge.Overrides{Action: e.wide.Action, Enabled: e.wide.Enabled, SensitivityLevel: e.wide.SensitivityLevel, Extra: e.wide.Extra}
	settleSlots(e.categories)
	settleSlots(e.rules)
	assemble(&overrides, e.categories, e.rules)
	overrides.Categories = inListedOrder(overrides.Categories, e.order)
	mg := merger{managed: m, merges: true} // a plan of what was before is not made again where the platform does merge
	if len(o.Categories) > 0 && len(overrides.Categories) == 0 {
		mg.standIn(&overrides, "categories", e.categories, withCategory)
	}
	if len(o.Rules) > 0 && len(overrides.Rules) == 0 {
		mg.standIn(&overrides, "rules", e.rules, withRule)
	}
	parameters.Overrides = nonEmpty(overrides)
	return want, append(append(owned, mg.standIns...), rememberText(ofExpression, want.Expression)), nil
}

// editor sets single members of a rule.
type editor struct {
	wide              entry
	categories, rules []slot
	order             []string // in which categories are to be listed; nil as they are
}

func (e *editor) set(rule *edge.Rule, path diff.Member, value json.RawMessage) error {
	switch path {
	case "enabled":
		return setMember(&rule.Enabled, value)
	case "expression":
		return json.Unmarshal(value, &rule.Expression)
	case versionMember:
		return json.Unmarshal(value, &rule.ActionParameters.Version)
	case descriptionMember:
		return setMember(&rule.Description, value)
	case refMember:
		if rule.Ref = ""; value == nil {
			return nil
		}
		return json.Unmarshal(value, &rule.Ref)
	case "overrides.categories":
		return json.Unmarshal(value, &e.order)
	}
	list, key, member := path.Override()
	switch list {
	case "categories":
		return setIn(&e.categories, key, member, value)
	case "rules":
		return setIn(&e.rules, key, member, value)
	}
	return e.wide.set(member, value)
}

// setIn sets a member of an entry, which it adds where there is none.
func setIn(slots *[]slot, key, member string, value json.RawMessage) error {
	i := slices.IndexFunc(*slots, func(s slot) bool { return s.key == key })
	if i < 0 {
		if value == nil {
			return nil
		}
		i = len(*slots)
		*slots = append(*slots, slot{key: key})
	}
	return (*slots)[i].live.set(member, value)
}

// settleSlots has each entry stay where it is, and goes without those that say nothing.
func settleSlots(slots []slot) {
	for i := range slots {
		slots[i].want, slots[i].role = slots[i].live, kept
		if slots[i].live.isEmpty() {
			slots[i].role = dropped
		}
	}
}

// set sets one member; nil takes it away.
func (e *entry) set(member string, value json.RawMessage) error {
	switch member {
	case "action":
		return setMember(&e.Action, value)
	case "enabled":
		return setMember(&e.Enabled, value)
	case "score_threshold":
		return setMember(&e.ScoreThreshold, value)
	case "sensitivity_level":
		return setMember(&e.SensitivityLevel, value)
	}
	extra := make(map[string]json.RawMessage, len(e.Extra)+1)
	for name, have := range e.Extra {
		if name != member {
			extra[name] = have
		}
	}
	if value != nil {
		extra[member] = value
	}
	e.Extra = extra
	return nil
}

func setMember[T any](to **T, value json.RawMessage) error {
	*to = nil
	if value == nil {
		return nil
	}
	return json.Unmarshal(value, to)
}

// inListedOrder returns categories in an order; those that are not in it come last.
func inListedOrder(categories []edge.CategoryOverride, order []string) []edge.CategoryOverride {
	if order == nil {
		return categories
	}
	model := make([]edge.CategoryOverride, len(order))
	for i, tag := range order {
		model[i].Category = tag
	}
	return orderedLike(categories, model)
}

// valueAt returns one member of an execute rule, nil where it is not there.
func valueAt(rule edge.Rule, path diff.Member) any {
	switch path {
	case "enabled":
		return rule.IsEnabled()
	case "expression":
		return rule.Expression
	case versionMember:
		return rulesets.VersionOf(rule)
	case descriptionMember:
		return orNone(descriptionOf(rule))
	case refMember:
		return orNone(rule.Ref)
	}
	o := overridesOf(rule)
	if o == nil {
		return nil
	}
	if path == "overrides.categories" {
		return tagOrder(o)
	}
	list, key, member := path.Override()
	e := wideOf(o)
	switch list {
	case "categories":
		e = entryIn(categorySlots(o), key)
	case "rules":
		e = entryIn(ruleSlots(o), key)
	}
	return e.get(member)
}

// orNone is a text as a value, nil for none.
func orNone(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func entryIn(slots []slot, key string) entry {
	if i := slices.IndexFunc(slots, func(s slot) bool { return s.key == key }); i >= 0 {
		return slots[i].live
	}
	return entry{}
}

func (e entry) get(member string) any {
	switch member {
	case "action":
		return valueOf(e.Action)
	case "enabled":
		return valueOf(e.Enabled)
	case "score_threshold":
		return valueOf(e.ScoreThreshold)
	case "sensitivity_level":
		return valueOf(e.SensitivityLevel)
	}
	if value, there := e.Extra[member]; there {
		return value
	}
	return nil
}

func valueOf[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}
