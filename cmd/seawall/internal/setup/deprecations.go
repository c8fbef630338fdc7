package setup

import (
	"sync"
	"time"

	"github.com/seawall-dev/seawall/cue/schema"
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// sunset finds who uses what is deprecated: the integrations that a repository
// declares, by the calendar with the repository's corrections, and Seawall's own
// requests, by the published one.
type sunset struct {
	published deprecation.Calendar
	own       *deprecation.Observer

	mu      sync.Mutex
	commit  string // that matcher is of
	matcher *deprecation.Matcher
}

func newSunset() (*sunset, error) {
	published, err := schema.Calendar()
	if err != nil {
		return nil, err
	}
	matcher, err := deprecation.NewMatcher(published)
	if err != nil {
		return nil, err
	}
	return &sunset{published: published, own: deprecation.NewObserver(matcher), matcher: matcher}, nil
}

// observe is shown what the client sends and gets.
func (s *sunset) observe(req deprecation.Request, res deprecation.Response) {
	s.own.Observe(req, res, time.Now())
}

// notices implements [reconcile.Deprecations].
func (s *sunset) notices(state desired.State, at time.Time) []deprecation.Notice {
	matcher := s.corrected(state)
	notices := []deprecation.Notice{}
	for _, integration := range state.Integrations {
		for _, call := range integration.Calls {
			req := call.Request()
			for _, n := range matcher.Match(req, at) {
				n = n.Masked(req)
				n.Where = deprecation.Where{Integration: integration.Name, File: call.Origin.File, Line: call.Origin.Line}
				notices = append(notices, n)
			}
		}
	}
	return append(notices, s.own.Notices(at)...)
}

// calendar is the published one with a state's corrections.
func (s *sunset) calendar(state desired.State) deprecation.Calendar {
	return s.corrected(state).Calendar()
}

// corrected is a matcher of the calendar with a state's corrections. A state that
// compiled has none that do not fit; should one come through all the same, the
// published calendar is better than none.
func (s *sunset) corrected(state desired.State) *deprecation.Matcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commit == state.Commit && state.Commit != "" {
		return s.matcher
	}
	calendar, _, err := s.published.With(state.CalendarAdditions())
	if err != nil {
		calendar = s.published
	}
	matcher, err := deprecation.NewMatcher(calendar)
	if err != nil {
		return s.matcher
	}
	s.commit, s.matcher = state.Commit, matcher
	return matcher
}
