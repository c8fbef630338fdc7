package cuefile

import (
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
)

// An acceptance of a skip rule is one value, with a comment that says what the skip rule is. It
// is written as a whole, and edited by its members.

const accepted = "accepted"

// acceptedPath is where it is declared, below the deployment.
func acceptedPath(a desired.Accepted) string { return accepted + "." + Label(a.Rule) }

// acceptances are those of a deployment.
func (w Words) acceptances(zone string, d desired.Deployment) (all []field) {
	for _, a := range d.Accepted {
		path := Label(d.Ruleset) + "." + acceptedPath(a)
		one := field{path: path, below: acceptance(a)}
		p := printer{}
		p.WriteString("{\n")
		if w.Skip != nil {
			for _, line := range w.Skip(zone, d.Ruleset, a.Rule) {
				p.WriteString("\t// " + comment(line) + "\n")
			}
		}
		for i := range one.below {
			f := &one.below[i]
			if f.isList() {
				for _, id := range a.Rules {
					f.notes = append(f.notes, w.note(d.Ruleset, desired.RuleRef{ID: id}))
				}
			}
			p.WriteString("\t" + f.path + ": ")
			p.leaf(*f)
			p.WriteString("\n")
			f.path = path + "." + f.path
		}
		p.WriteString("}")
		one.value = p.String()
		all = append(all, one)
	}
	return all
}

// acceptance are the members of one, by their names.
func acceptance(a desired.Accepted) (all []field) {
	word := func(name, value string) {
		if value != "" {
			all = append(all, field{path: name, value: String(value)})
		}
	}
	word("owner", a.Owner)
	word("until", a.Until)
	word("expression", a.Expression)
	if a.All {
		word("skips", desired.SkipsAll)
		return all
	}
	skips := field{path: "skips"}
	for _, id := range a.Rules {
		skips.items = append(skips.items, String(string(id)))
	}
	return append(all, skips)
}

// acceptedLiteral is an acceptance in one line, with the rule that it is about.
func acceptedLiteral(a desired.Accepted) string {
	var parts []string
	for _, f := range acceptance(a) {
		parts = append(parts, f.path+": "+f.text())
	}
	return Label(a.Rule) + ": {" + strings.Join(parts, ", ") + "}"
}

// isAcceptance reports whether a field is one. What is accepted says nothing of what a zone
// runs: it makes no tier.
func (f field) isAcceptance() bool { return f.below != nil }

// Accepts reports whether a change is about an acceptance that was declared before.
func (c Change) Accepts() bool {
	labels := splitPath(c.Path)
	return !c.Other() && c.before != nil && len(labels) > 1 && labels[1] == accepted
}

// withoutAcceptances are the fields of zones but for acceptances, which are apart.
func withoutAcceptances(zones [][]field) (rest, apart [][]field) {
	for _, fields := range zones {
		rest = append(rest, slices.DeleteFunc(slices.Clone(fields), field.isAcceptance))
		apart = append(apart, slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.isAcceptance() }))
	}
	return rest, apart
}

// placeAcceptances puts what all zones of a tier accept into it, such as a skip rule of their
// account, and the rest to the zones.
func placeAcceptances(places []place, tiers []*tier, apart [][]field) {
	for _, t := range tiers {
		var common []field
		first := true
		for i, p := range places {
			switch {
			case p.tier != t:
			case first:
				common, first = apart[i], false
			default:
				common = slices.DeleteFunc(slices.Clone(common), func(f field) bool { return !has(apart[i], f) })
			}
		}
		t.fields = append(slices.Clip(t.fields), common...)
	}
	for i := range places {
		var own []field
		for _, f := range apart[i] {
			if t := places[i].tier; t == nil || !has(t.fields, f) {
				own = append(own, f)
			}
		}
		places[i].fields = append(slices.Clip(places[i].fields), own...)
	}
}

// has reports whether some fields have one with its value.
func has(fields []field, f field) bool {
	return slices.ContainsFunc(fields, func(o field) bool { return o.path == f.path && o.value == f.value })
}
