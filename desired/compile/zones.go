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
	if waf, rules, others := m.field("waf"), m.field("rules"), r.others(path, m.both); waf.exists() || rules.exists() || len(others) > 0 {
		level := accountLevel(r, path, a, waf, others)
		if level.Origin.IsZero() {
			level.Origin = rules.origin()
		}
		a.Zones = append(a.Zones, level)
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
	z.Others = r.others(path, m.both)
	return z
}
