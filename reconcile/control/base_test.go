package control

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/difftest"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

var gold = guard.Labels{"tier": "gold"}

// sharesOf are rules by share: of the whole fleet, and of the gold zones.
func sharesOf(percent int) []guard.Rule {
	limit := &guard.Limit{Percent: &percent}
	return []guard.Rule{{Name: "fleet", Weakening: limit}, {Name: "gold", Labels: gold, Weakening: limit}}
}

// zonesWith declares zones with these labels, of one account.
func zonesWith(commit string, labels map[int]guard.Labels) desired.State {
	account := desired.Account{Key: "prod", ID: "account", Rulesets: []desired.RulesetRef{{Key: "core", ID: "id-core"}}}
	for i := range 400 {
		if l, ok := labels[i]; ok {
			account.Zones = append(account.Zones, desired.Zone{
				Key: fmt.Sprint(i), Scope: difftest.FleetZone(i), Labels: l, Deployments: []desired.Deployment{{Ruleset: "core"}},
			})
		}
	}
	return desired.State{Commit: commit, Accounts: []desired.Account{account}}
}

// madeUp reports whether a zone is not there: those from 100 on. Those from 200 on are, but
// the first commit does not declare them.
func madeUp(i int) bool { return i >= 100 && i < 200 || i >= 300 }

// paddedBefore is what a commit before the one that weakens has added.
func paddedBefore(t *rapid.T, labels map[int]guard.Labels) map[int]guard.Labels {
	before := maps.Clone(labels)
	for i := range rapid.IntRange(0, 100).Draw(t, "made up before") {
		before[300+i] = rapid.SampledFrom([]guard.Labels{nil, gold}).Draw(t, "its labels")
	}
	return before
}

// padding is what a commit adds or says otherwise beside what it weakens.
func padding(t *rapid.T, before map[int]guard.Labels) map[int]guard.Labels {
	after := maps.Clone(before)
	for _, i := range slices.Sorted(maps.Keys(before)) {
		after[i] = rapid.SampledFrom([]guard.Labels{after[i], gold}).Draw(t, "labels")
	}
	for i := range rapid.IntRange(0, 100).Draw(t, "made up") {
		after[100+i] = rapid.SampledFrom([]guard.Labels{nil, gold}).Draw(t, "its labels")
	}
	for i := range rapid.IntRange(0, 100).Draw(t, "new") {
		after[200+i] = gold
	}
	return after
}

func fleetLabels(t *rapid.T) map[int]guard.Labels {
	labels := map[int]guard.Labels{}
	for i := range rapid.IntRange(1, 30).Draw(t, "zones") {
		labels[i] = rapid.SampledFrom([]guard.Labels{nil, gold, {"tier": "free"}}).Draw(t, "tier")
	}
	return labels
}

func weakened(t *rapid.T, zones int) (changes []diff.Change) {
	for i := range zones {
		if rapid.Bool().Draw(t, "weakened") {
			changes = append(changes, difftest.FleetChange(i, diff.Weakens))
		}
	}
	return changes
}

// passing are the zones whose change nothing refuses.
func passing(f guard.Facts, changes []diff.Change) map[edge.Scope]bool {
	pass := map[edge.Scope]bool{}
	for _, c := range guard.Check(difftest.PlanOf(changes...), f).Changes {
		if c.Applies() {
			pass[c.Scope] = true
		}
	}
	return pass
}

// liveZones have entry points: those of the fleet, and those that the commit is the first to
// declare. Made-up ones could not be read.
func liveZones(after map[int]guard.Labels) diff.Live {
	live := diff.Live{EntryPoints: map[edge.Place]diff.Observed[edge.Ruleset]{}}
	for i := range after {
		var seen diff.Observed[edge.Ruleset]
		switch {
		case madeUp(i):
			seen.Err = edge.ErrForbidden
		case i%2 == 0:
			seen.Err = edge.ErrEntryPointNotFound
		}
		live.EntryPoints[difftest.FleetZone(i).At(edge.PhaseFirewallManaged)] = seen
	}
	return live
}

// Whatever a commit adds to what it weakens, zones that are not there, zones that are, or
// labels, no more of it passes than without.
func TestPaddingWidensNoShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := fleetLabels(t)
		before := zonesWith("c1", labels)
		record := reconcile.Record{Accepted: reconcile.Accepted{Commit: "c1"}, Proofs: map[edge.Scope]reconcile.Proof{}}
		for i, l := range labels {
			if rapid.Bool().Draw(t, "proved") {
				id := difftest.FleetZone(i)
				record.Proofs[id] = reconcile.Proof{Scope: id, Fingerprint: "earlier", Labels: l}
			}
		}
		padded := paddedBefore(t, labels)
		after := padding(t, padded)
		known := new(zonesWith("c1", padded))
		if rapid.Bool().Draw(t, "the declarations in force are lost") {
			known = nil
		}
		whole := func(after map[int]guard.Labels, before *desired.State) guard.Facts {
			return Whole{
				Record: record, Guards: reconcile.Guards{Rules: sharesOf(20), Shrink: guard.Shrink{Floor: 1000}}, Before: before,
				State: zonesWith("c2", after), Live: liveZones(after), Now: time.Now(),
			}.Judge().Facts
		}
		changes := weakened(t, len(labels))
		without, with := passing(whole(labels, &before), changes), passing(whole(after, known), changes)
		for id := range with {
			if !without[id] {
				t.Fatalf("zone %s passes beside %d others, and alone it does not", id, len(after)-len(labels))
			}
		}
	})
}

// The daemon measures a commit in the same way, and after a restart as well.
func TestPaddingWidensNoShareOfTheDaemon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := fleetLabels(t)
		padded := paddedBefore(t, labels)
		after := padding(t, padded)
		changes := weakened(t, len(labels))
		without := judged(t, labels, labels, changes, false)
		with := judged(t, padded, after, changes, rapid.Bool().Draw(t, "restart"))
		for id := range with {
			if !without[id] {
				t.Fatalf("zone %s passes beside %d others, and alone it does not", id, len(after)-len(labels))
			}
		}
	})
}

// judged returns which changes of a second commit a control lets pass, zone by zone.
func judged(t *rapid.T, before, after map[int]guard.Labels, changes []diff.Change, restart bool) map[edge.Scope]bool {
	records := &reconcile.Forgetful{}
	byZone := map[edge.Scope]diff.Change{}
	for _, c := range changes {
		byZone[c.Scope] = c
	}
	begin := func() *Control {
		c, err := New(t.Context(), Config{
			Records: records, Now: time.Now, Guards: reconcile.Guards{Rules: sharesOf(20), Shrink: guard.Shrink{Floor: 1000}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := begin()
	accept(t, c, zonesWith("c1", before))
	for i := range before {
		if madeUp(i) {
			continue
		}
		task, _ := c.Task(c.Current(), difftest.FleetZone(i))
		settled := []diff.Settled{{ID: diff.ID{Scope: difftest.FleetZone(i), Ruleset: "id-core"}}}
		if err := c.Proved(t.Context(), task, settled); err != nil {
			t.Fatal(err)
		}
	}
	next := zonesWith("c2", after)
	for i := range next.Accounts[0].Zones {
		next.Accounts[0].Zones[i].Deployments[0].Enabled.Value = true // each of them is to be changed
	}
	accept(t, c, next)
	if restart {
		c = begin()
	}
	c.state.limits.unseen = nil // all of them were read
	for i := range after {
		if !madeUp(i) {
			c.Read(difftest.FleetZone(i))
		}
	}
	c.state.weigh(c.Current(), changes)
	pass := map[edge.Scope]bool{}
	for id, change := range byZone {
		plan, _ := c.Guard(c.Current(), id, difftest.PlanOf(change))
		pass[id] = plan.Changes[0].Applies()
		if !pass[id] {
			delete(pass, id)
		}
	}
	return pass
}

// accept has a control accept a state and remember its declarations.
func accept(t *rapid.T, c *Control, s desired.State) {
	d, err := c.Propose(t.Context(), reconcile.Proposal{Commit: s.Commit, State: s})
	if err != nil || d.Held != nil {
		t.Fatal(err, d.Held)
	}
	if err := c.SaveState(t.Context(), d.Accepted); err != nil {
		t.Fatal(err)
	}
}

// A commit that labels the rest of the fleet as gold makes no more of the gold zones pass,
// whether the zones were proved or only read.
func TestLabelsWidenNoShare(t *testing.T) {
	labels := map[int]guard.Labels{}
	for i := range 20 {
		labels[i] = nil
		if i < 4 {
			labels[i] = gold
		}
	}
	before := zonesWith("c1", labels)
	for i := range labels {
		labels[i] = gold
	}
	whole := Whole{
		Record: reconcile.Record{Accepted: reconcile.Accepted{Commit: "c1"}}, Guards: reconcile.Guards{Rules: sharesOf(20)[1:]},
		Before: &before, State: zonesWith("c2", labels), Live: liveZones(labels), Now: time.Now(),
	}
	changes := []diff.Change{difftest.FleetChange(1, diff.Weakens)}
	for _, proved := range []bool{false, true} {
		if proved {
			whole.Record.Proofs = printsOf(before)
			for id, proof := range whole.Record.Proofs {
				if id.Compare(difftest.FleetZone(3)) <= 0 {
					proof.Labels = gold
				}
				whole.Record.Proofs[id] = proof
			}
		}
		plan := guard.Check(difftest.PlanOf(changes...), whole.Judge().Facts)
		if r := plan.Changes[0].Refused; r == nil || r.Reason != "this plan weakens 1 zone, and guards.gold allows at most 20% of 4" {
			t.Errorf("proved %t: %+v", proved, r)
		}
	}
}

// While zones of a commit are still to be read, what a limit is about waits, and nothing else
// does; while there are approvals, everything does.
func TestOnlyWhatIsLimitedWaitsForTheCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := &reconcile.Forgetful{}
		approved := rapid.Bool().Draw(t, "something is approved")
		if approved {
			if err := records.Approve(t.Context(), []reconcile.Approval{{Digest: "sha256:1", Kind: reconcile.Approved}}); err != nil {
				t.Fatal(err)
			}
		}
		c, err := New(t.Context(), Config{Records: records, Now: time.Now, Guards: reconcile.Guards{Rules: sharesOf(20)}})
		if err != nil {
			t.Fatal(err)
		}
		accept(t, c, zonesWith("c1", map[int]guard.Labels{1: nil, 2: nil}))
		direction := rapid.SampledFrom([]diff.Direction{diff.Weakens, diff.Strengthens, diff.Neutral}).Draw(t, "direction")
		_, verdict := c.Guard(c.Current(), difftest.FleetZone(1), difftest.PlanOf(difftest.FleetChange(1, direction)))
		if want := direction == diff.Weakens || approved; (verdict == Counting) != want {
			t.Fatalf("verdict %v, want that it waits: %t", verdict, want)
		}
		if _, verdict := c.Guard(c.Current(), difftest.FleetZone(1), diff.Plan{}); verdict != Act {
			t.Fatalf("verdict %v of a zone that agrees", verdict)
		}
	})
}
