package zone

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
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
