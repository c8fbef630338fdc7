package difftest

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/edge"
)

// Next is the next version of a managed ruleset, with changes: each gets the rules by their ids.
func Next(r edge.Ruleset, changes ...func(*edge.Ruleset)) edge.Ruleset {
	r.Version += "0"
	r.Rules = slices.Clone(r.Rules)
	for _, change := range changes {
		change(&r)
	}
	return r
}

// Without removes the rules of [Managed] at these places.
func Without(places ...int) func(*edge.Ruleset) {
	return func(r *edge.Ruleset) {
		r.Rules = slices.DeleteFunc(r.Rules, func(rule edge.Rule) bool {
			return slices.ContainsFunc(places, func(i int) bool { return rule.ID == RuleID(i) })
		})
	}
}

// With adds a rule before the last one.
func With(rule edge.Rule) func(*edge.Ruleset) {
	return func(r *edge.Ruleset) { r.Rules = slices.Insert(r.Rules, len(r.Rules)-1, rule) }
}

// Changing changes the rule of [Managed] at a place.
func Changing(place int, change func(*edge.Rule)) func(*edge.Ruleset) {
	return func(r *edge.Ruleset) {
		for i := range r.Rules {
			if r.Rules[i].ID == RuleID(place) {
				change(&r.Rules[i])
			}
		}
	}
}

// GenVersion draws another version of [Managed]: rules come, go, get other defaults, tags and
// ids, and the last one may be another.
func GenVersion(t *rapid.T) edge.Ruleset {
	r := Next(Managed())
	last := r.Rules[len(r.Rules)-1]
	r.Rules = slices.Clone(r.Rules[:len(r.Rules)-1])
	r.Rules = slices.DeleteFunc(r.Rules, func(edge.Rule) bool { return rapid.IntRange(0, 5).Draw(t, "goes") == 0 })
	for i := range r.Rules {
		rule := &r.Rules[i]
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			rule.Enabled = new(!rule.IsEnabled())
		case 1:
			rule.Action = rapid.SampledFrom([]edge.Action{"log", "challenge", "managed_challenge"}).Draw(t, "action")
		case 2:
			rule.Categories = []string{edge.ParanoiaTag(rapid.IntRange(1, 4).Draw(t, "level")), "new-tag"}
		case 3:
			rule.ID = edge.RuleID(strings.Replace(string(rule.ID), "abc00", "abc10", 1)) // the ref stays
		case 4:
			rule.Version = "2"
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "come") {
		r.Rules = append(r.Rules, edge.Rule{
			ID: RuleID(200 + i), Ref: fmt.Sprintf("new-%d", i), Action: edge.ActionBlock, Enabled: new(rapid.Bool().Draw(t, "on")),
			Categories: []string{edge.ParanoiaTag(1), "sqli"},
		})
	}
	switch rapid.IntRange(0, 3).Draw(t, "last") {
	case 0:
		last.ID, last.Ref = RuleID(300), "score-2"
	case 1:
		last.ScoreThreshold = new(60)
	}
	r.Rules = append(r.Rules, last)
	return r
}
