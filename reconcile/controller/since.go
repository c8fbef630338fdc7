package controller

import (
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/queue"
)

// listedFor is how old a list of rulesets may be where no sweep is scheduled.
const listedFor = time.Minute

// listedSince is when a list of rulesets must have been read, or later: at most a turn of
// the sweep ago, and not before a look at everything, or at this zone, was asked for last.
func (w *zoneWork) listedSince(id edge.Scope, now time.Time) time.Time {
	turn := w.sweep.turn(now)
	if turn <= 0 {
		turn = listedFor
	}
	return latest(now.Add(-turn), w.askedAt(id))
}

// lookedSince is when earlier phases of a zone must have been looked at, or later. Only the
// sweep looks there, and who asks for this zone: a push never waits for that.
func (w *zoneWork) lookedSince(item queue.Item[edge.Scope], now time.Time) (since time.Time) {
	if item.Priority == queue.Sweep {
		since = now.Add(-w.looking.Every)
	}
	if item.Priority != queue.Push {
		since = latest(since, w.askedAt(item.Key))
	}
	return since
}

// askedAt is when a look at everything, or at a zone, was asked for last; zero for never.
func (w *zoneWork) askedAt(id edge.Scope) time.Time {
	at := w.asks.of(id)
	if all := w.lanes.asked.Load(); all != nil {
		at = latest(at, *all)
	}
	return at
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
