package zone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

const (
	// mostLooks bounds how often a zone is read again because another process has written
	// to it since.
	mostLooks = 3
	// patience is for how long a command waits for another process that writes to a zone.
	patience = time.Minute
)

// claim asks whether a change may be sent now, and has this process be the only one that
// writes to the zone until the change has ended. Where another process has written since
// the zone was read, the zone is read and planned again. It returns the result where
// nothing is to be sent.
func (v *visit) claim(ctx, stopped context.Context, planned, now diff.Change) (diff.Change, *reconcile.Result) {
	begun := v.Now()
	for looks := 0; ; {
		result := v.permit(ctx, planned, now)
		var elsewhere *reconcile.ElsewhereError
		switch {
		case result == nil:
			return now, nil
		case !errors.As(result.Err, &elsewhere) || looks == mostLooks:
			ended := v.ended(ctx, *result) // it may have the zone since the last try
			return now, &ended
		case elsewhere.Writing && v.Patient && stopped.Err() == nil && v.Now().Sub(begun) < patience:
			continue // the gate has waited for a while
		case elsewhere.Writing:
			return now, result
		}
		looks++
		if err := v.read(ctx); err != nil {
			ended := v.ended(ctx, failed(planned, err))
			return now, &ended
		}
		if now, result = v.stillPlanned(planned); result != nil {
			result.Elsewhere = result.Outcome == reconcile.Converged
			ended := v.ended(ctx, v.settled(ctx, *result))
			return now, &ended
		}
	}
}

// ended gives the zone back to other processes, whoever has the lease by now. Where the proof of
// the change did so, that does nothing.
func (v *visit) ended(ctx context.Context, result reconcile.Result) reconcile.Result {
	version := ""
	if !v.place().At.IsZero() && v.phase == edge.PhaseFirewallManaged { // versions of others are not compared
		version = v.place().Value.Version
	}
	if err := v.Gate.Ended(reconcile.Apart(ctx), v.Task, version); err != nil {
		result.Err = errors.Join(result.Err, fmt.Errorf("giving the zone back to other processes: %w", err))
	}
	return result
}
