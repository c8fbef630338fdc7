package once

import (
	"context"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Recheck implements [zone.Rechecker].
func (g *gate) Recheck(ctx context.Context, _ zone.Task, now diff.Change) error {
	standing, err := g.run.Records.Standing(ctx)
	if err != nil {
		return fmt.Errorf("asking whether the zone may still be written: %w", err)
	}
	why := control.Withdrawn(diff.Active(standing.Holds, g.run.Now(), g.declared), now.Zone, now.Scope)
	if standing.Commit != g.plan.state.Commit {
		why = "another commit is accepted"
	}
	if why == "" {
		return nil
	}
	if result, open := g.writes.Ended(now.ID(), reconcile.Failed, "not sent: "+why); open {
		err = g.run.Records.Record(ctx, result)
	}
	return errors.Join(fmt.Errorf("%s: %w", why, reconcile.ErrSuperseded), err)
}
