package zone

import (
	"reflect"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/planner"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// A zone is known where all of its places are; it answers where one does.
func TestSightOfSeveralPlaces(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	place := func(err error, at time.Time) Seen { return Seen{"p", diff.Observed[edge.Ruleset]{Err: err}, at} }
	read, none, down, stale := place(nil, now), place(edge.ErrEntryPointNotFound, now), place(errDown, now), place(nil, time.Time{})
	for name, test := range map[string]struct {
		places                 Places
		known, answered, whole bool
	}{
		"all read":               {Places{read, none}, true, true, true},
		"one written to":         {Places{read, stale}, true, true, false},
		"the first not read":     {Places{down, read}, false, true, false},
		"the second not read":    {Places{none, down}, false, true, false},
		"none":                   {Places{down, down}, false, false, false},
		"not asked for the rest": {unread([]edge.Phase{"a", "b"}, errDown), false, false, false},
	} {
		s := Sight{Places: test.places}
		if (s.Err() == nil) != test.known || (s.Failed() == nil) != test.answered || s.Whole() != test.whole {
			t.Errorf("%s: error %v, failed %v, whole %t", name, s.Err(), s.Failed(), s.Whole())
		}
	}
}

// What was seen of one zone is in no plan of the next: a spare Live has nothing left of it.
func TestASpareLiveIsEmpty(t *testing.T) {
	scope := edge.ZoneScope("z")
	seen := Sight{Plan: "free", Ahead: map[edge.Place]diff.Ahead{scope.At("a"): {}}, Places: Places{{Phase: "p"}, {Phase: "q"}}}
	live := newLive()
	seen.into(&live, "account", scope)
	if len(live.Accounts) != 1 || len(live.EntryPoints) != 2 || len(live.Ahead) != 1 || len(live.Plans) != 1 {
		t.Errorf("%+v", live)
	}
	spare(&live)
	if len(live.Accounts)+len(live.EntryPoints)+len(live.Ahead)+len(live.Plans) != 0 {
		t.Errorf("left are %+v", live)
	}
}

// A plan stays what it is while its maps are used for others.
func TestPlansShareNothing(t *testing.T) {
	f := newFixture(t, 3)
	plan := func(i int) (Task, Sight, diff.Plan) {
		task := f.task(declare(i, core("xss")))
		sight, err := f.Read(t.Context(), task)
		must.Do(t, err)
		return task, sight, Plan(task, sight, nil)
	}
	task, sight, first := plan(1)
	plan(2)
	plan(3)
	live := newLive()
	sight.into(&live, task.Account().ID, task.Zone().Scope)
	alone := planner.Make(planner.Input{State: task.State, Applied: task.Applied, Prunable: task.Prunable, Part: true, Undigested: true, Live: live})
	alone.NotLookedAt = sight.notLookedAt(task)
	if len(first.Changes) == 0 || !reflect.DeepEqual(first, alone) {
		t.Errorf("the plan of the first zone is\n%+v\nand alone it is\n%+v", first, alone)
	}
}
