package render

import (
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/visible"
)

// leftoversShown is how many members of one problem are listed; JSON has all.
const leftoversShown = 20

// leftoverText says what is live and not declared: `tag beta enabled = true`.
func leftoverText(l diff.Leftover) string {
	text := Subject(l.Path) + " = " + Value(l.Value)
	if l.Was != nil {
		text += fmt.Sprintf(" (%s when last proved)", Value(l.Was))
	}
	if l.Note != "" {
		text += " (" + visible.Text(l.Note) + ")"
	}
	return text
}

func leftoversText(all []diff.Leftover) string {
	texts := make([]string, len(all))
	for i, l := range all {
		texts[i] = leftoverText(l)
	}
	return strings.Join(texts, "\n")
}

// keptGroup is deployments that keep the same members.
type keptGroup struct {
	about []string
	kept  []diff.Leftover
}

// keptAlike groups what is kept by what it is, in the order in which each comes first.
func keptAlike(all []diff.Kept) (groups []keptGroup) {
	index := map[string]int{}
	for _, k := range all {
		text := leftoversText(k.Members)
		i, ok := index[text]
		if !ok {
			i = len(groups)
			index[text] = i
			groups = append(groups, keptGroup{kept: k.Members})
		}
		groups[i].about = append(groups[i].about, k.About())
	}
	return groups
}

// names lists the deployments, quoted by quote, the rest counted.
func (k keptGroup) names(quote func(string) string) string {
	names := make([]string, len(k.about))
	for i, about := range k.about {
		names[i] = quote(about)
	}
	return firstOf(names)
}

// members lists what they keep, the rest counted.
func (k keptGroup) members(text func(diff.Leftover) string) string {
	var texts []string
	for _, l := range k.kept[:min(len(k.kept), leftoversShown)] {
		texts = append(texts, text(l))
	}
	if more := len(k.kept) - leftoversShown; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}
