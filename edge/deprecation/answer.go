package deprecation

import (
	"strings"
	"time"
)

// MatchResponse says what an answer shows: fields that go away, in the
// calendar's order, and then what the platform itself announces in the headers
// Deprecation, Sunset and Link and in the envelope's messages. The announced
// rules have ids of their own, [RuleHeader] and its kin. What the request leans
// on is [Matcher.Match]'s to say.
func (m *Matcher) MatchResponse(req Request, res Response, at time.Time) []Notice {
	c := m.call(req)
	var out []Notice
	body := decodeJSON(res.Body)
	for hits := range byRule(c.hits) {
		met := membersIn(body, ofRole(hits, ofResponse))
		if len(met) == 0 {
			continue
		}
		n := m.calendar.Rules[hits[0].rule].Notice(at)
		n.Detail = "answer: " + strings.Join(memberPaths(met), ", ")
		out = append(out, n)
	}
	out = append(out, headerNotices(res.Header, at)...)
	return append(out, messageNotices(body)...)
}
