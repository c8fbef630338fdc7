package compile

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

// ruleRef reads what names a rule.
func ruleRef(f both) desired.RuleRef {
	return desired.RuleRef{ID: edge.RuleID(f.field("id").text()), Ref: f.field("ref").text(), Description: f.field("description").text()}
}

// oneOfRuleRef: see oneOfNameAndID.
func (r *reader) oneOfRuleRef(path string, f both, ref desired.RuleRef) {
	var has []string
	for _, member := range [][2]string{{"an id", string(ref.ID)}, {"a ref", ref.Ref}, {"a description", ref.Description}} {
		if member[1] != "" {
			has = append(has, member[0])
		}
	}
	switch {
	case len(has) == 0:
		r.problem(f.origin(), path, "names no rule", "give it an id, a ref or a description")
	case len(has) > 1:
		r.problem(f.origin(), path, "has "+strings.Join(has, " and "), "keep one of them")
	}
}

// membersOnce refuses a member of an override that is declared in two places: in a
// short and a long form, or in two entries of one list. What only the managed ruleset
// shows, such as one rule by id and by ref, is found when a plan is made.
func (r *reader) membersOnce(path string, d desired.Deployment) {
	tags, rules := map[string]desired.Origin{}, map[desired.RuleRef]desired.Origin{}
	for _, tag := range d.Disable.Tags {
		tags[tag.Value] = tag.Origin
	}
	for _, ref := range d.Disable.Rules {
		rules[ref.Value] = ref.Origin
	}
	if d.Paranoia != nil {
		for level := 1; level <= edge.MaxParanoia; level++ {
			tags[edge.ParanoiaTag(level)] = d.Paranoia.Origin
		}
	}
	seenTags, seenRules := map[string]desired.Origin{}, map[desired.RuleRef]desired.Origin{}
	for i, o := range d.Tags {
		place, name := element(path, "tags", i), fmt.Sprintf("the tag %q", o.Tag)
		once(r, place, name, o.Tag, o.Origin, seenTags)
		enabledOnce(r, place, name, o.Override, tags[o.Tag])
	}
	for i, o := range d.Rules {
		place, name := element(path, "rules", i), fmt.Sprintf("the rule %s", o.Rule)
		once(r, place, name, o.Rule, o.Origin, seenRules)
		enabledOnce(r, place, name, o.Override, rules[o.Rule])
	}
}

// once refuses a second entry for one tag or rule: which of the two counts would
// depend on their order.
func once[K comparable](r *reader, path, name string, key K, origin desired.Origin, seen map[K]desired.Origin) {
	if first, twice := seen[key]; twice {
		r.unit.Problems = append(r.unit.Problems, twoPlaces(path, origin, name+" is in the list twice", first))
		return
	}
	seen[key] = origin
}

// enabledOnce refuses enabled where a short form, which is at first, sets it too.
func enabledOnce(r *reader, path, name string, o desired.Override, first desired.Origin) {
	if o.Enabled != nil && !first.IsZero() {
		r.unit.Problems = append(r.unit.Problems, twoPlaces(at(path, "enabled"), o.Enabled.Origin,
			fmt.Sprintf("enabled of %s is already declared", name), first))
	}
}

// allOff: a paranoia level runs the rules up to it, and all switches them off.
func allOff(r *reader, path string, d desired.Deployment) {
	if off := d.All.Enabled; d.Paranoia != nil && off != nil && !off.Value {
		r.unit.Problems = append(r.unit.Problems, twoPlaces(at(path, "all", "enabled"), off.Origin,
			"disables every rule, so paranoia has no effect", d.Paranoia.Origin))
	}
}

func element(path, list string, i int) string { return fmt.Sprintf("%s[%d]", at(path, list), i) }
