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
	d.Expression = declared(m.field("expression"), both.text)
	d.Version = declared(m.field("version"), both.text)
	d.Paranoia = declared(m.field("paranoia"), both.number)
	if f := m.field("threshold"); f.exists() {
		path := at(path, "threshold")
		score := declared(f.field("score"), func(b both) int { return r.score(at(path, "score"), b) })
		d.Threshold = &desired.Threshold{Score: *score, Action: *declared(f.field("action"), as[edge.Action])}
	}
	d.Unmanaged = declared(m.field("unmanaged"), as[desired.Unmanaged])
	d.ExpressionDrift = declared(m.field("expression_drift"), as[desired.ExpressionDrift])
	d.Decisions = r.decisions(path, m)
	d.Disable = disable(m.field("disable"))
	r.paranoiaOnce(at(path, "disable", "tags"), d)
	r.overrides(path, m, &d)
	return d
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
		d.Tags = append(d.Tags, *declared(e, both.text))
	}
	return d
}
