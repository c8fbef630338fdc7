package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// written are records that note each write which counts for a limit.
type written struct {
	*reconciletest.Records

	// changes is how many zones an acceptance changes that are not as it declares them; nil: nobody asks.
	changes func(reconcile.Acceptance) int

	mu     sync.Mutex
	all    []writtenZone
	totals map[string]int // by commit
}

func (w *written) AcceptCommit(ctx context.Context, a reconcile.Acceptance) error {
	w.mu.Lock()
	if _, again := w.totals[a.Commit]; !again {
		w.totals[a.Commit] = w.changes(a)
	}
	w.mu.Unlock()
	return w.Records.AcceptCommit(ctx, a)
}

// tooLarge returns a commit that changes more zones than a limit allows, and of which one was written.
func (w *written) tooLarge(limit int) (commit string, total int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		if total := w.totals[one.commit]; total > limit {
			return one.commit, total
		}
	}
	return "", 0
}

type writtenZone struct {
	zone   edge.Scope
	commit string // empty: a drift
	at     time.Time
}

func (w *written) RecordWrite(ctx context.Context, e reconcile.Entry, owned []diff.Settled) (int64, error) {
	number, err := w.Records.RecordWrite(ctx, e, owned)
	if err != nil || e.Asked.Approver != "" {
		return number, err
	}
	one := writtenZone{zone: e.Subject.Scope, at: time.Now()}
	if e.CountsForCommit() {
		one.commit = e.Asked.Commit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, one)
	return number, nil
}

// most are the most zones that were written for one commit, and within the time for which drifts count.
func (w *written) most(lasts time.Duration) (ofCommit, ofDrift int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	commits := map[string]map[edge.Scope]bool{}
	for i, one := range w.all {
		if one.commit != "" {
			if commits[one.commit] == nil {
				commits[one.commit] = map[edge.Scope]bool{}
			}
			commits[one.commit][one.zone] = true
			ofCommit = max(ofCommit, len(commits[one.commit]))
			continue
		}
		zones := map[edge.Scope]bool{}
		for _, later := range w.all[i:] {
			if later.commit == "" && later.at.Sub(one.at) < lasts {
				zones[later.zone] = true
			}
		}
		ofDrift = max(ofDrift, len(zones))
	}
	return ofCommit, ofDrift
}

// limitStep is one step of a story: a commit that changes some zones, drifts in some, a lease that
// goes to another process, or the end of a process.
type limitStep struct {
	Kind  int
	Zones []int
	Lease int
	To    int
}

func drawLimitSteps(t *rapid.T, n int) []limitStep {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) limitStep {
		return limitStep{
			Kind: rapid.IntRange(0, 6).Draw(t, "kind"), Zones: rapid.SliceOfNDistinct(rapid.IntRange(1, 2*n), 1, 2*n, rapid.ID).Draw(t, "zones"),
			Lease: rapid.IntRange(0, 2).Draw(t, "lease"), To: rapid.IntRange(0, 2).Draw(t, "to"),
		}
	}), 1, 8).Draw(t, "steps")
}

// However many processes change zones at the same time, no limit is ever passed: neither that of a
// commit nor that of drifts. Of a commit that changes more in total, nothing is written.
func TestLimitsHoldOverProcesses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 4
		var commit, drift, total int
		var part string
		limit, steps := rapid.IntRange(1, n+1).Draw(rt, "limit"), drawLimitSteps(rt, n)
		slow := rapid.SampledFrom([]string{"", "r0", "r1", "r2"}).Draw(rt, "slow")
		synctest.Test(t, func(t *testing.T) {
			r := newReplicas(t, n)
			names := []string{"r0", "r1", "r2"}
			leases := []reconcile.LeaseName{reconcile.LeaseCommits, leaseA, leaseB}
			for i, name := range leases {
				r.leases.Give(names[i], name)
			}
			r.push("c0", "xss")
			for _, name := range names {
				r.run(name)
			}
			r.pass(soon + ticked)
			for _, name := range names {
				r.all[name].stop()
			}
			r.Guards = reconcile.Guards{Rules: []guard.Rule{{Name: "most", Changes: &guard.Limit{Count: &limit}}}}
			over := &written{Records: r.records, changes: r.changes, totals: map[string]int{}}
			r.keep = func() control.Records { return over }
			r.slow = slow
			for _, name := range names {
				r.run(name)
			}
			r.pass(soon + ticked)
			r.play(steps, names, leases)
			commit, drift = over.most(interval)
			part, total = over.tooLarge(limit)
		})
		if part != "" {
			rt.Fatalf("with a limit of %d zones, commit %s changes %d, and some of them were written", limit, part, total)
		}
		if commit > limit || drift > limit {
			rt.Fatalf("with a limit of %d zones, %d were written for one commit, and %d drifts were corrected in %s", limit, commit, drift, interval)
		}
	})
}

// No process writes any of a commit that changes too many zones in total, though each works on few of
// them: not while the one that counts is slow, not when it ends before it has counted, and not when what
// it has counted is all that others know.
func TestCommitOverALimitOfAllProcesses(t *testing.T) {
	few := reconcile.Guards{Rules: []guard.Rule{{Name: "most", Changes: &guard.Limit{Count: new(3)}}}}
	for name, then := range map[string]func(*replicas, *replica){
		"": func(*replicas, *replica) {},
		"the one that counts ends": func(r *replicas, first *replica) {
			first.stop()
			r.leases.Give("r2", reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA)
		},
		"another counts": func(r *replicas, _ *replica) { r.leases.Give("r2", reconcile.LeaseCommits) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T) {
				r, first, second := twoReplicas(t, 2, few)
				r.slowly(first, "b")
				r.drift(4)
				r.push("c2", "sqli")
				r.pass(2 * time.Second)
				if z, _ := second.Zones(zoneKey(3)); z.Zones[0].Outcome != inspect.Pending || len(z.Zones[0].Decisions) == 0 {
					t.Errorf("while another process counts: %+v", z.Zones[0])
				}
				then(r, first)
				r.pass(time.Hour)
				if a, b := r.have("a", "sqli"), r.have("b", "sqli"); a+b > 0 {
					t.Errorf("%d zones of a and %d of b are written of a commit that changes 4, and 3 are allowed", a, b)
				}
				if z, _ := second.Zones(zoneKey(3)); z.Zones[0].Outcome != inspect.Refused {
					t.Errorf("once the commit is counted: %+v", z.Zones[0])
				}
			})
		})
	}
}

// A commit that is not too large is written once it is counted, also where the process that counts
// cannot read zones of another: those count when they are written. What no commit asks for waits for
// none.
func TestCommitWaitsForItsCountNotForEver(t *testing.T) {
	some := reconcile.Guards{Rules: []guard.Rule{{Name: "most", Changes: &guard.Limit{Count: new(4)}}}}
	run(t, func(t *testing.T) {
		r, first, _ := twoReplicas(t, 2, some)
		r.slowly(first, "b")
		state := r.state("c2", "sqli")
		state.Accounts[1].Zones[1] = r.state("c2", "xss").Accounts[1].Zones[1] // as before
		r.repo.Commit("c2", commit{State: state})
		r.drift(4)
		first.source.Poke()
		r.pass(2 * time.Second)
		r.all["r2"].look1(t)
		if off := r.off(4); off != "xss" {
			t.Errorf("a drift waits for the count of a commit: %q", off)
		}
		r.pass(time.Hour)
		if a, b := r.have("a", "sqli"), r.have("b", "sqli"); a != 2 || b != 1 {
			t.Errorf("%d zones of a and %d of b are written", a, b)
		}
		first.calls["b"].set(func(context.Context, call) error { return edge.ErrUnavailable })
		r.push("c3", "php")
		r.pass(time.Hour)
		r.wantAll("php")
	})
}

// Shares are shares of all zones, also of those that only the process has read that counts.
func TestShareOfZonesOfAllProcesses(t *testing.T) {
	run(t, func(t *testing.T) {
		r := newReplicas(t, 3)
		r.Guards = reconcile.Guards{Rules: []guard.Rule{{Name: "half", Changes: &guard.Limit{Percent: new(50)}}}}
		r.leases.Give("r1", reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA)
		r.leases.Give("r2", leaseB)
		state := r.state("c1", "xss")
		state.Accounts[0] = r.state("c1").Accounts[0] // as it is live
		r.repo.Commit("c1", commit{State: state})
		r.run("r1")
		r.run("r2")
		r.pass(time.Hour)
		if n := r.have("b", "xss"); n != 3 {
			z, _ := r.all["r2"].Zones(zoneKey(4))
			t.Errorf("%d zones are written of a commit that changes 3 of 6: %+v", n, z.Zones[0].Decisions)
		}
	})
}

// slowly has a process read zones slowly of which it has no lease.
func (r *replicas) slowly(one *replica, lane string) {
	lease := map[string]reconcile.LeaseName{"a": leaseA, "b": leaseB}[lane]
	one.calls[lane].set(func(context.Context, call) error {
		if r.leases.Holder(lease) != one.name {
			time.Sleep(soon)
		}
		return nil
	})
}

// play plays a story.
func (r *replicas) play(steps []limitStep, names []string, leases []reconcile.LeaseName) {
	tags := map[int]string{}
	for i, step := range steps {
		tag := []string{"sqli", "php", "rce"}[i%3]
		switch step.Kind {
		case 0, 1:
			for _, zone := range step.Zones {
				tags[zone] = tag
			}
			name := fmt.Sprintf("c%d", i+1)
			state := r.state(name, "xss")
			for a := range state.Accounts {
				for z, declared := range state.Accounts[a].Zones {
					zone := 0
					for k := 1; k <= 2*r.n; k++ {
						if declared.Scope == mem.FleetZone(k) {
							zone = k
						}
					}
					if tags[zone] != "" {
						state.Accounts[a].Zones[z] = zoneOf(zone, core(tags[zone]))
					}
				}
			}
			r.declared[name] = maps.Clone(tags)
			r.repo.Commit(name, commit{State: state})
			for _, one := range r.all {
				one.source.Poke()
			}
			if step.Lease > 0 { // what comes next comes while the commit is counted
				r.pass(time.Duration(step.To) * ticked / 2)
				continue
			}
		case 2:
			for _, zone := range step.Zones {
				r.click(zone)
			}
			r.pass(interval)
		case 3:
			r.leases.Move(names[step.To], leases[step.Lease])
		case 4:
			r.leases.Give(names[step.To], leases[step.Lease])
		case 5, 6:
			r.all[names[step.To]].stop()
			for i, name := range leases {
				if r.leases.Holder(name) == names[step.To] {
					r.leases.Give(names[(step.To+1+(i+step.Lease)%2)%3], name)
				}
			}
			r.run(names[step.To])
		}
		r.pass(soon + ticked)
	}
	r.pass(interval)
}

// changes is how many zones an acceptance declares otherwise than was proved in them, and that are not
// like that.
func (r *replicas) changes(a reconcile.Acceptance) (n int) {
	record, err := r.records.Restore(r.t.Context())
	if err != nil {
		r.t.Errorf("%v", err)
	}
	for i := 1; i <= 2*r.n; i++ {
		id := mem.FleetZone(i)
		if record.Proofs[id].Fingerprint != a.Declared(id) && r.off(i) != cmp.Or(r.declared[a.Commit][i], "xss") {
			n++
		}
	}
	return n
}
