package compile

import (
	"cmp"
	"fmt"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/expression"
)

// accountLevel reads what an account has itself.
func accountLevel(r *reader, path string, a desired.Account, waf both, others []desired.Other) desired.Zone {
	z := desired.Zone{Scope: edge.Scope{Level: edge.LevelAccount}, Key: desired.AccountKey(a.Key), Origin: waf.origin(), Others: others}
	if z.Origin.IsZero() && len(others) > 0 {
		z.Origin = others[0].Origin
	}
	if !a.ByName {
		z.Scope = desired.AccountScope(a)
	}
	for _, o := range others {
		r.forEnterprise(at(path, o.Path()...), o)
	}
	first := map[string]desired.Deployment{}
	for _, m := range waf.members() {
		path := at(path, "waf", m.key)
		d := r.deployment(path, m)
		d.Key, d.Ruleset, d.Ref = m.key, m.field("ruleset").text(), cmp.Or(m.field("ref").text(), m.key)
		if d.Deploy && d.Expression == nil {
			// CUE would say it as a condition, which reports at the schema.
			r.problem(d.Origin, path, "has deploy: true and no expression", hintAccountExpression)
		}
		if other, taken := first[d.Ref]; taken {
			r.unit.Problems = append(r.unit.Problems, twoPlaces(path, d.Origin,
				fmt.Sprintf("has the ref %q, as %q has: both would be the same execute rule", d.Ref, other.Key), other.Origin))
		}
		first[d.Ref] = d
		z.Deployments = append(z.Deployments, d)
	}
	return z
}

// forEnterprise: the platform takes only rules of an account that are for Enterprise zones. CUE
// cannot read expressions.
func (r *reader) forEnterprise(path string, o desired.Other) {
	for m := range o.Members() {
		text, _ := m.Value.(string)
		if m.Path != "expression" {
			continue
		}
		e, err := expression.Parse(text)
		if err == nil && !expression.ForEnterprise(e.Root, false) { // else it is refused for that
			r.problem(m.Origin, at(path, "expression"), "is not restricted to Enterprise zones, which the platform takes only", `add: and cf.zone.plan eq "ENT"`)
		}
	}
}

const hintAccountExpression = `say for which zones it is; the platform takes only Enterprise zones: expression: #"cf.zone.plan eq "ENT""#`

// zonePath is the path of a zone of the account at a path.
func zonePath(account string, z desired.Zone) string {
	if z.Scope.Level == edge.LevelAccount {
		return account
	}
	return at(account, "zone", z.Key)
}
