package review

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
)

// The status of a head can gate a merge: pending while a person must agree, success when
// one has, failure when a merge would not be applied.
func TestStatusGates(t *testing.T) {
	f := newFixture(t, 1)
	f.approvedBy("alice", "bob")
	f.Guards.Rules = []guard.Rule{{Name: "weak", Approve: guard.ApproveWeakening}}
	f.converge("c1", fleetZone(1, core("xss")))
	f.open(1, "p1", fleetZone(1, core("xss", "sqli")))
	f.round()
	wantMark := func(want string) {
		t.Helper()
		if len(f.forge.marks) == 0 || f.forge.marks[len(f.forge.marks)-1] != want {
			t.Errorf("marks %q, want the last to be %q", f.forge.marks, want)
		}
	}
	wantMark("p1 seawall/plan pending: 1 change waits for an approving review by alice or bob")
	comment := f.forge.comments[1]
	for _, want := range []string{"**waits for approval**", "An approving review by `alice` or `bob` releases it, unless that is the author."} {
		if !strings.Contains(comment, want) {
			t.Errorf("%q is not in\n%s", want, comment)
		}
	}
	var digests []string
	for _, word := range strings.FieldsFunc(comment, func(r rune) bool { return strings.ContainsRune("` \n.", r) }) {
		if strings.HasPrefix(word, "sha256:") && !slices.Contains(digests, word) {
			digests = append(digests, word)
		}
	}
	if len(digests) != 1 {
		t.Errorf("the comment has the digests %q, want one:\n%s", digests, comment)
	}

	f.clock.Advance(time.Second)
	f.forge.approve(1, "p1", f.clock.Now(), "bob")
	f.round()
	wantMark("p1 seawall/plan success: 1 zone: 1 to change, 1 of them weakening")

	f.open(1, "p2", fleetZone(1, core("no-such-tag")))
	f.round()
	wantMark("p2 seawall/plan failure: a merge would not apply 1 change; 1 zone: 1 blocked")

	f.open(1, "p3")
	f.forge.pulls[0].Head = "p3"
	delete(f.heads.at, 1)
	f.heads.failed[1] = errors.New("it has an object of 1 GiB")
	f.round()
	wantMark("p3 seawall/plan failure: this pull request cannot be read")
}

// An override that nothing declares stays after a merge, and a zone that cannot be read may
// be anything: neither is a success. A zone that only the head declares is not read.
func TestStatusOfWhatIsNotDecidedOrKnown(t *testing.T) {
	f := newFixture(t, 3)
	f.converge("c1", fleetZone(1, core("xss")), fleetZone(2, core("xss")))
	f.disable(1, "sqli")
	f.Guards.ReportUnmanaged = true
	wantMark := func(want string) {
		t.Helper()
		f.round()
		if len(f.forge.marks) == 0 || f.forge.marks[len(f.forge.marks)-1] != want {
			t.Errorf("marks %q, want the last to be %q", f.forge.marks, want)
		}
	}
	f.open(1, "p1", fleetZone(1, core("xss", "php")), fleetZone(2, core("xss")))
	wantMark("p1 seawall/plan failure: live overrides are undecided: declare them, or set unmanaged; 1 zone: 1 to change, 1 of them weakening, 1 undecided")
	keeps := core("xss", "php")
	keeps.Unmanaged = &desired.Declared[desired.Unmanaged]{Value: desired.Keep}
	f.open(1, "p2", fleetZone(1, keeps), fleetZone(2, core("xss")))
	wantMark("p2 seawall/plan success: 1 zone: 1 to change, 1 of them weakening")
	f.open(1, "p3", fleetZone(1, core("xss")), fleetZone(2, core("xss", "php"))) // another zone than the one that is undecided
	wantMark("p3 seawall/plan success: 1 zone: 1 to change, 1 of them weakening")
	f.open(1, "p4", fleetZone(1, core("xss")), fleetZone(2, core("xss")), fleetZone(3, core("xss")))
	wantMark("p4 seawall/plan success: 0 zones")

	f.tamper.read = func(context.Context, edge.Scope) error { return &edge.Error{Status: 503} }
	f.open(1, "p5", fleetZone(1, core("xss")), fleetZone(2, core("xss", "sqli")))
	wantMark("p5 seawall/plan pending: 1 zone could not be read, the next plan tries again; 1 zone: 1 unknown")
	f.tamper.read = nil
	f.clock.Advance(planAgain)
	wantMark("p5 seawall/plan success: 1 zone: 1 to change, 1 of them weakening")
	f.Guards.ReportUnmanaged = false
	f.open(1, "p6", fleetZone(1, core("xss", "php")), fleetZone(2, core("xss"))) // what came after the first proof goes
	wantMark("p6 seawall/plan success: 1 zone: 1 to change, 1 of them weakening")
}

// A skip rule that came after the zone was proved is there after a merge, too.
func TestStatusOfABypassedZone(t *testing.T) {
	f := newFixture(t, 2)
	f.converge("c1", fleetZone(1, core("xss")), fleetZone(2, core("xss")))
	live := f.Platform.StoredEntryPoint(mem.FleetZone(1))
	live.Rules = slices.Insert(live.Rules, 0, edge.Rule{
		ID: "5e1f0000000000000000000000000001", Action: edge.ActionSkip, Expression: "true", Description: new("@everyone `all`"),
		ActionParameters: &edge.ActionParameters{Extra: map[string]json.RawMessage{"ruleset": json.RawMessage(`"current"`)}},
	})
	must.Do(t, f.Platform.SetEntryPoint(mem.FleetZone(1), *live))
	f.open(1, "p1", fleetZone(1, core("xss", "php")), fleetZone(2, core("xss")))
	f.round()
	want := "p1 seawall/plan failure: skip rules keep requests from 1 deployment: remove or accept them; 1 zone: 1 to change, 1 of them weakening, 1 bypassed"
	if got := f.forge.marks[len(f.forge.marks)-1]; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	comment := f.forge.comments[1]
	if !strings.Contains(comment, " **bypassed**: `` skip rule \"@everyone `all`\" ") {
		t.Errorf("the comment is\n%s", comment)
	}
}

// disable switches a tag off by hand.
func (f *fixture) disable(zone int, tag string) {
	f.t.Helper()
	live := f.Platform.StoredEntryPoint(mem.FleetZone(zone))
	overrides := live.Rules[0].ActionParameters.Overrides
	overrides.Categories = append(overrides.Categories, edge.CategoryOverride{Category: tag, Enabled: new(false)})
	must.Do(f.t, f.Platform.SetEntryPoint(mem.FleetZone(zone), *live))
}
