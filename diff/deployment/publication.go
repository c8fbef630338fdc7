package deployment

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
)

// Publication is a new version of a managed ruleset beside an older one. It says what the new
// one means for deployments that run the latest version, by what they declare: overrides that
// are live and not declared are not known to it. It is not safe for concurrent use.
type Publication struct{ versions }

// NewPublication returns the publication of a version.
func NewPublication(before, after edge.Ruleset) *Publication {
	return &Publication{pairVersions(index(before), index(after))}
}

// Touches says what the new version means for a deployment. The declaration is resolved
// against both versions, as for a plan, and what its rules do is compared. Of a declaration
// that has mistakes in the new version nothing is written: its rules do what the overrides of
// the older version make of them.
func (p *Publication) Touches(d desired.Deployment) (t rulesets.Touch) {
	if d.Version != nil && d.Version.Value != rulesets.Latest {
		t.Pinned = d.Version.Value
		return t
	}
	claimed, stood := resolveAll(d, p.before)
	claims, mistakes := resolveAll(d, p.after)
	if len(stood) == 0 {
		mistakes = p.after.moved(d, p.before.rememberNamed(d), mistakes)
	}
	for _, e := range mistakes {
		if !slices.ContainsFunc(stood, func(s resolveError) bool { return s.origin == e.origin }) {
			t.Mistakes = append(t.Mistakes, rulesets.Mistake{Reason: e.message, Hint: cmp.Or(p.gone(d, e.origin), e.hint), Origin: e.origin})
		}
	}
	were := p.before.overridesFor(claimed)
	are := were
	if len(mistakes) == 0 {
		t.Mended, are = len(stood) > 0, p.after.overridesFor(claims)
		t.Rewritten = t.Mended || !reflect.DeepEqual(were, are)
	}
	if !d.Enabled.Value {
		t.Off = true
		return t
	}
	effects := p.compare(were, are)
	t.Direction = combine(effects)
	if t.Rewritten {
		if meanwhile := combine(p.compare(were, were)); meanwhile != t.Direction {
			t.Meanwhile = meanwhile
		}
	}
	for _, e := range effects {
		t.Rules = append(t.Rules, rulesets.RuleEffect{Rule: e.rule, Last: e.last, Before: e.was.exported(), After: e.is.exported(), Direction: e.direction})
	}
	return t
}

// gone says of what is declared in a line and is not in the newer version what it was, and what
// it is now; empty where it is still there.
func (p *Publication) gone(d desired.Deployment, origin desired.Origin) string {
	for ref, at := range named(d) {
		was, is := p.before.find(ref), p.after.find(ref)
		if at != origin || was.message != "" || is.message == "" {
			continue
		}
		text := fmt.Sprintf("in version %s it was rule %s", p.before.Version, p.before.text(was.id))
		if j := p.to[p.before.byID[was.id]]; j >= 0 {
			return text + ", which is now " + p.after.text(p.after.Rules[j].ID) + ": name it so"
		}
		return text + ", which is gone: take it out of the declaration"
	}
	tags := slices.Clone(d.Disable.Tags)
	for _, o := range d.Tags {
		tags = append(tags, desired.Declared[string]{Value: o.Tag, Origin: o.Origin})
	}
	for _, tag := range tags {
		if tag.Origin == origin && !p.after.knowsTag(tag.Value) {
			return fmt.Sprintf("version %s had rules with this tag: take it out of the declaration", p.before.Version)
		}
	}
	return ""
}

// resolveAll resolves a declaration with its decisions, and reports all its mistakes.
func resolveAll(d desired.Deployment, m *managed) (claims, []resolveError) {
	c, errs := resolve(d, m)
	_, undecidable := m.decide(d)
	return c, append(errs, undecidable...)
}

// overridesFor are the overrides of a zone that has none but those claimed.
func (m *managed) overridesFor(c claims) *edge.Overrides {
	mg := merger{managed: m}
	return mg.merge(nil, c)
}

// exported is an effect as others see it; nil for none.
func (e *effect) exported() *rulesets.Effect {
	if e == nil {
		return nil
	}
	out := rulesets.Effect{Enabled: e.enabled, Action: e.action, Sensitivity: e.sensitivity}
	if e.scored {
		out.Score = &e.score
	}
	return &out
}
