package outage

import (
	"context"
	"log/slog"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Kind is what happens to an outage.
type Kind string

// The kinds of events.
const (
	Began   Kind = "began"
	Changed Kind = "changed" // its cause is another one
	Ended   Kind = "ended"
)

// Event is something that is to be told of an outage.
type Event struct {
	Kind   Kind
	Outage reconcile.Outage
	Error  string // what a failure of this cause said, in one line; empty at the end

	key string // the same for all events of an outage
}

// Log returns what writes events to a log: the beginning and a change of the cause as a
// warning where it is of zones, a sink or the forge, else as an error.
func Log(log *slog.Logger) func(Event) {
	return func(e Event) {
		ctx, o := context.Background(), e.Outage
		attrs := []any{"subject", string(o.Subject), "name", o.Name, "cause", o.Cause, "tries", o.Tries}
		if o.Zones > 0 {
			attrs = append(attrs, "zones", o.Zones)
		}
		if e.Error != o.Cause {
			attrs = append(attrs, "error", e.Error)
		}
		level := slog.LevelError
		switch o.Subject {
		case reconcile.OutageZone, reconcile.OutageSink, reconcile.OutageForge, reconcile.OutageRoute, reconcile.OutageTraces:
			level = slog.LevelWarn
		default: // more than one part of the work stands still
		}
		switch e.Kind {
		case Began:
			log.Log(ctx, level, "outage began", append(attrs, "hint", o.Fix)...)
		case Changed:
			log.Log(ctx, level, "the cause of an outage changed", append(attrs, "since", o.Since.UTC().Format(time.RFC3339))...)
		case Ended:
			attrs = append(attrs, "since", o.Since.UTC().Format(time.RFC3339), "lasted", o.Until.Sub(o.Since).Round(time.Millisecond).String())
			log.InfoContext(ctx, "outage ended", attrs...)
		}
	}
}
