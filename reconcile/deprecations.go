package reconcile

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Deprecations says what uses, on a day, something deprecated: the integrations that
// a state declares, and what Seawall itself has sent.
type Deprecations func(state desired.State, at time.Time) []deprecation.Notice

// Sunset is a [Reporter] that tells a log of deprecations: of each rule and
// integration once a day, by UTC, however often runs come. It is not safe for
// concurrent use; [Loop] has one report at a time.
type Sunset struct {
	Log *slog.Logger

	told map[leaning]string // on which day last
}

// leaning is one integration, or Seawall where that is empty, and one rule.
type leaning struct{ rule, integration string }

// Report implements [Reporter].
func (s *Sunset) Report(ctx context.Context, r Report) {
	today, told := r.Finished.UTC().Format(time.DateOnly), map[leaning]string{}
	if !r.Full || r.Err != nil {
		maps.Copy(told, s.told) // this run has not looked
	}
	var news []deprecation.Notice
	for _, n := range r.Plan.Deprecations {
		if n.Info {
			continue // it is told nowhere, so it must not pass for told
		}
		key := leaning{n.Rule, n.Where.Integration}
		if s.told[key] != today && told[key] != today {
			news = append(news, n)
		}
		told[key] = today
	}
	s.told = told
	for _, n := range news[:min(len(news), linesPerRun)] {
		level := slog.LevelWarn
		if n.State == deprecation.Announced {
			level = slog.LevelInfo
		}
		s.Log.Log(ctx, level, "a call is deprecated", "standing", n.Standing(), "rule", n.Rule, "integration", n.Where.Integration,
			"call", n.Detail, "replacement", n.Replacement, "file", n.Where.File, "line", n.Where.Line)
	}
	if n := len(news) - linesPerRun; n > 0 {
		s.Log.WarnContext(ctx, "further lines of this kind are left out", "kind", "deprecations", "left_out", n)
	}
}
