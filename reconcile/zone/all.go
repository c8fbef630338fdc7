package zone

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// All is what was seen of many zones, and when each entry point was asked for.
type All struct {
	Live diff.Live
	At   map[edge.ZoneID]time.Time
}

// Many reads many zones at once, for who plans a whole state.
type Many struct {
	Reader      edge.Reader
	Concurrency int
	Documented  bool // see [diff.AccountLive]
	Now         func() time.Time
	Progress    func(done, total int) // nil shows none
}

// Read reads each account's rulesets once and each zone's entry point once. It fails
// only where nothing else could work; any other failure is the observation of its zone.
func (m Many) Read(ctx context.Context, state desired.State) (All, error) {
	seen := All{
		Live: diff.Live{
			Accounts:    make(map[edge.AccountID]diff.AccountLive, len(state.Accounts)),
			EntryPoints: make(map[edge.ZoneID]diff.Observed[edge.Ruleset], state.Zones()),
		},
		At: make(map[edge.ZoneID]time.Time, state.Zones()),
	}
	accounts := NewAccounts(m.Reader, m.Now)
	accounts.Documented = m.Documented
	for _, account := range state.Accounts {
		if len(account.Zones) == 0 {
			continue
		}
		live, _, err := accounts.Live(ctx, account, time.Time{})
		if err != nil {
			return seen, err // what could not be read says nothing now
		}
		if err := rejectedBy(live); err != nil {
			return seen, err
		}
		seen.Live.Accounts[account.ID] = live
	}
	if err := m.readZones(ctx, state, &seen); err != nil {
		return seen, err
	}
	return seen, readVersions(ctx, accounts, state, &seen)
}

// readVersions reads the versions that zones run or are declared to run, each once.
func readVersions(ctx context.Context, accounts *Accounts, state desired.State, seen *All) error {
	for _, account := range state.Accounts {
		live := seen.Live.Accounts[account.ID]
		for _, zone := range account.Zones {
			observed := seen.Live.EntryPoints[zone.ID]
			if observed.Err != nil && !errors.Is(observed.Err, edge.ErrEntryPointNotFound) {
				continue
			}
			if err := accounts.Versions(ctx, account, zone, &live, observed.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

func rejectedBy(live diff.AccountLive) error {
	if errors.Is(live.Listed.Err, edge.ErrUnauthenticated) {
		return Rejected(live.Listed.Err)
	}
	for _, managed := range live.Managed {
		if errors.Is(managed.Err, edge.ErrUnauthenticated) {
			return Rejected(managed.Err)
		}
	}
	return nil
}

// readZones reads entry points side by side. Zones of an account whose
// rulesets could not be listed are unknown without being read.
func (m Many) readZones(ctx context.Context, state desired.State, seen *All) error {
	var zones []edge.ZoneID
	for _, account := range state.Accounts {
		listErr := seen.Live.Accounts[account.ID].Listed.Err
		for _, zone := range account.Zones {
			if listErr == nil {
				zones = append(zones, zone.ID)
				continue
			}
			seen.Live.EntryPoints[zone.ID] = diff.Observed[edge.Ruleset]{Err: listErr}
		}
	}
	var mu sync.Mutex
	done := 0
	down := outage{limit: 2 * m.Concurrency}
	group, ctx := errgroup.WithContext(ctx)
	// As many goroutines as there are requests at a time, not as zones: each new one
	// would first grow its stack to what HTTP and JSON need.
	var next atomic.Int64
	for range min(m.Concurrency, len(zones)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(zones)); i = next.Add(1) - 1 {
				at, observed, err := m.readZone(ctx, zones[i], &down)
				if err != nil {
					return err
				}
				mu.Lock()
				seen.Live.EntryPoints[zones[i]], seen.At[zones[i]] = observed, at
				done++
				if m.Progress != nil {
					m.Progress(done, len(zones))
				}
				mu.Unlock()
			}
			return nil
		})
	}
	return group.Wait()
}

// readZone reads one entry point. It fails where nothing can go on.
func (m Many) readZone(ctx context.Context, id edge.ZoneID, down *outage) (time.Time, diff.Observed[edge.Ruleset], error) {
	none := diff.Observed[edge.Ruleset]{}
	if ctx.Err() != nil {
		return time.Time{}, none, context.Cause(ctx)
	}
	at := m.Now()
	if err := down.err(); err != nil {
		return at, diff.Observed[edge.Ruleset]{Err: err}, nil //nolint:nilerr // it is what was observed of this zone
	}
	ruleset, err := m.Reader.EntryPoint(ctx, id)
	down.note(err)
	switch {
	case errors.Is(err, edge.ErrUnauthenticated):
		return at, none, Rejected(err)
	case err != nil && ctx.Err() != nil:
		return at, none, context.Cause(ctx)
	}
	return at, diff.Observed[edge.Ruleset]{Value: ruleset, Err: err}, nil
}

// Rejected is the one message for a credential that the platform does not take.
func Rejected(err error) error {
	return fmt.Errorf("%w; check credentials.rulesets: %w", edge.ErrUnauthenticated, err)
}

// outage tells a platform that is down from a zone that fails: after so many
// unavailable answers in a row, whatever the zones, the rest is not asked. Each
// would cost all its retries, and a fleet of them hours.
type outage struct {
	limit int

	mu     sync.Mutex
	streak int
	last   error
}

// note learns the outcome of a read.
func (o *outage) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !errors.Is(err, edge.ErrUnavailable) {
		o.streak, o.last = 0, nil
		return
	}
	o.streak, o.last = o.streak+1, err
}

// err is why nothing more should be asked, nil while there is no reason.
func (o *outage) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.streak < o.limit {
		return nil
	}
	return fmt.Errorf("not asked after %d unavailable answers in a row: %w", o.streak, o.last)
}
