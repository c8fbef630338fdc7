package deployment

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/nearest"
)

// A declaration names rules of a managed ruleset by id, by ref or by description. What it
// means is always a rule with an id: that is what is written, compared and remembered. A
// description may move to another rule with a new version of the managed ruleset, without
// a commit. So the rule that it named is remembered with the proof, and a description that
// names another one since is a mistake of the declaration.

// finding is the rule a reference names, or what is wrong with the reference.
type finding struct {
	id            edge.RuleID
	message, hint string
}

// find looks each reference up once: zones of a fleet share most of theirs, and
// looking for what a wrong one may have meant takes time.
func (m *managed) find(ref desired.RuleRef) finding {
	f, known := m.found[ref]
	if !known {
		switch {
		case ref.Ref != "":
			f = m.findBy("ref", ref.Ref, m.byRef)
		case ref.Description != "":
			f = m.findBy("description", ref.Description, m.byDescription)
		default:
			f = m.findID(ref.ID)
		}
		if m.found == nil {
			m.found = map[desired.RuleRef]finding{}
		}
		m.found[ref] = f
	}
	return f
}

func (m *managed) findID(id edge.RuleID) finding {
	if _, ok := m.byID[id]; ok {
		return finding{id: id}
	}
	known := make([]string, 0, len(m.Rules))
	for _, rule := range m.Rules {
		known = append(known, string(rule.ID))
	}
	slices.Sort(known)
	hint := "versions of the managed ruleset add and remove rules; a ref is more stable than an id"
	if near := nearest.Word(string(id), known); near != "" {
		hint = "did you mean " + m.text(edge.RuleID(near)) + "?"
	}
	return finding{message: fmt.Sprintf("managed ruleset %q has no rule %s (version %s)", m.Name, id, m.Version), hint: hint}
}

// findBy finds the only rule that a text names, by its ref or its description.
func (m *managed) findBy(member, text string, rules map[string][]edge.RuleID) finding {
	found := rules[text]
	switch len(found) {
	case 1:
		return finding{id: found[0]}
	case 0:
		return finding{
			message: fmt.Sprintf("managed ruleset %q has no rule with %s %q (version %s)", m.Name, member, text, m.Version),
			hint:    m.instead(member, text),
		}
	}
	return finding{
		message: fmt.Sprintf("managed ruleset %q has %d rules with %s %q", m.Name, len(found), member, text),
		hint:    "name the rule by its id: " + m.texts(found),
	}
}

// mostNear is how many rules a hint names that may have been meant.
const mostNear = 3

// instead says what may have been meant by a ref or a description that no rule has: it is
// the other of the two, or most like one of some rules.
func (m *managed) instead(member, text string) string {
	if ids := m.byDescription[text]; member == "ref" && len(ids) > 0 {
		return fmt.Sprintf("that is a description: write {description: …}, or name the rule by its id: %s", m.texts(ids))
	}
	if ids := m.byRef[text]; member == "description" && len(ids) > 0 {
		return fmt.Sprintf("that is a ref: write {ref: …}, or name the rule by its id: %s", m.texts(ids))
	}
	if near := m.near(text); len(near) > 0 {
		return "the nearest: " + m.texts(near)
	}
	return "seawall rules lists the rules"
}

// near are the rules whose ref or description is most like a text.
func (m *managed) near(text string) (near []edge.RuleID) {
	names := make([]string, 0, 2*len(m.Rules))
	for _, rule := range m.Rules {
		names = append(names, rule.Ref, descriptionOf(rule))
	}
	for _, i := range nearest.Texts(text, names, 2*mostNear) {
		if id := m.Rules[i/2].ID; !slices.Contains(near, id) && len(near) < mostNear {
			near = append(near, id)
		}
	}
	return near
}

// texts names a few rules.
func (m *managed) texts(ids []edge.RuleID) string {
	shown := make([]string, 0, mostNear)
	for _, id := range ids[:min(mostNear, len(ids))] {
		shown = append(shown, m.text(id))
	}
	return words.First(shown, len(ids))
}

// text is the id of a rule with what it is called.
func (m *managed) text(id edge.RuleID) string {
	i, known := m.byID[id]
	if !known {
		return string(id)
	}
	rule := m.Rules[i]
	var names []string
	if rule.Ref != "" && rule.Ref != string(id) {
		names = append(names, rule.Ref)
	}
	if text := descriptionOf(rule); text != "" {
		names = append(names, fmt.Sprintf("%q", text))
	}
	if len(names) == 0 {
		return string(id)
	}
	return fmt.Sprintf("%s (%s)", id, strings.Join(names, ", "))
}

// descriptionOf is the description of a rule; empty where it has none.
func descriptionOf(rule edge.Rule) string {
	if rule.Description == nil {
		return ""
	}
	return *rule.Description
}

// named are the rules that a declaration names, and where it does.
func named(d desired.Deployment) iter.Seq2[desired.RuleRef, desired.Origin] {
	return func(yield func(desired.RuleRef, desired.Origin) bool) {
		for _, ref := range d.Disable.Rules {
			if !yield(ref.Value, ref.Origin) {
				return
			}
		}
		for _, o := range d.Rules {
			if !yield(o.Rule, o.Origin) {
				return
			}
		}
		for _, one := range d.Decisions {
			if !yield(one.Rule, one.Origin) {
				return
			}
		}
	}
}

// described are those that it names by a description.
func described(d desired.Deployment) iter.Seq2[desired.RuleRef, desired.Origin] {
	return func(yield func(desired.RuleRef, desired.Origin) bool) {
		for ref, origin := range named(d) {
			if ref.Description != "" && !yield(ref, origin) {
				return
			}
		}
	}
}

// rememberNamed are the members that remember which rules the descriptions of a
// declaration name.
func (m *managed) rememberNamed(d desired.Deployment) (members []diff.Member) {
	for ref := range described(d) {
		members = append(members, diff.Member(ofNamed(ref.Description)+string(m.find(ref).id)))
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// moved finds the descriptions that do not name the rule any more which they named when
// the deployment was last proved; before is what was remembered then. Of those that name
// none, errs says so already: it says in its hint which rule it was.
func (m *managed) moved(d desired.Deployment, before []diff.Member, errs []resolveError) []resolveError {
	for ref, origin := range described(d) {
		was := make([]edge.RuleID, 0, 1)
		for _, id := range recall(before, ofNamed(ref.Description)) {
			was = append(was, edge.RuleID(id))
		}
		f := m.find(ref)
		switch {
		case len(was) == 0, f.message == "" && slices.Contains(was, f.id):
		case f.message != "":
			for i := range errs {
				if errs[i].origin == origin {
					errs[i].hint = "it named " + m.texts(was) + ": name the rule by its id"
				}
			}
		default:
			errs = append(errs, resolveError{
				origin, fmt.Sprintf("the description %q names rule %s now, and named %s when it was last applied", ref.Description, f.id, m.texts(was)),
				"the managed ruleset has changed: name the rule that you mean by its id",
			})
		}
	}
	return errs
}
