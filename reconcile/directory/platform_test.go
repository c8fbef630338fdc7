package directory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// platform is an [edge.Directory] over a list of zones, which counts what it is asked.
type platform struct {
	mu       sync.Mutex
	accounts []edge.Account
	zones    []edge.Zone
	err      error
	calls    []string
}

func (p *platform) enter(call string) error {
	p.calls = append(p.calls, call)
	return p.err
}

func (p *platform) Zones(_ context.Context, f edge.ZoneFilter) ([]edge.Zone, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := "list"
	if f.Name != "" {
		what = "name " + f.Name
	}
	if err := p.enter(what); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(p.zones), func(z edge.Zone) bool {
		return z.Account.ID != f.Account || f.Name != "" && desired.FoldName(z.Name) != f.Name
	}), nil
}

func (p *platform) Zone(_ context.Context, id edge.ZoneID) (edge.Zone, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter("zone"); err != nil {
		return edge.Zone{}, err
	}
	for _, z := range p.zones {
		if edge.ZoneScope(z.ID) == edge.ZoneScope(id) {
			return z, nil
		}
	}
	return edge.Zone{}, fmt.Errorf("zone %s: %w", id, edge.ErrNotFound)
}

func (p *platform) Accounts(context.Context) ([]edge.Account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter("accounts"); err != nil {
		return nil, err
	}
	return slices.Clone(p.accounts), nil
}

// asked returns what was asked since the last time.
func (p *platform) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := p.calls
	p.calls = nil
	return calls
}

const (
	prod    edge.AccountID = "0000000000000000000000000000000a"
	staging edge.AccountID = "0000000000000000000000000000000b"
)

func zoneID(n int) edge.ZoneID { return edge.ZoneID(fmt.Sprintf("%032x", 0x100+n)) }

func live(account edge.AccountID, n int, name string) edge.Zone {
	return edge.Zone{ID: zoneID(n), Name: name, Account: edge.Account{ID: account}}
}

// clock is a clock that tests set.
type clock struct{ now time.Time }

func (c *clock) pass(d time.Duration) { c.now = c.now.Add(d) }

// scene is names over a platform.
type scene struct {
	*Names
	p     *platform
	clock *clock
}

func newScene(zones ...edge.Zone) scene {
	s := scene{p: &platform{zones: zones, accounts: []edge.Account{{ID: prod, Name: "Production"}, {ID: staging, Name: "Staging"}}}, clock: &clock{time.Unix(1e9, 0)}}
	s.Names = New(Config{Of: func(string) edge.Directory { return s.p }, Now: func() time.Time { return s.clock.now }})
	return s
}

// declared is a state with zones of the account prod that are found by their names.
func declared(names ...string) desired.State {
	a := desired.Account{Key: "prod", ID: prod}
	for _, name := range names {
		a.Zones = append(a.Zones, desired.Zone{Key: name, Name: name, ByName: true})
	}
	return desired.State{Accounts: []desired.Account{a}}
}

// look looks a state up and resolves it.
func (s scene) look(t *testing.T, state desired.State) desired.State {
	t.Helper()
	s.Look(t.Context(), state)
	return s.Resolve(state)
}

// why is what is against the first zone of a state.
func (s scene) why(state desired.State) string {
	a := state.Accounts[0]
	if err := s.Check(a, a.Zones[0]); err != nil {
		return err.Error()
	}
	return ""
}

// memory keeps names.
type memory struct{ names []reconcile.Name }

func (m *memory) Names(context.Context) ([]reconcile.Name, error) { return m.names, nil }
func (m *memory) SaveNames(_ context.Context, names []reconcile.Name) error {
	m.names = names
	return nil
}
