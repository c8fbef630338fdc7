package reconcile

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

// late knows what was said since a run began: to look at a fleet may take hours,
// and who holds a zone meanwhile is about to work on it by hand.
type late struct {
	order Order

	mu    sync.Mutex
	holds []diff.Hold
	at    time.Time // when they were read; zero for not yet
}

// heardFor is for how long what was said need not be asked for again.
const heardFor = 10 * time.Second

// refused returns why a change that has passed the guards must wait all the same:
// its zone is held, or frozen, by now.
func (l *late) refused(ctx context.Context, a *applier, c diff.Change) (*diff.Refusal, error) {
	now := a.Now()
	holds, err := l.recall(ctx, a, now)
	if err != nil {
		return nil, err
	}
	facts := diff.Facts{Now: now, Zones: a.rules.Zones, Holds: diff.Active(holds, now)}
	facts.Freezes, _ = a.frozen(l.order, now)
	return diff.Guard(diff.Plan{Changes: []diff.Change{c}}, facts).Changes[0].Refused, nil
}

func (l *late) recall(ctx context.Context, a *applier, now time.Time) ([]diff.Hold, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if age := now.Sub(l.at); !l.at.IsZero() && age >= 0 && age < heardFor {
		return l.holds, nil
	}
	if a.Memory == nil {
		return nil, nil
	}
	holds, err := a.Memory.Holds(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking whether the zone is held: %w", err)
	}
	l.holds, l.at = holds, now
	return holds, nil
}
