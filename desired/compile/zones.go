package compile

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

func (r *reader) account(m member) desired.Account {
	path := at("account", m.key)
	a := r.accountID(m)
	for _, ref := range m.field("ruleset").members() {
		a.Rulesets = append(a.Rulesets, r.rulesetRef(at(path, "ruleset", ref.key), ref))
	}
	for _, zone := range m.field("zone").members() {
		a.Zones = append(a.Zones, r.zone(at(path, "zone", zone.key), zone))
	}
	if waf := m.field("waf"); waf.exists() {
		a.Zones = append(a.Zones, accountLevel(r, at(path, "waf"), a, waf))
	}
	return a
}

func (r *reader) rulesetRef(path string, m member) desired.RulesetRef {
	ref := desired.RulesetRef{
		Key:    m.key,
		Name:   m.field("name").text(),
		ID:     edge.RulesetID(m.field("id").text()),
		Origin: m.origin(),
	}
	r.oneOfNameAndID(path, ref)
	return ref
}

func (r *reader) zone(path string, m member) desired.Zone {
	z := r.zoneID(path, m)
	for _, label := range m.field("labels").members() {
		if z.Labels == nil {
			z.Labels = map[string]string{}
		}
		z.Labels[label.key] = label.text()
	}
	for _, d := range m.field("waf").members() {
		z.Deployments = append(z.Deployments, r.deployment(at(path, "waf", d.key), d))
	}
	return z
}

func (r *reader) deployment(path string, m member) desired.Deployment {
	d := desired.Deployment{Ruleset: m.key, Origin: m.origin()}
	d.Deploy, d.Prune = m.field("deploy").truth(), m.field("prune").truth()
	enabled := m.field("enabled")
	d.Enabled = desired.Declared[bool]{Value: enabled.truth(), Origin: enabled.origin()}
	if f := m.field("expression"); f.exists() {
		v := declared(f)
		d.Expression = &v
	}
	if f := m.field("version"); f.exists() {
		v := declared(f)
		d.Version = &v
	}
	if f := m.field("paranoia"); f.exists() {
		level, _ := f.value.Int64() // validated: 1 to 4
		d.Paranoia = &desired.Declared[int]{Value: int(level), Origin: f.origin()}
	}
	if f := m.field("threshold"); f.exists() {
		d.Threshold = r.threshold(at(path, "threshold"), f)
	}
	if f := m.field("unmanaged"); f.exists() {
		d.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: desired.Unmanaged(f.text()), Origin: f.origin()}
	}
	if f := m.field("expression_drift"); f.exists() {
		d.ExpressionDrift = &desired.Declared[desired.ExpressionDrift]{Value: desired.ExpressionDrift(f.text()), Origin: f.origin()}
	}
	d.Decisions = r.decisions(path, m)
	d.Disable = disable(m.field("disable"))
	r.paranoiaOnce(at(path, "disable", "tags"), d)
	r.overrides(path, m, &d)
	return d
}

func (r *reader) threshold(path string, f both) *desired.Threshold {
	score, action := f.field("score"), f.field("action")
	t := &desired.Threshold{
		Score:  desired.Declared[int]{Value: r.score(at(path, "score"), score), Origin: score.origin()},
		Action: desired.Declared[edge.Action]{Value: edge.Action(action.text()), Origin: action.origin()},
	}
	return t
}

func disable(f both) desired.Disable {
	var d desired.Disable
	for _, e := range f.field("rules").elements() {
		ref := desired.RuleRef{ID: edge.RuleID(e.text())}
		if ref.ID == "" {
			ref = ruleRef(e)
		}
		d.Rules = append(d.Rules, desired.Declared[desired.RuleRef]{Value: ref, Origin: e.origin()})
	}
	for _, e := range f.field("tags").elements() {
		d.Tags = append(d.Tags, declared(e))
	}
	return d
}
