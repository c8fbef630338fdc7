package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/seawall-dev/seawall/edge"
)

// Fingerprint stands for all that an account's zone declares, the managed rulesets
// behind the keys of its deployments included, and for nothing else: where a value
// was declared does not count, nor by which name an id was found. Two zones that are [Zone.SameAs] each other in
// accounts with the same rulesets have the same one. It is 32 hex digits.
//
// Fingerprints are on disk: what one is made of may get more members, but none of those
// that a declaration already has may be written in another way.
func (z Zone) Fingerprint(account Account) string {
	refs := make(map[string]RulesetRef, len(account.Rulesets))
	for _, ref := range account.Rulesets {
		ref.Origin = Origin{}
		refs[ref.Key] = ref
	}
	deployments := make([]any, len(z.Deployments))
	for i, d := range z.Deployments {
		ref, known := refs[d.Ruleset]
		if !known {
			ref = RulesetRef{Key: d.Ruleset}
		}
		said := pairs{{"Ruleset", ref}}
		if d.Key != "" {
			said = append(said, pair{"Key", d.Key})
		}
		if d.Ref != "" {
			said = append(said, pair{"Ref", d.Ref})
		}
		deployments[i] = append(said, d.printed()...)
	}
	if len(z.Labels) == 0 {
		z.Labels = nil // none is none, however it came to be
	}
	all := pairs{
		{"Account", string(account.ID)}, {"Key", z.Key}, {"ID", z.Scope.String()}, {"Labels", z.Labels}, {"Deployments", deployments},
	}
	if z.Scope.Level == edge.LevelAccount {
		all = append(pairs{{"AccountLevel", true}}, all...)
	}
	for _, o := range z.Others {
		all = append(all, pair{string(o.Kind) + " " + o.Key, []any{o.Prune, o.Value}})
	}
	for _, u := range z.Unmanaged {
		all = append(all, pair{string(u.Kind), string(u.Do)})
	}
	sum := sha256.Sum256(appendJSON(nil, all))
	return hex.EncodeToString(sum[:16])
}

// Meaning stands for what a deployment declares, as a fingerprint does, without the zone and the
// ruleset that it declares it for: deployments with an equal one mean the same.
func (d Deployment) Meaning() string { return string(appendJSON(nil, d.printed())) }

// printNames are the names that members have in fingerprints, in the order in which they are
// there. A member that is not here comes after these, by its path.
var printNames = [][2]string{
	{"deploy", "Deploy"},
	{"prune", "Prune"},
	{"enabled", "Enabled"},
	{"expression", "Expression"},
	{"paranoia", "Paranoia"},
	{"threshold", "Threshold"},
	{"disable.rules", "Rules"},
	{"disable.tags", "Tags"},
	{"unmanaged", "Unmanaged"},
	{"all", "All"},
	{"tags", "TagOverrides"},
	{"rules", "RuleOverrides"},
	{string(Keep), "Decisions"}, // and those to remove
	{string(Remove), ""},
	{"expression_drift", "ExpressionDrift"},
	{"version", "Version"},
}

// printed is what a fingerprint has of what a deployment declares.
func (d Deployment) printed() (all pairs) {
	for _, p := range prints() {
		if value := p.of(&d); value != nil {
			all = append(all, pair{p.name, value})
		}
	}
	return all
}

type printed struct {
	name string
	of   func(d *Deployment) any // nil for nothing
}

// prints has printNames, and after them what they lack.
var prints = sync.OnceValue(func() (all []printed) {
	members := map[string]func(d *Deployment) any{
		"threshold": func(d *Deployment) any {
			if d.Threshold == nil {
				return nil
			}
			return []any{d.Threshold.Score.Value, d.Threshold.Action.Value}
		},
		"all": func(d *Deployment) any {
			if d.All.IsZero() {
				return nil
			}
			return d.All.printed()
		},
	}
	for _, m := range DeploymentMembers {
		members[m.Path] = m.print
	}
	known := map[string]bool{}
	for _, n := range printNames {
		known[n[0]] = true
		if n[1] != "" {
			all = append(all, printed{n[1], members[n[0]]})
		}
	}
	for _, m := range DeploymentMembers {
		if first, _, _ := strings.Cut(m.Path, "."); !known[m.Path] && !known[first] {
			all = append(all, printed{m.Path, m.print})
		}
	}
	return all
})

// printed is what a fingerprint has of what an override declares.
func (o Override) printed() (all pairs) {
	for _, m := range OverrideMembers {
		if value := m.print(&o); value != nil {
			all = append(all, pair{strings.ToUpper(m.Path[:1]) + m.Path[1:], value})
		}
	}
	return all
}

// pairs are the members of a JSON object, in their order.
type pairs []pair

type pair struct {
	name  string
	value any
}

// appendJSON writes a value as [json.Marshal] does, and pairs as an object in their order.
func appendJSON(b []byte, value any) []byte {
	switch v := value.(type) {
	case pairs:
		b = append(b, '{')
		for i, p := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(strconv.AppendQuote(b, p.name), ':')
			b = appendJSON(b, p.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, e := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, e)
		}
		return append(b, ']')
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	}
	data, err := json.Marshal(value)
	if err != nil {
		panic("desired: encoding a declaration: " + err.Error()) // it is plain data
	}
	return append(b, data...)
}
