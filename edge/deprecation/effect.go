package deprecation

import (
	"slices"
	"time"
)

// What follows is for who imitates the platform on a day, and not for who looks
// for its users: which rules have taken effect.

// Rule returns the rule with an id; nil where the calendar has none.
func (c Calendar) Rule(id string) *Rule {
	i := slices.IndexFunc(c.Rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return &c.Rules[i]
}

// Over reports whether a rule has taken effect: its last day has come. One that
// the calendar does not have is a thing of the past.
func (c Calendar) Over(id string, at time.Time) bool {
	r := c.Rule(id)
	return r == nil || r.Over(at)
}

// Over reports whether the rule is past its end.
func (r *Rule) Over(at time.Time) bool { return r.Notice(at).State == PastEnd }

// FormOver reports whether a form of a query parameter has taken its leave: its
// day has come, which is the extended one where the form claims that. A form
// that the rule does not list never was one.
func (c Calendar) FormOver(id, param string, form Form, at time.Time) bool {
	r := c.Rule(id)
	if r == nil {
		return true
	}
	i := slices.IndexFunc(r.Query, func(q Query) bool { return q.Param == param && q.Form == form })
	return i < 0 || r.notice(at, r.Query[i].Extended || r.extendedForAll()).State == PastEnd
}

// Endpoint returns the rule by which a call ends as a whole, nil where
// none does. The path has no base before it and may have a query behind it.
func (m *Matcher) Endpoint(method, path string) *Rule {
	for _, h := range ofRole(m.call(Request{Method: method, URL: path}).hits, goesAway) {
		if h.first == 0 {
			return &m.calendar.Rules[h.rule]
		}
	}
	return nil
}
