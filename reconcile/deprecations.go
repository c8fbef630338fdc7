package reconcile

import (
	"context"
	"log/slog"
	"slices"
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

	told daily[leaning]
}

// leaning is one integration, or Seawall where that is empty, and one rule.
type leaning struct{ rule, integration string }

// Report implements [Reporter].
func (s *Sunset) Report(ctx context.Context, r Report) {
	// What is information alone is told nowhere, so it must not pass for told.
	found := slices.DeleteFunc(slices.Clone(r.Plan.Deprecations), func(n deprecation.Notice) bool { return n.Info })
	news := newsOf(&s.told, r, found, func(n deprecation.Notice) leaning { return leaning{n.Rule, n.Where.Integration} })
	tellFirst(ctx, s.Log, "deprecations", news, func(n deprecation.Notice) {
		level := slog.LevelWarn
		if n.State == deprecation.Announced {
			level = slog.LevelInfo
		}
		s.Log.Log(ctx, level, "a call is deprecated", "standing", n.Standing(), "rule", n.Rule, "integration", n.Where.Integration,
			"call", n.Detail, "replacement", n.Replacement, "file", n.Where.File, "line", n.Where.Line)
	})
}
