package page

import "github.com/seawall-dev/seawall/diff/radar"

// mostRules is how many rules of a list a page shows: the JSON has all.
const mostRules = 25

// ruleList is the first rules of a list.
type ruleList[T any] struct {
	Title string
	Rules []T
	More  int // that are left out
}

func firstRules[T any](title string, all []T) ruleList[T] {
	n := min(len(all), mostRules)
	return ruleList[T]{title, all[:n], len(all) - n}
}

// RuleList is the first rules of those that a version has added or removed.
func (v view) RuleList(title string, all []radar.Rule) ruleList[radar.Rule] {
	return firstRules(title, all)
}

// ChangedRules is the first rules of those that a version has changed.
func (v view) ChangedRules(all []radar.Changed) ruleList[radar.Changed] {
	return firstRules("Changed", all)
}
