package repository

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// mayReadClock names the packages that may ask what time it is, and why.
// All others take time as an argument, so that a test can choose it.
var mayReadClock = map[string]string{
	"./desired/evaluate":          "a signature counts at the time of the fetch, and units in the cache have an age",
	"./reconcile":                 "the loop waits for the next tick and stamps its reports",
	"./reconcile/controller":      "it says when each zone is due, and stamps reports",
	"./reconcile/lease":           "a lease has an end",
	"./reconcile/postgres":        "a server may be silent for so long",
	"./reconcile/queue":           "it waits until something is due",
	"./reconcile/reconciletest":   "its repository says when it was fetched from",
	"./edge/sim":                  "the simulator has a clock of its own, which follows the real one until it is set",
	"./edge/edgetest":             "its cases begin at a time of their own, in bubbles of synctest",
	"./edge/client":               "the budget counts requests in a window of time",
	"./reconcile/page":            "a write to a stream of events has a deadline",
	"./reconcile/forge":           "forges say when they may be asked again, and webhooks come too often",
	"./desired/gitrepo/gittest":   "commits have the time that git would give them",
	"./reconcile/forge/forgetest": "what happens on a forge happens after it was asked for",
	"./desired/worker":            "a child that takes too long is killed",

	"./reconcile/ledger/internal/zones": "a process says every few seconds that it runs",
	"./reconcile/ledger/internal/store": "a file that was not checked for a week is checked again",
	"./integration/bench":               "measuring is what it is for",
	"./integration/chaos":               "measuring is what it is for",
	"./integration/faults":              "measuring is what it is for",
	"./integration/pgtest":              "a server may take a while to start",
	"./integration/harness":             "its tests wait for processes, with a bound",
}

func TestLayeringOfTheClock(t *testing.T) {
	packages := readSource(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if mayReadClock[name] != "" || strings.HasPrefix(name, "./cmd/") { // cmd hands the clock out
			continue
		}
		for _, place := range packages[name].clocks {
			t.Errorf("%s: %s is not one of the packages that may read the clock; take the time as an argument", place, name)
		}
	}
}
