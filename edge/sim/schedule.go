package sim

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/mem"
)

// Rules of the calendar that change what this server answers, beside those whose
// calls are removed as a whole (reference, "Deprecation schedule").
const (
	RuleFlattening = "cname-flattening-setting"
	RuleFilters    = "dns-record-filter-syntax"
	RuleZoneFields = "dns-record-zone-fields"
	RuleErrorChain = "dns-record-error-chain"
	RuleLocked     = "dns-record-locked"
	RuleSRV        = "srv-data-name-fields"

	ruleLengths = "draft-ciphers-and-two-lengths" // requests with both body lengths (reference, "Errors", 4)
)

// schedule is the calendar, and indexes of the calls it names.
type schedule struct {
	deprecation.Calendar
	all   *deprecation.Matcher // nil without a calendar, and so is stays
	stays *deprecation.Matcher // calls that change, or that take over: they do not go away
}

func newSchedule(c deprecation.Calendar) (schedule, error) {
	s := schedule{Calendar: c}
	if len(c.Rules) == 0 {
		return s, nil
	}
	var err error
	if s.all, err = deprecation.NewMatcher(c); err != nil {
		return s, err
	}
	s.stays, err = deprecation.NewMatcher(staying(c))
	return s, err
}

// staying is a calendar in which the calls that stay stand as those that go, so
// that an index finds them.
func staying(c deprecation.Calendar) deprecation.Calendar {
	rules := c.Rules
	c.Rules = nil
	for _, r := range rules {
		calls := slices.Clone(r.Affected)
		for _, e := range r.Endpoints {
			if e.To != "" {
				calls = append(calls, deprecation.Endpoint{Methods: e.Methods, Path: e.To})
			}
		}
		for _, path := range r.Replacement.Paths {
			calls = append(calls, deprecation.Endpoint{Methods: []string{deprecation.AnyMethod}, Path: path})
		}
		if len(calls) > 0 {
			r.Endpoints, r.Affected, r.Query, r.Body, r.Response, r.Headers = calls, nil, nil, nil, nil, nil
			c.Rules = append(c.Rules, r)
		}
	}
	return c
}

// route finds the call that a request is for, on the day that the clock shows.
// What has gone is an address like any that never was: status and code are ours,
// the reference shows none. What the reference names without showing how it
// answers is refused as such.
func (s *Server) route(method, path string) (route, error) {
	now := s.clock.Now()
	rule := s.schedule.leaving(method, path)
	if rule != nil && rule.Over(now) {
		return route{}, failed(http.StatusNotFound, edge.CodeNoRoute, "could not route to this path")
	}
	offered := s.offered
	if s.schedule.Over(RuleFlattening, now) {
		offered = slices.DeleteFunc(slices.Clone(offered), func(c call) bool { return c.path == flatteningPath })
	}
	found, err := match(offered, method, path)
	if err == nil {
		return found, nil
	}
	if rule != nil {
		return found, notImplemented("it goes away on "+string(rule.Date), rule.ID)
	}
	if rule = s.schedule.staying(method, path); rule != nil {
		return found, notImplemented("it stays", rule.ID)
	}
	if isDNS(path) {
		return found, failed(http.StatusNotImplemented, 0, "not implemented by this simulator: of the operations on DNS records the reference names five, and "+
			method+" is none of them here")
	}
	if s.config.Profile == mem.Vendor {
		return found, failed(http.StatusNotImplemented, 0, fmt.Sprintf("not implemented by this simulator: %s %s", method, path))
	}
	return found, err
}

func (s schedule) leaving(method, path string) *deprecation.Rule {
	return endpoint(s.all, method, path)
}

func (s schedule) staying(method, path string) *deprecation.Rule {
	return endpoint(s.stays, method, path)
}

func endpoint(m *deprecation.Matcher, method, path string) *deprecation.Rule {
	if m == nil {
		return nil
	}
	return m.Endpoint(method, path)
}

// notImplemented refuses a call that the platform has and the reference does not
// show.
func notImplemented(why, rule string) error {
	return failed(http.StatusNotImplemented, 0, fmt.Sprintf(
		"not implemented by this simulator: the reference names this call and does not show what it answers (rule %s: %s)", rule, why,
	))
}

// announce is the quirk deprecation-headers.
func (s schedule) announce(header http.Header, request deprecation.Request, now time.Time) {
	if s.all == nil {
		return
	}
	next, ok := nextOf(s.all.Match(request, now))
	if !ok {
		return
	}
	header.Set("Deprecation", fmt.Sprintf("@%d", next.Date.Time().Unix()))
	if end := endOf(next); end != "" {
		header.Set("Sunset", end.Time().Format(http.TimeFormat))
	}
}

// nextOf is the notice whose day comes next, or else the one whose day was last.
// Calls that stay are announced by no header.
func nextOf(notices []deprecation.Notice) (deprecation.Notice, bool) {
	notices = slices.DeleteFunc(slices.Clone(notices), func(n deprecation.Notice) bool { return n.Info })
	if len(notices) == 0 {
		return deprecation.Notice{}, false
	}
	return slices.MinFunc(notices, func(a, b deprecation.Notice) int {
		if a.DaysLeft > 0 && b.DaysLeft > 0 {
			return a.DaysLeft - b.DaysLeft
		}
		return b.DaysLeft - a.DaysLeft
	}), true
}

// endOf is the day from which on nothing is left; empty where it is not dated.
func endOf(n deprecation.Notice) deprecation.Date {
	if n.EndOfLife != "" {
		return n.EndOfLife.Date()
	}
	return max(n.Date, n.Extended)
}

func withQuery(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}
