package controller

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// A zone that goes between two pages takes no other with it, and none comes twice.
func TestFleetPagesWhileZonesGo(t *testing.T) {
	s := newStill(t, &reconciletest.Records{})
	s.propose(stateOf("c1", fleet(6, "xss")...))
	first, err := s.Fleet(inspect.FleetQuery{Limit: 2})
	if err != nil || len(first.Zones) != 2 || first.Matches != 6 || first.Commit != "c1" {
		t.Fatalf("%+v, %v", first, err)
	}
	zones := fleet(6, "xss")
	s.propose(stateOf("c2", append(zones[2:3:3], zones[4:]...)...)) // 1, 2 and 4 go; 2 is where the page ended
	rest, err := s.Fleet(inspect.FleetQuery{After: first.Next})
	if err != nil || len(rest.Zones) != 3 || rest.Zones[0].Zone != zoneKey(3) || rest.Zones[2].Zone != zoneKey(6) || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
	for _, after := range []string{"x", "!", "W10", first.Next + "A", first.Next[:len(first.Next)-1]} {
		if _, err := s.Fleet(inspect.FleetQuery{After: after}); !errors.Is(err, inspect.ErrAfter) {
			t.Errorf("after %q: %v", after, err)
		}
	}
}

// A page is bounded, however much is asked for.
func TestFleetPageIsBounded(t *testing.T) {
	s := newStill(t, &reconciletest.Records{})
	s.propose(stateOf("c1", fleet(inspect.MostRows+1, "xss")...))
	for _, limit := range []int{-1, 0, inspect.MostRows + 50} {
		if page, err := s.Fleet(inspect.FleetQuery{Limit: limit}); err != nil || len(page.Zones) != inspect.MostRows || page.Next == "" {
			t.Errorf("limit %d: %d rows, %v", limit, len(page.Zones), err)
		}
	}
}

// Whose zones need a person is told to whom the labels say that were proved last, too: the
// author of a commit does not decide who is told of it.
func TestNeedPersonByLabels(t *testing.T) {
	s := newStill(t, &reconciletest.Records{})
	zones := fleet(1, "xss")
	zones[0].Labels = guard.Labels{"team": "a"}
	s.propose(stateOf("c1", zones...))
	if err := s.prove(mem.FleetZone(1)); err != nil {
		t.Fatal(err)
	}
	zones = fleet(1, "rce")
	zones[0].Labels = guard.Labels{"team": "b"}
	s.propose(stateOf("c2", zones...))
	s.look(mem.FleetZone(1), diff.Plan{Problems: []diff.Problem{{State: diff.Blocked, Reason: "no"}}})
	want := func(team string, n int) {
		t.Helper()
		if groups := s.NeedPerson(guard.Labels{"team": team}); len(groups) != n {
			t.Errorf("team %s is told of %+v", team, groups)
		}
	}
	want("a", 1)
	want("b", 1)
	want("c", 0)
	if err := s.prove(mem.FleetZone(1)); err != nil {
		t.Fatal(err)
	}
	want("a", 0)
	want("b", 1)
}

func TestZonePage(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 2)
		f.Guards.Rules = []guard.Rule{{Name: "strict", Approve: guard.ApproveWeakening}}
		zones := fleet(2, "xss")
		zones[0].Labels = guard.Labels{"team": "a"}
		f.repo.Push("c1", zones...)
		f.start()
		page, err := f.ZonePage(mem.FleetZone(1))
		if err != nil || page.Zone.Zone != zoneKey(1) || page.Outcome != inspect.Refused || page.Labels["team"] != "a" || page.LabelsProved != nil {
			t.Fatalf("%+v, %v", page, err)
		}
		if len(page.Waiting) != 1 || page.Waiting[0].Digest != page.Decisions[0].Approve || page.Waiting[0].What[0] != "update core" ||
			len(page.Waiting[0].Fields) == 0 || page.Waiting[0].Way != diff.Weakens {
			t.Errorf("waiting %+v, decided %+v", page.Waiting, page.Decisions)
		}
		tags := func(p inspect.ZonePage) *inspect.LiveMember {
			for i, m := range p.Live {
				if m.Path == "disable.tags" {
					return &p.Live[i]
				}
			}
			return nil
		}
		if m := tags(page); m == nil || m.Declared != "xss" || m.Live != nil || m.Same || m.Unknown != "" || m.Deployment != "core" {
			t.Errorf("live %+v", page.Live)
		}
		if list, err := f.Controller.Fleet(inspect.FleetQuery{Outcomes: []inspect.Outcome{inspect.Refused}}); err != nil || list.Matches != 2 || list.Zones[0].Approve != page.Waiting[0].Digest {
			t.Errorf("%+v, %v", list, err)
		}

		approval := reconcile.Approval{Digest: page.Waiting[0].Digest, Kind: reconcile.Approved, Who: "ada", At: time.Now()}
		if err := f.records.Approve(t.Context(), []reconcile.Approval{approval}); err != nil {
			t.Fatal(err)
		}
		f.pass(soon)
		page, err = f.ZonePage(mem.FleetZone(1))
		if err != nil || page.Outcome != inspect.InSync || len(page.Waiting) != 0 || page.LabelsProved["team"] != "a" {
			t.Fatalf("%+v, %v", page, err)
		}
		if m := tags(page); m == nil || m.Live != "xss" || !m.Same {
			t.Errorf("live %+v", page.Live)
		}
		f.click(1, "xss", "php")
		f.lookNow()
		if page, err = f.ZonePage(mem.FleetZone(1)); err != nil || len(page.Live) == 0 {
			t.Errorf("%+v, %v", page, err)
		}

		if _, err := f.ZonePage(mem.FleetZone(3)); !errors.Is(err, inspect.ErrNoZone) {
			t.Errorf("a zone that is not declared: %v", err)
		}
	})
}

// Before anything is in force there is nothing, and no error.
func TestFleetOfNothing(t *testing.T) {
	s := newStill(t, &reconciletest.Records{})
	page, err := s.Fleet(inspect.FleetQuery{})
	if err != nil || page.Declared != 0 || page.Zones == nil || len(page.Outcomes) != len(inspect.Outcomes()) || page.Commit != "" {
		t.Errorf("%+v, %v", page, err)
	}
	if _, err := s.ZonePage(mem.FleetZone(1)); !errors.Is(err, inspect.ErrNoZone) {
		t.Error(err)
	}
}

// Many changes are told once, soon after the first of them; what changed before it was asked is
// in the count.
func TestChangesAreToldTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewChanges()
		c.Note()
		count, next := c.Changed()
		if count != 1 {
			t.Errorf("%d changes, want 1", count)
		}
		time.Sleep(time.Hour)
		select {
		case <-next:
			t.Error("told of what was known")
		default:
		}
		began := time.Now()
		for range 1000 {
			c.Note()
		}
		<-next
		if took := time.Since(began); took != together {
			t.Errorf("told after %s", took)
		}
		count, next = c.Changed()
		if count != 1001 {
			t.Errorf("%d changes, want 1001", count)
		}
		time.Sleep(time.Hour)
		select {
		case <-next:
			t.Error("told twice")
		default:
		}
	})
}

// Each thing that a page shows is told of when it becomes another one.
func TestChanged(t *testing.T) {
	run(t, func(t *testing.T) {
		f := running(t, 2)
		f.pass(time.Minute)
		wakes := func(what string, do func()) {
			t.Helper()
			_, next := f.Changed()
			do()
			select {
			case <-next:
			case <-time.After(2 * f.Tick):
				t.Errorf("%s changes nothing", what)
			}
			f.pass(2 * f.Tick)
		}
		wakes("a hold", func() { f.records.Hold(diff.Hold{Zone: zoneKey(1), Until: time.Now().Add(time.Hour), Reason: "INC-1"}) })
		wakes("the end of a hold", func() { f.pass(time.Hour - 30*time.Second); _, next := f.Changed(); <-next })
		wakes("a look", func() { f.lookNow() })
		wakes("a commit", func() { f.push("c2", fleet(2, "rce")...) })
		wakes("an outage", func() {
			f.calls.set(func(context.Context, call) error { return errDown })
			f.lookNow()
		})
	})
}

// TestFleetWhileMuchHappens asks for everything from several goroutines while commits come and
// go and zones are read: under the race detector.
func TestFleetWhileMuchHappens(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 20)
		f.repo.Push("c0", fleet(20, "xss")...)
		f.start()
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for ctx.Err() == nil {
					_, next := f.Changed()
					page, err := f.Controller.Fleet(inspect.FleetQuery{Text: "zone", Limit: 5 + i, May: func(inspect.ZoneLabels) bool { return true }})
					sum := 0
					for _, n := range page.Outcomes {
						sum += n
					}
					if err != nil || sum != page.Declared || page.Matches != page.Declared {
						t.Errorf("%+v, %v", page, err)
					}
					if grid := f.Grid(inspect.FleetQuery{}); len(grid.Outcomes) < 8 {
						t.Errorf("%d cells", len(grid.Outcomes))
					}
					if zone, err := f.ZonePage(mem.FleetZone(3)); err != nil || zone.Zone.Zone != zoneKey(3) {
						t.Errorf("%+v, %v", zone, err)
					}
					_ = f.NeedPerson(nil)
					select {
					case <-next:
					case <-ctx.Done():
					case <-time.After(37 * time.Millisecond):
					}
				}
			})
		}
		tags := []string{"rce", "php", "xss"}
		for i := range 12 {
			f.drift(5)
			f.push("c"+string(rune('1'+i)), fleet(20-i, tags[i%3])...)
		}
		cancel()
		all.Wait()
		f.wantOutcomes(map[inspect.Outcome]int{inspect.InSync: 9})
	})
}
