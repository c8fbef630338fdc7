package reconcile

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// An acceptance ends after its last day, and one that zones share counts once.
func TestAcceptancesEnd(t *testing.T) {
	accepts := func(line int, until string) desired.Zone {
		return desired.Zone{Deployments: []desired.Deployment{{Accepted: []desired.Accepted{{Rule: "r", Until: until, Origin: desired.Origin{File: "a.cue", Line: line}}}}}}
	}
	got := AcceptancesEnd(desired.State{Accounts: []desired.Account{{Zones: []desired.Zone{
		accepts(1, "2027-03-31"), accepts(1, "2027-03-31"), accepts(2, ""), accepts(3, "2026-02-28"),
	}}}})
	want := []time.Time{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC)}
	if len(got) != 2 || !got[0].Equal(want[0]) || !got[1].Equal(want[1]) {
		t.Errorf("got %v, want %v", got, want)
	}
}
