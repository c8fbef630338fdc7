package render

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/visible"
)

// bypassGroup is deployments on which the same skip rule acts, or one that is the same but for
// its id: a rule has another id in each zone.
type bypassGroup []diff.Bypass

// bypassesAlike groups the skip rules that need no person and that nobody has accepted, in the
// order in which each comes first. Those that need one are problems, and those that the plan
// removes or corrects are changes.
func bypassesAlike(all []diff.Bypass) (groups []bypassGroup) {
	index := map[string]int{}
	for n, b := range all {
		if b.State == diff.BypassAccepted || b.Remove || b.Corrected() || b.NeedsPerson() {
			continue
		}
		same := b
		same.Zone, same.Scope, same.Rule = "", edge.Scope{}, ""
		if b.Ref == string(b.Rule) {
			same.Ref = ""
		}
		key, err := json.Marshal(same)
		if err != nil {
			key = fmt.Append(nil, n)
		}
		i, ok := index[string(key)]
		if !ok {
			i = len(groups)
			index[string(key)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], b)
	}
	return groups
}

// names lists the deployments, quoted by quote, the rest counted.
func (g bypassGroup) names(quote func(string) string) string {
	names := make([]string, len(g))
	for i, b := range g {
		names[i] = quote(b.About())
	}
	return firstOf(names)
}

// where says where the rule stands, with its id where that is one.
func (g bypassGroup) where() string {
	first := g[0]
	for _, b := range g {
		if b.Rule != first.Rule {
			return first.Where()
		}
	}
	return first.Where() + ", rule " + visible.Name(string(first.Rule))
}

// accepted counts the skip rules that people accept in a line; empty where there are none. One
// that needs a person all the same, as no owner is named, is a problem.
func accepted(all []diff.Bypass) string {
	type place struct {
		scope edge.Scope // none at account level: there it is one rule for all zones
		phase edge.Phase
		rule  edge.RuleID
	}
	rules, zones := map[place]bool{}, map[edge.Scope]bool{}
	for _, b := range all {
		if b.State != diff.BypassAccepted || b.NeedsPerson() {
			continue
		}
		p := place{b.Scope, b.Phase, b.Rule}
		if b.Level == edge.LevelAccount {
			p.scope = edge.Scope{}
		}
		rules[p], zones[b.Scope] = true, true
	}
	if len(rules) == 0 {
		return ""
	}
	return fmt.Sprintf("%s accepted in %s", words.Count(len(rules), "skip rule", "skip rules"), words.Count(len(zones), "zone", "zones"))
}

// bypasses writes the skip rules that act on deployments and need no person.
func (t *textWriter) bypasses(p diff.Plan) {
	for _, g := range bypassesAlike(p.Bypasses) {
		b := g[0]
		fmt.Fprintf(t, "= %s  %s  %s\n", g.names(func(what string) string { return t.paint(bold, visible.Name(what)) }), b.Title(), t.paint(dim, b.Standing()))
		fmt.Fprintf(t, "    skips %s\n    for %s\n    in %s\n\n", b.Skips(), b.Requests(), g.where())
	}
	if text := accepted(p.Bypasses); text != "" {
		fmt.Fprintf(t, "= %s; -o json lists them\n\n", text)
	}
}

// bypassesShown is how many groups of skip rules a comment lists.
const bypassesShown = 20

func markdownBypasses(b *bytes.Buffer, p diff.Plan) {
	groups, accepted, notLooked := bypassesAlike(p.Bypasses), accepted(p.Bypasses), diff.NotLooked(p.NotLookedAt)
	if len(groups) == 0 && accepted == "" && notLooked == "" || b.Len() > markdownLimit {
		return
	}
	b.WriteString("\n#### Skip rules\n\n")
	for i, g := range groups {
		if i == bypassesShown || b.Len() > markdownLimit {
			fmt.Fprintf(b, "- … and %d more\n", len(groups)-i)
			break
		}
		first := g[0]
		fmt.Fprintf(b, "- %s: %s skips %s for %s; %s (%s)\n", g.names(Name), Code(first.Title()), Code(first.Skips()), Code(first.Requests()), Code(first.Standing()), Code(g.where()))
	}
	for _, line := range []string{accepted, notLooked} {
		if line != "" {
			fmt.Fprintf(b, "- %s\n", Code(line))
		}
	}
}
