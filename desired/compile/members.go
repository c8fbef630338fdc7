package compile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
)

func (r *reader) deployment(path string, m member) desired.Deployment {
	d := desired.Deployment{Ruleset: m.key, Origin: m.origin()}
	readMembers(r, path, m.both, desired.DeploymentMembers, &d)
	slices.SortFunc(d.Accepted, func(a, b desired.Accepted) int { return cmp.Compare(a.Rule, b.Rule) })
	if f := m.field("all"); f.exists() {
		r.notEmpty(at(path, "all"), f, d.All)
	}
	r.declaredExpression(path, m, d)
	r.decidedOnce(path, d)
	r.paranoiaOnce(at(path, "disable", "tags"), d)
	r.membersOnce(path, d)
	allOff(r, path, d)
	return d
}

// readMembers reads what a struct declares of the members of a table.
func readMembers[O any](r *reader, path string, from both, table []desired.MemberOf[O], o *O) {
	parents := map[string]both{"": from}
	for _, m := range table {
		parent, name := "", m.Path
		if i := strings.LastIndexByte(m.Path, '.'); i >= 0 {
			parent, name = m.Path[:i], m.Path[i+1:]
		}
		in, known := parents[parent]
		if !known {
			in = from.field(parent)
			parents[parent] = in
		}
		switch f := in.field(name); {
		case m.Type == desired.Acceptances:
			for _, e := range f.members() {
				m.Add(o, r.accepted(at(path, name, e.key), e), e.origin())
			}
		case m.Type.List():
			for i, e := range f.elements() {
				m.Add(o, r.element(element(path, m.Path, i), m.Path, m.Type, e), e.origin())
			}
		case f.exists():
			m.Add(o, r.value(at(path, strings.Split(m.Path, ".")...), m.Type, f), f.origin())
		}
	}
}

// value reads a single value, which is known to fit the schema.
func (r *reader) value(path string, typ desired.Type, f both) any {
	switch typ {
	case desired.Bool:
		return f.truth()
	case desired.Int:
		n, _ := f.value.Int64()
		return int(n)
	case desired.Score:
		return r.score(path, f)
	case desired.Text:
		return f.text()
	default:
	}
	panic("compile: no reader for a value of the type " + string(typ))
}

// element reads an element of a list.
func (r *reader) element(place, path string, typ desired.Type, e both) any {
	switch typ {
	case desired.TagNames:
		return e.text()
	case desired.RuleRefs:
		if id := e.text(); id != "" {
			return desired.RuleRef{ID: edge.RuleID(id)}
		}
		return ruleRef(e)
	case desired.TagOverrides:
		return desired.TagOverride{Tag: e.field("tag").text(), Origin: e.origin(), Override: r.override(place, e)}
	case desired.RuleOverrides:
		ref := ruleRef(e)
		r.oneOfRuleRef(place, e, ref)
		return desired.RuleOverride{Rule: ref, Origin: e.origin(), Override: r.override(place, e)}
	case desired.Decisions:
		return desired.Decision{
			Unmanaged: desired.Unmanaged(path), Origin: e.origin(),
			All: e.field("all").truth(), Version: e.field("version").truth(), Tag: e.field("tag").text(), Rule: ruleRef(e),
		}
	default:
	}
	panic("compile: no reader for a list of the type " + string(typ))
}

// override reads the members of one override.
func (r *reader) override(path string, f both) (o desired.Override) {
	readMembers(r, path, f, desired.OverrideMembers, &o)
	r.notEmpty(path, f, o)
	return o
}

// notEmpty refuses an override without members. CUE would say "one or more of these"
// as a comprehension, which reports at the schema.
func (r *reader) notEmpty(path string, f both, o desired.Override) {
	if o.IsZero() {
		r.problem(f.origin(), path, "declares nothing", "set enabled, action or sensitivity, or remove it")
	}
}
