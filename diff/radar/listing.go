package radar

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge/visible"
)

// rule names a rule.
func (w *writer) rule(r Rule, last bool) string {
	word := "rule "
	if last {
		word = "last rule "
	}
	if r.Description == "" {
		return word + w.text(r.Called())
	}
	return word + w.text(fmt.Sprintf("%q (%s)", r.Description, r.Called()))
}

// Called is the ref of the rule, or its id.
func (r Rule) Called() string { return cmp.Or(r.Ref, string(r.ID)) }

// rules writes what differs in the ruleset itself.
func (w *writer) rules(p Published) {
	r := p.Rules
	w.line(1, "rules, by their defaults: %s", r.summary)
	for i, one := range r.Removed {
		if w.more(i, len(r.Removed), "removed rules") {
			break
		}
		w.line(2, "removed: %s, %s", w.rule(one, false), w.byDefault(one))
	}
	for i, one := range r.Added {
		if w.more(i, len(r.Added), "added rules") {
			break
		}
		w.line(2, "added: %s, %s", w.rule(one, false), w.byDefault(one))
	}
	for i, one := range r.Changed {
		if w.more(i, len(r.Changed), "changed rules") {
			break
		}
		w.line(2, "changed: %s: %s", w.rule(one.Rule, false), w.members(one.Members))
	}
	if r.Last != nil {
		w.line(2, "last rule: %s → %s", w.optional(r.Last.Old), w.optional(r.Last.New))
	}
}

func (w *writer) optional(r *Rule) string {
	if r == nil {
		return "none"
	}
	return w.rule(*r, false) + ", " + w.byDefault(*r)
}

func (w *writer) members(all []Member) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = fmt.Sprintf("%s %s → %s", m.Path, w.value(m.Path, m.Old), w.value(m.Path, m.New))
	}
	return strings.Join(texts, ", ")
}

func (w *writer) value(path string, v any) string {
	switch v := v.(type) {
	case nil:
		return "unset"
	case []string:
		return w.text(strings.Join(v, " "))
	case string:
		if path == "description" {
			return w.text(strconv.Quote(v))
		}
		return w.text(v)
	default:
		return w.text(visible.Value(v))
	}
}

func (w *writer) byDefault(r Rule) string { return w.text(r.ByDefault()) }

// ByDefault is what a rule does without overrides, and its tags.
func (r Rule) ByDefault() string {
	text := actionText(r.Enabled, string(r.Action), r.Score, "")
	if len(r.Tags) > 0 {
		text += ", tags " + strings.Join(r.Tags, " ")
	}
	return text
}

func actionText(enabled bool, action string, score *int, sensitivity string) string {
	if !enabled {
		return "off"
	}
	if score != nil {
		action += fmt.Sprintf(" at %d", *score)
	}
	if sensitivity != "" {
		action += ", sensitivity " + sensitivity
	}
	return action
}

// Words says what a rule did, and what it does.
func (e Effect) Words() string {
	side := func(x *rulesets.Effect) string {
		return actionText(x.Enabled, string(x.Action), x.Score, x.Sensitivity)
	}
	switch {
	case e.Before == nil:
		return "new: " + side(e.After)
	case e.After == nil:
		return side(e.Before) + " → removed"
	}
	return side(e.Before) + " → " + side(e.After)
}
