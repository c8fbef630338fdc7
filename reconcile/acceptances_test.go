package reconcile

import (
	"slices"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// An acceptance ends after its last day, and so does an exception; one that zones share counts once.
func TestAcceptancesEnd(t *testing.T) {
	accepts := func(line int, until string) desired.Zone {
		return desired.Zone{Deployments: []desired.Deployment{{Accepted: []desired.Accepted{{Rule: "r", Until: until, Origin: desired.Origin{File: "a.cue", Line: line}}}}}}
	}
	excepts := func(line int, value string) desired.Zone {
		return desired.Zone{Others: []desired.Other{{Kind: desired.Exception, Key: "e", Of: "core", Value: value, Origin: desired.Origin{File: "a.cue", Line: line}}}}
	}
	got := AcceptancesEnd(desired.State{Accounts: []desired.Account{{Zones: []desired.Zone{
		accepts(1, "2027-03-31"), accepts(1, "2027-03-31"), accepts(2, ""), accepts(3, "2026-02-28"),
		excepts(4, `{"until":"2026-12-31"}`), excepts(4, `{"until":"2026-12-31"}`), excepts(5, `{}`),
	}}}})
	want := []time.Time{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC)}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
