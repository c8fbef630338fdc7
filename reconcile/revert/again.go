package revert

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

const (
	// inFlight is for how long a write without a result may still arrive: a little longer
	// than a request takes at the most. A daemon asks once more before it sends one that has
	// waited.
	inFlight = 30 * time.Second
	// pause is between two looks at the history.
	pause = 250 * time.Millisecond
)

// newest are the last writes of others to each zone.
func (p *Planned) newest(writes []reconcile.Entry) map[edge.Scope]reconcile.Entry {
	newest := map[edge.Scope]reconcile.Entry{}
	for _, e := range writes {
		newest[e.Subject.Scope] = e
	}
	return newest
}

// seeSettled notes the zones that were read, at this time or later, after the end of their
// last write.
func (p *Planned) seeSettled(writes []reconcile.Entry, at time.Time) {
	for id, e := range p.newest(writes) {
		if !flies(e, at) {
			p.settled[id] = e.Number
		}
	}
}

// flies reports whether a write may be on its way still.
func flies(e reconcile.Entry, now time.Time) bool {
	return e.Result == nil && now.Sub(e.At) < inFlight
}

// finish puts zones back until no write of the commit is on its way, and none was left
// unseen. Those that fly are not put back before they have ended: two requests would race.
func (r *Run) finish(ctx context.Context, p *Planned, g *gate, report *reconcile.Report) error {
	for waited := time.Duration(0); ; waited += pause {
		writes, err := r.writes(ctx, p)
		if err != nil {
			return err
		}
		p.note(writes)
		newest := p.newest(writes)
		maps.DeleteFunc(newest, func(id edge.Scope, e reconcile.Entry) bool { return p.settled[id] == e.Number })
		left := len(newest)
		if waited < inFlight {
			maps.DeleteFunc(newest, func(_ edge.Scope, e reconcile.Entry) bool { return flies(e, r.Now()) })
		}
		if len(newest) > 0 {
			if err := r.putBackLate(ctx, p, g, writes, newest, report); err != nil {
				return err
			}
		}
		switch {
		case left == 0:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case left > len(newest):
			r.Progress.Show("waiting for writes on their way", 0, left-len(newest))
			r.pause(ctx)
		}
	}
}

// putBackLate reads zones whose last write has ended since they were read, and puts them
// back.
func (r *Run) putBackLate(
	ctx context.Context, p *Planned, g *gate, writes []reconcile.Entry, ended map[edge.Scope]reconcile.Entry, report *reconcile.Report,
) error {
	of := func(id edge.Scope) bool { _, is := ended[id]; return is }
	if err := r.plan(ctx, p, writes, of); err != nil {
		return err
	}
	report.Results = slices.DeleteFunc(report.Results, func(result reconcile.Result) bool {
		return of(result.Change.Scope) && result.Outcome != reconcile.Converged
	})
	for id, e := range ended {
		p.settled[id] = e.Number
	}
	return r.putBack(ctx, p, g, of, report)
}

func (r *Run) pause(ctx context.Context) {
	if r.Pause != nil {
		r.Pause(ctx, pause)
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
