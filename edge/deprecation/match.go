package deprecation

import "time"

// NewMatcher indexes a calendar. It refuses one that [Calendar.Check] refuses.
func NewMatcher(calendar Calendar) (*Matcher, error) {
	return &Matcher{calendar: calendar, root: &node{}}, nil
}

// Match says what a request leans on, in the calendar's order. A rule that the
// request meets in several ways makes one notice, except where a part of it has
// an extended date of its own.
func (m *Matcher) Match(req Request, at time.Time) []Notice { return nil }

// MatchResponse says what an answer shows of what its request leans on.
func (m *Matcher) MatchResponse(req Request, res Response, at time.Time) []Notice { return nil }

// MatchPath returns the rules of which a path, with or without a query, is a
// call that goes away, whatever its method.
func (m *Matcher) MatchPath(path string) []*Rule { return nil }

// MayMatch reports whether [Matcher.Match] could say anything of a request for
// a path, judged by the path alone. It allocates nothing.
func (m *Matcher) MayMatch(path []byte) bool { return true }
