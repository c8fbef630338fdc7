package deployment

import (
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
)

// This file turns the long forms of a declaration, overrides member by member, into
// claims. The short forms have made theirs before: a member that both claim is an
// error.

// twice is a member of an override that is declared in two places.
type twice struct {
	member        string
	second, first *desired.Origin
}

// with adds declared members to a claim.
func (c claim) with(o desired.Override) (claim, []twice) {
	var all []twice
	if v := o.Enabled; v != nil {
		if c.enabled != nil || c.on {
			all = append(all, twice{"enabled", &v.Origin, c.enabledFrom})
		}
		c.enabled, c.enabledFrom = &v.Value, &v.Origin
	}
	if v := o.Action; v != nil {
		if c.action != nil {
			all = append(all, twice{"action", &v.Origin, c.actionFrom})
		}
		c.action, c.actionFrom = &v.Value, &v.Origin
	}
	if v := o.Sensitivity; v != nil {
		if c.sensitivity != nil {
			all = append(all, twice{"sensitivity", &v.Origin, c.sensitivityFrom})
		}
		c.sensitivity, c.sensitivityFrom = &v.Value, &v.Origin
	}
	if v := o.Score; v != nil {
		if c.score != nil {
			all = append(all, twice{"score", &v.Origin, c.scoreFrom})
		}
		c.score, c.scoreFrom = &v.Value, &v.Origin
	}
	return c, all
}

// overrideTags puts tags in the order of their declaration, before those that a short
// form disables: of two tags on one rule the later takes precedence, and what is
// disabled by name must stay so.
func (c claims) overrideTags(tags []desired.TagOverride, m *managed) (errs []resolveError) {
	for i, tag := range tags {
		if !m.knowsTag(tag.Tag) {
			errs = append(errs, m.unknownTag("tags", tag.Tag, tag.Origin))
			continue
		}
		before := c.tags.of(tag.Tag)
		claimed, clashes := before.with(tag.Override)
		if before.enabled == nil {
			claimed.place = i - len(tags)
		}
		c.tags[tag.Tag] = &claimed
		errs = append(errs, declaredTwice(fmt.Sprintf("tags: the tag %q", tag.Tag), clashes)...)
	}
	return errs
}

func (c claims) overrideRules(rules []desired.RuleOverride, m *managed) (errs []resolveError) {
	for _, o := range rules {
		f := m.find(o.Rule)
		if f.message != "" {
			errs = append(errs, resolveError{o.Origin, "rules: " + f.message, f.hint})
			continue
		}
		if o.Score != nil && m.Rules[m.byID[f.id]].ScoreThreshold == nil {
			errs = append(errs, resolveError{
				o.Score.Origin, fmt.Sprintf("rules: %s of managed ruleset %q has no score", o.Rule, m.Name),
				"only the rule that evaluates the score of a request has one, usually the last",
			})
			continue
		}
		claimed, clashes := c.rules.of(string(f.id)).with(o.Override)
		errs = append(errs, declaredTwice(fmt.Sprintf("rules: %s", o.Rule), clashes)...)
		if claimed.enabled != nil && !*claimed.enabled && claimed.score != nil {
			errs = append(errs, resolveError{
				*claimed.enabledFrom, fmt.Sprintf("rules: %s is disabled, but its score is declared, at %s", o.Rule, claimed.scoreFrom),
				"disable the rule or set its score, not both",
			})
		}
		c.rules[string(f.id)] = &claimed
	}
	return errs
}

func declaredTwice(what string, clashes []twice) (errs []resolveError) {
	for _, t := range clashes {
		errs = append(errs, resolveError{
			*t.second, fmt.Sprintf("%s: %s is already declared at %s", what, t.member, t.first),
			"declare it in one of the two places",
		})
	}
	return errs
}

// beyondReference finds the declared members that the reference does not show
// (reference, "Overrides"): it has enabled on tags, and enabled, action and score on
// rules.
func beyondReference(d desired.Deployment) (errs []resolveError) {
	check := func(where func() string, o desired.Override, shown ...string) {
		for m := range o.Members() {
			if !slices.Contains(shown, m.Path) {
				errs = append(errs, resolveError{
					m.Origin, fmt.Sprintf("%s: the platform's reference has no %s here", where(), m.Path),
					`if your platform supports it, set platform.profile: "extended"`,
				})
			}
		}
	}
	check(func() string { return "all" }, d.All)
	for _, o := range d.Tags {
		check(func() string { return fmt.Sprintf("tags: the tag %q", o.Tag) }, o.Override, "enabled")
	}
	for _, o := range d.Rules {
		check(func() string { return fmt.Sprintf("rules: %s", o.Rule) }, o.Override, "enabled", "action", "score")
	}
	return errs
}

// origins adds the members that a claim is about, each with the line that claims it.
func (c claim) origins(to map[diff.Member]*desired.Origin, path func(member string) diff.Member) {
	if c.enabled != nil || c.on {
		to[path("enabled")] = c.enabledFrom
	}
	if c.action != nil {
		to[path("action")] = c.actionFrom
	}
	if c.score != nil {
		to[path("score_threshold")] = c.scoreFrom
	}
	if c.sensitivity != nil {
		to[path("sensitivity_level")] = c.sensitivityFrom
	}
}
