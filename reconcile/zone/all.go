package zone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// All is what was seen of many zones, and when each entry point was asked for.
type All struct {
	Live   diff.Live
	At     map[edge.Place]time.Time
	Looked int // requests for earlier phases
}

// Many reads many zones at once, for who plans a whole state.
type Many struct {
	Lanes      reconcile.Lanes
	Documented bool                        // see [diff.AccountLive]
	Names      Names                       // nil: [Declared]
	Removable  map[edge.Scope]diff.Pruning // what may be removed; nil: nothing
	// Looking says which earlier phases are looked at, beside those of accounts; nil: none at
	// all.
	Looking  *reconcile.Looking
	Now      func() time.Time
	Progress func(done, total int) // nil shows none
}

// Read reads each account's rulesets once and each zone's entry points once, the accounts
// of all credentials side by side. It fails only where nothing else could work: where the
// platform accepts none of the credentials that are needed. Any other failure is the
// observation of its zone.
func (m Many) Read(ctx context.Context, state desired.State) (All, error) {
	counted := progress{total: state.Zones(), show: m.Progress}
	var group errgroup.Group
	var readers []*reader
	for i, part := range m.Lanes.Part(state) {
		if part.Zones() == 0 {
			continue
		}
		lane := m.Lanes.All[i]
		r := &reader{lane: lane, documented: m.Documented, names: orDeclared(m.Names, m.Documented), now: m.Now, counted: &counted, removable: m.Removable, state: part, seen: newAll(part)}
		if m.Looking != nil {
			r.looks = NewLooks(*m.Looking, m.Now)
		}
		readers = append(readers, r)
		group.Go(func() error { r.err = r.read(ctx); return nil })
	}
	_ = group.Wait() // each reader has its own error
	var rejected error
	n := 0
	all := newAll(desired.State{})
	for i, r := range readers {
		switch {
		case errors.Is(r.err, edge.ErrUnauthenticated):
			rejected, n = r.err, n+1
			r.forbid()
		case r.err != nil:
			return all, r.err
		}
		if i == 0 {
			all = r.seen // what one credential has read is mostly all
			continue
		}
		all.add(r.seen)
		all.Looked += r.seen.Looked
	}
	if n > 0 && n == len(readers) {
		return all, rejected
	}
	return all, nil
}

func newAll(state desired.State) All {
	return All{
		Live: diff.Live{
			Accounts:    make(map[edge.AccountID]diff.AccountLive, len(state.Accounts)),
			EntryPoints: make(map[edge.Place]diff.Observed[edge.Ruleset], state.Zones()),
			Ahead:       map[edge.Place]diff.Ahead{},
			Plans:       map[edge.Scope]string{},
		},
		At: make(map[edge.Place]time.Time, state.Zones()),
	}
}

func (a All) add(other All) {
	maps.Copy(a.Live.Accounts, other.Live.Accounts)
	maps.Copy(a.Live.EntryPoints, other.Live.EntryPoints)
	maps.Copy(a.Live.Ahead, other.Live.Ahead)
	maps.Copy(a.Live.Plans, other.Live.Plans)
	maps.Copy(a.At, other.At)
}

// progress counts the zones that all readers have read.
type progress struct {
	mu          sync.Mutex
	done, total int
	show        func(done, total int)
}

func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.show != nil {
		p.show(p.done, p.total)
	}
}

// reader reads the zones of one credential.
type reader struct {
	lane       reconcile.Lane
	documented bool
	names      Names
	now        func() time.Time
	counted    *progress
	removable  map[edge.Scope]diff.Pruning
	looks      *Looks // nil: earlier phases are not looked at

	state desired.State // its part
	seen  All
	err   error
}

func (r *reader) read(ctx context.Context) error {
	accounts := NewAccounts(r.lane.Reader, r.now)
	accounts.Documented = r.documented
	for _, account := range r.state.Accounts {
		named, err := r.named(account)
		if err != nil {
			return err
		}
		if !named {
			continue
		}
		live, _, err := accounts.Live(ctx, account, time.Time{})
		if err != nil {
			return err // what could not be read says nothing now
		}
		if err := rejectedBy(r.lane, live); err != nil {
			return err
		}
		r.seen.Live.Accounts[account.ID] = live
	}
	if err := r.readZones(ctx); err != nil {
		return err
	}
	if err := readVersions(ctx, accounts, r.state, &r.seen); err != nil {
		return err
	}
	return r.look(ctx, accounts)
}

// readVersions reads the versions that zones run or are declared to run, each once.
func readVersions(ctx context.Context, accounts *Accounts, state desired.State, seen *All) error {
	for _, account := range state.Accounts {
		live, read := seen.Live.Accounts[account.ID]
		if !read {
			continue
		}
		for _, zone := range account.Zones {
			observed := seen.Live.EntryPoints[zone.Scope.At(edge.PhaseFirewallManaged)]
			if !Answered(observed.Err) {
				continue
			}
			if err := accounts.Versions(ctx, account, zone, &live, observed.Value); err != nil {
				return err
			}
		}
		seen.Live.Accounts[account.ID] = live
	}
	return nil
}

// named notes why zones of an account cannot be read because of their names, and reports
// whether any can.
func (r *reader) named(account desired.Account) (some bool, err error) {
	for _, z := range account.Zones {
		err := r.names.Check(account, z)
		if errors.Is(err, edge.ErrUnauthenticated) {
			return false, Rejected(r.lane, err)
		}
		if err != nil {
			r.seen.Unread(z, r.removable[z.Scope], err)
			r.counted.step()
		}
		some = some || err == nil
	}
	return some, nil
}

// forbid makes the rejection of the credential the observation of each of its zones, those
// that were read before included: nothing can be written there.
func (r *reader) forbid() {
	for _, account := range r.state.Accounts {
		r.seen.Live.Accounts[account.ID] = diff.AccountLive{
			Listed: diff.Observed[[]edge.Ruleset]{Err: r.err}, Documented: r.documented,
		}
		for _, z := range account.Zones {
			r.seen.Unread(z, r.removable[z.Scope], r.err)
		}
	}
}

func rejectedBy(lane reconcile.Lane, live diff.AccountLive) error {
	if errors.Is(live.Listed.Err, edge.ErrUnauthenticated) {
		return Rejected(lane, live.Listed.Err)
	}
	for _, managed := range live.Managed {
		if errors.Is(managed.Err, edge.ErrUnauthenticated) {
			return Rejected(lane, managed.Err)
		}
	}
	return nil
}

// readZones reads entry points side by side. Zones of an account whose
// rulesets could not be listed are unknown without being read.
func (r *reader) readZones(ctx context.Context) error {
	var zones []toRead
	told := r.seen.Live.Scopes()
	for i := range r.state.Accounts {
		account := &r.state.Accounts[i]
		listErr := r.seen.Live.Accounts[account.ID].Listed.Err
		for j, zone := range account.Zones {
			if told[zone.Scope] {
				continue
			}
			if listErr == nil {
				zones = append(zones, toRead{account, &account.Zones[j]})
				continue
			}
			r.seen.Unread(zone, r.removable[zone.Scope], listErr)
			r.counted.step()
		}
	}
	var mu sync.Mutex
	down := outage{limit: 2 * r.lane.AtOnce()}
	began := r.now()
	return sideBySide(ctx, r.lane.Workers(), len(zones), func(ctx context.Context, i int) error {
		places, err := r.readZone(ctx, zones[i], &down)
		if err != nil {
			return err
		}
		looked := 0
		if places.err() == nil {
			if looked, err = r.looks.look(ctx, r.lane.Reader, *zones[i].zone, began); err != nil {
				return err
			}
		}
		mu.Lock()
		r.seen.Looked += looked
		r.seen.put(zones[i].zone.Scope, places)
		if z := zones[i]; len(z.zone.Others) > 0 { // which alone depend on it
			r.seen.Live.Plans[z.zone.Scope] = r.names.Plan(z.account.ID, z.zone.Scope)
		}
		mu.Unlock()
		r.counted.step()
		return nil
	})
}

// toRead is a zone whose entry points are to be read.
type toRead struct {
	account *desired.Account
	zone    *desired.Zone
}

// readZone reads the entry points of one zone. It fails where nothing can go on.
func (r *reader) readZone(ctx context.Context, z toRead, down *outage) (Places, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	phases := planner.Phases(*z.zone, r.removable[z.zone.Scope])
	if err := down.err(); err != nil {
		return unread(phases, err), nil // it is what was observed of this zone
	}
	places, err := readPlaces(ctx, r.lane.Reader, z.zone.Scope, phases, r.now)
	if err != nil {
		return nil, err
	}
	down.note(places.failed())
	switch err := places.err(); {
	case errors.Is(err, edge.ErrUnauthenticated):
		return nil, Rejected(r.lane, err)
	case vanished(err):
		r.names.Doubt(*z.account, *z.zone)
	}
	return places, nil
}

// Rejected is the one message for a credential that the platform does not take.
func Rejected(lane reconcile.Lane, err error) error {
	path := cmp.Or(lane.Credential, "credentials.rulesets")
	if unread := (*edge.CredentialError)(nil); errors.As(err, &unread) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return fmt.Errorf("%w; check %s: %w", edge.ErrUnauthenticated, path, err)
}
