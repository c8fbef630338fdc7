package control

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// BenchmarkGenerationOneChanged prepares a commit that changes one zone, beside what preparing
// all of it takes.
func BenchmarkGenerationOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		first, after := oneOtherZone(n)
		g := newGeneration(first, nil)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newGeneration(after, g)
			}
		})
		b.Run(fmt.Sprint(n, "_whole"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newGeneration(after, nil)
			}
		})
	}
}

// BenchmarkJudgeOneChanged accepts commits that change one zone of a fleet whose declarations are
// proved, and seen: under no rule, and under each that makes a commit count for more than its zones.
func BenchmarkJudgeOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		for _, under := range []struct {
			name   string
			guards reconcile.Guards
		}{
			{"", reconcile.Guards{}},
			{"_limit", reconcile.Guards{Rules: []guard.Rule{{Name: "all", Changes: &guard.Limit{Count: new(n)}}}}},
			{"_waves", reconcile.Guards{Waves: []reconcile.Wave{{Count: 1}}}},
		} {
			b.Run(fmt.Sprint(n, under.name), func(b *testing.B) {
				c, states := provedFleet(b, n, under.guards)
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					i++
					state := states[i%2]
					d, err := c.Propose(b.Context(), reconcile.Proposal{Commit: state.Commit, State: state})
					if err != nil || len(d.Due) != 1 {
						b.Fatalf("%d zones are due: %v", len(d.Due), err)
					}
				}
			})
		}
	}
}

// BenchmarkVerdictOneChanged passes the plan of one zone through the guards.
func BenchmarkVerdictOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, states := provedFleet(b, n, reconcile.Guards{Rules: sharesOf(20), Waves: []reconcile.Wave{{Percent: 1}}})
			_, err := c.Propose(b.Context(), reconcile.Proposal{Commit: states[1].Commit, State: states[1]})
			must.Do(b, err)
			id := states[1].Accounts[0].Zones[n/2].Scope
			plan := diff.Gather("c2", 1, 0, []diff.Change{{Scope: id, Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Direction: diff.Weakens}}, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, verdict := c.Guard(c.Current(), id, plan); verdict != Act {
					b.Fatal(verdict)
				}
			}
		})
	}
}

// provedFleet is a control over a fleet whose declarations are in force, proved and seen, and the
// two states of [oneOtherZone]; the first is in force.
func provedFleet(b *testing.B, n int, guards reconcile.Guards) (*Control, [2]desired.State) {
	b.Helper()
	before, after := oneOtherZone(n)
	c, err := New(b.Context(), Config{
		Records: &provedRecords{state: before}, Now: time.Now, Guards: guards,
		Foresee: func(zone.Task) (diff.Plan, bool) { return diff.Plan{}, true },
	})
	must.Do(b, err)
	if _, err := c.Propose(b.Context(), reconcile.Proposal{Commit: before.Commit, State: before}); err != nil {
		b.Fatal(err)
	}
	return c, [2]desired.State{before, after}
}

// provedRecords have every declaration of a state as proved.
type provedRecords struct {
	reconcile.Forgetful
	state desired.State
}

func (r *provedRecords) Restore(context.Context) (reconcile.Record, error) {
	proofs := make(map[edge.Scope]reconcile.Proof, r.state.Zones())
	for a, z := range r.state.EachZone() {
		proofs[z.Scope] = reconcile.Proof{Scope: z.Scope, Fingerprint: z.Fingerprint(a)}
	}
	return reconcile.Record{Proofs: proofs}, nil
}

// BenchmarkDecodeState takes the declarations on record, as each start does.
func BenchmarkDecodeState(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			state, _ := oneOtherZone(n)
			data, err := EncodeState(state)
			must.Do(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if got, err := DecodeState(data); err != nil || got.Zones() != n {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(data))/float64(n), "bytes/zone")
		})
	}
}

// BenchmarkTakeInOneChanged takes in a commit from the record, as a replica does that has not accepted it, and
// puts it on record: of a fleet of 25 accounts.
func BenchmarkTakeInOneChanged(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			before, after := manyAccounts(25, n/25)
			var writes, reads encoder
			var texts [2][]reconcile.StatePart
			for i, state := range []desired.State{before, after} {
				parts, err := writes.encode(state)
				must.Do(b, err)
				texts[i] = parts
			}
			first, err := reads.join(texts[0])
			must.Do(b, err)
			g := newGeneration(first, nil)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				state, err := reads.join(texts[i%2])
				must.Do(b, err)
				g = newGeneration(state, g)
				if _, err := reads.encode(state); err != nil || len(g.since.changed) != 1 {
					b.Fatal(err)
				}
			}
		})
	}
}
