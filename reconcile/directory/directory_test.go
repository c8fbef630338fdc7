package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// A fleet is listed once, and then not again for hours; a new name alone costs one
// request.
func TestAFleetIsListedOnce(t *testing.T) {
	var zones []edge.Zone
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("z%d.example", i))
		zones = append(zones, live(prod, i, names[i]))
	}
	s := newScene(zones...)
	state := s.look(t, declared(names[:199]...))
	if got := s.p.asked(); !slices.Equal(got, []string{"list"}) {
		t.Errorf("asked %q", got)
	}
	for i, z := range state.Accounts[0].Zones {
		if z.Scope != edge.ZoneScope(zoneID(i)) || s.Check(state.Accounts[0], z) != nil {
			t.Fatalf("zone %+v: %v", z, s.Check(state.Accounts[0], z))
		}
	}
	s.clock.pass(time.Hour)
	if next := s.Look(t.Context(), state); len(s.p.asked()) > 0 || !next.Equal(s.clock.now.Add(5*time.Hour)) {
		t.Errorf("the next look is at %s", next)
	}
	s.p.zones = append(s.p.zones, live(prod, 200, "new.example"))
	state = s.look(t, declared(append(names[:199:199], "new.example")...))
	if got := s.p.asked(); !slices.Equal(got, []string{"name new.example"}) || state.Accounts[0].Zones[199].Scope != edge.ZoneScope(zoneID(200)) {
		t.Errorf("asked %q", got)
	}
	s.clock.pass(5 * time.Hour)
	s.Look(t.Context(), state)
	if got := s.p.asked(); !slices.Equal(got, []string{"list"}) {
		t.Errorf("after six hours: asked %q", got)
	}
}

func TestUnknownAndAmbiguousNames(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"), live(prod, 2, "twice.example"), live(prod, 3, "Twice.Example"), live(staging, 4, "else.example"))
	for name, want := range map[string][2]string{
		"shpo.example":  {`the platform has no zone named "shpo.example" in account prod`, `did you mean "shop.example"?`},
		"else.example":  {`the platform has no zone named "else.example" in account prod`, "declare its name"},
		"twice.example": {`the platform has 2 zones named "twice.example"`, "candidates: " + string(zoneID(2)) + ", " + string(zoneID(3))},
	} {
		state := s.look(t, declared(name, "shop.example"))
		var why *diff.NameError
		if err := s.Check(state.Accounts[0], state.Accounts[0].Zones[0]); !errors.As(err, &why) || !strings.Contains(why.Message, want[0]) ||
			!strings.Contains(why.Hint, want[1]) || why.State != diff.Blocked {
			t.Errorf("%s: %+v", name, why)
		}
		if z := state.Accounts[0].Zones[1]; z.Scope != edge.ZoneScope(zoneID(1)) || s.Check(state.Accounts[0], z) != nil {
			t.Errorf("%s: the other zone is %+v", name, z)
		}
	}
}

// Pauses grow while a name is unknown, and while the platform does not answer.
func TestPausesGrow(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"))
	for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
		next := s.Look(t.Context(), declared("nothing.example"))
		if got := next.Sub(s.clock.now); got != want {
			t.Errorf("the pause is %s, want %s", got, want)
		}
		s.clock.now = next
	}
	s.p.err = edge.ErrUnavailable
	for _, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second} {
		next := s.Look(t.Context(), declared("other.example"))
		if got := next.Sub(s.clock.now); got != want {
			t.Errorf("the pause is %s, want %s", got, want)
		}
		s.clock.now = next
	}
	state := s.Resolve(declared("other.example"))
	if err := s.Check(state.Accounts[0], state.Accounts[0].Zones[0]); !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

// A zone that is renamed, deleted or created again is never written under the name of
// another one.
func TestRenamedDeletedAndCreatedAgain(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"))
	state := s.look(t, declared("shop.example"))
	confirm := func(state desired.State) error {
		return s.Confirm(t.Context(), state.Accounts[0], state.Accounts[0].Zones[0])
	}
	if err := confirm(state); err != nil || !slices.Equal(s.p.asked(), []string{"name shop.example"}) {
		t.Errorf("directly after the look: %v", err)
	}
	s.clock.pass(2 * time.Minute)
	if err := confirm(state); err != nil || !slices.Equal(s.p.asked(), []string{"zone"}) {
		t.Errorf("two minutes later: %v", err)
	}

	s.clock.pass(2 * time.Minute)
	s.p.zones = []edge.Zone{live(prod, 1, "old.example"), live(prod, 2, "shop.example")}
	if err := confirm(state); err == nil {
		t.Error("a zone that was renamed is written")
	}
	select {
	case <-s.Poked():
	default:
		t.Error("no look is asked for")
	}
	state = s.look(t, state)
	if id := state.Accounts[0].Zones[0].Scope; id != edge.ZoneScope(zoneID(2)) || confirm(state) != nil {
		t.Errorf("after it was renamed: %s", id)
	}

	s.clock.pass(2 * time.Minute)
	s.p.zones = []edge.Zone{live(prod, 3, "shop.example")}
	if !s.Doubt(state.Accounts[0], state.Accounts[0].Zones[0]) || s.Doubt(state.Accounts[0], desired.Zone{Scope: edge.ZoneScope(zoneID(9))}) {
		t.Error("an id that the platform does not know is not doubted")
	}
	if state = s.look(t, state); state.Accounts[0].Zones[0].Scope != edge.ZoneScope(zoneID(3)) || confirm(state) != nil {
		t.Errorf("after it was created again: %+v", state.Accounts[0].Zones)
	}

	s.clock.pass(2 * time.Minute)
	s.p.zones = nil
	if err := confirm(state); err == nil {
		t.Error("a zone that was deleted is written")
	}
	if state = s.look(t, state); state.Accounts[0].Zones[0].Scope != edge.ZoneScope(zoneID(3)) || !strings.Contains(s.why(state), "no zone named") {
		t.Errorf("after it was deleted: %+v, %s", state.Accounts[0].Zones, s.why(state)) // what is on record of it stays
	}
}

// A name that cannot be confirmed is not written; a declared id that cannot be compared is.
func TestConfirmWhileThePlatformFails(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"))
	state := s.look(t, declared("shop.example"))
	s.clock.pass(2 * time.Minute)
	s.p.err = edge.ErrUnavailable
	a := state.Accounts[0]
	if err := s.Confirm(t.Context(), a, a.Zones[0]); !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("found by name: %v", err)
	}
	if err := s.Confirm(t.Context(), a, desired.Zone{Key: "x", Name: "other.example", Scope: edge.ZoneScope(zoneID(7))}); err != nil {
		t.Errorf("declared: %v", err)
	}
}

// A declared id is compared with the name, where one is declared or the key is one.
func TestDeclaredIDs(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"), live(prod, 2, "other.example"))
	state := declared("shop.example")
	state.Accounts[0].Zones = []desired.Zone{
		{Key: "shop.example", Name: "shop.example", Scope: edge.ZoneScope(zoneID(2))},
		{Key: "right", Name: "shop.example", Scope: edge.ZoneScope(zoneID(1))},
		{Key: "unseen", Name: "hidden.example", Scope: edge.ZoneScope(zoneID(9))},
		{Key: "label", Scope: edge.ZoneScope(zoneID(2))},
	}
	if got := s.look(t, state); !SameIDs(got, state) {
		t.Errorf("declared ids changed: %+v", got)
	}
	want := "zone " + string(zoneID(2)) + ` is named "other.example" on the platform, and not "shop.example"`
	for i, why := range []string{want, "", "", ""} {
		got := ""
		if err := s.Check(state.Accounts[0], state.Accounts[0].Zones[i]); err != nil {
			got = err.Error()
		}
		if got != why {
			t.Errorf("zone %d: %q, want %q", i, got, why)
		}
	}
}

func TestAccountsByName(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"), live(staging, 2, "shop.example"))
	zones := []desired.Zone{{Key: "shop.example", Name: "shop.example", ByName: true}}
	state := s.look(t, desired.State{Accounts: []desired.Account{
		{Key: "p", Name: "Production", ByName: true, Zones: zones},
		{Key: "Staging", Name: "Staging", ByName: true, Zones: zones},
		{Key: "Stagign", Name: "Stagign", ByName: true, Zones: zones},
		{Key: "wrong", Name: "Staging", ID: prod, Zones: zones},
	}})
	if got := s.p.asked(); got[0] != "accounts" || slices.Contains(got[1:], "accounts") { // one list for all of one credential
		t.Errorf("asked %q", got)
	}
	for i, want := range []string{
		"", "", `the platform has no account named "stagign" that the credential can see`,
		"account " + string(prod) + ` is named "Production" on the platform, and not "Staging"`,
	} {
		got := ""
		if err := s.Check(state.Accounts[i], state.Accounts[i].Zones[0]); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("account %d: %q, want %q", i, got, want)
		}
	}
	if state.Accounts[0].Zones[0].Scope != edge.ZoneScope(zoneID(1)) || state.Accounts[1].Zones[0].Scope != edge.ZoneScope(zoneID(2)) {
		t.Errorf("resolved %+v", state)
	}
}

// An account that is found by its name has the id of its own entry point with that.
func TestAccountLevelByName(t *testing.T) {
	s := newScene()
	accountOf := func(name string) desired.Account {
		return desired.Account{Key: name, Name: name, ByName: true, Zones: []desired.Zone{{Key: desired.AccountKey(name), Scope: edge.AccountScope("")}}}
	}
	declared := desired.State{Accounts: []desired.Account{accountOf("Production"), accountOf("Prodution"), {Key: "s", ID: staging}}}
	declared.Accounts[2].Zones = []desired.Zone{{Key: desired.AccountKey("s"), Scope: desired.AccountScope(declared.Accounts[2])}}
	before := s.Resolve(declared)
	for _, a := range before.Accounts[:2] {
		if !desired.Sought(a.Zones[0].Scope.ID) || s.Check(a, a.Zones[0]) == nil {
			t.Errorf("before it was looked up: %+v", a)
		}
	}
	state := s.look(t, declared)
	for i, want := range []edge.Scope{edge.AccountScope(prod), edge.AccountScope(desired.SoughtAccount("Prodution")), edge.AccountScope(staging)} {
		a := state.Accounts[i]
		if a.Zones[0].Scope != want || (s.Check(a, a.Zones[0]) != nil) != desired.Sought(want.ID) {
			t.Errorf("account %d: %+v, %v", i, a.Zones[0], s.Check(a, a.Zones[0]))
		}
	}
	a := state.Accounts[0]
	confirm := func() error { return s.Confirm(t.Context(), a, a.Zones[0]) }
	s.p.asked()
	if err := confirm(); err != nil || len(s.p.asked()) > 0 {
		t.Error(err)
	}
	s.clock.pass(2 * time.Minute)
	if err := confirm(); err != nil || !slices.Equal(s.p.asked(), []string{"accounts"}) {
		t.Errorf("two minutes later: %v", err)
	}
	s.clock.pass(2 * time.Minute)
	s.p.err = edge.ErrUnavailable
	if err := confirm(); !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("while the platform fails: %v", err)
	}
	s.p.err, s.p.accounts = nil, []edge.Account{{ID: staging, Name: "Production"}}
	if err := confirm(); err == nil {
		t.Error("another account has the name")
	}
	if declared.Accounts[0].Zones[0].Scope.ID != "" {
		t.Error("what was given has changed")
	}
}

// Without the calls there are no names: what has an id goes on.
func TestWithoutADirectory(t *testing.T) {
	names := New(Config{Now: time.Now})
	state := declared("shop.example")
	state.Accounts[0].Zones = append(state.Accounts[0].Zones, desired.Zone{Key: "a.example", Name: "a.example", Scope: edge.ZoneScope(zoneID(1))})
	if next := names.Look(t.Context(), state); !next.IsZero() {
		t.Errorf("the next look is at %s", next)
	}
	state = names.Resolve(state)
	a := state.Accounts[0]
	if err := names.Check(a, a.Zones[0]); err == nil || !desired.Sought(a.Zones[0].Scope.ID) || !strings.Contains(err.Error(), "platform.profile") {
		t.Errorf("%+v: %v", a.Zones[0], err)
	}
	if err := errors.Join(names.Check(a, a.Zones[1]), names.Confirm(t.Context(), a, a.Zones[1])); err != nil {
		t.Error(err)
	}
}

// What was found is found again by a later process without a request, also the id of a
// zone that is not listed any more.
func TestNamesAreKept(t *testing.T) {
	s := newScene(live(prod, 1, "a.example"), live(prod, 2, "b.example"))
	s.Memory = &memory{}
	state := desired.State{Accounts: []desired.Account{{Key: "p", Name: "Production", ByName: true, Zones: declared("a.example", "b.example").Accounts[0].Zones}}}
	want := s.look(t, state)
	s.p.zones = s.p.zones[:1]
	s.clock.pass(7 * time.Hour)
	s.look(t, state)
	s.p.asked()

	next := New(Config{Of: s.Of, Memory: s.Memory, Now: s.Now})
	must.Do(t, next.Recall(t.Context()))
	if got := next.Resolve(state); !SameIDs(got, want) || desired.Sought(got.Accounts[0].Zones[1].Scope.ID) {
		t.Errorf("recalled %+v", got)
	}
	only := state
	only.Accounts = slices.Clone(state.Accounts)
	only.Accounts[0].Zones = state.Accounts[0].Zones[:1]
	next.Look(t.Context(), only)
	if got := s.p.asked(); len(got) > 0 {
		t.Errorf("asked %q", got)
	}
	older := &memory{names: slices.Clone(s.Memory.(*memory).names)}
	for i := range older.names {
		older.names[i].Name, older.names[i].At = "wrong.example", time.Unix(1, 0)
	}
	next.Memory = older
	if err := next.Recall(t.Context()); err != nil || next.Resolve(only).Accounts[0].Zones[0].Scope != edge.ZoneScope(zoneID(1)) {
		t.Errorf("an older record counts: %v", err)
	}
}

// hanging never answers about one account.
type hanging struct{ edge.Directory }

func (h hanging) Zones(ctx context.Context, f edge.ZoneFilter) ([]edge.Zone, error) {
	if f.Account == staging {
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", edge.ErrUnavailable, context.Cause(ctx))
	}
	return h.Directory.Zones(ctx, f)
}

// An account that does not answer costs the others nothing, and nothing that is known.
func TestAHangingAccount(t *testing.T) {
	s := newScene(live(prod, 1, "shop.example"))
	s.Of = func(string) edge.Directory { return hanging{s.p} }
	state := declared("shop.example")
	state.Accounts = append(state.Accounts, desired.Account{Key: "staging", ID: staging, Zones: state.Accounts[0].Zones})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Look(ctx, state) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if s.Resolve(state).Accounts[0].Zones[0].Scope == edge.ZoneScope(zoneID(1)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the zone of the other account is not found")
		}
	}
	cancel()
	<-done
	resolved := s.Resolve(state)
	if err := s.Check(resolved.Accounts[1], resolved.Accounts[1].Zones[0]); !errors.Is(err, edge.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}
