package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/directory"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// registry is what the platform's zones are named, which a test changes. Every zone of
// the fleet has an entry point; one that is not in the registry does not exist.
type registry struct {
	mu    sync.Mutex
	names map[edge.Scope]string
	lists int
	hook  func(context.Context) error // before each question; nil does nothing
}

func (r *registry) change(do func(map[edge.Scope]string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(r.names)
}

func (r *registry) called(id edge.Scope) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name, ok := r.names[id]
	return name, ok
}

func (r *registry) ask(ctx context.Context) error {
	r.mu.Lock()
	r.lists++
	hook := r.hook
	r.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx)
}

func (r *registry) Zones(ctx context.Context, f edge.ZoneFilter) (zones []edge.Zone, err error) {
	if err := r.ask(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, name := range r.names {
		if f.Name == "" || f.Name == name {
			zones = append(zones, edge.Zone{ID: edge.ZoneID(id.ID), Name: name, Account: edge.Account{ID: mem.Account}})
		}
	}
	return zones, nil
}

func (r *registry) Zone(ctx context.Context, id edge.ZoneID) (edge.Zone, error) {
	if err := r.ask(ctx); err != nil {
		return edge.Zone{}, err
	}
	name, ok := r.called(edge.ZoneScope(id))
	if !ok {
		return edge.Zone{}, errNoZone
	}
	return edge.Zone{ID: id, Name: name, Account: edge.Account{ID: mem.Account}}, nil
}

func (r *registry) Accounts(context.Context) ([]edge.Account, error) {
	return []edge.Account{{ID: mem.Account, Name: "Production"}}, nil
}

var errNoZone = &edge.Error{Status: 404, Details: []edge.ErrorDetail{{Code: edge.CodeRulesetNotFound, Message: "could not find zone"}}}

// named is a fixture whose repository declares zones by name. It fails where a zone is
// written whose name is not declared, or not so.
type named struct {
	*fixture
	registry *registry
	memory   *nameMemory
}

func newNamed(t *testing.T, n int) *named {
	f := &named{fixture: newFixture(t, n), registry: &registry{names: map[edge.Scope]string{}}, memory: &nameMemory{}}
	for i := 1; i <= n; i++ {
		f.registry.names[mem.FleetZone(i)] = zoneKey(i)
	}
	f.calls.set(f.exists)
	f.fresh()
	return f
}

// fresh has the next process know what is on record alone.
func (f *named) fresh() {
	f.Config.Names = directory.New(directory.Config{Of: func(string) edge.Directory { return f.registry }, Memory: f.memory, Now: time.Now})
}

// exists answers calls about zones that do not exist, and checks what is written.
func (f *named) exists(_ context.Context, c call) error {
	if c.verb != "read" && c.verb != "write" {
		return nil
	}
	f.registry.mu.Lock()
	defer f.registry.mu.Unlock()
	for id, name := range f.registry.names {
		if zoneName(id) != c.who {
			continue
		}
		if c.verb == "write" && !strings.Contains(c.off, tagFor(name)) {
			f.t.Errorf("zone %s, which is named %s, is written: %s", id, name, c)
		}
		return nil
	}
	if c.verb == "write" {
		f.t.Errorf("a zone that does not exist is written: %s", c)
	}
	return errNoZone
}

// tagFor is a tag that is declared off in the zone of a name: another one for each of
// four.
func tagFor(name string) string {
	return edge.ParanoiaTag(1 + int(name[len("zone-0000")])%edge.MaxParanoia)
}

// byName declares the zones of some numbers by their names, with their own tag off.
func byName(numbers ...int) (zones []desired.Zone) {
	for _, i := range numbers {
		key := zoneKey(i)
		zones = append(zones, desired.Zone{Key: key, Name: key, ByName: true, Deployments: []desired.Deployment{core(tagFor(key))}})
	}
	return zones
}

// wants fails where a zone has not, or not alone, the tag of a name off.
func (f *named) wants(i int, tag string) {
	f.t.Helper()
	if got := f.off(i); got != tag {
		f.t.Errorf("zone %d has %q off, want %q", i, got, tag)
	}
}

// nameMemory keeps names over restarts.
type nameMemory struct {
	mu    sync.Mutex
	names []reconcile.Name
}

func (m *nameMemory) Names(context.Context) ([]reconcile.Name, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.names), nil
}

func (m *nameMemory) SaveNames(_ context.Context, names []reconcile.Name) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names = names
	return nil
}

// A repository without ids is applied, costs one list, and none after a restart.
func TestZonesAreFoundByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 30)
		f.start()
		var all []int
		for i := 1; i <= 30; i++ {
			all = append(all, i)
		}
		f.push("one", byName(all...)...)
		for i := 1; i <= 30; i++ {
			f.wants(i, tagFor(zoneKey(i)))
		}
		if f.registry.lists != 1 {
			t.Errorf("%d requests for names, want 1", f.registry.lists)
		}
		f.stop()
		f.fresh()
		f.calls.take()
		f.start()
		if writes := only(f.calls.take(), "write"); len(writes) > 0 || f.registry.lists != 1 {
			t.Errorf("after a restart: writes %v, %d requests for names", writes, f.registry.lists)
		}
		if s := f.Status(); s.Zones.Outcomes[inspect.InSync] != 30 {
			t.Errorf("the status is %+v", s.Zones)
		}
	})
}

// A name that is not there is a problem of its zone alone, and found once it is there,
// without another commit.
func TestAnUnknownNameIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 3)
		delete(f.registry.names, mem.FleetZone(3))
		f.start()
		f.push("one", byName(1, 2, 3)...)
		f.wants(1, tagFor(zoneKey(1)))
		f.wants(2, tagFor(zoneKey(2)))
		list, _ := f.Zones(zoneKey(3))
		if len(list.Zones) != 1 || len(list.Zones[0].Decisions) == 0 || !strings.Contains(list.Zones[0].Decisions[0].Reason, "no zone named") || !list.Zones[0].Scope.IsZero() {
			t.Errorf("the status is %+v", list.Zones)
		}
		f.registry.change(func(names map[edge.Scope]string) { names[mem.FleetZone(3)] = zoneKey(3) })
		f.pass(time.Minute)
		f.wants(3, tagFor(zoneKey(3)))
	})
}

// While the platform does not list its zones, what is known goes on: other zones are
// written, healed and read.
func TestAHangingLookUpCostsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 3)
		f.start()
		f.push("one", byName(1, 2)...)
		f.registry.mu.Lock()
		f.registry.hook = func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("%w: %w", edge.ErrUnavailable, context.Cause(ctx))
		}
		f.registry.mu.Unlock()
		third := byName(3)
		first := zoneOf(1, core("wordpress", tagFor(zoneKey(1))))
		f.push("two", append(third, first, byName(2)[0])...)
		f.wants(1, tagFor(zoneKey(1))+",wordpress") // within a minute of the look-up: nothing is asked
		f.wants(3, "")
		f.registry.mu.Lock()
		f.registry.hook = nil
		f.registry.mu.Unlock()
		f.pass(11 * time.Minute) // the look-up that hangs is given up
		f.wants(3, tagFor(zoneKey(3)))
	})
}

// A zone that is deleted and created again under its name is another zone: nothing of
// it is owned, and nothing is written to the old one.
func TestAZoneIsCreatedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 3)
		delete(f.registry.names, mem.FleetZone(3))
		f.start()
		f.push("one", byName(1, 2)...)
		f.wants(2, tagFor(zoneKey(2)))
		f.registry.change(func(names map[edge.Scope]string) {
			delete(names, mem.FleetZone(2))
			names[mem.FleetZone(3)] = zoneKey(2) // the new id
		})
		f.pass(10 * time.Minute) // no read yet, and the last answer is no longer fresh
		f.lookNow()
		f.pass(time.Minute)
		f.wants(3, tagFor(zoneKey(2)))
		record, err := f.records.Restore(t.Context())
		if err != nil || record.Proofs[mem.FleetZone(3)].Fingerprint == "" || record.Proofs[mem.FleetZone(2)].Fingerprint != "" {
			t.Errorf("on record: %+v, %v", record.Proofs, err)
		}
		for id := range record.Applied {
			if id.Scope == mem.FleetZone(2) {
				t.Errorf("the zone that was deleted owns %v", record.Applied[id])
			}
		}
	})
}

// A zone that got another name is not written any more, and the zone that has its name
// now is, even where two swap their names. (The hook of the platform checks each write.)
func TestZonesThatSwapNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 2)
		f.start()
		f.push("one", byName(1, 2)...)
		f.pass(5 * time.Minute)
		f.registry.change(func(names map[edge.Scope]string) {
			names[mem.FleetZone(1)], names[mem.FleetZone(2)] = zoneKey(2), zoneKey(1)
		})
		f.click(1)
		f.click(2)
		f.lookNow()
		f.pass(time.Minute)
		f.wants(1, tagFor(zoneKey(2)))
		f.wants(2, tagFor(zoneKey(1)))
	})
}

// Limits count zones that are found later.
func TestLimitsCountZonesThatAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 4)
		f.Config.Guards = reconcile.Guards{Rules: []guard.Rule{{Name: "few", Changes: &guard.Limit{Count: new(2)}}}}
		f.start()
		f.push("one", byName(1, 2, 3)...)
		if writes := only(f.calls.take(), "write"); len(writes) > 0 {
			t.Errorf("over the limit: %v", writes)
		}
		for i := 3; i <= 4; i++ {
			delete(f.registry.names, mem.FleetZone(i))
		}
		f.push("two", byName(1, 2, 4)...)
		f.wants(1, tagFor(zoneKey(1)))
		f.wants(2, tagFor(zoneKey(2)))
		f.registry.change(func(names map[edge.Scope]string) { names[mem.FleetZone(4)] = zoneKey(4) })
		f.pass(time.Hour)
		f.wants(4, "") // it would be the third of its commit
	})
}

// A record that cannot be written costs only that names are asked for again.
func TestNamesThatCannotBeRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newNamed(t, 1)
		f.Config.Names.Memory = brokenNames{}
		f.start()
		f.push("one", byName(1)...)
		f.wants(1, tagFor(zoneKey(1)))
	})
}

type brokenNames struct{}

func (brokenNames) Names(context.Context) ([]reconcile.Name, error) { return nil, nil }

func (brokenNames) SaveNames(context.Context, []reconcile.Name) error { return errors.New("full") }
