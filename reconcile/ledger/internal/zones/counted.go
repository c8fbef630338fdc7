package zones

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Tally implements [reconcile.Counts]: no other process counts.
func (z *Zones) Tally(context.Context, reconcile.Count, int64, time.Time) error { return nil }

// Tallied implements [reconcile.Counts].
func (z *Zones) Tallied(context.Context, int64) ([]reconcile.Count, error) { return nil, nil }
