package deployment

import (
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Declarer finds declarations for the live execute rules of one managed ruleset. It is
// safe for concurrent use.
type Declarer struct {
	managed    *managed
	documented bool
}

// NewDeclarer indexes a managed ruleset. With documented, declarations have only the
// members that the reference shows (reference, "Overrides").
func NewDeclarer(managed edge.Ruleset, documented bool) *Declarer {
	return &Declarer{index(managed), documented}
}

// inverse shares the index, but not what is learned while it is used.
func (d *Declarer) inverse() inverse {
	own := *d.managed
	own.found = map[desired.RuleRef]finding{}
	return inverse{managed: &own, documented: d.documented}
}

// Declare is the inverse of a plan: it returns the shortest declaration with which a
// live execute rule agrees, so that a plan of it is empty. It has the short forms where
// they say exactly what is live, and the long forms elsewhere. What a declaration cannot
// say, such as a rule that the managed ruleset no longer has, is named in a decision to
// keep it. Only where that is impossible too, it keeps all that is not declared.
//
// The result has neither the key of the managed ruleset nor origins.
func (d *Declarer) Declare(rule edge.Rule) desired.Deployment {
	v := d.inverse()
	return v.declare(rule, liveOverrides(rule))
}

// Agrees reports whether a live execute rule needs no change for a declaration, and
// nothing of the declaration is in doubt.
func (d *Declarer) Agrees(declared desired.Deployment, rule edge.Rule) bool {
	v := d.inverse()
	return v.agrees(declared, rule)
}

func liveOverrides(rule edge.Rule) edge.Overrides {
	if o := overridesOf(rule); o != nil {
		return *o
	}
	return edge.Overrides{}
}

// inverse turns live rules into declarations.
type inverse struct {
	managed    *managed
	documented bool
	base       *desired.Deployment // the declaration that is changed; nil for a new one

	names     map[edge.RuleID]desired.RuleRef // that the base has for rules
	longTags  map[string]bool                 // whose enabled the base has in its long form
	longRules map[edge.RuleID]bool
}

// form says which short forms a declaration uses.
type form struct{ paranoia, threshold, disable bool }

// forms are tried in this order: of those that are right, the first is the shortest.
var forms = []form{
	{true, true, true},
	{true, false, true},
	{true, true, false},
	{true, false, false},
	{false, true, true},
	{false, false, true},
	{false, true, false},
	{false, false, false},
}

// declare returns the first declaration that says what is live and with which a plan is
// empty. o are the overrides that are to be declared, of those that the rule has.
func (v *inverse) declare(rule edge.Rule, o edge.Overrides) desired.Deployment {
	for _, f := range forms {
		if d, left := v.written(rule, o, f); v.agrees(d, rule) && v.alone(d, o, left) {
			return d
		}
	}
	d := v.frame(rule)
	d.Decisions = v.decisions(d.Decisions, keepAll(o))
	if v.agrees(d, rule) {
		return d
	}
	d = v.frame(rule)
	d.Decisions = slices.DeleteFunc(d.Decisions, func(one desired.Decision) bool { return one.Unmanaged == desired.Remove })
	d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: desired.Keep}
	return d
}

// frame declares everything but overrides.
func (v *inverse) frame(rule edge.Rule) desired.Deployment {
	var d desired.Deployment
	if v.base != nil {
		d = *v.base // with what is no override
		d.Paranoia, d.Threshold, d.Disable, d.All, d.Tags, d.Rules = nil, nil, desired.Disable{}, desired.Override{}, nil, nil
		d.Decisions = slices.Clone(d.Decisions)
	}
	d.Enabled = desired.Declared[bool]{Value: rule.IsEnabled()}
	if rule.Expression != "" && (v.base == nil || v.base.Expression != nil) {
		d.Expression = &desired.Declared[string]{Value: rule.Expression}
	}
	v.sayVersion(&d, rulesets.VersionOf(rule))
	return d
}

// sayVersion declares the version that a rule runs, or keeps it by name where the profile
// has none.
func (v *inverse) sayVersion(d *desired.Deployment, runs string) {
	switch {
	case d.Version != nil:
		d.Version = &desired.Declared[string]{Value: runs, Origin: d.Version.Origin}
	case runs == rulesets.Latest || decisionOnVersion(*d) == desired.Keep:
	case v.documented:
		d.Decisions = append(d.Decisions, desired.Decision{Unmanaged: desired.Keep, Version: true})
	default:
		d.Version = &desired.Declared[string]{Value: runs}
	}
}

// unsaid are the overrides, or their members, that a declaration does not have and names
// as kept.
type unsaid struct {
	wide       entry
	categories []slot
	rules      []slot
}

func keepAll(o edge.Overrides) unsaid {
	return unsaid{
		wide:       wideOf(&o),
		categories: categorySlots(&o), rules: ruleSlots(&o),
	}
}

// decisions adds those to keep what is unsaid to others.
func (v *inverse) decisions(all []desired.Decision, left unsaid) []desired.Decision {
	add := func(d desired.Decision) {
		d.Unmanaged = desired.Keep
		i := slices.IndexFunc(all, func(other desired.Decision) bool { return v.sameTarget(other, d) })
		if i < 0 {
			all = append(all, d)
		} else {
			all[i].Unmanaged = desired.Keep // instead of removing it
		}
	}
	if !left.wide.isEmpty() {
		add(desired.Decision{All: true})
	}
	for _, s := range left.categories {
		add(desired.Decision{Tag: s.key})
	}
	for _, s := range left.rules {
		add(desired.Decision{Rule: v.ref(edge.RuleID(s.key))})
	}
	return all
}

// sameTarget reports whether two decisions are about one override.
func (v *inverse) sameTarget(a, b desired.Decision) bool {
	return a.All == b.All && a.Version == b.Version && a.Tag == b.Tag && v.idOf(a.Rule) == v.idOf(b.Rule)
}

func (v *inverse) idOf(ref desired.RuleRef) edge.RuleID {
	if f := v.managed.find(ref); !ref.ByID() && f.message == "" {
		return f.id
	}
	return ref.ID
}

// ref names a rule: as the base does, or by its reference where that is not just an id,
// because it stays when the managed ruleset gets a new version.
func (v *inverse) ref(id edge.RuleID) desired.RuleRef {
	if known, ok := v.names[id]; ok {
		return known
	}
	if i, ok := v.managed.byID[id]; ok {
		if ref := v.managed.Rules[i].Ref; ref != "" && !edge.ValidID(ref) && len(v.managed.byRef[ref]) == 1 {
			return desired.RuleRef{Ref: ref}
		}
	}
	return desired.RuleRef{ID: id}
}

// written writes a declaration in one form, and returns what it leaves unsaid.
func (v *inverse) written(rule edge.Rule, o edge.Overrides, f form) (desired.Deployment, unsaid) {
	d := v.frame(rule)
	var left unsaid
	d.All, left.wide = v.sayAll(o)
	v.sayTags(&d, &left, categorySlots(&o), f)
	v.sayRules(&d, &left, ruleSlots(&o), f)
	d.Decisions = v.decisions(d.Decisions, left)
	return d, left
}

// agrees reports whether a plan of the declaration is empty and has no problem.
func (v *inverse) agrees(d desired.Deployment, rule edge.Rule) bool {
	m := v.managed
	resolved, errs := resolve(d, m)
	if v.documented {
		errs = append(errs, beyondReference(d)...)
	}
	decided, undecidable := m.decide(d)
	if len(errs)+len(undecidable) > 0 || !sound(d) {
		return false
	}
	in := intent{d, resolved, decided}
	w := (&planner{}).wanted(in, rule, nil, v.pin(d, rule))
	return len(compare(rule, w.rule, m)) == 0 && len(w.problems(in, m)) == 0
}

// pin is the version that an execute rule runs, whose managed ruleset is at hand.
func (v *inverse) pin(d desired.Deployment, rule edge.Rule) pin {
	s := pin{want: rulesets.VersionOf(rule), managed: v.managed, before: v.managed}
	switch {
	case d.Version != nil:
		s.want = d.Version.Value
	case s.want != rulesets.Latest && decisionOnVersion(d) == desired.Remove:
		s.want = rulesets.Latest
	case s.want != rulesets.Latest:
		s.leftover = &diff.Leftover{Path: versionMember, Value: s.want}
	}
	return s
}

// sound is what evaluation asks of a declaration and a plan does not.
func sound(d desired.Deployment) bool {
	if d.Paranoia != nil && d.All.Enabled != nil && !d.All.Enabled.Value {
		return false
	}
	for _, one := range d.Decisions {
		if !one.All && !one.Version && one.Tag == "" && one.Rule.ByID() && !edge.ValidID(string(one.Rule.ID)) {
			return false
		}
	}
	return true
}

// alone reports whether the declaration says all that it should: with nothing live but
// what it leaves unsaid, each rule behaves as it does under o.
func (v *inverse) alone(d desired.Deployment, o edge.Overrides, left unsaid) bool {
	resolved, _ := resolve(d, v.managed)
	var rest edge.Overrides
	rest.Action, rest.Enabled, rest.SensitivityLevel = left.wide.Action, left.wide.Enabled, left.wide.SensitivityLevel
	for _, s := range left.categories {
		rest.Categories = append(rest.Categories, s.live.category(s.key))
	}
	for _, s := range left.rules {
		rest.Rules = append(rest.Rules, s.live.rule(edge.RuleID(s.key)))
	}
	keep := decisions{byDefault: &desired.Declared[desired.Unmanaged]{Value: desired.Keep}}
	mg := merger{managed: v.managed, decisions: keep}
	return v.managed.sameEffects(mg.merge(&rest, resolved), &o)
}

// RuleText says in words what a rule of a managed ruleset is, by the reference that a
// declaration has for it: its description, or its id where the reference is that, nothing
// where it has none, or that it is gone.
func (d *Declarer) RuleText(ref desired.RuleRef) string {
	v := d.inverse()
	i, known := v.managed.byID[v.idOf(ref)]
	if !known {
		return "no rule of this version of the managed ruleset"
	}
	rule := v.managed.Rules[i]
	switch {
	case ref.Description != "":
		return string(rule.ID) // what it says itself
	case descriptionOf(rule) != "":
		return descriptionOf(rule)
	case ref.ByID() && rule.Ref != string(rule.ID):
		return rule.Ref
	}
	return ""
}
