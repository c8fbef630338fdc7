package reconcile

import (
	"context"
	"log/slog"
	"maps"
	"time"
)

// daily is on which day something was told last, by UTC: of each once a day, however often runs
// come.
type daily[K comparable] map[K]string

// newsOf are those of what a run has found that were not told today. They are told then.
func newsOf[K comparable, E any](told *daily[K], r Report, found []E, key func(E) K) (news []E) {
	seen := r.Full && r.Err == nil // all there are
	if !seen && len(found) == 0 {  // as after most looks at a zone
		return nil
	}
	today, now := r.Finished.UTC().Format(time.DateOnly), daily[K]{}
	if !seen {
		maps.Copy(now, *told)
	}
	for _, e := range found {
		k := key(e)
		if (*told)[k] != today && now[k] != today {
			news = append(news, e)
		}
		now[k] = today
	}
	*told = now
	return news
}

// tellFirst tells the first of some news, and how many of this kind are left out.
func tellFirst[E any](ctx context.Context, log *slog.Logger, kind string, news []E, tell func(E)) {
	for _, e := range news[:min(len(news), linesPerRun)] {
		tell(e)
	}
	if n := len(news) - linesPerRun; n > 0 {
		log.WarnContext(ctx, "further lines of this kind are left out", "kind", kind, "left_out", n)
	}
}
