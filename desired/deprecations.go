package desired

import "github.com/seawall-dev/seawall/edge/deprecation"

// Integration is a team's program and what it calls on the platform, declared
// so that its deprecated calls are found before they fail.
type Integration struct {
	Name   string
	Owner  string
	Origin Origin
	Calls  []Call
}

// Call is one request that an integration sends.
type Call struct {
	Origin  Origin
	Method  string
	Path    string // below any base, or a full address; may have a query
	Headers map[string][]string
	Body    string // JSON; empty where none is declared
}

// Request is the call as the matcher of deprecations takes it.
func (c Call) Request() deprecation.Request {
	return deprecation.Request{Method: c.Method, URL: c.Path, Header: c.Headers, Body: []byte(c.Body)}
}

// CalendarEntry adds a rule to the deprecation calendar or corrects one.
type CalendarEntry struct {
	Origin   Origin
	Addition deprecation.Addition
}

// CalendarAdditions are the state's entries of the calendar with their places,
// for [deprecation.Calendar.With].
func (s State) CalendarAdditions() []deprecation.Addition {
	var out []deprecation.Addition
	for _, e := range s.Calendar {
		a := e.Addition
		a.Where = e.Origin.String()
		out = append(out, a)
	}
	return out
}
