package token

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
)

// A year of syncs: each successor is delivered before its predecessor ends, by
// work that nothing but time asks for, and nothing is left for a person.
func TestAYearOfRotation(t *testing.T) {
	f := newFixture(t)
	f.push(rotating("ci-dns"))
	f.converge()
	for range 365 * 4 {
		f.advance(6 * time.Hour)
		f.wantWorking("ci-dns")
		for _, c := range f.converged(f.sync()).Plan.Changes {
			if c.Action() != diff.ActionRotate {
				t.Fatalf("changes %+v", c)
			}
		}
	}
	f.converge()
	if n := len(f.platform.created); n != 13 {
		t.Errorf("%d tokens were made in a year of 30 days each", n)
	}
	// What has ended is forgotten: the record does not grow with time.
	if n := len(f.records()); n > 3 {
		t.Errorf("%d are on record", n)
	}
}

// A successor whose secret cannot be delivered does not keep the predecessor
// from working. It is due until it is delivered, and no other is made.
func TestRotationWhileTheSinkIsDown(t *testing.T) {
	f := newFixture(t)
	f.push(rotating("ci-dns"))
	f.converge()
	f.advance(30 * day)
	f.fail["deliver"] = errSinkDown
	for i := range 20 {
		f.advance(time.Minute)
		if o := f.sync(); o.Err != nil {
			t.Fatal(o.Err)
		}
		if i > 0 {
			f.wantTaken("open the seal", "deliver")
		}
		f.wantHolder("ci-dns", 1)
	}
	delete(f.fail, "deliver")
	f.converged(f.sync())
	f.wantHolder("ci-dns", 2)
	if n := len(f.platform.created); n != 2 {
		t.Errorf("%d were made", n)
	}
	f.sync()
	f.wantTaken()
}

// Where the platform can delete, what a rotation left behind is deleted once it
// has ended, if its declaration allows that: the user's tokens are counted.
func TestRotationWithPrune(t *testing.T) {
	f := newExtended(t)
	f.push(pruned(rotating("ci-dns")))
	f.converge()
	for range 10 {
		f.advance(10 * day)
		f.converge()
		if n := len(f.made()); n > 2 {
			t.Fatalf("%d tokens on the platform", n)
		}
	}
	f.advance(3 * day)
	f.converge()
	f.wantMade("ci-dns")
	if len(f.records()) != 1 {
		t.Fatalf("on record %d", len(f.records()))
	}
	r := f.records()[0]
	if live, err := f.platform.truth.UserToken(t.Context(), r.ID); err != nil || live.ExpiresOn != r.Spec.ExpiresOn {
		t.Errorf("live %+v, error %v", live, err)
	}
}

func TestEndedTokensAreDeletedLate(t *testing.T) {
	f := newExtended(t)
	f.push(pruned(rotating("ci-dns")))
	f.converge()
	f.advance(30 * day)
	f.converge()
	f.converge()
	f.advance(200 * day) // nobody ran
	f.converge()
	f.converge()
	f.wantMade("ci-dns")
	if len(f.records()) != 1 {
		t.Errorf("on record %d", len(f.records()))
	}
}

// A token that is declared and has ended stays on record: forgotten, it would
// look like one that was never made.
func TestEndedTokenIsRemembered(t *testing.T) {
	f := newFixture(t)
	until := declare("ci-dns", zoneA)
	until.ExpiresOn = "2026-02-01T00:00:00Z"
	f.push(until)
	f.converge()
	f.advance(365 * day)
	f.converge()
	if len(f.records()) != 1 {
		t.Errorf("on record %d", len(f.records()))
	}
}

// A platform may list a token no more once its window has ended: that is not asked
// about, and not recorded twice.
func TestEndedTokenIsNotListed(t *testing.T) {
	f := newExtended(t)
	f.push(rotating("ci-dns"))
	f.converge()
	f.advance(30 * day)
	f.converge()
	f.advance(3 * day)
	f.revoke(1)
	f.converge()
	f.wantTaken("list", "groups", "verify", "gone")
	f.wantWorking("ci-dns")
	f.advance(27 * day)
	f.converge()
	f.advance(3 * day)
	f.revoke(2)
	f.advance(endedFor) // nobody ran
	if o := f.work(); o.Err != nil {
		t.Error(o.Err)
	}
	f.converge()
	f.wantMade("ci-dns", "ci-dns")
}

// What may be deleted and cannot be is forgotten, too.
func TestEndedTokenThatCannotBeDeleted(t *testing.T) {
	f := newFixture(t)
	f.push(pruned(rotating("ci-dns")))
	for range 12 {
		f.converge()
		f.advance(30 * day)
	}
	if n := len(f.records()); n > 3 {
		t.Errorf("%d are on record", n)
	}
}

// Work whose record cannot be written says so.
func TestEndedTokenThatCannotBeForgotten(t *testing.T) {
	f := newFixture(t)
	f.push(rotating("ci-dns"))
	f.converge()
	f.advance(30 * day)
	f.converge()
	f.advance(40 * day)
	f.fail["gone"] = errDiskFull
	if o := f.work(); o.Err == nil || fmt.Sprint(f.taken) != "[gone]" {
		t.Errorf("error %v, took %v", o.Err, f.taken)
	}
}

// The end of a token is counted from its creation, and its begin is left out.
func TestRotationSendsItsWindow(t *testing.T) {
	f := newFixture(t)
	f.push(rotating("ci-dns"))
	f.converge()
	got := f.platform.living()[0]
	if want := "2026-02-02T00:00:00Z"; got.ExpiresOn != want || got.NotBefore != "" || f.records()[0].Spec.ExpiresOn != want {
		t.Errorf("sent %+v", got)
	}
	spec := rotating("ci-dns").Spec()
	if spec.ExpiresOn != "" {
		t.Error("a window is part of the declaration")
	}
}

// What a commit widens waits for its approval for half a year: the token rotates meanwhile
// with the rights that it had, and its secret always works.
func TestRotationWhileAChangeWaits(t *testing.T) {
	for name, begin := range map[string]func(testT) *fixture{
		"documented": newFixture, "extended": func(t testT) *fixture { return newExtended(t) },
	} {
		t.Run(name, func(t *testing.T) {
			f := begin(t)
			f.push(rotating("ci-dns"))
			f.converge()
			wider := rotating("ci-dns")
			wider.Policies[0].Resources = append(wider.Policies[0].Resources, desired.Resource{Key: edge.ResourceZone + zoneB})
			f.rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
			f.push(wider)
			for range 180 * 4 {
				f.advance(6 * time.Hour)
				if o := f.sync(); o.Err != nil {
					t.Fatal(o.Err)
				}
				f.wantWorking("ci-dns")
			}
			wide := func(token mem.SeedToken) bool { return strings.Contains(string(token.Policies), zoneB) }
			if slices.ContainsFunc(f.platform.living(), wide) {
				t.Error("a token is wider without an approval")
			}
			if n := len(f.platform.created); n != 7 {
				t.Errorf("%d tokens were made in half a year of 30 days each", n)
			}
			f.rules = nil
			f.work()
			f.wantWorking("ci-dns")
			if !slices.ContainsFunc(f.platform.living(), wide) {
				t.Error("no token is wider after the approval")
			}
		})
	}
}

// A token that nothing declared until it ran out is not rotated once it is declared again: it is created
// anew, which guards may hold back. One that is declared again before that rotates as ever.
func TestNoRotationAfterAGap(t *testing.T) {
	for gap, want := range map[time.Duration]string{day: "rotate", 40 * day: "replace"} {
		f := newFixture(t)
		f.push(rotating("ci-dns"))
		f.converge()
		f.push()
		f.converge()
		f.advance(gap)
		f.push(rotating("ci-dns"))
		if gap == day {
			f.converge()
			f.advance(31 * day)
		}
		f.rules = []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}
		c := f.work().Plan.Changes
		if len(c) != 1 || string(c[0].Action()) != want || (c[0].Refused == nil) != (want == "rotate") {
			t.Errorf("after %s: %+v, want %s", gap, c, want)
		}
	}
}
